"""Statistics and comparison of checkpoints: files of named tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

import numpy as np

from mindinsight.server.compute.parallel_map import batched, spread
from mindinsight.server.compute.statistics import PIECE, Statistics, measure_values
from mindinsight.server.debug.compare.measures import Measures, measure_value_pair
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile, open_weights

State: TypeAlias = Literal["unchanged", "changed", "type", "shape", "first", "second", "unreadable"]


@dataclass(frozen=True, slots=True)
class WeightStatistics:
    """Statistics of one tensor of a file; None for text and for tensors that cannot be read."""

    weight: Weight
    statistics: Statistics | None
    error: UnreadableError | None = None


@dataclass(frozen=True, slots=True)
class WeightDifference:
    """Difference of a tensor between two files.

    ``first``, ``second``: only in that file; ``unchanged``: equal bytes; ``type``: types differ, compared all
    the same; ``shape``: shapes differ, not compared.
    """

    name: str
    state: State
    first: Weight | None
    second: Weight | None
    measures: Measures | None = None  # of the second against the first
    equal: float | None = None  # share of elements with the same bytes
    error: UnreadableError | None = None

    @property
    def apart(self) -> int:
        """Elements that are NaN or infinite in one file and not the same in the other; unmeasured."""
        return self.measures.apart if self.measures else 0


def list_weights(path: Path) -> WeightFile:
    """List a file in a worker process: the result can be pickled, but values cannot be read through it."""
    return replace(open_weights(path), read=_unavailable, values=_unavailable)


def locate_values(path: Path, name: str) -> Values:
    """Values of a tensor, to be read by parts; for a worker process. Raises KeyError for another name."""
    file = open_weights(path)
    if not any(weight.name == name for weight in file.weights):
        raise KeyError(name)
    return file.values(name)


def _unavailable(name: str) -> NoReturn:
    raise RuntimeError(f"{name!r} was listed in another process")


def measure_weights(file: WeightFile, executor: Executor | None = None) -> Iterator[WeightStatistics]:
    """Statistics of every tensor of a file, in the order they were saved."""
    batches = batched(file.weights, weight=lambda weight: weight.size)
    for answers in spread(partial(_measure_batch, file.path), map(_names, batches), executor):
        yield from answers


def damage_of(file: WeightFile) -> Iterator[UnreadableError]:
    """Damage of a file as a whole: truncated, or contradicting its checksum. Reads the whole file."""
    yield from file.damage
    try:
        error = file.verify()
    except UnreadableError as unreadable:
        error = unreadable
    if error is not None:
        yield error


def compare_weights(
    first: WeightFile, second: WeightFile, executor: Executor | None = None
) -> Iterator[WeightDifference]:
    """Compare two files name by name, in the order of the first; tensors of the second alone come last."""
    first_weights = {weight.name: weight for weight in first.weights}
    second_weights = {weight.name: weight for weight in second.weights}
    batches = batched(
        (weight for name, weight in first_weights.items() if name in second_weights),
        weight=lambda weight: 2 * weight.size,
    )
    compared = spread(partial(_compare_batch, first.path, second.path), map(_names, batches), executor)
    differences = (difference for batch in compared for difference in batch)
    for name, weight in first_weights.items():
        yield next(differences) if name in second_weights else WeightDifference(name, "first", weight, None)
    for name, weight in second_weights.items():
        if name not in first_weights:
            yield WeightDifference(name, "second", None, weight)


def _names(weights: Sequence[Weight]) -> list[str]:
    return [weight.name for weight in weights]


def _measure_batch(path: Path, names: Sequence[str]) -> list[WeightStatistics]:
    file = open_weights(path)
    weights = {weight.name: weight for weight in file.weights}
    return [_measured(file, weights[name]) for name in names]


def _measured(file: WeightFile, weight: Weight) -> WeightStatistics:
    if weight.dtype == "str" or weight.error is not None:
        return WeightStatistics(weight, None, weight.error)
    try:
        return WeightStatistics(weight, measure_values(file.values(weight.name)))
    except UnreadableError as error:
        return WeightStatistics(weight, None, error)


def _compare_batch(first: Path, second: Path, names: Sequence[str]) -> list[WeightDifference]:
    files = open_weights(first), open_weights(second)
    first_weights, second_weights = ({weight.name: weight for weight in file.weights} for file in files)
    return [compare_tensor(files[0], files[1], first_weights[name], second_weights[name]) for name in names]


def compare_tensor(file: WeightFile, other: WeightFile, first: Weight, second: Weight) -> WeightDifference:
    """Compare one tensor of two files, read by parts; what cannot be read is a result, too."""
    try:
        return _read_and_compared(file, other, first, second)
    except UnreadableError as error:
        return WeightDifference(first.name, "unreadable", first, second, error=error)


def _read_and_compared(
    file: WeightFile, other: WeightFile, first: Weight, second: Weight
) -> WeightDifference:
    name = first.name
    before, now = file.values(name), other.values(name)
    if before.shape != now.shape:
        return WeightDifference(name, "shape", first, second)
    text = "str" in (first.dtype, second.dtype)
    if first.dtype != second.dtype:
        return WeightDifference(
            name, "type", first, second, None if text else measure_value_pair(now, before)
        )
    equal = _equal_share(before, now)
    if equal == 1.0:
        return WeightDifference(name, "unchanged", first, second, equal=equal)
    return WeightDifference(
        name, "changed", first, second, None if text else measure_value_pair(now, before), equal
    )


def _equal_share(before: Values, now: Values) -> float:
    """Share of elements with equal bytes: NaN equals NaN only with equal bits, 0.0 does not equal -0.0."""
    if before.dtype != now.dtype:  # text of different lengths
        return 0.0
    size, count, equal = before.dtype.itemsize, 0, 0
    unit = f"u{size}" if size in (1, 2, 4, 8) else "u1"
    for flat, other in zip(before.pieces(), now.pieces(), strict=True):
        for start in range(0, flat.size, PIECE):
            pieces = [np.ascontiguousarray(array[start : start + PIECE]) for array in (flat, other)]
            words = [piece.view(unit).reshape(piece.size, -1) for piece in pieces]
            equal += int(np.count_nonzero((words[0] == words[1]).all(axis=1)))
        count += flat.size
    return equal / count if count else 1.0
