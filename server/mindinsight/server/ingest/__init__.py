"""Ingestion: finds run directories, watches and reads their files, fills the store, keeps the index cache."""
