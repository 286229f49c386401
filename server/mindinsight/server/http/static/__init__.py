"""Static files of the pages: assets with their hashes, byte ranges, bundles of scripts and texts."""
