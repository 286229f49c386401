"""Files of named tensors: statistics of each, and what changed between two of them."""

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
from mindinsight.server.debug.compare.measures import Measures, measure_pair_of
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile, open_weights

State: TypeAlias = Literal["unchanged", "changed", "type", "shape", "first", "second", "unreadable"]


@dataclass(frozen=True, slots=True)
class WeightStatistics:
    """One tensor of a file, measured; without statistics for text and for what cannot be read."""

    weight: Weight
    statistics: Statistics | None
    error: UnreadableError | None = None


@dataclass(frozen=True, slots=True)
class WeightDifference:
    """One name in two files. ``first`` and ``second``: only there. ``unchanged``: the same bytes.

    ``type``: another type, measured all the same; ``shape``: not comparable element by element.
    """

    name: str
    state: State
    first: Weight | None
    second: Weight | None
    measures: Measures | None = None  # of the second against the first
    equal: float | None = None  # share of elements with the same bytes
    error: UnreadableError | None = None

    @property
    def lost(self) -> int:
        """Elements that were finite in the first file and are NaN or infinite in the second."""
        return self.measures.lost if self.measures else 0


def list_weights(path: Path) -> WeightFile:
    """A file of tensors as another process may list it: its values are not read through the result."""
    return replace(open_weights(path), read=_unavailable, values=_unavailable)


def _unavailable(name: str) -> NoReturn:
    raise RuntimeError(f"{name!r} was listed in another process")


def measure_weights(file: WeightFile, executor: Executor | None = None) -> Iterator[WeightStatistics]:
    """Statistics of every tensor of a file, in the order they were saved."""
    batches = batched(file.weights, weight=lambda each: each.size)
    for answers in spread(partial(_measure_batch, file.path), map(_names, batches), executor):
        yield from answers


def damage_of(file: WeightFile) -> Iterator[UnreadableError]:
    """What is wrong with a file as a whole: cut off, or without the checksum it records. Reads all of it."""
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
    """Every name of both files, in the order of the first; what only the second has comes last."""
    ours = {weight.name: weight for weight in first.weights}
    theirs = {weight.name: weight for weight in second.weights}
    both = batched((each for name, each in ours.items() if name in theirs), weight=lambda each: 2 * each.size)
    compared = spread(partial(_compare_batch, first.path, second.path), map(_names, both), executor)
    found = (difference for batch in compared for difference in batch)
    for name, weight in ours.items():
        yield next(found) if name in theirs else WeightDifference(name, "first", weight, None)
    for name, weight in theirs.items():
        if name not in ours:
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
    ours, theirs = ({weight.name: weight for weight in file.weights} for file in files)
    return [_compared(files[0], files[1], ours[name], theirs[name]) for name in names]


def _compared(file: WeightFile, other: WeightFile, first: Weight, second: Weight) -> WeightDifference:
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
        return WeightDifference(name, "type", first, second, None if text else measure_pair_of(now, before))
    equal = _equal_share(before, now)
    if equal == 1.0:
        return WeightDifference(name, "unchanged", first, second, equal=equal)
    return WeightDifference(
        name, "changed", first, second, None if text else measure_pair_of(now, before), equal
    )


def _equal_share(before: Values, now: Values) -> float:
    """The share of elements with the same bytes: NaN is like NaN only if its bits are, 0.0 not like -0.0."""
    if before.dtype != now.dtype:  # text of different lengths
        return 0.0
    size, count, equal = before.dtype.itemsize, 0, 0
    unit = f"u{size}" if size in (1, 2, 4, 8) else "u1"
    for flat, other in zip(before.pieces(), now.pieces(), strict=True):
        for start in range(0, flat.size, PIECE):
            pieces = [np.ascontiguousarray(each[start : start + PIECE]) for each in (flat, other)]
            words = [piece.view(unit).reshape(piece.size, -1) for piece in pieces]
            equal += int(np.count_nonzero((words[0] == words[1]).all(axis=1)))
        count += flat.size
    return equal / count if count else 1.0
