"""Scope trees: built from the paths of operators, folded so that no scope is too wide, opened at first."""
