"""Recorders of what a training computes: dumps, flight recorder, and the files of a failed run."""
