"""Operators, modules and norms of PyTorch as the recorders see them."""
