"""Parallel examination of tensors: each is read, measured and judged by rules. Finiteness of results."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

from mindinsight.server.compute.parallel_map import batched, file_size, spread
from mindinsight.server.compute.tensor_statistics import Part, combine, measure_values, parts
from mindinsight.server.debug.conditions import NO_VALUES, Condition, Limits, Sample, Verdict, conditions
from mindinsight.server.debug.recorded_statistics import infer_statistics
from mindinsight.server.debug.statistics_cache import Identity, Measurement, StatisticsCache, identify
from mindinsight.server.formats.arrays.lazy_array import PIECE, Stored, Values
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.dumps.dump_types import FileDamage, TensorEntry, TensorRef
from mindinsight.server.formats.read_limits import UnreadableError

HUGE: Final = 256 << 20  # bytes from which a tensor is measured by several processes
CHUNK: Final = 16 * PIECE  # elements that one of the processes measures at a time
_STORED_EVERY: Final = 1.0  # seconds of work that a crash may lose: a commit takes ten milliseconds


@dataclass(frozen=True, slots=True)
class TensorTask:
    """Task for a worker: a tensor to measure, and the rules to judge it by (condition ids with their
    limits)."""

    entry: TensorEntry
    rules: tuple[tuple[str, Limits], ...] = ()
    previous: TensorRef | None = None
    overflowed: bool = False
    identity: Identity | None = None  # of the file at the time of the cache lookup
    known: Measurement | None = None  # from the cache, or just measured by several processes
    fresh: bool = False  # ``known`` is not in the cache yet


@dataclass(frozen=True, slots=True)
class TensorResult:
    """Result of a task: statistics and one verdict for each rule, or the damage of the file.

    ``computed`` is False if only recorded statistics were available, or none.
    """

    entry: TensorEntry
    measurement: Measurement | None
    verdicts: tuple[Verdict, ...] = ()
    damage: FileDamage | None = None
    computed: bool = True
    fresh_identity: Identity | None = None  # of a tensor that was just measured, to be added to the cache

    def columns(self) -> dict[str, Any]:
        """Return the cells of a table that describe the tensor, by column, from rank to shape."""
        entry, measurement = self.entry, self.measurement
        return {
            "rank": entry.rank,
            "step": entry.step,
            "graph": entry.graph,
            "operator": entry.operator,
            "type": entry.type,
            "direction": entry.direction,
            "slot": entry.slot,
            "dtype": entry.dtype or (measurement.dtype if measurement else None),
            "shape": measurement.shape if measurement else entry.shape,
        }


class _Once:
    """Function that returns the values of a tensor and opens its file only once."""

    def __init__(self, ref: TensorRef) -> None:
        self._ref = ref
        self._values: Values | None = None

    def __call__(self) -> Values:
        """Return the tensor's values, reading its file on the first call. Raises UnreadableError."""
        if self._values is None:
            self._values = tensor_values(self._ref)
        return self._values


def examine(task: TensorTask) -> TensorResult:
    """Return the statistics of one tensor and the verdicts of the task's rules. Damage of its file is
    returned in the result, not raised."""
    entry = task.entry
    if entry.ref is None:
        return _without_values(task)
    read = _Once(entry.ref)  # each rule reads the values again, by parts
    try:
        measurement = task.known or _measure(read())
        previous = None if task.previous is None else partial(tensor_values, task.previous)
        sample = Sample(measurement.statistics, read, previous, task.overflowed)
        fresh_identity = task.identity if task.fresh or not task.known else None
        return TensorResult(entry, measurement, _judge(task, sample), fresh_identity=fresh_identity)
    except UnreadableError as error:
        return TensorResult(entry, None, damage=FileDamage(entry.ref.path, error.reason, error.detail))
    except (OSError, TypeError) as error:
        reason = "dump.no_numbers" if isinstance(error, TypeError) else "file.unreadable"
        return TensorResult(entry, None, damage=FileDamage(entry.ref.path, reason, str(error)))


def examine_all(
    tasks: Iterable[TensorTask], executor: Executor | None = None, cache: StatisticsCache | None = None
) -> Iterator[TensorResult]:
    """Yield the results of tasks in order, in parallel with an executor. Statistics in ``cache`` are not
    computed again, and new ones are stored in it. The result of a tensor that cannot be read has its
    damage."""
    batches = (
        [_with_parts(task, executor) for task in _with_known(batch, cache)]
        for batch in batched(tasks, weight=_weight)
    )
    measured: dict[Identity, Measurement] = {}
    stored = time.monotonic()
    try:
        for results in spread(_examine_batch, batches, executor, _is_known):
            measured |= {
                result.fresh_identity: result.measurement
                for result in results
                if result.fresh_identity and result.measurement
            }
            if cache is not None and measured and time.monotonic() - stored > _STORED_EVERY:
                cache.keep(measured)
                measured, stored = {}, time.monotonic()
            yield from results
    finally:
        if cache is not None:
            cache.keep(measured)


def measure_all(
    entries: Iterable[TensorEntry], executor: Executor | None = None, cache: StatisticsCache | None = None
) -> Iterator[TensorResult]:
    """Yield the measured tensors in order, as `examine_all` does."""
    return examine_all(map(TensorTask, entries), executor, cache)


def _measure(values: Values) -> Measurement:
    return Measurement(measure_values(values), values.shape, values.dtype.name)


def _with_parts(task: TensorTask, executor: Executor | None) -> TensorTask:
    """Return a task whose huge tensor was measured by all processes at once. A task with a smaller, known
    or unreadable tensor is returned unchanged."""
    ref = task.entry.ref
    if executor is None or ref is None or task.known is not None or _weight(task) < HUGE:
        return task
    try:
        values = tensor_values(ref)
        if not isinstance(values, Stored):
            return task
        count = math.prod(values.shape)
        chunks = ((start, min(start + CHUNK, count)) for start in range(0, count, CHUNK))
        statistics = combine(chain.from_iterable(spread(partial(_measure_chunk, values), chunks, executor)))
    except (UnreadableError, OSError, TypeError):  # ``examine`` reports the error
        return task
    return replace(task, known=Measurement(statistics, values.shape, values.dtype.name), fresh=True)


def _measure_chunk(values: Stored, chunk: tuple[int, int]) -> list[Part]:
    return [part for piece in values.elements(*chunk) for part in parts(piece)]


def _without_values(task: TensorTask) -> TensorResult:
    """Return the result of a tensor without data, from recorded statistics if there are any."""
    entry = task.entry
    statistics = infer_statistics(entry.statistics, entry.shape) if entry.statistics is not None else None
    if statistics is None:
        return TensorResult(entry, None, damage=entry.damage, computed=False)
    verdicts = _judge(task, Sample(statistics, _no_values, overflowed=task.overflowed))
    measurement = Measurement(statistics, entry.shape or (), entry.dtype)
    return TensorResult(entry, measurement, verdicts, entry.damage, computed=False)


def _judge(task: TensorTask, sample: Sample) -> tuple[Verdict, ...]:
    return tuple(_verdict(conditions()[name], sample, limits) for name, limits in task.rules)


def _verdict(condition: Condition, sample: Sample, limits: Limits) -> Verdict:
    try:
        return condition.judge(sample, limits)
    except (UnreadableError, OSError):  # the step before, or a file removed since it was measured
        return Verdict(False, error=NO_VALUES)


def _no_values() -> Values:
    raise UnreadableError("dump.only_statistics")


def _weight(task: TensorTask) -> int:
    return file_size(task.entry)


def _is_known(batch: Sequence[TensorTask]) -> bool:
    return not any(task.known is None or task.rules for task in batch)


def _examine_batch(batch: Sequence[TensorTask]) -> list[TensorResult]:
    return [examine(task) for task in batch]


def _with_known(batch: list[TensorTask], cache: StatisticsCache | None) -> list[TensorTask]:
    """Return the tasks, with cached statistics where the cache has them."""
    if cache is None:
        return batch
    identities = [None if task.entry.ref is None else identify(task.entry.ref) for task in batch]
    known = cache.find(identity for identity in identities if identity is not None)
    return [
        TensorTask(
            task.entry,
            task.rules,
            task.previous,
            task.overflowed,
            identity,
            known.get(identity) if identity else None,
        )
        for task, identity in zip(batch, identities, strict=True)
    ]


OperatorKey: TypeAlias = tuple[str, str]  # graph, operator as recorded
Finiteness: TypeAlias = Literal["finite", "non_finite", "unknown"]


def operator_key(entry: TensorEntry) -> OperatorKey:
    """Return the key of a tensor's operator: graph and recorded name."""
    return entry.graph, entry.recorded


def finiteness(result: TensorResult) -> Finiteness:
    """Return "finite", "non_finite" or "unknown" for a tensor. Its measured values decide, or without them
    its type or recorded extremes. Tensors of text are finite."""
    if result.measurement is None:
        texts = result.damage is not None and result.damage.reason == "dump.no_numbers"
        return "finite" if texts or surely_finite(result.entry) else "unknown"
    finite = result.measurement.statistics.finite
    return "unknown" if finite is None else "finite" if finite else "non_finite"


def surely_finite(entry: TensorEntry) -> bool:
    """Return True if the type of a tensor shows it to be finite, or recorded extremes if it has no file."""
    return entry.dtype.startswith(("int", "uint", "bool")) or finite_by_statistics(entry)


def finite_by_statistics(entry: TensorEntry) -> bool:
    """Return True if recorded extremes show that a tensor without a file is finite. False for integers. A
    tensor with a file must be read instead, because the file may have changed since the statistics were
    recorded."""
    if entry.ref is not None or entry.dtype.startswith(("int", "uint", "bool")):
        return False
    recorded = entry.statistics
    if recorded is None or recorded.min is None or recorded.max is None:
        return False
    statistics = infer_statistics(recorded, entry.shape)
    return statistics is not None and statistics.finite is True


def is_unread(result: TensorResult) -> bool:
    """Return True if the values of a tensor could not be read. Tensors of text have no values to read."""
    damage = result.damage
    return result.measurement is None and damage is not None and damage.reason != "dump.no_numbers"


def contradicts_statistics(result: TensorResult) -> bool:
    """Return True if the recorded statistics of a tensor and its file disagree on whether it is finite."""
    entry, measurement = result.entry, result.measurement
    if not result.computed or measurement is None or entry.statistics is None:
        return False
    recorded = infer_statistics(entry.statistics, measurement.shape)
    return recorded is not None and recorded.finite not in (None, measurement.statistics.finite)


def is_non_finite(result: TensorResult) -> bool:
    """Return True if a tensor is known to hold NaN or infinities."""
    return finiteness(result) == "non_finite"
