"""Command `mindinsight ckpt`: lists checkpoints and compares two."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

from mindinsight.server.claims import exit_code
from mindinsight.server.commands import terminal
from mindinsight.server.commands.dump.dump_selection import worker_pool
from mindinsight.server.commands.options import add_command, add_flag, add_json, resolve_path
from mindinsight.server.debug import checkpoint_weights
from mindinsight.server.files.opener import names_of
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.plain_differences import compare_plain
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile, open_weights

TensorError: TypeAlias = tuple[str, UnreadableError | None]  # name of a tensor, and its damage
_ENDINGS: Final = (".ckpt", ".safetensors", ".npz", ".npy", ".pt", ".pth", ".bin")
_MOST_NAMES: Final = 20  # files listed in an error
_HEADS: Final = (
    "name",
    "dtype",
    "shape",
    "bytes",
    "minimum",
    "maximum",
    "mean",
    "norm",
    "nans",
    "infinities",
)
_DIFFERENCE_HEADS: Final = ("name", "state", "apart", "max_abs", "relative", "equal", "cosine", "shapes")


def register(subparsers: Any) -> None:
    """Add the command with its actions."""
    parser = subparsers.add_parser("ckpt", help="")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = add_command(actions, "ls", ls)
    listing.add_argument("file", type=resolve_path)
    add_json(listing)
    comparing = add_command(actions, "diff", diff)
    comparing.add_argument("first", type=resolve_path)
    comparing.add_argument("second", type=resolve_path)
    add_flag(comparing, "all")
    add_json(comparing)


@terminal.report_errors
def ls(options: argparse.Namespace) -> int:
    """Print the tensors of a checkpoint, and return 0 if all are finite, 1 if not, 2 if unknown. It is
    unknown for damage, and without a checkpoint or a tensor in it."""
    file = _open(options.file)
    with worker_pool() as executor:
        measured = checkpoint_weights.measure_weights(file, executor)
        measurements = list(terminal.progress(measured, len(file.weights), "cli.progress.tensors_measured"))
    if options.json:
        print(terminal.as_json([_tensor_json(tensor) for tensor in measurements]))
    else:
        print(terminal.table(terminal.heads(*_HEADS), map(_row, measurements), terminal.terminal_width()))
        if any(tensor.weight.dtype.startswith("complex") for tensor in measurements):
            print(terminal.localize("cli.ckpt.complex"))
    damaged = _report_damage([file], ((tensor.weight.name, tensor.error) for tensor in measurements))
    unread = [tensor.weight.name for tensor in measurements if tensor.error]
    for claim in checkpoint_weights.unread_claims(unread):
        terminal.say(terminal.localize_claim(claim))
    if not measurements and not damaged:
        terminal.say(terminal.localize("cli.ckpt.no_tensors", {"path": options.file}))
    if any(tensor.statistics and not tensor.statistics.finite for tensor in measurements):
        return 1
    return 2 if damaged or unread or not measurements else 0


@terminal.report_errors
def diff(options: argparse.Namespace) -> int:
    """Print the differences of two checkpoints, and return 0 if they are equal, 1 if not, 2 if unknown. It is
    unknown without a checkpoint, without a common tensor, or if damage may hide a difference."""
    first, second = _open(options.first), _open(options.second)
    total = {weight.name for file in (first, second) for weight in file.weights}
    with worker_pool() as executor:
        compared = checkpoint_weights.compare_weights(first, second, executor)
        differences = list(terminal.progress(compared, len(total), "cli.progress.tensors_compared"))
    claims = checkpoint_weights.difference_claims(differences, compare_plain(first, second))
    shown = [tensor for tensor in differences if options.all or tensor.state != "unchanged"]
    shown.sort(key=lambda tensor: -tensor.apart)
    if options.json:
        print(terminal.as_json([_difference_json(tensor) for tensor in shown]))
    else:
        if shown:
            heads = terminal.heads(*_DIFFERENCE_HEADS)
            print(terminal.table(heads, map(_difference_row, shown), terminal.terminal_width()))
        for claim in (*checkpoint_weights.non_finite_claims(differences), *claims):
            print(terminal.localize_claim(claim))
        counts = checkpoint_weights.count_states(differences)
        texts = [terminal.localize(f"dump.weights.count.{state}", {"n": n}) for state, n in counts.items()]
        print(terminal.localize("cli.comma").join(texts))
    damaged = _report_damage([first, second], ((tensor.name, tensor.error) for tensor in differences))
    return exit_code(claims, hidden=damaged)


def _open(path: Path) -> WeightFile:
    """Return the tensors and plain values that a checkpoint lists, without reading the tensors. Raises
    UnreadableError, or for a directory ValueError with the names of its files."""
    if not path.is_dir():
        try:
            return open_weights(path)
        except UnreadableError as error:
            why = terminal.describe_reason(error.reason, error.detail)
            raise ValueError(terminal.localize("cli.ckpt.unreadable", {"path": path, "why": why})) from error
    names = sorted(name for name in names_of(path) if name.endswith(_ENDINGS))
    if not names:
        words = {"path": path, "endings": ", ".join(_ENDINGS)}
        raise ValueError(terminal.localize("cli.ckpt.directory_without", words))
    shown = ", ".join([*names[:_MOST_NAMES], *(["..."] if len(names) > _MOST_NAMES else [])])
    words = {"path": path, "n": len(names), "names": shown}
    raise ValueError(terminal.localize("cli.ckpt.directory", words))


def _report_damage(files: Sequence[WeightFile], tensors: Iterable[TensorError]) -> bool:
    """Print the damage of files and the errors of tensors, and return True if a file as a whole is
    damaged."""
    damage = [error for file in files for error in checkpoint_weights.damage_of(file)]
    for error in damage:
        terminal.say(terminal.describe_reason(error.reason, error.detail))
    for name, unread in tensors:
        if unread is not None:
            why = terminal.describe_reason(unread.reason, unread.detail)
            terminal.say(terminal.localize("cli.line", {"head": name, "text": why}))
    return bool(damage)


def _row(measurement: checkpoint_weights.WeightStatistics) -> tuple[object, ...]:
    weight, statistics = measurement.weight, measurement.statistics
    names = ("minimum", "maximum", "mean", "norm", "nans", "infinities")
    cells = (weight.name, weight.dtype, list(weight.shape), weight.size)
    return (*cells, *(getattr(statistics, name, None) for name in names))


def _tensor_json(measurement: checkpoint_weights.WeightStatistics) -> dict[str, Any]:
    return {
        **_weight_json(measurement.weight),
        "statistics": asdict(measurement.statistics) if measurement.statistics else None,
        "error": str(measurement.error) if measurement.error else None,
    }


def _weight_json(weight: Weight) -> dict[str, Any]:
    return {"name": weight.name, "dtype": weight.dtype, "shape": weight.shape, "size": weight.size}


def _difference_row(difference: checkpoint_weights.WeightDifference) -> tuple[object, ...]:
    shapes = " -> ".join(str(list(w.shape)) for w in (difference.first, difference.second) if w is not None)
    measures, state = difference.measures, terminal.localize(f"dump.weights.state.{difference.state}")
    names = ("apart", "max_absolute", "relative_distance")
    distances = [getattr(measures, name, None) for name in names]
    cosine = measures and measures.cosine
    return (difference.name, state, *distances, difference.equal, cosine, shapes)


def _difference_json(difference: checkpoint_weights.WeightDifference) -> dict[str, Any]:
    return {
        "name": difference.name,
        "state": difference.state,
        "first": _weight_json(difference.first) if difference.first else None,
        "second": _weight_json(difference.second) if difference.second else None,
        "equal": difference.equal,
        "measures": asdict(difference.measures) if difference.measures else None,
        "error": str(difference.error) if difference.error else None,
    }
