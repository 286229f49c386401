"""The wire format: what is on disk, and nothing else."""
