"""Alerts that the training code raised, and alerts that rules find in the stored data."""
