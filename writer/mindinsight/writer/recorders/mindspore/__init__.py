"""Operators and values of MindSpore as the recorders see them."""
