"""Computational graphs: what they hold, how they fold into scopes, where their boxes lie on a page."""
