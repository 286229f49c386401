"""Analysis of scalar curves: sampling for a width, smoothing, comparison, bands, outlier ranks,
importance."""
