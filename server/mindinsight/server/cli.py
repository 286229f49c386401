"""The command ``mindinsight``. Each module in ``commands/`` adds one or more subcommands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from mindinsight.server import commands
from mindinsight.server.errors import BadSettings
from mindinsight.server.walking import modules_of


def parser() -> argparse.ArgumentParser:
    """Long options may not be shortened, as before: a shorter form could change its meaning later."""
    top = argparse.ArgumentParser(
        prog="mindinsight", description="See what a training run wrote.", allow_abbrev=False
    )
    top.add_argument("--version", action="version", version=f"mindinsight ({version('mindinsight')})")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND")
    subparsers.add_parser("help", help="this text").set_defaults(run=lambda _: _help(top))
    for module in modules_of(commands.__name__, commands.__path__):
        module.register(subparsers)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    top = parser()
    options = top.parse_args(arguments)
    if not hasattr(options, "run"):
        return _help(top)
    try:
        return int(options.run(options))
    except BadSettings as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _help(top: argparse.ArgumentParser) -> int:
    top.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
