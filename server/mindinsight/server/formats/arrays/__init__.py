"""Formats of arrays: npy, npz and zip archives, element types, arrays read in parts."""
