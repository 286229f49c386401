"""Command `mindinsight ckpt`: lists checkpoints and compares two."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mindinsight.server.claims import exit_code
from mindinsight.server.commands.dump.dump_selection import add_json, worker_pool
from mindinsight.server.commands.options import add_command, resolve_path
from mindinsight.server.commands.terminal import (
    as_json,
    cell,
    describe_reason,
    localize_claim,
    progress,
    report_errors,
    say,
    table,
    terminal_width,
)
from mindinsight.server.debug.checkpoint_weights import (
    State,
    WeightDifference,
    WeightStatistics,
    compare_plain,
    compare_weights,
    damage_of,
    difference_claims,
    measure_weights,
    unread_claims,
)
from mindinsight.server.files.opener import names_of
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile, open_weights

_ENDINGS: Final = (".ckpt", ".safetensors", ".npz", ".npy", ".pt", ".pth", ".bin")
_MOST_NAMES: Final = 20  # files listed in an error
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
    """Add the command with its actions."""
    text = "list checkpoints (.ckpt, safetensors, npz, PyTorch) and compare two"
    parser = subparsers.add_parser("ckpt", help=text, allow_abbrev=False)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = add_command(actions, "ls", ls, "list tensors with types, shapes and statistics")
    listing.add_argument("file", type=resolve_path)
    add_json(listing)
    comparing = add_command(actions, "diff", diff, "list the differences of two files with error measures")
    comparing.add_argument("first", type=resolve_path)
    comparing.add_argument("second", type=resolve_path)
    comparing.add_argument("--all", action="store_true", help="print unchanged tensors too")
    add_json(comparing)


@report_errors
def ls(options: argparse.Namespace) -> int:
    """Print the tensors of a checkpoint.

    Return 0 if all are finite, 1 for non-finite values or damage, 2 without a checkpoint.
    """
    file = _open(options.file)
    with worker_pool() as executor:
        measured = measure_weights(file, executor)
        measurements = list(progress(measured, len(file.weights), "tensors measured"))
    if options.json:
        print(as_json([_tensor_json(tensor) for tensor in measurements]))
    else:
        heads = ("NAME", "DTYPE", "SHAPE", "BYTES", "MIN", "MAX", "MEAN", "L2", "NAN", "INF")
        print(table(heads, map(_row, measurements), terminal_width()))
    damaged = _report_damage([file], ((tensor.weight.name, tensor.error) for tensor in measurements))
    for claim in unread_claims([tensor.weight.name for tensor in measurements if tensor.error]):
        say(localize_claim(claim))
    healthy = all(
        tensor.error is None and (tensor.statistics is None or tensor.statistics.finite)
        for tensor in measurements
    )
    return 0 if healthy and not damaged else 1


@report_errors
def diff(options: argparse.Namespace) -> int:
    """Print the differences of two checkpoints.

    Return 0 if they are equal, 1 if not, 2 without a checkpoint or if tensors that cannot be read may differ.
    """
    first, second = _open(options.first), _open(options.second)
    total = {weight.name for file in (first, second) for weight in file.weights}
    with worker_pool() as executor:
        differences = list(progress(compare_weights(first, second, executor), len(total), "tensors compared"))
    claims = difference_claims(differences, compare_plain(first, second))
    shown = [tensor for tensor in differences if options.all or tensor.state != "unchanged"]
    shown.sort(key=lambda tensor: -tensor.apart)
    if options.json:
        print(as_json([_difference_json(tensor) for tensor in shown]))
    else:
        heads = ("NAME", "STATE", "APART", "MAX ABS", "RELATIVE", "EQUAL", "COSINE", "SHAPES")
        if shown:
            print(table(heads, map(_difference_row, shown), terminal_width()))
        for claim in claims:
            print(localize_claim(claim))
        counts = Counter(tensor.state for tensor in differences)
        print(", ".join(f"{counts[state]} {text}" for state, text in _STATES.items() if counts[state]))
        apart = sum(tensor.apart > 0 for tensor in differences)
        if apart:
            print(f"Tensors with NaN or infinities (APART) in one file where the other differs: {apart}.")
    damaged = _report_damage([first, second], ((tensor.name, tensor.error) for tensor in differences))
    return 1 if damaged else exit_code(claims)


def _open(path: Path) -> WeightFile:
    """Open a checkpoint.

    Raises UnreadableError, or for a directory ValueError with the names of its files.
    """
    if not path.is_dir():
        try:
            return open_weights(path)
        except UnreadableError as error:
            reason = describe_reason(error.reason, error.detail)
            raise ValueError(
                f"{path} cannot be read: {reason}. Save or copy the checkpoint again."
            ) from error
    names = sorted(name for name in names_of(path) if name.endswith(_ENDINGS))
    if not names:
        raise ValueError(
            f"{path} is a directory without checkpoints ({', '.join(_ENDINGS)}); specify a file."
        )
    shown = ", ".join([*names[:_MOST_NAMES], *(["..."] if len(names) > _MOST_NAMES else [])])
    raise ValueError(f"{path} is a directory; specify one of its {len(names)} files: {shown}.")


def _report_damage(
    files: Sequence[WeightFile], tensors: Iterable[tuple[str, UnreadableError | None]]
) -> bool:
    """Print the damage of files and the errors of tensors. Return True if a file as a whole is damaged."""
    damage = [error for file in files for error in damage_of(file)]
    for error in damage:
        say(describe_reason(error.reason, error.detail))
    for name, tensor_error in tensors:
        if tensor_error is not None:
            say(f"{cell(name)}: {describe_reason(tensor_error.reason, tensor_error.detail)}")
    return bool(damage)


def _row(measurement: WeightStatistics) -> tuple[object, ...]:
    weight, statistics = measurement.weight, measurement.statistics
    names = ("minimum", "maximum", "mean", "norm", "nans", "infinities")
    cells = (weight.name, weight.dtype, list(weight.shape), weight.size)
    return (*cells, *(getattr(statistics, name, None) for name in names))


def _tensor_json(measurement: WeightStatistics) -> dict[str, Any]:
    return {
        **_weight_json(measurement.weight),
        "statistics": asdict(measurement.statistics) if measurement.statistics else None,
        "error": str(measurement.error) if measurement.error else None,
    }


def _weight_json(weight: Weight) -> dict[str, Any]:
    return {"name": weight.name, "dtype": weight.dtype, "shape": weight.shape, "size": weight.size}


def _difference_row(difference: WeightDifference) -> tuple[object, ...]:
    shapes = " -> ".join(str(list(w.shape)) for w in (difference.first, difference.second) if w is not None)
    measures = difference.measures
    distances = (
        (measures.apart, measures.max_absolute, measures.relative_distance) if measures else (None,) * 3
    )
    return (
        difference.name,
        _STATES[difference.state],
        *distances,
        difference.equal,
        measures and measures.cosine,
        shapes,
    )


def _difference_json(difference: WeightDifference) -> dict[str, Any]:
    return {
        "name": difference.name,
        "state": difference.state,
        "first": _weight_json(difference.first) if difference.first else None,
        "second": _weight_json(difference.second) if difference.second else None,
        "equal": difference.equal,
        "measures": asdict(difference.measures) if difference.measures else None,
        "error": str(difference.error) if difference.error else None,
    }
