"""Search in a graph: by text, regular expression and type, and along its edges."""
