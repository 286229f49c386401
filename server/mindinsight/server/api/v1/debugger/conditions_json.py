"""Conditions and watchpoints as JSON, and watchpoints from what clients send."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.server.api.v1.debugger.session import Session, Watched
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.debug.conditions import Condition, Finding, Limits, Parameter, conditions
from mindinsight.server.debug.limits import checked_limits

_TARGETS: Final = ("activation", "gradient", "tensor", "weight")


def offered(session: Session) -> list[Condition]:
    """The conditions that can be watched for at the session's step."""
    known = (
        condition
        for condition in conditions().values()
        if not (condition.needs_previous and condition.target == "tensor")
    )
    return [condition for condition in known if session.step == 0 or not condition.first_step_only]


def collections_json(session: Session) -> list[dict[str, Any]]:
    """The conditions by what they look at."""
    known = offered(session)
    return [
        {
            "id": f"{target}_condition_collection",
            "conditions": [_condition_json(condition) for condition in known if condition.target == target],
        }
        for target in _TARGETS
    ]


def watched_json(watched: Watched) -> dict[str, Any]:
    params = [{"name": name, "value": value} for name, value in shown_limits(watched).items()]
    return {"id": watched.id, "watch_condition": _named(watched, params)}


def hit_json(watched: Watched, findings: tuple[Finding, ...]) -> dict[str, Any]:
    """A watchpoint with the values that its parameters were compared with."""
    actual = {finding.name: finding.actual for finding in findings}
    params = [
        {"name": name, "value": value, "actual_value": actual.get(name)}
        for name, value in shown_limits(watched).items()
    ]
    return {"id": watched.id, "watch_condition": _named(watched, params)}


def shown_limits(watched: Watched) -> Limits:
    """The limits a person set: those that only support the rule are left out."""
    hidden = {
        parameter.name for parameter in conditions()[watched.condition].parameters if _is_hidden(parameter)
    }
    return {name: value for name, value in watched.limits.items() if name not in hidden}


def condition_of(session: Session, body: object) -> tuple[str, Limits]:
    """A condition and its limits as sent: ``{"id", "params": [{"name", "value"}]}``. Raises V1Error."""
    if not isinstance(body, dict) or not isinstance(body.get("params", []), list):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition must be an object with id and params.")
    condition = body.get("id")
    if not isinstance(condition, str) or condition not in conditions():
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition names no condition.")
    if condition not in {entry.id for entry in offered(session)}:
        raise V1Error(Fault.DEBUGGER_CONDITION, f"{condition} cannot be watched for at this step.")
    given = dict(_param(entry) for entry in body.get("params", []))
    try:
        return condition, checked_limits(condition, given)
    except (ValueError, OverflowError) as error:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter condition is wrong: {error}") from None


def _param(entry: object) -> tuple[str, float]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise V1Error(Fault.DEBUGGER_VALUE, "A parameter of a condition is an object with name and value.")
    value = entry.get("value")
    if not isinstance(value, int | float):
        raise V1Error(Fault.DEBUGGER_VALUE, f"{entry['name']} must be a number.")
    return entry["name"], value


def _named(watched: Watched, params: list[dict[str, Any]]) -> dict[str, Any]:
    condition = conditions()[watched.condition]
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
    """Numbers that only support a rule and have their value: epsilon, atol, equal_nan."""
    return not parameter.checks and parameter.default is not None
