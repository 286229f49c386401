"""The store: immutable snapshots of runs, their columns and references to payloads. Knows no format."""
