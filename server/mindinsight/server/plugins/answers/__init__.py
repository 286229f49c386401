"""Plugin of answers: why runs differ, and up to which step two runs agree, over all scalars."""
