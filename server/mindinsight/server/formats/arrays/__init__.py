"""Formats of arrays: npy, npz and zip archives, element types, arrays that are read by parts."""
