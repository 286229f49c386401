"""Staging: the columns of files and runs while they are read."""
