"""Probe of msprobe's dumps in PyTorch: modules, functions and their values."""
