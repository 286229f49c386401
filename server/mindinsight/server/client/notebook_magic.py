"""Line magic of IPython: ``%mindinsight start --logdir runs``, as people type it for TensorBoard."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, NoReturn

from mindinsight.server.client.notebook import show
from mindinsight.server.commands.options import add_bases
from mindinsight.server.errors import BadSettings


class _Parser(argparse.ArgumentParser):
    """Parser that raises: a notebook's process does not end over a wrong option."""

    def error(self, message: str) -> NoReturn:
        raise BadSettings(f"{message}. {self.format_usage().strip()}")


def register(ipython: Any) -> None:
    """Add the magic to a shell of IPython."""
    ipython.register_magic_function(mindinsight, "line", "mindinsight")


def mindinsight(line: str) -> None:
    """Show the dashboard in this cell. Raises BadSettings for options that there are not."""
    options = _parser().parse_args(shlex.split(line))
    show(
        options.summary_base_dir,
        view=options.view,
        height=options.height,
        port=options.port,
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%mindinsight", add_help=False, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    start = commands.add_parser("start", add_help=False, allow_abbrev=False)
    add_bases(start, "--summary-base-dir", "--logdir")
    start.add_argument("--port", type=int)
    start.add_argument("--height", type=int, default=800)
    start.add_argument("--view", default="scalar")
    return parser
