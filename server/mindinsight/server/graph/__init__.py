"""Computational graphs: model, scope tree, layout, comparison, search and their JSON."""
