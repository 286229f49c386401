"""Routes that belong to no single kind. Each module has a `router`, or `install(app)` for more."""
