"""Scalars: curves for a width, statistics of ranges, comparison with a baseline, bands of many curves."""
