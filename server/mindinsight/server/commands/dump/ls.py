"""``mindinsight dump ls``: what a dump holds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from mindinsight.server.commands.dump.selection import add_selection, open_one, selected
from mindinsight.server.commands.messages import complain, telling
from mindinsight.server.commands.terminal import as_json, room, table
from mindinsight.server.formats.dumps import find_dump_dirs, find_layout
from mindinsight.server.formats.dumps.types import Dump, DumpDir, TensorEntry

_HEADS: Final = ("RANK", "STEP", "OPERATOR", "TYPE", "IO", "SLOT", "DTYPE", "SHAPE")


def register(actions: Any) -> None:
    text = "ranks and steps of a dump; with --rank, --step, --operator or --type its tensors"
    parser = actions.add_parser("ls", help=text, description=text, allow_abbrev=False)
    add_selection(parser)
    parser.set_defaults(run=run)


@telling
def run(options: argparse.Namespace) -> int:
    """0: listed, the dump or those below a directory. 1: something in it cannot be read. 2: no dump."""
    below = () if find_layout(options.path) else find_dump_dirs(options.path)
    if below:
        _print_dumps(below, options.json)
        return 0
    dump = open_one(options.path)
    entries, damage = selected(dump, options)
    if options.json:
        print(as_json({**_summary(dump), "tensors": [_tensor(entry) for entry in entries]}))
    elif options.rank or options.step or options.operator or options.type:
        print(table(_HEADS, map(_row, entries), room()))
    else:
        print(_overview(dump, entries))
    complain(damage)
    return 1 if damage else 0


def _print_dumps(dumps: Sequence[DumpDir], json: bool) -> None:
    if json:
        print(as_json({"dumps": [{"path": each.path, "layout": each.layout} for each in dumps]}))
    else:
        print(table(("DUMP", "LAYOUT"), [(each.path, each.layout) for each in dumps], room()))


def _overview(dump: Dump, entries: Sequence[TensorEntry]) -> str:
    counts: dict[tuple[int, int, str], list[TensorEntry]] = {}
    for entry in entries:
        counts.setdefault((entry.rank, entry.step, entry.graph), []).append(entry)
    rows = [(*key, len({e.recorded for e in each}), len(each)) for key, each in counts.items()]
    made = " ".join(
        part for part in (dump.framework, dump.version, dump.device, dump.level, dump.task) if part
    )
    lines = [f"{dump.layout} dump{': ' if made else ''}{made}"]
    lines.append(table(("RANK", "STEP", "GRAPH", "OPERATORS", "TENSORS"), rows, room()))
    lines += [f"{len(dump.logs)} log files"] * bool(dump.logs)
    return "\n".join(lines)


def _summary(dump: Dump) -> dict[str, Any]:
    return {
        "path": dump.path,
        "layout": dump.layout,
        "framework": dump.framework,
        "version": dump.version,
        "ranks": dump.ranks,
        "steps": dump.steps(),
        "graphs": dump.graphs(),
        "logs": [log.path for log in dump.logs],
    }


def _row(entry: TensorEntry) -> tuple[object, ...]:
    shape = None if entry.shape is None else list(entry.shape)
    place = (entry.rank, entry.step, entry.operator, entry.type)
    return (*place, entry.direction, entry.slot, entry.dtype or None, shape)


def _tensor(entry: TensorEntry) -> dict[str, Any]:
    return {
        "rank": entry.rank,
        "step": entry.step,
        "graph": entry.graph,
        "operator": entry.operator,
        "recorded": entry.recorded,
        "type": entry.type,
        "direction": entry.direction,
        "slot": entry.slot,
        "dtype": entry.dtype or None,
        "shape": entry.shape,
        "path": entry.ref.path if entry.ref else None,
    }
