"""Options that select tensors of a dump, and the worker pool and cache of dump commands."""

import argparse
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from mindinsight.server.commands.options import add_json, resolve_path
from mindinsight.server.commands.terminal import localize
from mindinsight.server.compute.worker_pool import TaskExecutor, WorkerPool
from mindinsight.server.debug.fault import missing_place
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.dumps import find_dump_dirs, find_layout, list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, TensorEntry
from mindinsight.server.settings import LOCAL, check_cluster_package, environment
from mindinsight.server.settings.base_dirs import directory_problem, empty_directory

MAX_NAMED: Final = 10  # dumps listed in an error


def add_selection(parser: argparse.ArgumentParser, types: bool = True) -> None:
    """Add the dump's directory and the options that select ranks, steps, operators and, with `types`,
    their types.
    """
    parser.add_argument("path", metavar="DUMP", type=resolve_path)
    parser.add_argument("--rank", type=int, action="append")
    parser.add_argument("--step", type=int, action="append")
    parser.add_argument("--operator", action="append")
    if types:
        parser.add_argument("--type", action="append")
    add_json(parser)


def select_tensors(dump: Dump, options: argparse.Namespace) -> tuple[list[TensorEntry], list[FileDamage]]:
    """Return the selected tensors by rank and step, in the order written, and the damage. Raises ValueError
    for an unknown rank or step, and if no operator has a selected name. If no tensor has a selected type,
    there are none."""
    if absent := missing_place(dump, options.rank, options.step):
        raise ValueError(localize("cli.dump.no_step", {"rank": absent[0], "step": absent[1]}))
    entries, damage = [], list(dump.damage)
    for rank in options.rank or dump.ranks:
        for step in options.step or dump.steps(rank):
            listing = list_tensors(dump, rank, step)
            damage += listing.damage
            entries += [entry for entry in listing.items if _has_name(entry, options.operator)]
    if options.operator and not entries:
        raise ValueError(localize("cli.dump.no_match", {"patterns": ", ".join(options.operator)}))
    types = [wanted.lower() for wanted in options.type or ()]
    return [entry for entry in entries if not types or entry.type.lower() in types], damage


def open_single_dump(path: str | os.PathLike[str], command: str) -> Dump:
    """Open the dump at a path. Raises ValueError if there is none, and UnreadableError if it is invalid.
    The ValueError lists the dumps below the path if there are any, and says how to name one of them to
    ``command``, such as "check"."""
    if find_layout(path) is None:
        if problem := directory_problem(path):
            raise ValueError(problem)
        if empty_directory(path):
            raise ValueError(localize("cli.dump.empty", {"path": path}))
        below = find_dump_dirs(path)
        if below:
            names = ", ".join(dump.path for dump in below[:MAX_NAMED])
            words = {"path": path, "names": names, "n": len(below) - MAX_NAMED}
            words |= {"command": command, "first": below[0].path}
            raise ValueError(localize(f"cli.dump.below{'_more' * (len(below) > MAX_NAMED)}", words))
    return open_dump(path)


def worker_pool(executor: str = LOCAL, *folders: Path) -> TaskExecutor:
    """Return a pool with a process per core, started when there is enough work, or a cluster's executor.
    Raises BadSettings if a package for the cluster is missing. Every worker of a cluster must see the
    `folders`."""
    if executor == LOCAL:
        return WorkerPool(os.cpu_count() or 1)
    check_cluster_package()
    from mindinsight.server.compute.cluster_executor import ClusterExecutor  # loads asyncio

    return ClusterExecutor(executor, folders)


def statistics_cache() -> StatisticsCache:
    """Return the cache of tensor statistics in the workspace, which the server uses as well."""
    workspace = environment(os.environ).get("workspace") or Path.home() / "mindinsight"
    return StatisticsCache(Path(workspace) / "cache" / "statistics.sqlite")


def _has_name(entry: TensorEntry, patterns: Sequence[str] | None) -> bool:
    names = (entry.operator, entry.recorded)
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
