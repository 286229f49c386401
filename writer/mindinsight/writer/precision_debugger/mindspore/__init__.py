"""Probe of msprobe's dumps in MindSpore: cells, functions and their values."""
