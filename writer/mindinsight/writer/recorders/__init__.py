"""Recorders for debugging a training: dumps, flight recorder, and the files of a failed run."""
