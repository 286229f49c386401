"""Scalars: curves for a width in pixels, statistics of ranges, comparison with a baseline, bands of many
curves.
"""
