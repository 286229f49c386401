"""Command ``mindinsight parse_summary``: the former name of ``export``."""

from __future__ import annotations

from typing import Any

from mindinsight.server.commands import export


def register(subparsers: Any) -> None:
    """Add the command."""
    export.register(subparsers, "parse_summary")
