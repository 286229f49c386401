"""Commands `mindinsight tune` and `mindoptimizer`: train repeatedly with different hyper-parameters."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from mindinsight.server.commands.options import add_command, argument_type, number
from mindinsight.server.errors import BadSettings

_MOST: Final = 1_000_000  # trials


def register(subparsers: Any) -> None:
    """Add the command."""
    text = "train repeatedly with hyper-parameters that Optuna chooses (docs/tuning.md)"
    parser = add_command(subparsers, "tune", tune, text)
    _add_options(parser)
    help_trials = "total number of trials, including those of earlier calls (default: 20)"
    parser.add_argument("--trials", type=number(1, _MOST), default=20, help=help_trials)
    help_lineage = "learn from the past runs below the base directory that have all parameters and the target"
    parser.add_argument("--from-lineage", action="store_true", help=help_lineage)
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

    text = "Train with hyper-parameters that are chosen from past trainings: mindinsight tune, as before."
    parser = argparse.ArgumentParser(prog="mindoptimizer", description=text, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"%(prog)s ({version('mindinsight')})")
    _add_options(parser)
    parser.add_argument("--iter", type=number(1, _MOST), default=1, help="trials to run (default: 1)")
    parser.set_defaults(trials=None, from_lineage=True)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        return tune(parser.parse_args(given or ["--help"]))
    except BadSettings as error:
        from mindinsight.server.commands.terminal import say

        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, required=True, help="the tuning file, YAML")
    parser.add_argument("--jobs", type=number(1, 1000), default=1, help="trials at a time (default: 1)")
    parser.add_argument("--study", help="name of the study (default: that in the file, or the file's own)")
    home = Path(os.environ.get("MINDINSIGHT_WORKSPACE") or Path.home() / "mindinsight")
    parser.add_argument("--workspace", type=Path, default=home, help="where studies are kept")
    parser.add_argument("--seed", type=number(0, 2**32 - 1), help="of the sampler, instead of the file's")
    parser.add_argument("--timeout", type=_seconds, metavar="TIME", help="of the study: 90, 30m, 1.5h, 2d")
    parser.add_argument("--trial-timeout", type=_seconds, metavar="TIME", help="of each trial")
    help_give_up = "end after N failed trials in a row, 0 for never (default: 5)"
    parser.add_argument("--give-up-after", type=number(0, _MOST), default=5, metavar="N", help=help_give_up)
    parser.add_argument("--dry-run", action="store_true", help="print the first commands and run nothing")
    parser.add_argument("--json", action="store_true", help="print the study at the end, for scripts")


@argument_type
def _seconds(text: str) -> float:
    from mindinsight.server.tuning.tuning_file import seconds  # loaded with the command only

    return seconds(text)
