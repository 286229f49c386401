"""Command `mindinsight dump`: dumps on machines without a browser."""

import argparse
from typing import Any


def register(subparsers: Any) -> Any:
    """Add the command `dump`, and return the object to which the modules of this package add its actions."""
    parser: argparse.ArgumentParser = subparsers.add_parser("dump", help="")
    return parser.add_subparsers(title="actions", metavar="ACTION", required=True)
