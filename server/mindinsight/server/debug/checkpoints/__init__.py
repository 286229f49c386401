"""Weights of checkpoints: what changed from one to the next, and over all of a training."""
