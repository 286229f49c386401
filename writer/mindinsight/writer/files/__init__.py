"""Files of a run: a queue, a thread that writes, and recovery from failures of disk and process."""
