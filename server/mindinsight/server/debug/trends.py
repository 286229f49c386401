"""Weights and gradients from one dumped step to the next: standing still, jumping, vanishing, exploding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from mindinsight.server.debug.conditions import Limits
from mindinsight.server.debug.examine import Answer, Question, examine_all
from mindinsight.server.debug.limits import checked_limits
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.targets import parameter_names, targets
from mindinsight.server.debug.watchpoints import slot_key
from mindinsight.server.formats.dumps.types import TensorEntry

State: TypeAlias = Literal["", "unchanged", "jumping", "vanishing", "exploding", "not_finite"]

JUMP: Final = 1.0  # mean |change| of a weight, as a multiple of its mean magnitude
VANISHED: Final = 1e-9  # mean magnitude of a gradient
GROWTH: Final = 100.0  # of a gradient's mean magnitude from one step to the next


@dataclass(frozen=True, slots=True)
class Trend:
    """One weight or gradient at two steps. ``ratio``: for weights mean |change| / mean |before|,
    for gradients mean magnitude now / before; None when it cannot be told."""

    entry: TensorEntry
    kind: Literal["weight", "gradient"]
    before: float | None  # mean magnitude
    now: float | None
    ratio: float | None
    state: State


def trends(
    before: Sequence[TensorEntry],
    now: Sequence[TensorEntry],
    executor: Executor | None = None,
    cache: StatisticsCache | None = None,
) -> Iterator[Trend]:
    """Weights and gradients of a step against those of an earlier step of the same rank, in order."""
    earlier = {slot_key(entry): entry for entry in before}
    parameters = parameter_names(now)
    pairs = [
        (entry, earlier[slot_key(entry)], "weight" if "weight" in classes else "gradient")
        for entry in now
        if (classes := targets(entry, parameters) & {"weight", "gradient"}) and slot_key(entry) in earlier
    ]
    questions = (Question(entry, _rules(kind), old.ref) for entry, old, kind in pairs)
    answers = examine_all(questions, executor, cache)
    olds = examine_all((Question(old) for _, old, _ in pairs), executor, cache)
    for answer, old, (_, _, kind) in zip(answers, olds, pairs, strict=True):
        yield _weight(answer, old) if kind == "weight" else _gradient(answer, old)


def _weight(answer: Answer, old: Answer) -> Trend:
    state: State = ""
    ratio = None
    if answer.verdicts and not answer.verdicts[0].error:
        ratio = answer.verdicts[0].findings[0].actual
        state = "unchanged" if answer.verdicts[1].hit else "jumping" if ratio > JUMP else ""
    return Trend(answer.entry, "weight", _magnitude(old), _magnitude(answer), ratio, _or_lost(answer, state))


def _gradient(answer: Answer, old: Answer) -> Trend:
    now, before = _magnitude(answer), _magnitude(old)
    if now is None or before is None:
        return Trend(answer.entry, "gradient", before, now, None, _or_lost(answer, ""))
    ratio = now / before if before else None
    state: State = "vanishing" if now < VANISHED else ""
    if ratio is not None and ratio > GROWTH:
        state = "exploding"
    return Trend(answer.entry, "gradient", before, now, ratio, _or_lost(answer, state))


def _magnitude(answer: Answer) -> float | None:
    return None if answer.measured is None else answer.measured.statistics.absolute_mean


def _or_lost(answer: Answer, state: State) -> State:
    lost = answer.measured is not None and answer.measured.statistics.finite is False
    return "not_finite" if lost else state


def _rules(kind: str) -> tuple[tuple[str, Limits], ...]:
    if kind == "gradient":
        return ()
    names = ("weight_change_too_large", "weight_not_changed")
    return tuple((name, checked_limits(name, {})) for name in names)
