"""Files below base directories: the only way to open and to list them."""
