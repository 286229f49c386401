"""Comparison of two steps, ranks or dumps: a row for each tensor of both, in the target's execution order."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np

from mindinsight.server.compute.parallel_map import batched, file_size, spread
from mindinsight.server.compute.tensor_statistics import measure_values
from mindinsight.server.debug.compare.error_measures import Compared, Level, judge, level, measure_value_pair
from mindinsight.server.debug.compare.operator_matching import (
    Arguments,
    Difference,
    Match,
    Pair,
    differences,
    group_by_operator,
    match_operators,
    match_slots,
)
from mindinsight.server.debug.compare.rounding import RoundingNotes
from mindinsight.server.debug.fault import gaps_at
from mindinsight.server.debug.operator_links import is_replaced
from mindinsight.server.debug.recorded_statistics import infer_statistics
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.debug.tensor_targets import is_weight, parameter_names
from mindinsight.server.formats import dumps
from mindinsight.server.formats.arrays.lazy_array import Held, Values
from mindinsight.server.formats.dumps import dump_types
from mindinsight.server.formats.read_limits import UnreadableError

Parameters: TypeAlias = Mapping[tuple[str, str, str], str]  # by graph, recorded name and slot of an input

OPERATORS: Final = 16  # operators in one batch of a worker
_SMALL: Final = 1 << 20  # bytes of a tensor that is held in memory instead of read twice
_SORTED: Final = 64 << 20  # bytes of the largest tensor that is sorted
_DISTINCT: Final = 3  # values: any two masks with as many ones hold the same numbers


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a step of a rank of a dump, or one graph of it."""

    dump: dump_types.Dump
    rank: int
    step: int
    graph: str | None = None

    def entries(self) -> Sequence[dump_types.TensorEntry]:
        """Return the tensors in execution order, without memory that no operator reads."""
        return self._known

    @cached_property
    def _known(self) -> Sequence[dump_types.TensorEntry]:
        return [entry for entry in self._listing.items if not is_replaced(entry)]

    def damage(self) -> tuple[dump_types.FileDamage, ...]:
        """Return the damage of files that could not be listed."""
        return self._listing.damage

    def unlisted(self) -> int:
        """Return the number of damaged files whose tensors are unknown."""
        return sum(damage.of_tensors for damage in self.damage())

    def gaps(self) -> tuple[dump_types.NotRecorded, ...]:
        """Return the recorder's notes of parts of this rank's step that ran but are missing from the dump."""
        return gaps_at(self.dump, (self.rank,), (self.step,))

    @cached_property
    def _listing(self) -> dump_types.Listing[dump_types.TensorEntry]:
        return dumps.list_tensors(self.dump, self.rank, self.step, self.graph)

    def arguments(self) -> Arguments:
        """Return the non-tensor arguments of operators, or {} if the layout does not record them
        comparably."""
        if not dumps.compares_arguments(self.dump):
            return {}
        return dumps.list_arguments(self.dump, self.rank, self.step, self.graph)

    def parameters(self) -> Parameters:
        """Return the names of parameters that are inputs, by graph, recorded name and slot. It is empty if
        the dump has no graph."""
        recorded = parameter_names(self.entries())
        operators = dumps.list_operators(self.dump, self.rank, self.step, self.graph)
        return {
            (operator.graph, operator.recorded, slot): source
            for operator in operators
            if len(operator.inputs) == len(operator.sources)
            for slot, source in zip(operator.inputs, operator.sources, strict=True)
            if source in recorded or is_weight(source, recorded)
        }


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a comparison: two tensors, their measures and message codes."""

    compared: Compared
    codes: tuple[str, ...]
    parameter: str = ""  # path of the parameter that an input is, "" if unknown
    coarser: str = ""  # type from whose values it was computed, "" if none is coarser than its type
    rounding: bool = False  # the difference is rounding of terms that cancel

    @property
    def level(self) -> Level:
        """Return the worst level among the codes, "pass" without codes."""
        return level(self.codes)

    @property
    def lost(self) -> int | None:
        """Return the number of elements that are finite in the reference and non-finite in the target, or
        None if unknown. Statistics determine it only if all elements of the reference are finite."""
        target, reference = self.compared.target, self.compared.reference
        if self.compared.measures is not None:
            return self.compared.measures.lost
        if target is None or reference is None or not reference.statistics.finite:
            return None
        nans, infinities = target.statistics.nans, target.statistics.infinities
        return None if nans is None or infinities is None else nans + infinities


def lost_first(rows: Iterable[Row]) -> list[Row]:
    """Return the rows sorted by the number of elements that became non-finite, largest first, then by the
    code `not_finite`."""
    return sorted(rows, key=lambda row: (-(row.lost or 0), "not_finite" not in row.codes))


def compare_sides(
    target: Side,
    reference: Side,
    names: Mapping[str, str] | None = None,
    executor: Executor | None = None,
) -> Iterator[Row]:
    """Yield a row for each tensor of both sides and each argument that differs, as `compare` does, and name
    parameters."""
    arguments = target.arguments(), reference.arguments()
    rows = compare(target.entries(), reference.entries(), names, executor, arguments)
    return name_parameters(rows, parameters_of(target, reference))


def parameters_of(target: Side, reference: Side) -> tuple[Parameters, Parameters]:
    """Return the parameters of target and reference. Those of the reference are read only if the target has
    none."""
    of_target = target.parameters()
    return of_target, {} if of_target else reference.parameters()


def name_parameters(rows: Iterable[Row], parameters: tuple[Parameters, Parameters]) -> Iterator[Row]:
    """Yield the rows with `parameter` set for inputs that are parameters, by the ``parameters`` of both
    sides."""
    for row in rows:
        sides = zip((row.compared.pair.target, row.compared.pair.reference), parameters, strict=True)
        candidates = (
            names.get((entry.graph, entry.recorded, entry.slot))
            for entry, names in sides
            if entry is not None and entry.direction == "input"
        )
        name = next(filter(None, candidates), "")
        yield replace(row, parameter=name) if name else row


def compare(
    target: Sequence[dump_types.TensorEntry],
    reference: Sequence[dump_types.TensorEntry],
    names: Mapping[str, str] | None = None,
    executor: Executor | None = None,
    arguments: tuple[Arguments, Arguments] = ({}, {}),
) -> Iterator[Row]:
    """Yield a row for each tensor of both sides and for each argument that differs. The rows are by
    operator, in the target's execution order, those only in the reference last. ``names`` maps operators
    of the target to operators of the reference. Arguments come after the tensors of their operator."""
    batches = pair_batches(target, reference, names, arguments)
    notes = RoundingNotes()
    for measured in spread(compare_batch, batches, executor, easy=needs_no_file):
        yield from judged_rows(measured, notes)


def pair_batches(
    target: Sequence[dump_types.TensorEntry],
    reference: Sequence[dump_types.TensorEntry],
    names: Mapping[str, str] | None = None,
    arguments: tuple[Arguments, Arguments] = ({}, {}),
    size: int = OPERATORS,
) -> Iterator[list[list[Pair]]]:
    """Yield batches of up to ``size`` operators, each a list of pairs: one for every tensor of both sides,
    with None for a missing partner, and one for each argument that differs. ``names`` and ``arguments``
    are those of `compare`."""
    matches = match_operators(group_by_operator(target), group_by_operator(reference), names or {}, _shape)
    work = ([*match_slots(match), *_argument_pairs(match, arguments)] for match in matches)
    return batched(work, size, _weight)


def compare_batch(batch: list[list[Pair]]) -> list[list[Compared]]:
    """Return the measured pairs of a batch, operator by operator."""
    return [[compare_pair(pair) for pair in pairs] for pairs in batch]


def _small_in_memory(values: Values) -> Values:
    """Return values that are read only once if they are small, because both measures and statistics use
    them."""
    size = math.prod(values.shape) * values.dtype.itemsize
    return Held(values.part(())) if size <= _SMALL else values


def judged_rows(measured: Iterable[list[Compared]], notes: RoundingNotes) -> Iterator[Row]:
    """Yield the rows of measured operators, with their message codes and the differences that rounding
    explains. Add these operators to ``notes``. ``notes`` holds the facts known from earlier operators."""
    for rows in measured:
        about = notes.of_operator(rows)
        yield from (
            Row(row, codes, "", *note) for row, codes, note in zip(rows, judge(rows), about, strict=True)
        )


def _argument_pairs(match: Match, arguments: tuple[Arguments, Arguments]) -> Iterator[Pair]:
    """Yield a `Pair` for each argument that differs between two matched operators."""
    if match.target is None or match.reference is None:
        return
    target_entry, reference_entry = match.target.entries[0], match.reference.entries[0]
    operator_arguments = (
        arguments_by_key.get((entry.graph, entry.recorded), ())
        for arguments_by_key, entry in zip(arguments, (target_entry, reference_entry), strict=True)
    )
    for difference in differences(*operator_arguments):
        yield Pair(
            _argument(target_entry, difference), _argument(reference_entry, difference), match.way, difference
        )


def _argument(entry: dump_types.TensorEntry, difference: Difference) -> dump_types.TensorEntry:
    return entry._replace(
        direction="input",
        slot=difference.slot,
        shape=(),
        dtype="",
        ref=None,
        statistics=None,
        requires_grad=None,
    )


def compare_pair(pair: Pair) -> Compared:
    """Return the statistics of two tensors and the measures of their difference.

    There are no measures if the tensors differ in size, or if the values of one are missing or unreadable.
    Then the statistics of both are the recorded ones. Recorded checksums are always compared. Damage of a
    file is returned in the result, not raised.
    """
    target, reference = pair.target, pair.reference
    if target is None or reference is None:
        return Compared(pair, _recorded(target), _recorded(reference))
    same = _same_checksum(target, reference)
    if target.ref is None or reference.ref is None:
        return Compared(pair, _recorded(target), _recorded(reference), same_checksum=same)
    path = target.ref.path
    try:
        target_values = _small_in_memory(dumps.tensor_values(target.ref))
        path = reference.ref.path
        reference_values = _small_in_memory(dumps.tensor_values(reference.ref))
        measures = measure_value_pair(target_values, reference_values)
        return Compared(
            pair, _measured(target, target_values), _measured(reference, reference_values), measures, same
        )
    except UnreadableError as error:
        damage = dump_types.FileDamage(path, error.reason, error.detail)
    except (OSError, TypeError) as error:
        damage = dump_types.FileDamage(path, "file.unreadable", str(error))
    return Compared(pair, _recorded(target), _recorded(reference), same_checksum=same, damage=damage)


def needs_no_file(batch: list[list[Pair]]) -> bool:
    """Return True if no pair of a batch has files on both sides. Sending such a batch to a worker takes
    longer than comparing it."""
    return all(
        pair.target is None or pair.reference is None or pair.target.ref is None or pair.reference.ref is None
        for pairs in batch
        for pair in pairs
    )


def _weight(pairs: Sequence[Pair]) -> int:
    return sum(file_size(pair.target) + file_size(pair.reference) for pair in pairs)


def _same_checksum(target: dump_types.TensorEntry, reference: dump_types.TensorEntry) -> bool | None:
    """Return whether checksums are equal, or None if one is missing or of another kind."""
    ours, theirs = target.statistics, reference.statistics
    if not (ours and theirs and ours.checksum and theirs.checksum):
        return None
    return ours.checksum == theirs.checksum if ours.checksum_kind == theirs.checksum_kind else None


def _measured(entry: dump_types.TensorEntry, values: Values) -> Measurement:
    return Measurement(measure_values(values), values.shape, entry.dtype or values.dtype.name)


def _recorded(entry: dump_types.TensorEntry | None) -> Measurement | None:
    if entry is None or entry.statistics is None:
        return None
    statistics = infer_statistics(entry.statistics, entry.shape)
    return None if statistics is None else Measurement(statistics, entry.shape or (), entry.dtype)


def _shape(entry: dump_types.TensorEntry) -> tuple[int, ...] | None:
    if entry.shape is not None or entry.ref is None:
        return entry.shape
    try:
        return dumps.describe_tensor(entry.ref).shape
    except (UnreadableError, OSError):
        return None


@lru_cache(maxsize=64)
def same_sorted(target: dump_types.TensorRef, reference: dump_types.TensorRef) -> bool:
    """Return True if two tensors hold the same values, in any order. Return False also for tensors above
    64 MiB, unreadable ones, and ones with few distinct values."""
    try:
        if max(dumps.describe_tensor(ref).size for ref in (target, reference)) > _SORTED:
            return False
        first, second = (np.sort(dumps.read_tensor(ref), axis=None) for ref in (target, reference))
    except (UnreadableError, OSError, TypeError, ValueError):
        return False
    distinct = 1 + int(np.count_nonzero(first[1:] != first[:-1]))
    telling = distinct >= _DISTINCT and 4 * distinct >= first.size
    return telling and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
