"""Command ``mindinsight dump ls``: lists the ranks, steps and tensors of a dump."""

import argparse
from collections.abc import Sequence
from typing import Any, Final

from mindinsight.server.commands.dump.dump_selection import add_selection, open_single_dump, select_tensors
from mindinsight.server.commands.options import add_command
from mindinsight.server.commands.terminal import (
    as_json,
    heads,
    localize,
    report_damage,
    report_errors,
    table,
    terminal_width,
)
from mindinsight.server.formats.dumps import find_dump_dirs, find_layout
from mindinsight.server.formats.dumps.dump_types import Dump, DumpDir, TensorEntry

_HEADS: Final = ("rank", "step", "operator", "type", "direction", "slot", "dtype", "shape")


def register(actions: Any) -> None:
    """Add `mindinsight dump ls` to the actions."""
    parser = add_command(actions, "ls", run)
    add_selection(parser)


@report_errors
def run(options: argparse.Namespace) -> int:
    """Print a dump, or the dumps below a directory, and return 0, 1 for an unreadable file, or 2 without a
    dump and for an unknown rank, step or operator."""
    below = () if find_layout(options.path) else find_dump_dirs(options.path)
    if below:
        _print_dumps(below, options.json)
        return 0
    dump = open_single_dump(options.path, "ls")
    entries, damage = select_tensors(dump, options)
    if options.json:
        print(as_json({**_summary_json(dump), "tensors": [_tensor_json(entry) for entry in entries]}))
    elif options.rank or options.step or options.operator or options.type:
        print(table(heads(*_HEADS), map(_row, entries), terminal_width()))
    else:
        print(_overview(dump, entries))
    report_damage(damage)
    return 1 if damage else 0


def _print_dumps(dumps: Sequence[DumpDir], json: bool) -> None:
    if json:
        print(as_json({"dumps": [{"path": dump.path, "layout": dump.layout} for dump in dumps]}))
    else:
        rows = [(dump.path, dump.layout) for dump in dumps]
        print(table(heads("dump", "layout"), rows, terminal_width()))


def _overview(dump: Dump, entries: Sequence[TensorEntry]) -> str:
    groups: dict[tuple[int, int, str], list[TensorEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.rank, entry.step, entry.graph), []).append(entry)
    rows = [(*key, len({e.recorded for e in tensors}), len(tensors)) for key, tensors in groups.items()]
    parts = (dump.framework, dump.version, dump.device, dump.level, dump.task)
    origin = " ".join(filter(None, parts))
    layout = localize("cli.dump.layout", {"layout": dump.layout})
    lines = [localize("cli.line", {"head": layout, "text": origin}) if origin else layout]
    columns = heads("rank", "step", "graph", "operators", "tensors")
    lines.append(table(columns, rows, terminal_width()))
    lines += [localize("cli.dump.logs", {"n": len(dump.logs)})] * bool(dump.logs)
    return "\n".join(lines)


def _summary_json(dump: Dump) -> dict[str, Any]:
    return {
        **{name: getattr(dump, name) for name in ("path", "layout", "framework", "version", "ranks")},
        "steps": dump.steps(),
        "graphs": dump.graphs(),
        "logs": [log.path for log in dump.logs],
    }


def _row(entry: TensorEntry) -> tuple[object, ...]:
    shape = None if entry.shape is None else list(entry.shape)
    columns = (entry.rank, entry.step, entry.operator, entry.type)
    return (*columns, entry.direction, entry.slot, entry.dtype or None, shape)


def _tensor_json(entry: TensorEntry) -> dict[str, Any]:
    names = ("rank", "step", "graph", "operator", "recorded", "type", "direction", "slot")
    return {
        **{name: getattr(entry, name) for name in names},
        "dtype": entry.dtype or None,
        "shape": entry.shape,
        "path": entry.ref.path if entry.ref else None,
    }
