"""Parallel examination of tensors: each is read, measured and judged by rules, in the workers of an executor.

Tensors are read in parts: a worker holds a few megabytes of one, or of two where a rule needs the previous
step. Answers are yielded in the order of the questions, as they are ready.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Final

from mindinsight.server.compute.parallel_map import batched, file_size, spread
from mindinsight.server.compute.statistics import Part, combine, measure_values, parts
from mindinsight.server.debug.conditions import NO_VALUES, Condition, Limits, Sample, Verdict, conditions
from mindinsight.server.debug.recorded_statistics import infer_statistics
from mindinsight.server.debug.statistics_cache import Identity, Measured, StatisticsCache, identify
from mindinsight.server.formats.arrays.stored import PIECE, Stored, Values
from mindinsight.server.formats.dumps import tensor_values
from mindinsight.server.formats.dumps.types import FileDamage, TensorEntry, TensorRef
from mindinsight.server.formats.unreadable import UnreadableError

HUGE: Final = 256 << 20  # bytes from which a tensor is measured by several processes
STRETCH: Final = 16 * PIECE  # elements that one of the processes measures at a time


@dataclass(frozen=True, slots=True)
class Question:
    """Task for a worker: a tensor and the rules to judge it by (condition ids with their limits)."""

    entry: TensorEntry
    rules: tuple[tuple[str, Limits], ...] = ()
    previous: TensorRef | None = None
    overflowed: bool = False
    identity: Identity | None = None  # of the file at the time of the cache lookup
    known: Measured | None = None  # from the cache, or just measured by several processes
    fresh: bool = False  # ``known`` is not in the cache yet


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a question: statistics and one verdict for each rule, or the damage of the file.

    ``computed`` is false where only recorded statistics could be used, and where there are none.
    """

    entry: TensorEntry
    measured: Measured | None
    verdicts: tuple[Verdict, ...] = ()
    damage: FileDamage | None = None
    computed: bool = True
    learned: Identity | None = None  # identity of the file where it was just measured: to be cached


def examine(question: Question) -> Answer:
    """Measure and judge one tensor; what cannot be read is returned as damage, not raised."""
    entry = question.entry
    if entry.ref is None:
        return _without_values(question)
    tensor = _Tensor(entry.ref)
    try:
        measured = question.known or tensor.measured
        previous = None if question.previous is None else partial(tensor_values, question.previous)
        sample = Sample(measured.statistics, lambda: tensor.values, previous, question.overflowed)
        learned = question.identity if question.fresh or not question.known else None
        return Answer(entry, measured, _judge(question, sample), learned=learned)
    except UnreadableError as error:
        return Answer(entry, None, damage=FileDamage(entry.ref.path, error.reason, error.detail))
    except (OSError, TypeError) as error:
        reason = "dump.no_numbers" if isinstance(error, TypeError) else "file.unreadable"
        return Answer(entry, None, damage=FileDamage(entry.ref.path, reason, str(error)))


def examine_all(
    questions: Iterable[Question], executor: Executor | None = None, cache: StatisticsCache | None = None
) -> Iterator[Answer]:
    """Examine tensors in parallel, in order; without an executor in this process."""
    batches = (
        [_with_parts(question, executor) for question in _with_known(batch, cache)]
        for batch in batched(questions, weight=_weight)
    )
    for answers in spread(_examine_batch, batches, executor, _is_known):
        if cache is not None:
            cache.keep(
                {
                    question.learned: question.measured
                    for question in answers
                    if question.learned and question.measured
                }
            )
        yield from answers


def measure_all(
    entries: Iterable[TensorEntry], executor: Executor | None = None, cache: StatisticsCache | None = None
) -> Iterator[Answer]:
    """Measure tensors in parallel, in order."""
    return examine_all(map(Question, entries), executor, cache)


class _Tensor:
    """Lazily opened tensor; its values are read in parts, again for each rule."""

    def __init__(self, ref: TensorRef) -> None:
        self._ref = ref

    @cached_property
    def values(self) -> Values:
        return tensor_values(self._ref)

    @property
    def measured(self) -> Measured:
        return Measured(measure_values(self.values), self.values.shape, self.values.dtype.name)


def _with_parts(question: Question, executor: Executor | None) -> Question:
    """Measure a huge tensor by all processes at once; a smaller or unreadable one is left for ``examine``."""
    ref = question.entry.ref
    if executor is None or ref is None or question.known is not None or _weight(question) < HUGE:
        return question
    try:
        values = tensor_values(ref)
        if not isinstance(values, Stored):
            return question
        count = math.prod(values.shape)
        stretches = ((start, min(start + STRETCH, count)) for start in range(0, count, STRETCH))
        statistics = combine(
            chain.from_iterable(spread(partial(_measure_stretch, values), stretches, executor))
        )
    except (UnreadableError, OSError, TypeError):  # ``examine`` reports it
        return question
    return replace(question, known=Measured(statistics, values.shape, values.dtype.name), fresh=True)


def _measure_stretch(values: Stored, stretch: tuple[int, int]) -> list[Part]:
    return [part for piece in values.stretch(*stretch) for part in parts(piece)]


def _without_values(question: Question) -> Answer:
    entry = question.entry
    statistics = infer_statistics(entry.statistics, entry.shape) if entry.statistics is not None else None
    if statistics is None:
        return Answer(entry, None, damage=entry.damage, computed=False)
    verdicts = _judge(question, Sample(statistics, _no_values, overflowed=question.overflowed))
    measured = Measured(statistics, entry.shape or (), entry.dtype)
    return Answer(entry, measured, verdicts, entry.damage, computed=False)


def _judge(question: Question, sample: Sample) -> tuple[Verdict, ...]:
    return tuple(_verdict(conditions()[name], sample, limits) for name, limits in question.rules)


def _verdict(condition: Condition, sample: Sample, limits: Limits) -> Verdict:
    try:
        return condition.judge(sample, limits)
    except (UnreadableError, OSError):  # of the step before, or of a tensor measured some time ago
        return Verdict(False, error=NO_VALUES)


def _no_values() -> Values:
    raise UnreadableError("dump.only_statistics")


def _weight(question: Question) -> int:
    return file_size(question.entry)


def _is_known(batch: Sequence[Question]) -> bool:
    return not any(question.known is None or question.rules for question in batch)


def _examine_batch(batch: Sequence[Question]) -> list[Answer]:
    return [examine(question) for question in batch]


def _with_known(batch: list[Question], cache: StatisticsCache | None) -> list[Question]:
    if cache is None:
        return batch
    identities = [None if question.entry.ref is None else identify(question.entry.ref) for question in batch]
    known = cache.find(identity for identity in identities if identity is not None)
    return [
        replace(question, identity=identity, known=known.get(identity) if identity else None)
        for question, identity in zip(batch, identities, strict=True)
    ]
