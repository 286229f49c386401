"""Computation: worker processes, background jobs, caches by key, statistics of arrays."""
