"""Command ``mindinsight parse_summary``: the former name of ``export``."""

from typing import Any

from mindinsight.server.commands import export


def register(subparsers: Any) -> None:
    """Add the command."""
    export.register(subparsers, "parse_summary")
