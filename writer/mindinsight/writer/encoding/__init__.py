"""Encoders: numbers and arrays to the records of event files."""
