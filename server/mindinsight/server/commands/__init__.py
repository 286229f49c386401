"""Commands, one module each. `register(subparsers)` adds the command and sets `run(options) -> exit code`."""
