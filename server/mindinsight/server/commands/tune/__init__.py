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
    text = "run trials with hyper-parameters chosen by Optuna (docs/tuning.md)"
    parser = add_command(subparsers, "tune", tune, text)
    study = _add_options(parser)
    text = "total number of trials, including earlier calls (default: 20)"
    study.add_argument("--trials", type=number(1, _MOST), default=20, help=text)
    text = "learn from past runs below the base directory that have all parameters and the target"
    add_flag(study, "from-lineage", text)
    parser.set_defaults(iter=None)


def tune(options: argparse.Namespace) -> int:
    """Run a study.

    Return 0 if there are complete trials, 1 if there are none or too many failed, 130 if interrupted.
    """
    from mindinsight.server.commands.tune.study_run import run_study

    return run_study(options)


def mindoptimizer(arguments: Sequence[str] | None = None) -> int:
    """Run the console script `mindoptimizer`: `--iter` more trials, learning from past runs.

    Return the exit code.
    """
    from importlib.metadata import version

    from mindinsight.server.commands.main import Parser, exit_code_of

    text = "Run trials with hyper-parameters learned from past runs: mindinsight tune, as before."
    parser = Parser(prog="mindoptimizer", description=text, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"%(prog)s ({version('mindinsight')})")
    study = _add_options(parser)
    study.add_argument(
        "--iter", type=number(1, _MOST), default=1, help="number of trials to run (default: 1)"
    )
    parser.set_defaults(trials=None, from_lineage=True)
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(given or ["--help"])
    return exit_code_of(lambda: tune(options))


def _add_options(parser: argparse.ArgumentParser) -> Group:
    """Add the options of both commands in groups. Return the group of the study."""
    study, limits, output = map(parser.add_argument_group, ("study", "limits", "output"))
    study.add_argument("--config", type=Path, required=True, help="tuning file (YAML)")
    study.add_argument(
        "--study", help="name of the study (default: from the tuning file, else its file name)"
    )
    home = Path(os.environ.get("MINDINSIGHT_WORKSPACE") or Path.home() / "mindinsight")
    study.add_argument("--workspace", type=Path, default=home, help="directory in which studies are stored")
    text = "random seed of the sampler; overrides the tuning file"
    study.add_argument("--seed", type=number(0, 2**32 - 1), help=text)
    text = "number of trials that run in parallel (default: 1)"
    limits.add_argument("--jobs", type=number(1, 1000), default=1, help=text)
    text = "time limit of the study, such as 90, 30m, 1.5h or 2d"
    limits.add_argument("--timeout", type=_seconds, metavar="TIME", help=text)
    limits.add_argument("--trial-timeout", type=_seconds, metavar="TIME", help="time limit of each trial")
    text = "stop after N failed trials in a row; 0 never stops (default: 5)"
    limits.add_argument("--give-up-after", type=number(0, _MOST), default=5, metavar="N", help=text)
    add_flag(output, "dry-run", "print the first commands without running them")
    add_json(output, "print the study as JSON at the end")
    return study


@argument_type
def _seconds(text: str) -> float:
    from mindinsight.server.tuning.tuning_file import seconds  # loaded with the command only

    return seconds(text)
