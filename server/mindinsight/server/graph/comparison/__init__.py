"""Comparison of two graphs: sequence alignment, matching of nodes, differences of the matched ones."""
