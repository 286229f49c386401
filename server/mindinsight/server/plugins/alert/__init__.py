"""Alerts: those that the training code raised, and those that rules find in the stored data."""
