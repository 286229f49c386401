"""Spread of a first fault: operators, gradients, updates and weights that hold NaN or infinity, by step."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.examine import finiteness, is_non_finite, measure_all, operator_key
from mindinsight.server.debug.fault import Fault
from mindinsight.server.debug.fault_search import OriginSearch
from mindinsight.server.debug.operator_links import is_replaced
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.tensor_targets import is_gradient, is_update, parameter_names, targets
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, Operator, TensorEntry

STEPS: Final = 4  # of a spread, each of which is measured as a whole: that of the fault and those after it
_NAMED: Final = 4  # weights in a sentence
_GROUPS: Final = ("operators", "gradients", "later", "updates", "weights")


@dataclass(frozen=True, slots=True)
class Spread:
    """Non-finite operators, weights and gradients at one step of one rank.

    Masks and unknown tensors do not count.
    """

    step: int
    operators: int  # before any backward pass, with an output that is not finite
    of_operators: int  # with an output known to be finite or not
    weights: tuple[str, ...]  # names of those that are not finite
    of_weights: int
    gradients: int  # that are not finite, of operators of the backward pass
    of_gradients: int
    later: int  # other operators after a backward pass began, as metrics and reductions of gradients
    of_later: int
    updates: int  # operators of optimizers with an output that is not finite
    of_updates: int

    @property
    def claim(self) -> Claim:
        """Return the claim with the numbers of non-finite operators, gradients, updates and weights at the
        step."""
        parts = [_part("operators", self.operators, self.of_operators)]
        parts += [_part("gradients", self.gradients, self.of_gradients)] if self.of_gradients else []
        parts += [_part("later", self.later, self.of_later)] if self.later else []
        parts += [_part("updates", self.updates, self.of_updates)] if self.of_updates else []
        named = {"names": few(self.weights, _NAMED)} if self.weights else {}
        parts += [_part("weights", len(self.weights), self.of_weights, **named)] if self.of_weights else []
        return Claim(
            "claim.explain.spread", "note", {"step": self.step, "parts": parts}, ({"step": self.step},)
        )


def _part(name: str, count: int, total: int, **names: object) -> Claim:
    key = f"claim.part.explain.{name}{'.named' if names else ''}"
    return Claim(key, "note", {"count": count, "n": total, **names})


def spread_of(
    dump: Dump, fault: Fault, executor: Executor | None = None, cache: StatisticsCache | None = None
) -> Iterator[Spread]:
    """Yield the spread at the step of a fault and at the dumped steps of its rank after it, four at most."""
    for step in [step for step in dump.steps(fault.rank) if step >= fault.step][:STEPS]:
        if step == fault.step:
            yield _at_step(step, fault.entries, fault.operators, executor, cache)
        else:
            entries = list(list_tensors(dump, fault.rank, step).items)  # made when it is asked for each
            yield _at_step(step, entries, list_operators(dump, fault.rank, step).items, executor, cache)


def _at_step(
    step: int,
    entries: Sequence[TensorEntry],
    operators: Sequence[Operator],
    executor: Executor | None,
    cache: StatisticsCache | None,
) -> Spread:
    """Return the non-finite operators, weights and gradients of a step, measured now."""
    search = OriginSearch(entries, operators, lambda wanted: measure_all(wanted, executor, cache))
    parameters = parameter_names(entries)
    given = [
        entry for entry in entries if entry.direction in ("output", "parameter") and not is_replaced(entry)
    ]
    known: dict[str, dict[object, bool]] = {name: {} for name in _GROUPS}
    for result in measure_all(given, executor, cache):
        entry = result.entry
        if finiteness(result) == "unknown":
            continue
        lost = is_non_finite(result) and not search.is_mask(entry)
        if entry.direction == "output":
            later = "later" if known["gradients"] else "operators"  # entries are in the order of execution
            group = known["gradients" if is_gradient(entry) else "updates" if is_update(entry) else later]
            group[operator_key(entry)] = group.get(operator_key(entry), False) or lost
        elif "weight" in targets(entry, parameters):
            known["weights"][entry.operator] = lost
    weights = known["weights"]
    return Spread(
        step,
        sum(known["operators"].values()),
        len(known["operators"]),
        tuple(str(name) for name, lost in weights.items() if lost),
        len(weights),
        sum(known["gradients"].values()),
        len(known["gradients"]),
        sum(known["later"].values()),
        len(known["later"]),
        sum(known["updates"].values()),
        len(known["updates"]),
    )
