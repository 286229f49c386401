"""JSON encoder of conditions and watchpoints, and parser of conditions in requests."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.server.api.v1.debugger.session import Session, SessionWatchpoint
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.debug.conditions import Condition, Finding, Limits, Parameter, conditions
from mindinsight.server.debug.limits import checked_limits

_TARGETS: Final = ("activation", "gradient", "tensor", "weight")


def available_conditions(session: Session) -> list[Condition]:
    """Conditions that a watchpoint can have at the session's step."""
    supported = (
        condition
        for condition in conditions().values()
        if not (condition.needs_previous and condition.target == "tensor")
    )
    return [condition for condition in supported if session.step == 0 or not condition.first_step_only]


def collections_json(session: Session) -> list[dict[str, Any]]:
    """Available conditions as JSON, grouped by target."""
    available = available_conditions(session)
    return [
        {
            "id": f"{target}_condition_collection",
            "conditions": [
                _condition_json(condition) for condition in available if condition.target == target
            ],
        }
        for target in _TARGETS
    ]


def watchpoint_json(watchpoint: SessionWatchpoint) -> dict[str, Any]:
    """A watchpoint as JSON: its id, condition and limits."""
    params = [{"name": name, "value": value} for name, value in visible_limits(watchpoint).items()]
    return {"id": watchpoint.id, "watch_condition": _watch_condition(watchpoint, params)}


def hit_json(watchpoint: SessionWatchpoint, findings: tuple[Finding, ...]) -> dict[str, Any]:
    """A watchpoint as JSON, with the actual values that its limits were compared with."""
    actual = {finding.name: finding.actual for finding in findings}
    params = [
        {"name": name, "value": value, "actual_value": actual.get(name)}
        for name, value in visible_limits(watchpoint).items()
    ]
    return {"id": watchpoint.id, "watch_condition": _watch_condition(watchpoint, params)}


def visible_limits(watchpoint: SessionWatchpoint) -> Limits:
    """Limits that people set; hidden parameters are left out."""
    hidden = {
        parameter.name for parameter in conditions()[watchpoint.condition].parameters if _is_hidden(parameter)
    }
    return {name: value for name, value in watchpoint.limits.items() if name not in hidden}


def condition_of(session: Session, body: object) -> tuple[str, Limits]:
    """Parse a condition and its limits: ``{"id", "params": [{"name", "value"}]}``. Raises V1Error."""
    if not isinstance(body, dict) or not isinstance(body.get("params", []), list):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition must be an object with id and params.")
    condition = body.get("id")
    if not isinstance(condition, str) or condition not in conditions():
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition has an unknown id.")
    if condition not in {entry.id for entry in available_conditions(session)}:
        raise V1Error(Fault.DEBUGGER_CONDITION, f"{condition} is not available at this step.")
    limits = dict(_param(entry) for entry in body.get("params", []))
    try:
        return condition, checked_limits(condition, limits)
    except (ValueError, OverflowError) as error:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter condition is wrong: {error}") from None


def _param(entry: object) -> tuple[str, float]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise V1Error(Fault.DEBUGGER_VALUE, "A parameter of a condition is an object with name and value.")
    value = entry.get("value")
    if not isinstance(value, int | float):
        raise V1Error(Fault.DEBUGGER_VALUE, f"{entry['name']} must be a number.")
    return entry["name"], value


def _watch_condition(watchpoint: SessionWatchpoint, params: list[dict[str, Any]]) -> dict[str, Any]:
    condition = conditions()[watchpoint.condition]
    return {"id": condition.id, "abbr": condition.abbreviation, "params": params}


def _condition_json(condition: Condition) -> dict[str, Any]:
    return {
        "id": condition.id,
        "abbr": condition.abbreviation,
        "supported_target_type": condition.target,
        "parameters": [
            _parameter_json(parameter) for parameter in condition.parameters if not _is_hidden(parameter)
        ],
    }


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": "FLOAT64",
        "support_disable": parameter.checks,
        "default_value": parameter.default,
        "param_type": "CHECK_PARAM" if parameter.checks else "SUPPORT_PARAM",
        "required_params": list(parameter.requires),
    }


def _is_hidden(parameter: Parameter) -> bool:
    """Whether a parameter only supports a rule and has a default: epsilon, atol, equal_nan."""
    return not parameter.checks and parameter.default is not None
