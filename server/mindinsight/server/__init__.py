"""The service: reads event files and dumps, and shows them in a browser."""
