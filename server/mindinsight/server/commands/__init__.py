"""One module per subcommand: ``register(subparsers)`` adds it and sets ``run(options) -> exit code``."""
