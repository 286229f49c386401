"""Dump layouts: one module each, with the functions of ``formats.dumps.types.Layout``."""
