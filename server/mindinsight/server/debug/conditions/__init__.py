"""Registry of watchpoint conditions: each module defines rules, functions decorated with ``condition``.

Names, abbreviations, parameters and defaults are those of MindInsight's debugger. A new rule needs no other
edit: the modules of the package are imported, and forms are built from the parameters.
"""

import functools
import importlib
import math
import pkgutil
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from mindinsight.server import extensions
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.sanitizer import show_name

Target: TypeAlias = Literal["tensor", "weight", "gradient", "activation"]
Limits: TypeAlias = Mapping[str, float]

# Error codes of MindInsight, which a verdict sums up.
HOLDS_NAN: Final = 1
HOLDS_INF: Final = 2
NO_PREVIOUS: Final = 4
NO_VALUES: Final = 8  # not in MindInsight: only statistics were dumped, or the previous values are missing
FAILED: Final = 16  # not in MindInsight: the rule, of another distribution, raised an error


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a rule: its name, default and allowed range.

    A parameter that ``checks`` can cause a hit. Others only adjust the rule, such as an epsilon.
    """

    name: str
    default: float | None = None  # None: switched off unless given
    low: float = -math.inf  # smallest value allowed
    high: float = math.inf  # largest value allowed
    above_low: bool = False  # ``low`` is excluded
    checks: bool = True
    requires: tuple[str, ...] = ()  # names of parameters that must be given with it


@dataclass(frozen=True, slots=True)
class Sample:
    """Input of a rule: one tensor at one step. Only the rules that need values read them."""

    statistics: AnyStatistics
    read: Callable[[], Values]
    read_previous: Callable[[], Values] | None = None  # the same tensor at the previous dumped step
    overflowed: bool = False  # the device recorded an overflow of this operator


class Finding(NamedTuple):
    """Result for one parameter of a rule: whether its limit was passed, and the actual value.

    ``actual`` is 0 for a parameter that is off or that only adjusts the rule.
    """

    name: str
    hit: bool
    actual: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of a rule on a tensor: whether it is a hit, with a finding for each parameter.

    ``error`` is the sum of the codes above, 0 if it could be judged. ``share`` is that of the elements that
    changed, for a rule that compares them.
    """

    hit: bool
    findings: tuple[Finding, ...] = ()
    error: int = 0
    why: str = ""  # with FAILED: what the rule raised
    share: float = 1.0


class Name(NamedTuple):
    """Id and abbreviation of a rule for one class of tensors. A rule can be offered for several."""

    id: str
    abbreviation: str
    target: Target


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition of a watchpoint: a rule with the id, abbreviation and target class of one of its `Name`s."""

    id: str
    abbreviation: str
    target: Target
    parameters: tuple[Parameter, ...]
    rule: Callable[[Sample, Limits], Verdict]
    finite_only: bool
    needs_previous: bool
    first_step_only: bool

    def judge(self, sample: Sample, limits: Limits) -> Verdict:
        """Return the verdict of the rule, or one with the error codes that prevent it. Raises
        UnreadableError and OSError. Of other errors, only those of our rules are raised. An empty tensor
        is no hit. If the rule of another distribution raises another error, the code is ``FAILED``."""
        error = 0
        if self.finite_only:
            error = _non_finite_codes(sample.statistics)
        if self.needs_previous and sample.read_previous is None:
            error += NO_PREVIOUS
        if error or sample.statistics.count == 0:
            return Verdict(False, self._complete(()), error)
        try:
            verdict = self.rule(sample, limits)
            hit, findings = verdict.hit, self._complete(verdict.findings)
            return Verdict(hit, findings, verdict.error, share=verdict.share)
        except Exception as raised:
            if "." not in self.id or isinstance(raised, UnreadableError | OSError):
                raise  # what an extension's rule raises ends no check of others
            why = show_name(traceback.format_exception_only(raised)[-1].strip())
            return Verdict(False, self._complete(()), FAILED, why)

    def _complete(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Return one finding for each parameter, in order."""
        known = {finding.name: finding for finding in findings}
        return tuple(
            known.get(parameter.name, Finding(parameter.name, False, 0.0)) for parameter in self.parameters
        )


def condition(
    *names: Name,
    parameters: tuple[Parameter, ...] = (),
    finite_only: bool = True,
    needs_previous: bool = False,
    first_step_only: bool = False,
) -> Callable[[Callable[[Sample, Limits], Verdict]], tuple[Condition, ...]]:
    """Return a decorator that turns a rule into one condition for each of its names. The other arguments
    are the fields of these `Condition`s."""

    def register(rule: Callable[[Sample, Limits], Verdict]) -> tuple[Condition, ...]:
        return tuple(
            Condition(*name, parameters, rule, finite_only, needs_previous, first_step_only) for name in names
        )

    return register


@functools.cache
def conditions() -> Mapping[str, Condition]:
    """Return all conditions by id, from the modules of this package and from other distributions. The ids
    of others begin with the name of their entry point and a dot."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    ]
    values = [value for module in modules for value in vars(module).values() if isinstance(value, tuple)]
    own = {known.id: known for value in values for known in value if isinstance(known, Condition)}
    further = {
        known.id: known
        for name, value in extensions.values(extensions.CHECKS, tuple)
        for known in value
        if isinstance(known, Condition) and known.id.startswith(f"{name}.")
    }
    return own | further


def compared(actual: Mapping[str, float | None], limits: Limits) -> Verdict:
    """Return the verdict on the values in ``actual`` that have a limit. By the suffix of its name, a value
    is a hit above (_gt), at least at (_ge), or below (_lt) its limit. An unknown value (None) is no hit.
    If there is no other hit, the verdict then has an error."""
    wanted = {name: value for name, value in actual.items() if name in limits}
    findings = tuple(
        Finding(name, _beyond(name, value, limits[name]), float(value))
        for name, value in wanted.items()
        if value is not None
    )
    hit = any(finding.hit for finding in findings)
    return Verdict(hit, findings, 0 if hit or None not in wanted.values() else NO_VALUES)


def _non_finite_codes(statistics: AnyStatistics) -> int:
    """Return the error codes of a tensor that is or may be non-finite, or 0."""
    if statistics.finite is None:
        return NO_VALUES
    infinite = bool(statistics.positive_infs or statistics.negative_infs)
    return HOLDS_NAN * (bool(statistics.nans) or not (statistics.finite or infinite)) + HOLDS_INF * infinite


def _beyond(name: str, actual: float, limit: float) -> bool:
    if name.endswith("_gt"):
        return actual > limit
    return actual >= limit if name.endswith("_ge") else actual < limit
