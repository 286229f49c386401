"""The Python client: reads runs without a server, exports them, shows the pages in a notebook."""
