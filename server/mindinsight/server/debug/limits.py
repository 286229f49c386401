"""Validation of the limits of a watchpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mindinsight.server.debug.conditions import Condition, Limits, Parameter, conditions


def checked_limits(condition_id: str, requested: Mapping[str, float | None]) -> Limits:
    """Limits of a condition: those requested, or all defaults when none is.

    Supporting parameters (epsilon, atol) always have their default. Raises ValueError with the name of a
    wrong parameter and its allowed values.
    """
    condition = conditions().get(condition_id)
    if condition is None:
        raise ValueError(
            f"unknown condition {condition_id!r}; known conditions are {', '.join(sorted(conditions()))}"
        )
    known = {parameter.name: parameter for parameter in condition.parameters}
    unknown = sorted(set(requested) - set(known))
    if unknown:
        names = ", ".join(known) or "none"
        raise ValueError(f"{condition_id} has no parameter {unknown[0]!r}; it has {names}")
    enabled = {name: value for name, value in requested.items() if value is not None}
    limits = {name: _checked(known[name], value) for name, value in enabled.items()}
    defaulted = not any(known[name].checks for name in limits)
    for parameter in condition.parameters:
        if parameter.default is not None and (defaulted or not parameter.checks):
            limits.setdefault(parameter.name, parameter.default)
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
    checking = [parameter for parameter in condition.parameters if parameter.checks]
    if checking and not any(parameter.name in limits for parameter in checking):
        names = ", ".join(parameter.name for parameter in checking)
        raise ValueError(f"{condition.id} needs at least one of {names}")
    for parameter in checking:
        missing = [name for name in parameter.requires if name not in limits]
        if parameter.name in limits and missing:
            raise ValueError(f"{parameter.name} needs {' and '.join(missing)} too")
