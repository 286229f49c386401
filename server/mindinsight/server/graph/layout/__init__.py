"""Layered graph layout (Sugiyama): boxes, flows between them, layers, order, coordinates, nested scopes."""
