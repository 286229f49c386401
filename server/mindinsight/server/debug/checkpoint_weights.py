"""Weights of checkpoints: statistics, comparison of two files, and a timeline over a series."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, NoReturn, TypeAlias, get_args

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.compute.parallel_map import batched, spread
from mindinsight.server.compute.tensor_statistics import PIECE, Statistics, measure_values
from mindinsight.server.curves.levels import GROWN
from mindinsight.server.debug.compare.error_measures import Measures, measure_value_pair
from mindinsight.server.debug.compare.weight_history import history_claims
from mindinsight.server.debug.tensor_targets import is_state
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.plain_differences import PlainDifference
from mindinsight.server.formats.weights.weight_files import Weight, WeightFile, open_weights

State: TypeAlias = Literal[
    "unchanged", "bits", "changed", "type", "shape", "reshaped", "first", "second", "unreadable"
]


@dataclass(frozen=True, slots=True)
class WeightStatistics:
    """Statistics of one tensor of a file, None for text and for tensors that cannot be read."""

    weight: Weight
    statistics: Statistics | None
    error: UnreadableError | None = None


@dataclass(frozen=True, slots=True)
class WeightDifference:
    """Difference of a tensor between two files.

    ``first``, ``second``: only in that file. ``unchanged``: equal bytes. ``bits``: equal values in other
    bytes, as 0.0 and -0.0 or two NaN. ``type``: types differ, values are compared. ``shape``: shapes differ,
    and values do. ``reshaped``: equal bytes in another shape.
    """

    name: str
    state: State
    first: Weight | None
    second: Weight | None
    measures: Measures | None = None  # of the second against the first
    equal: float | None = None  # share of elements with the same bytes
    error: UnreadableError | None = None
    broken: tuple[int | None, ...] = ()  # non-finite elements in each file that has it, None for no numbers

    @property
    def non_finite(self) -> int | None:
        """Return the sum of the non-finite elements of both files, None if they are not numbers."""
        known = [count for count in self.broken if count is not None]
        return sum(known) if known else None

    @property
    def apart(self) -> int:
        """Return how many elements are non-finite in one file and different in the other, 0 if unmeasured."""
        return self.measures.apart if self.measures else 0


def list_weights(path: Path) -> WeightFile:
    """Return the list of the weights in a checkpoint file, as a WeightFile that can be pickled: its ``read``
    and ``values`` raise RuntimeError. Raises UnreadableError if the file cannot be read."""
    return replace(open_weights(path), read=_unavailable, values=_unavailable)


def locate_values(path: Path, name: str) -> Values:
    """Return the lazy values of a tensor in a file. Raises KeyError without it, and UnreadableError."""
    if name not in _by_name(file := open_weights(path)):
        raise KeyError(name)
    return file.values(name)


def _unavailable(name: str) -> NoReturn:
    raise RuntimeError(f"{name!r} was listed in another process")


def measure_weights(file: WeightFile, executor: Executor | None = None) -> Iterator[WeightStatistics]:
    """Yield the statistics of every tensor of a file, in the order they were saved."""
    batches = batched(file.weights, weight=lambda weight: weight.size)
    for answers in spread(partial(_measure_batch, file.path), map(_names, batches), executor):
        yield from answers


def damage_of(file: WeightFile) -> Iterator[UnreadableError]:
    """Yield the damage of a whole file: truncated, or contradicting its checksum. Reads the whole file."""
    yield from file.damage
    try:
        error = file.verify()
    except UnreadableError as unreadable:
        error = unreadable
    if error is not None:
        yield error


def damaged_files(files: Sequence[WeightFile], executor: Executor | None = None) -> Iterator[int]:
    """Yield the indices in `files` of those that are damaged as a whole, each read once."""
    for at, damaged in enumerate(spread(_is_damaged, [file.path for file in files], executor)):
        if damaged:
            yield at


def _is_damaged(path: Path) -> bool:
    return any(True for _ in damage_of(open_weights(path)))


def compare_weights(
    first: WeightFile, second: WeightFile, executor: Executor | None = None
) -> Iterator[WeightDifference]:
    """Yield a `WeightDifference` for each tensor name, equal ones included, in the order of the first file.
    Tensors only in the second come last."""
    sizes: dict[str, int] = {}
    for weight in (*first.weights, *second.weights):
        sizes[weight.name] = sizes.get(weight.name, 0) + weight.size
    batches = batched(sizes, weight=lambda name: sizes[name])
    for compared in spread(partial(_compare_batch, first.path, second.path), batches, executor):
        yield from compared


def count_states(differences: Iterable[WeightDifference]) -> dict[State, int]:
    """Return the number of tensors in each state that occurs, in the order of ``State``."""
    counts = Counter(difference.state for difference in differences)
    return {state: counts[state] for state in get_args(State) if counts[state]}


def difference_claims(
    differences: Sequence[WeightDifference], plain: Sequence[PlainDifference] = ()
) -> list[Claim]:
    """Return the claims about two files, given the differences of all tensors. A tensor that cannot be
    read is neither equal nor different. ``plain`` are the differences of the other values."""
    claims = _tensor_claims(differences)
    for key, is_counter in (("other_values", False), ("counters", True)):
        if texts := [value.text for value in plain if value.is_counter == is_counter]:
            values = {"n": len(texts), "names": few(texts, _NAMED)}
            claims.append(Claim(f"claim.checkpoint.{key}", "found", values))
    return claims


def _tensor_claims(differences: Sequence[WeightDifference]) -> list[Claim]:
    unread = [
        item.name
        for item in differences
        if item.state == "unreadable" or any(side and side.error for side in (item.first, item.second))
    ]
    claims = unread_claims(unread)
    reshaped = [item for item in differences if item.state == "reshaped"]
    if reshaped:
        shapes = [str(list(side.shape)) for side in (reshaped[0].first, reshaped[0].second) if side]
        values: dict[str, object] = {
            "n": len(reshaped),
            "names": few([item.name for item in reshaped], _NAMED),
        }
        values |= {"first": shapes[0], "second": shapes[1]}
        claims = [Claim("claim.checkpoint.reshaped", "found", values), *claims]
    alone = [item.name for item in differences if item.state in ("first", "second")]
    if alone:
        values = {"n": len(alone), "names": few(alone, _NAMED)}
        comparable = len(alone) < len(differences)
        claims = [Claim("claim.checkpoint.only_one", "found" if comparable else "note", values), *claims]
        if not comparable:
            return [Claim("claim.checkpoint.no_common_tensor", "unknown"), *claims]
    equal = ("unchanged", "bits", "reshaped", "unreadable", "first", "second")
    if bits := [item.name for item in differences if item.state == "bits"]:
        values = {"n": len(bits), "names": few(bits, _NAMED)}
        claims = [Claim("claim.checkpoint.bits", "note", values), *claims]
    changed = [item.name for item in differences if item.state not in equal]
    if changed:
        values = {"n": len(changed), "count": len(differences) - len(alone), "names": few(changed, _NAMED)}
        every = len(changed) == values["count"] and len(changed) > _NAMED  # as after any training
        key = "claim.checkpoint.changed_all" if every else "claim.checkpoint.changed"
        return [Claim(key, "found", values), *_largest_change(differences), *claims]
    if differences and len(claims) == bool(bits):
        same = len(differences) - len(bits)
        return [*([Claim("claim.checkpoint.no_change", "clear", {"n": same})] if same else []), *claims]
    return claims or [Claim("claim.checkpoint.no_common_tensor", "unknown")]


def _largest_change(differences: Sequence[WeightDifference]) -> Iterator[Claim]:
    """Yield a claim about the floating-point tensor that changed most for its size, unless two tie. States
    of optimizers change most at all times, so they are left out, by their names; so are counters of steps,
    which are integers."""
    names = {item.name for item in differences}
    shares = {
        item.name: item.measures.relative_distance
        for item in differences
        if item.measures and item.measures.relative_distance and not item.apart
        if item.first and "float" in item.first.dtype and not is_state(item.name, names)
    }
    first, *others = sorted(shares.items(), key=lambda item: -item[1]) or [("", 0.0)]
    if first[0] and (not others or first[1] > others[0][1]):
        values = {"n": len(shares), "name": first[0], "share": first[1]}
        yield Claim("claim.checkpoint.largest", "note", values, ({"tensor": first[0]},))


def unread_claims(names: Sequence[str]) -> list[Claim]:
    """Return the claim that names the tensors whose values are not known, if there are any."""
    values = {"n": len(names), "names": few(names, _NAMED)}
    return [Claim("claim.checkpoint.not_read", "unknown", values)] if names else []


def non_finite_claims(differences: Sequence[WeightDifference]) -> list[Claim]:
    """Return the claims that name the tensors with non-finite values in both files, or in one file alone."""
    both = [item for item in differences if len(item.broken) > 1 and all(item.broken) and item.second]
    texts = [
        Claim(
            "claim.part.checkpoint.broken",
            "note",
            {"name": item.name, "broken": item.broken[1], "count": math.prod(item.second.shape)},
        )
        for item in both
        if item.second
    ]
    facts = {"n": len(both), "names": few(texts, _NAMED)}
    claims = [Claim("claim.checkpoint.non_finite_both", "found", facts)] if both else []
    names = [tensor.name for tensor in differences if tensor.apart]
    facts = {"n": len(names), "names": few(names, _NAMED)}
    return [*claims, Claim("claim.checkpoint.apart", "found", facts)] if names else claims


def _names(weights: Sequence[Weight]) -> list[str]:
    return [weight.name for weight in weights]


def _measure_batch(path: Path, names: Sequence[str]) -> list[WeightStatistics]:
    file = open_weights(path)
    weights = _by_name(file)
    return [_measured(file, weights[name]) for name in names]


def _by_name(file: WeightFile) -> dict[str, Weight]:
    return {weight.name: weight for weight in file.weights}


def _measured(file: WeightFile, weight: Weight) -> WeightStatistics:
    if weight.dtype.startswith("str") or weight.error is not None:
        return WeightStatistics(weight, None, weight.error)
    try:
        return WeightStatistics(weight, measure_values(file.values(weight.name)))
    except UnreadableError as error:
        return WeightStatistics(weight, None, error)


def _compare_batch(first: Path, second: Path, names: Sequence[str]) -> list[WeightDifference]:
    files = open_weights(first), open_weights(second)
    weights = [_by_name(file) for file in files]
    return [_compare_named(files, *(known.get(name) for known in weights)) for name in names]


def _compare_named(
    files: tuple[WeightFile, WeightFile], first: Weight | None, second: Weight | None
) -> WeightDifference:
    """Return the difference of a tensor between two files. ``first`` or ``second`` is None if its file lacks
    it."""
    if first and second:
        difference = compare_tensor(*files, first, second)
    else:
        weight = first or second
        assert weight is not None
        difference = WeightDifference(weight.name, "first" if first else "second", first, second)
    try:
        counts = [
            count_non_finite(file.values(side.name))
            for file, side in zip(files, (first, second), strict=True)
            if side is not None
        ]
    except UnreadableError:
        return difference
    return replace(difference, broken=tuple(counts))


def compare_tensor(file: WeightFile, other: WeightFile, first: Weight, second: Weight) -> WeightDifference:
    """Return the difference of one tensor between two files, `unreadable` if it cannot be read. Parts of it
    are read in turn."""
    try:
        return _read_and_compared(file, other, first, second)
    except UnreadableError as error:
        return WeightDifference(first.name, "unreadable", first, second, error=error)


def _read_and_compared(
    file: WeightFile, other: WeightFile, first: Weight, second: Weight
) -> WeightDifference:
    before, now = file.values(first.name), other.values(second.name)
    if before.shape != now.shape:
        same = first.dtype == second.dtype and math.prod(before.shape) == math.prod(now.shape)
        state: State = "reshaped" if same and _equal_share(before, now) == 1.0 else "shape"
        return WeightDifference(first.name, state, first, second)
    equal = _equal_share(before, now) if first.dtype == second.dtype else None
    if equal == 1.0:
        return WeightDifference(first.name, "unchanged", first, second, equal=equal)
    text = any(weight.dtype.startswith("str") for weight in (first, second))  # "str32" of NumPy
    measures = None if text else measure_value_pair(now, before)
    alike = measures is not None and not measures.differing
    state = "type" if equal is None else "bits" if alike else "changed"
    return WeightDifference(first.name, state, first, second, measures, equal)


def _equal_share(before: Values, now: Values) -> float:
    """Return the share of elements with equal bytes: NaN equals only the same bits, 0.0 does not equal
    -0.0."""
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


_NUMBER: Final = re.compile(r"\d{1,18}")
_STEP_FOLDER: Final = re.compile(r"(?:checkpoint|ckpt|epoch|step|iter|global_step)[-_=]?\d+", re.IGNORECASE)
_SHARD: Final = re.compile(r"(\d+)-of-(\d+)")
_OF_A_STEP: Final = re.compile(r"\d-of-\d|rank|rng")  # in names of files that one step has several of
_EPOCH_AND_STEP: Final = 2  # numbers in a name that MindSpore gives: net-EPOCH_STEP.ckpt


@dataclass(frozen=True, slots=True)
class SavedStep:
    """Checkpoint of a series: file id, label, and the training step, None if the name does not contain it."""

    id: str
    label: str  # the numbers of its name: "2_100"
    step: int | None  # of the training, if the name contains it


@dataclass(frozen=True, slots=True)
class CheckpointSeries:
    """Checkpoints of one training, by step. ``key`` is their name with ``#`` in place of the numbers."""

    key: str
    checkpoints: tuple[SavedStep, ...]


def find_series(ids: Collection[str]) -> list[CheckpointSeries]:
    """Group file ids, with ``/`` between folders, into series. A file without a sibling is a series."""
    groups: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    alike = Counter(map(_without_step, ids))
    for file in ids:
        head, varying, tail = _split(file, alike[_without_step(file)] > 1)
        key = head + _NUMBER.sub("#", varying) + tail
        groups.setdefault(key, []).append((tuple(map(int, _NUMBER.findall(varying))), file))
    return [_series(key, sorted(members)) for key, members in groups.items()]


def _without_step(file: str) -> str:
    """Return a file id with ``#`` for the numbers of its name, unless one step has several such files."""
    folders, slash, name = file.rpartition("/")
    return file if _OF_A_STEP.search(name) else folders + slash + _NUMBER.sub("#", name)


def _split(file: str, steps: bool) -> tuple[str, str, str]:
    """Return a file id in three parts: folders of the training, the part with the step, and the rest. With
    ``steps``, the files of the folder are steps, so that the folder is none."""
    folders, slash, name = file.rpartition("/")
    parent, outer, last = folders.rpartition("/")
    if _STEP_FOLDER.fullmatch(last) and not steps:
        return parent + outer, last, slash + name
    if shard := _SHARD.search(name):
        return folders + slash, name[: shard.start()], name[shard.start() :]
    return folders + slash, name, ""


def _series(key: str, members: list[tuple[tuple[int, ...], str]]) -> CheckpointSeries:
    """Return the series of files with one key. Numbers that are equal in all names, such as 2 in
    ``gpt2-100.pt``, do not number steps."""
    numbers = [member for member, _ in members]
    count = len(numbers[0])
    varying = [at for at in range(count) if len(members) == 1 or len({row[at] for row in numbers}) > 1]
    if key.endswith("-#_#.ckpt") and count >= _EPOCH_AND_STEP:  # written by MindSpore
        varying = [count - 2, count - 1]
    rows = [tuple(row[at] for at in varying) for row in numbers]
    longest = max((row[-1] for row in rows if row), default=0)
    return CheckpointSeries(
        key,
        tuple(
            SavedStep(file, "_".join(map(str, row)) or file.rpartition("/")[2], _step(row, longest))
            for row, (_, file) in zip(rows, members, strict=True)
        ),
    )


def _step(numbers: tuple[int, ...], longest: int) -> int | None:
    """Return the training step from the numbers in a file name, or None if they have no known meaning: one is
    the step, two are the epoch and the step in it. ``longest`` is the number of steps in an epoch."""
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == _EPOCH_AND_STEP:
        return max(0, numbers[0] - 1) * longest + numbers[1]
    return None


CellState: TypeAlias = State | Literal["start", "absent"]

_NAMED: Final = 3  # tensors that one sentence lists


@dataclass(frozen=True, slots=True)
class TimelineCell:
    """One tensor in one checkpoint, compared with the checkpoint before.

    ``start``: the first checkpoint that has the tensor. ``absent``: the checkpoint lacks it. The other states
    are those of ``WeightDifference``. ``unchanged`` is a frozen weight.
    """

    state: CellState
    change: float | None = None  # L2 of the difference / L2 before, None if undefined
    non_finite: int | None = None  # number of non-finite elements, None if they cannot be counted
    cosine: float | None = None  # with the tensor before, None if undefined


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One tensor, with a cell for each checkpoint of a series."""

    name: str
    shape: tuple[int, ...]
    cells: tuple[TimelineCell, ...]
    dtype: str = ""
    whole: float | None = None  # change from the first to the last checkpoint, None if either lacks it

    def is_weight(self, names: Collection[str]) -> bool:
        """Return True if the tensor is floating-point and, by the `names` of all tensors, no state of an
        optimizer."""
        return "float" in self.dtype and not is_state(self.name, names)


def weight_timeline(files: Sequence[WeightFile], executor: Executor | None = None) -> Iterator[TimelineRow]:
    """Yield one row for each tensor, in the order they were saved. Checkpoints are read by parts."""
    tensors: dict[str, int] = {}
    for file in files:
        for weight in file.weights:
            tensors[weight.name] = tensors.get(weight.name, 0) + 2 * weight.size
    batches = batched(tensors, weight=lambda name: tensors[name])
    for rows in spread(partial(_timeline_batch, [file.path for file in files]), batches, executor):
        yield from rows


def timeline_claims(
    rows: Sequence[TimelineRow], checkpoints: Sequence[str], damaged: Sequence[int] = ()
) -> list[Claim]:
    """Return the claims about a series of checkpoints, given all rows of its timeline. ``checkpoints`` are
    the names of the columns. ``damaged`` are the columns of files that contradict their checksum."""
    claims = []
    if damaged:
        values = {"n": len(damaged), "names": few([checkpoints[at] for at in damaged], _NAMED)}
        evidence = tuple({"checkpoint": checkpoints[at]} for at in damaged[:_NAMED])
        claims.append(Claim("claim.checkpoint.damaged", "found", values, evidence))
    broken = {row.name: at for row in rows if (at := _first_broken(row)) is not None}
    if broken:
        at = min(broken.values())
        first = [name for name, column in broken.items() if column == at]
        facts = {"n": len(broken), "first": len(first), "names": few(first, _NAMED)}
        facts |= {"checkpoint": checkpoints[at]}
        evidence = tuple({"tensor": name, "checkpoint": checkpoints[at]} for name in first[:_NAMED])
        claims.append(Claim("claim.checkpoint.non_finite", "found", facts, evidence))
    unknown = [row.name for row in rows if any(cell.state == "unreadable" for cell in row.cells)]
    if unknown:
        values = {"n": len(unknown), "names": few(unknown, _NAMED)}
        claims.append(Claim("claim.checkpoint.unreadable", "unknown", values))
    if not claims:
        claims.append(Claim("claim.checkpoint.finite", "clear", {"n": len(rows)}))
    compared = [row for row in rows if sum(cell.state != "absent" for cell in row.cells) > 1]
    if not compared:
        return [*claims, Claim("claim.checkpoint.no_common_tensor", "unknown")]
    frozen = [row.name for row in compared if {cell.state for cell in row.cells} <= _FROZEN]
    if frozen and not damaged:
        values = {"n": len(frozen), "count": len(compared), "names": few(frozen, _NAMED)}
        key = "claim.checkpoint.frozen_all" if len(frozen) == len(compared) else "claim.checkpoint.frozen"
        evidence = tuple({"tensor": name, "checkpoint": checkpoints[-1]} for name in frozen[:_NAMED])
        claims.append(Claim(key, "note", values, evidence))
    if not damaged:
        claims += [*history_claims(rows, checkpoints), *_largest_step(compared, checkpoints)]
    return sorted(claims, key=lambda claim: claim.verdict != "found")


def _largest_step(rows: Sequence[TimelineRow], checkpoints: Sequence[str]) -> Iterator[Claim]:
    """Yield claims about the weight that changed most between neighbours, and over the series, unless two
    tie. A matrix that changed by `GROWN` times its norm is a fault. States and counters are left out."""
    names = {row.name for row in rows}
    weights = [row for row in rows if row.is_weight(names)]
    # A bias begins near zero, so that it changes most of all for its norm.
    matrices = [row for row in weights if len(row.shape) > 1]
    weights = matrices or weights
    changes = [
        (cell.change, row, at)
        for row in weights
        for at, cell in enumerate(row.cells)
        if cell.state in _MEASURED and not cell.non_finite
        if cell.change is not None and math.isfinite(cell.change)
    ]
    changes.sort(key=lambda change: -change[0])
    grown = [change for change in changes if change[0] >= GROWN and len(change[1].shape) > 1]
    if not grown and (not changes or changes[0][0] in (0, *(share for share, _, _ in changes[1:2]))):
        return
    share, row, at = (grown or changes)[0]
    before = max(number for number in range(at) if row.cells[number].state != "absent")
    part = Claim(
        f"claim.part.checkpoint.{'matrices' if matrices else 'tensors'}", "note", {"n": len(weights)}
    )
    values = {"n": len(weights), "of": part, "name": row.name, "share": share, "limit": GROWN}
    values |= {"before": checkpoints[before], "checkpoint": checkpoints[at]}
    values["usual"] = statistics.median(change for change, _, _ in changes)
    evidence = ({"tensor": row.name, "checkpoint": checkpoints[at]},)
    key = "claim.checkpoint.grown" if grown else "claim.checkpoint.largest_step"
    yield Claim(key, "found" if grown else "note", values, evidence)
    if len(checkpoints) > 2:  # of two, it is the same
        yield from _largest_whole(weights, checkpoints, part)


def _largest_whole(rows: Sequence[TimelineRow], checkpoints: Sequence[str], part: Claim) -> Iterator[Claim]:
    """Yield a claim about the weight that changed most from the first checkpoint to the last, if one did."""
    shares = {row.name: row.whole for row in rows if row.whole and math.isfinite(row.whole)}
    (name, share), *others = sorted(shares.items(), key=lambda item: -item[1])[:2] or [("", 0.0)]
    if name and share not in (other for _, other in others):
        values = {"n": len(shares), "of": part, "name": name, "share": share}
        values |= {"before": checkpoints[0], "checkpoint": checkpoints[-1]}
        evidence = {"tensor": name, "checkpoint": checkpoints[-1]}
        yield Claim("claim.checkpoint.largest_whole", "note", values, (evidence,))


_MEASURED: Final[frozenset[CellState]] = frozenset({"changed", "bits", "unchanged"})
_FROZEN: Final[frozenset[CellState]] = frozenset({"start", "absent", "unchanged"})


def _first_broken(row: TimelineRow) -> int | None:
    return next((at for at, cell in enumerate(row.cells) if cell.non_finite), None)


def _timeline_batch(paths: Sequence[Path], names: Sequence[str]) -> list[TimelineRow]:
    files = [open_weights(path) for path in paths]
    weights = [_by_name(file) for file in files]
    return [_row(name, files, [known.get(name) for known in weights]) for name in names]


def _row(name: str, files: Sequence[WeightFile], weights: Sequence[Weight | None]) -> TimelineRow:
    cells: list[TimelineCell] = []
    previous: tuple[WeightFile, Weight] | None = None
    for file, weight in zip(files, weights, strict=True):
        cells.append(TimelineCell("absent") if weight is None else _cell(previous, file, weight))
        if weight is not None:
            previous = (file, weight)
    shape, dtype = (previous[1].shape, previous[1].dtype) if previous else ((), "")
    first, last = weights[0], weights[-1]
    whole = _compared(files[0], files[-1], first, last)[1] if first and last else None
    return TimelineRow(name, shape, tuple(cells), dtype, whole)


def _cell(previous: tuple[WeightFile, Weight] | None, file: WeightFile, weight: Weight) -> TimelineCell:
    try:
        non_finite = count_non_finite(file.values(weight.name))
    except UnreadableError:
        return TimelineCell("unreadable")
    if previous is None:
        return TimelineCell("start", None, non_finite)
    state, change, cosine = _compared(previous[0], file, previous[1], weight)
    return TimelineCell(state, change, non_finite, cosine)


def _compared(
    file: WeightFile, other: WeightFile, before: Weight, now: Weight
) -> tuple[State, float | None, float | None]:
    """Return how a tensor differs in another file, its relative change and cosine, None if undefined."""
    difference = compare_tensor(file, other, before, now)
    if difference.state == "unchanged":
        return "unchanged", 0.0, 1.0
    # A distance that leaves out elements, because they are not finite on one side, is not the change.
    measures = difference.measures if not difference.apart else None
    if measures is None:
        return difference.state, None, None
    return difference.state, measures.relative_distance, measures.cosine


def count_non_finite(values: Values) -> int | None:
    """Return the number of non-finite elements, read by parts, or None for values that are not numbers."""
    if values.dtype.kind not in "biufc":
        return None
    if values.dtype.kind in "biu":
        return 0
    return sum(
        int(np.count_nonzero(~np.isfinite(flat[start : start + PIECE])))
        for flat in values.pieces()
        for start in range(0, flat.size, PIECE)
    )
