"""Overlay of a dump on a graph: the node of each operator, and the colour of each node."""
