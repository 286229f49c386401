"""What can be watched for. Each file holds rules; a rule is one function under :func:`condition`.

Names, abbreviations, parameters and defaults are those of MindInsight's debugger. A new rule needs no
line anywhere else: the folder is walked, and forms are built from the parameters.
"""

from __future__ import annotations

import functools
import importlib
import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from mindinsight.server.debug.recorded import AnyStatistics
from mindinsight.server.formats.arrays.stored import Values

Target: TypeAlias = Literal["tensor", "weight", "gradient", "activation"]
Limits: TypeAlias = Mapping[str, float]

HOLDS_NAN: Final = 1
HOLDS_INF: Final = 2
NO_PREVIOUS: Final = 4
NO_VALUES: Final = 8  # ours: the dump holds statistics only, or the values of the step before are gone


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number a rule is given. One that ``checks`` can be a hit of its own; the others only support."""

    name: str
    default: float | None = None  # None: switched off unless given
    low: float = -math.inf
    high: float = math.inf
    above_low: bool = False  # the low end itself is not allowed
    checks: bool = True
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """What a rule looks at: one tensor at one step. Values are read only by the rules that need them."""

    statistics: AnyStatistics
    read: Callable[[], Values]
    read_previous: Callable[[], Values] | None = None  # the same tensor at the previous dumped step
    overflowed: bool = False  # the device recorded an overflow of this operator


class Finding(NamedTuple):
    """What one parameter said. ``actual`` is 0 for a parameter that is off or only supports."""

    name: str
    hit: bool
    actual: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """``error`` above 0 means that the tensor could not be judged: a sum of the codes above."""

    hit: bool
    findings: tuple[Finding, ...] = ()
    error: int = 0


class Name(NamedTuple):
    """One name of a rule: the same formula is offered for several kinds of tensors."""

    id: str
    abbreviation: str
    target: Target


@dataclass(frozen=True, slots=True)
class Condition:
    """A rule under one of its names."""

    id: str
    abbreviation: str
    target: Target
    parameters: tuple[Parameter, ...]
    rule: Callable[[Sample, Limits], Verdict]
    finite_only: bool
    needs_previous: bool
    first_step_only: bool

    def judge(self, sample: Sample, limits: Limits) -> Verdict:
        """Apply the rule, or say with an error code why it cannot be applied."""
        error = 0
        if self.finite_only:
            error = _lost(sample.statistics)
        if self.needs_previous and sample.read_previous is None:
            error += NO_PREVIOUS
        if error or sample.statistics.count == 0:
            return Verdict(False, self._complete(()), error)
        verdict = self.rule(sample, limits)
        return Verdict(verdict.hit, self._complete(verdict.findings), verdict.error)

    def _complete(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        known = {finding.name: finding for finding in findings}
        return tuple(known.get(each.name, Finding(each.name, False, 0.0)) for each in self.parameters)


def condition(
    *names: Name,
    parameters: tuple[Parameter, ...] = (),
    finite_only: bool = True,
    needs_previous: bool = False,
    first_step_only: bool = False,
) -> Callable[[Callable[[Sample, Limits], Verdict]], tuple[Condition, ...]]:
    """Turn a rule into the conditions of its names."""

    def register(rule: Callable[[Sample, Limits], Verdict]) -> tuple[Condition, ...]:
        return tuple(
            Condition(*name, parameters, rule, finite_only, needs_previous, first_step_only) for name in names
        )

    return register


@functools.cache
def conditions() -> Mapping[str, Condition]:
    """All conditions by id, found by walking this folder."""
    found: dict[str, Condition] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
        for value in vars(importlib.import_module(f"{__name__}.{module}")).values():
            if isinstance(value, tuple):
                found.update((each.id, each) for each in value if isinstance(each, Condition))
    return found


def compared(actual: Mapping[str, float | None], limits: Limits) -> Verdict:
    """Compare each actual value with the limit of its name, as the name ends: _gt, _ge, _lt.

    A value that is not known decides nothing: without a hit elsewhere the tensor could not be judged.
    """
    wanted = {name: value for name, value in actual.items() if name in limits}
    findings = tuple(
        Finding(name, _beyond(name, value, limits[name]), float(value))
        for name, value in wanted.items()
        if value is not None
    )
    hit = any(finding.hit for finding in findings)
    return Verdict(hit, findings, 0 if hit or None not in wanted.values() else NO_VALUES)


def _lost(found: AnyStatistics) -> int:
    """Error codes of a tensor that holds NaN or infinities, or may hold them for all that is known."""
    if found.finite is None:
        return NO_VALUES
    infinite = bool(found.positive_infs or found.negative_infs)
    return HOLDS_NAN * (bool(found.nans) or not (found.finite or infinite)) + HOLDS_INF * infinite


def _beyond(name: str, actual: float, limit: float) -> bool:
    if name.endswith("_gt"):
        return actual > limit
    return actual >= limit if name.endswith("_ge") else actual < limit
