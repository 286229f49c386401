"""Conditions of watchpoints as JSON."""

import json
from typing import Any

from tests.server.api.v1.conftest import code_of


def test_conditions_with_their_defaults(dumps: Any, session: Any) -> None:
    collections = dumps.ok(f"{session}/condition-collections")
    known = {
        condition["id"]: condition for collection in collections for condition in collection["conditions"]
    }
    defaults = {
        (name, parameter["name"]): parameter["default_value"]
        for name, condition in known.items()
        for parameter in condition["parameters"]
        if parameter["default_value"] is not None
    }
    assert defaults == {
        ("weight_initialization", "zero_percentage_ge"): 100,
        ("weight_not_changed", "rtol"): 1e-5,
        ("weight_change_too_large", "abs_mean_update_ratio_gt"): 0.1,
        ("weight_change_too_small", "abs_mean_update_ratio_lt"): 1e-4,
        ("tensor_all_zero", "zero_percentage_ge"): 100,
    }
    assert {condition["abbr"] for condition in known.values()} == {
        "WI",
        "WO",
        "WL",
        "WS",
        "WNC",
        "WCL",
        "WCS",
        "GV",
        "GL",
        "GE",
        "TO",
        "OO",
        "TL",
        "TS",
        "TZ",
        "TR",
        "AR",
    }


def test_a_condition_of_the_start_is_not_offered_later(dumps: Any, session: Any) -> None:
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    listed = json.dumps(dumps.ok(f"{session}/condition-collections"))
    assert "weight_initialization" not in listed
    answer = dumps.post(f"{session}/create-watchpoint", {"condition": {"id": "weight_initialization"}})
    assert code_of(answer) == (400, "5054B083")
