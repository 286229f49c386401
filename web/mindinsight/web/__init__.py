"""Templates, scripts, styles and texts of the pages; holds no code."""
