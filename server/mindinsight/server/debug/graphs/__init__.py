"""Graphs of dumps: operators joined to the nodes of a graph, their status, and the tree that is drawn."""
