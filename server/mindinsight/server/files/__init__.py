"""Files below base directories: the one way to open and to list them."""
