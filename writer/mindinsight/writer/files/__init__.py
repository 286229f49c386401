"""Files of a run: a queue, a thread that writes, and what happens when the disk or the process fails."""
