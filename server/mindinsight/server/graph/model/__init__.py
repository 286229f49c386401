"""Graphs in columns: nodes, edges, paths, decoding of one node's details, and simplification."""
