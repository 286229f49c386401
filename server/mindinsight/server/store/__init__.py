"""What is known now: runs, their columns and where their payloads lie. Knows no format."""
