"""``mindinsight ckpt``: what files of weights hold and what changed between two."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mindinsight.server.commands.dump.selection import add_json, workers
from mindinsight.server.commands.messages import telling, told
from mindinsight.server.commands.options import resolve_path
from mindinsight.server.commands.terminal import as_json, cell, progress, room, say, table
from mindinsight.server.debug.weights import (
    State,
    WeightDifference,
    WeightStatistics,
    compare_weights,
    damage_of,
    measure_weights,
)
from mindinsight.server.files.folders import names_of
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.weights import Weight, WeightFile, open_weights

_ENDINGS: Final = (".ckpt", ".safetensors", ".npz", ".npy", ".pt", ".pth", ".bin")
_MOST_NAMES: Final = 20
_STATES: Final[Mapping[State, str]] = {
    "unchanged": "unchanged",
    "changed": "changed",
    "type": "other type",
    "shape": "other shape",
    "first": "only in the first",
    "second": "only in the second",
    "unreadable": "unreadable",
}


def register(subparsers: Any) -> None:
    text = "list checkpoints (.ckpt, safetensors, npz, PyTorch) and compare two"
    parser = subparsers.add_parser("ckpt", help=text, allow_abbrev=False)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("ls", help="names, types, shapes and statistics", allow_abbrev=False)
    listing.add_argument("file", type=resolve_path)
    add_json(listing)
    listing.set_defaults(run=ls)
    comparing = actions.add_parser(
        "diff", help="what changed between two files, and how much", allow_abbrev=False
    )
    comparing.add_argument("first", type=resolve_path)
    comparing.add_argument("second", type=resolve_path)
    comparing.add_argument("--all", action="store_true", help="print what did not change too")
    add_json(comparing)
    comparing.set_defaults(run=diff)


@telling
def ls(options: argparse.Namespace) -> int:
    """0: all finite. 1: NaN or infinities, or something cannot be read. 2: no file of weights."""
    file = _open(options.file)
    with workers() as executor:
        measured = measure_weights(file, executor)
        found = list(progress(measured, len(file.weights), "tensors measured"))
    if options.json:
        print(as_json([_listed(each) for each in found]))
    else:
        heads = ("NAME", "DTYPE", "SHAPE", "BYTES", "MIN", "MAX", "MEAN", "L2", "NAN", "INF")
        print(table(heads, map(_row, found), room()))
    damage = list(damage_of(file))
    for error in damage:
        say(told(error.reason, error.detail))
    for each in found:
        _complain(each.weight.name, each.error)
    healthy = all(
        each.error is None and (each.statistics is None or each.statistics.finite) for each in found
    )
    return 0 if healthy and not damage else 1


@telling
def diff(options: argparse.Namespace) -> int:
    """0: the same. 1: something changed. 2: no file of weights."""
    first, second = _open(options.first), _open(options.second)
    names = {weight.name for file in (first, second) for weight in file.weights}
    with workers() as executor:
        found = list(progress(compare_weights(first, second, executor), len(names), "tensors compared"))
    shown = [each for each in found if options.all or each.state != "unchanged"]
    shown.sort(key=lambda each: -each.lost)
    if options.json:
        print(as_json([_difference(each) for each in shown]))
    else:
        heads = ("NAME", "STATE", "LOST", "MAX ABS", "RELATIVE", "EQUAL", "COSINE", "SHAPES")
        print(table(heads, map(_changed, shown), room()) if shown else "Nothing changed.")
        counts = Counter(each.state for each in found)
        print(", ".join(f"{counts[state]} {text}" for state, text in _STATES.items() if counts[state]))
        lost = sum(each.lost > 0 for each in found)
        if lost:
            print(f"{lost} tensors have NaN or infinities (LOST) that were finite in the first.")
    damage = [*damage_of(first), *damage_of(second)]
    for error in damage:
        say(told(error.reason, error.detail))
    for each in found:
        _complain(each.name, each.error)
    return 0 if all(each.state == "unchanged" for each in found) and not damage else 1


def _open(path: Path) -> WeightFile:
    """A file of weights. Raises UnreadableError, or ValueError that names the files in a directory."""
    if not path.is_dir():
        return open_weights(path)
    names = sorted(name for name in names_of(path) if name.endswith(_ENDINGS))
    if not names:
        raise ValueError(f"{path} is a directory without checkpoints ({', '.join(_ENDINGS)}): name a file.")
    listed = ", ".join([*names[:_MOST_NAMES], *(["..."] if len(names) > _MOST_NAMES else [])])
    raise ValueError(f"{path} is a directory: name one of its {len(names)} files, {listed}.")


def _complain(name: str, error: UnreadableError | None) -> None:
    if error is not None:
        say(f"{cell(name)}: {told(error.reason, error.detail)}")


def _row(each: WeightStatistics) -> tuple[object, ...]:
    weight, found = each.weight, each.statistics
    place = (weight.name, weight.dtype, list(weight.shape), weight.size)
    if found is None:
        return (*place, *[None] * 6)
    return (*place, found.minimum, found.maximum, found.mean, found.norm, found.nans, found.infinities)


def _listed(each: WeightStatistics) -> dict[str, Any]:
    return {
        **_weight(each.weight),
        "statistics": asdict(each.statistics) if each.statistics else None,
        "error": str(each.error) if each.error else None,
    }


def _weight(weight: Weight) -> dict[str, Any]:
    return {"name": weight.name, "dtype": weight.dtype, "shape": weight.shape, "size": weight.size}


def _changed(each: WeightDifference) -> tuple[object, ...]:
    shapes = " -> ".join(str(list(w.shape)) for w in (each.first, each.second) if w is not None)
    measures = each.measures
    far = (measures.lost, measures.max_absolute, measures.relative_distance) if measures else (None,) * 3
    return each.name, _STATES[each.state], *far, each.equal, measures and measures.cosine, shapes


def _difference(each: WeightDifference) -> dict[str, Any]:
    return {
        "name": each.name,
        "state": each.state,
        "first": _weight(each.first) if each.first else None,
        "second": _weight(each.second) if each.second else None,
        "equal": each.equal,
        "measures": asdict(each.measures) if each.measures else None,
        "error": str(each.error) if each.error else None,
    }
