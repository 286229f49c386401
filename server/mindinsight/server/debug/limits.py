"""The numbers of a watchpoint, checked before anything is read."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mindinsight.server.debug.conditions import Condition, Limits, Parameter, conditions


def checked_limits(condition_id: str, given: Mapping[str, float | None]) -> Limits:
    """The limits a condition works with: those given, or all defaults when none is.

    Supporting numbers (epsilon, atol) always have their default. Raises ValueError that names the
    parameter and says what it may be.
    """
    condition = conditions().get(condition_id)
    if condition is None:
        raise ValueError(f"unknown condition {condition_id!r}; there are {', '.join(sorted(conditions()))}")
    known = {each.name: each for each in condition.parameters}
    unknown = sorted(set(given) - set(known))
    if unknown:
        having = ", ".join(known) or "none"
        raise ValueError(f"{condition_id} has no parameter {unknown[0]!r}; it has {having}")
    chosen = {name: value for name, value in given.items() if value is not None}
    limits = {name: _checked(known[name], value) for name, value in chosen.items()}
    defaulted = not any(known[name].checks for name in limits)
    for each in condition.parameters:
        if each.default is not None and (defaulted or not each.checks):
            limits.setdefault(each.name, each.default)
    _check_together(condition, limits)
    return limits


def _checked(parameter: Parameter, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{parameter.name} must be a number, not {value!r}")
    below = value <= parameter.low if parameter.above_low else value < parameter.low
    if below or value > parameter.high:
        raise ValueError(f"{parameter.name} is {value:g}; it must be {_allowed(parameter)}")
    return float(value)


def _allowed(parameter: Parameter) -> str:
    if parameter.high < math.inf:
        return f"from {parameter.low:g} to {parameter.high:g}"
    return f"above {parameter.low:g}" if parameter.above_low else f"at least {parameter.low:g}"


def _check_together(condition: Condition, limits: Limits) -> None:
    checking = [each for each in condition.parameters if each.checks]
    if checking and not any(each.name in limits for each in checking):
        names = ", ".join(each.name for each in checking)
        raise ValueError(f"{condition.id} needs at least one of {names}")
    for each in checking:
        missing = [name for name in each.requires if name not in limits]
        if each.name in limits and missing:
            raise ValueError(f"{each.name} needs {' and '.join(missing)} too")
