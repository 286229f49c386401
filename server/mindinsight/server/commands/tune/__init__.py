"""Commands `mindinsight tune` and `mindoptimizer`: train repeatedly with different hyper-parameters."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mindinsight.server.commands.options import Group, add_command, add_flag, add_json, argument_type, number

_MOST: Final = 1_000_000  # trials, more than any study has run


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "tune", tune)
    study = _add_options(parser)
    study.add_argument("--trials", type=number(1, _MOST), default=20)
    add_flag(study, "from-lineage")
    parser.set_defaults(iter=None)


def tune(options: argparse.Namespace) -> int:
    """Run the trials of a study, and return 0 for complete trials, 1 for none or too many failures, 130 if
    interrupted. Raises BadSettings if the study cannot be run."""
    from mindinsight.server.commands.tune.study_run import run_study

    return run_study(options)


def mindoptimizer(arguments: Sequence[str] | None = None) -> int:
    """Run the console script `mindoptimizer`: `--iter` more trials, learning from past runs, and return the
    exit code."""
    from importlib.metadata import version

    from mindinsight.server.commands.main import exit_code_of
    from mindinsight.server.commands.parser import Parser

    parser = Parser(prog="mindoptimizer")
    parser.add_argument("--version", action="version", version=f"%(prog)s ({version('mindinsight')})")
    study = _add_options(parser)
    study.add_argument("--iter", type=number(1, _MOST), default=1)
    parser.set_defaults(trials=None, from_lineage=True)
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(given or ["--help"])
    return exit_code_of(lambda: tune(options))


def _add_options(parser: argparse.ArgumentParser) -> Group:
    """Add the options of both commands in groups, and return the group of the study."""
    study, limits, output = map(parser.add_argument_group, ("study", "limits", "output"))
    study.add_argument("--config", type=Path, required=True)
    study.add_argument("--study")
    home = Path(os.environ.get("MINDINSIGHT_WORKSPACE") or Path.home() / "mindinsight")
    study.add_argument("--workspace", type=Path, default=home)
    study.add_argument("--seed", type=number(0, 2**32 - 1))
    limits.add_argument("--jobs", type=number(1, 1000), default=1)
    limits.add_argument("--timeout", type=_seconds, metavar="TIME")
    limits.add_argument("--trial-timeout", type=_seconds, metavar="TIME")
    limits.add_argument("--give-up-after", type=number(0, _MOST), default=5, metavar="N")
    add_flag(output, "dry-run")
    add_json(output)
    return study


@argument_type
def _seconds(text: str) -> float:
    from mindinsight.server.tuning.tuning_file import seconds  # loaded with the command only

    return seconds(text)
