"""The index cache: what was read of event files, kept on disk between two starts."""
