"""Bytes to values: one file per format, pure functions, nothing kept between calls."""
