"""Pure computation on scalar columns: sampling for a width, smoothing, comparison, bands."""
