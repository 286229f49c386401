"""Watching: which paths changed, by events of the file system and by polling."""
