"""Store: immutable snapshots of runs, their columns and references to payloads.

Independent of file formats.
"""
