"""Faults in the curves of a run, and which scalars are judged."""
