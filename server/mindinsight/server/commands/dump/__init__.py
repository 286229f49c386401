"""Command `mindinsight dump`: dumps on machines without a browser."""

import argparse
from typing import Any

from mindinsight.server.commands.dump import dump_check, dump_compare, dump_convert, dump_ls, dump_stat


def register(subparsers: Any) -> None:
    """Add the command with its actions."""
    parser: argparse.ArgumentParser = subparsers.add_parser("dump", help="")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for action in (dump_ls, dump_stat, dump_check, dump_compare, dump_convert):
        action.register(actions)
