"""Plugin of answers: why runs differ, and up to where two of them agree, over all scalars at once."""
