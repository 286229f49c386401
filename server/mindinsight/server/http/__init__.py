"""ASGI plumbing: the lazily built application, security, responses, server-sent events, static assets."""
