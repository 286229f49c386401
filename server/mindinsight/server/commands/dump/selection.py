"""Which part of a dump a command is about, and what it works with."""

from __future__ import annotations

import argparse
import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from mindinsight.server.commands.options import resolve_path
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.dumps import find_dump_dirs, find_layout, list_tensors, open_dump
from mindinsight.server.formats.dumps.types import Dump, FileDamage, TensorEntry
from mindinsight.server.settings import environment

MOST_NAMED: Final = 10


def add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="DUMP", type=resolve_path, help="directory of the dump")
    parser.add_argument("--rank", type=int, action="append", help="only this rank; may be repeated")
    parser.add_argument("--step", type=int, action="append", help="only this step; may be repeated")
    parser.add_argument(
        "--operator", action="append", help="only operators of this name; * and ? stand for others"
    )
    parser.add_argument("--type", action="append", help="only operators of this type, such as MatMul")
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def selected(dump: Dump, options: argparse.Namespace) -> tuple[list[TensorEntry], list[FileDamage]]:
    """Tensors rank by rank and step by step in the order they were written, and what could not be listed."""
    entries, damage = [], list(dump.damage)
    for rank in options.rank or dump.ranks:
        for step in options.step or dump.steps(rank):
            listing = list_tensors(dump, rank, step)
            damage += listing.damage
            entries += [entry for entry in listing.items if _wanted(entry, options)]
    return entries, damage


def open_one(path: str | os.PathLike[str]) -> Dump:
    """The dump at a path; a ValueError names those below it where it is none itself."""
    if find_layout(path) is None:
        below = find_dump_dirs(path)
        if below:
            names = ", ".join(each.path for each in below[:MOST_NAMED])
            more = f" and {len(below) - MOST_NAMED} more" if len(below) > MOST_NAMED else ""
            raise ValueError(f"{path} is no dump itself; there are dumps below it: {names}{more}")
    return open_dump(path)


def workers() -> WorkerPool:
    """Processes on all cores; none is started before there is enough to do for them."""
    return WorkerPool(os.cpu_count() or 1)


def cache() -> StatisticsCache:
    """The cache the server uses too."""
    workspace = environment(os.environ).get("workspace") or Path.home() / "mindinsight"
    return StatisticsCache(Path(workspace) / "cache" / "statistics.sqlite")


def _wanted(entry: TensorEntry, options: argparse.Namespace) -> bool:
    names = (entry.operator, entry.recorded)
    named = not options.operator or any(fnmatchcase(n, p) for n in names for p in options.operator)
    return named and (not options.type or entry.type.lower() in [each.lower() for each in options.type])
