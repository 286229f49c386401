"""Trends of weights and gradients between two dumped steps: unchanged, jumping, vanishing, exploding."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from mindinsight.server.debug.examine import TensorResult, TensorTask, examine_all, measure_all
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.tensor_targets import forward_views, parameter_names, targets
from mindinsight.server.debug.watchpoints import checked_limits, slot_key
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

State: TypeAlias = Literal["", "unchanged", "jumping", "vanishing", "exploding", "not_finite"]

JUMP: Final = 1.0  # mean |change| of a weight, as a multiple of its mean magnitude
VANISHED: Final = 1e-9  # mean magnitude below which a gradient has vanished
GROWTH: Final = 100.0  # factor of a gradient's mean magnitude above which it explodes
_WEIGHT_RULES: Final = ("weight_change_too_large", "weight_not_changed")


@dataclass(frozen=True, slots=True)
class Trend:
    """Change of one weight or gradient between two steps, from mean magnitudes.

    ``ratio`` is mean |change| / mean |before| for weights, mean magnitude now / before for gradients, and
    None if unknown.
    """

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
    operators: Iterable[Operator] = (),
) -> Iterator[Trend]:
    """Yield the trends of the weights and gradients that both steps of a rank have, in the order of
    ``now``. ``before`` and ``now`` are the tensors of the earlier and of the later step. ``operators`` are
    those of the later step. They tell gradients from views of forward values."""
    earlier = {slot_key(entry): entry for entry in before}
    parameters, forward = parameter_names(now), forward_views(operators)
    pairs = [
        (entry, earlier[slot_key(entry)], "weight" in classes)
        for entry in now
        if (classes := targets(entry, parameters, forward) & {"weight", "gradient"})
        and slot_key(entry) in earlier
    ]
    rules = tuple((name, checked_limits(name, {})) for name in _WEIGHT_RULES)
    tasks = (TensorTask(entry, rules if weight else (), other.ref) for entry, other, weight in pairs)
    results = examine_all(tasks, executor, cache)
    earlier_results = measure_all((other for _, other, _ in pairs), executor, cache)
    for result, earlier_result, (_, _, weight) in zip(results, earlier_results, pairs, strict=True):
        yield _weight(result, earlier_result) if weight else _gradient(result, earlier_result)


def _weight(result: TensorResult, earlier: TensorResult) -> Trend:
    state: State = ""
    ratio = None
    if result.verdicts and not result.verdicts[0].error:
        ratio = result.verdicts[0].findings[0].actual
        state = "unchanged" if result.verdicts[1].hit else "jumping" if ratio > JUMP else ""
    return Trend(
        result.entry, "weight", _magnitude(earlier), _magnitude(result), ratio, _or_not_finite(result, state)
    )


def _gradient(result: TensorResult, earlier: TensorResult) -> Trend:
    now, before = _magnitude(result), _magnitude(earlier)
    if now is None or before is None:
        return Trend(result.entry, "gradient", before, now, None, _or_not_finite(result, ""))
    ratio = now / before if before else None
    state: State = "vanishing" if now < VANISHED else ""
    if ratio is not None and ratio > GROWTH:
        state = "exploding"
    return Trend(result.entry, "gradient", before, now, ratio, _or_not_finite(result, state))


def _magnitude(result: TensorResult) -> float | None:
    return None if result.measurement is None else result.measurement.statistics.absolute_mean


def _or_not_finite(result: TensorResult, state: State) -> State:
    not_finite = result.measurement is not None and result.measurement.statistics.finite is False
    return "not_finite" if not_finite else state
