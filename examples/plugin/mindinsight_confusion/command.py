"""Command `mindinsight confusion RUN`: prints the newest confusion matrix of a run."""

from __future__ import annotations

import argparse
from typing import Any

from mindinsight.extension import BadSettings, add_bases, add_command

from .matrix import PREFIX, summary


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "confusion", confusion)
    parser.add_argument("name", metavar="RUN")
    add_bases(parser, "--summary-base-dir")


def confusion(options: argparse.Namespace) -> int:
    """Print the newest matrix. Return 0, or 1 if there is none."""
    import mindinsight

    summaries = mindinsight.open(options.summary_base_dir)
    for run in summaries.matching(options.name):
        for tag in sorted(summaries.run(run).references.get("tensor", {})):
            if tag.startswith(PREFIX):
                *_, newest = summaries.tensors(tag, run)
                facts = summary(newest.data.values)
                print(f"{run} {tag} step {newest.step}: accuracy {facts['accuracy']}")
                for row in facts["matrix"]:
                    print(" ".join(f"{count:8g}" for count in row))
                return 0
    raise BadSettings(f"{options.name} has no confusion matrix")
