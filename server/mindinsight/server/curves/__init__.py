"""What can be computed from scalar columns: sampling for a width, smoothing, comparing, bands. Pure."""
