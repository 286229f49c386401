"""Base directories in remote stores: listed and read through fsspec, copied into the workspace."""
