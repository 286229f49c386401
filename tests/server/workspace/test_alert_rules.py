import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.workspace.alert_rules import BUILT_IN, MAX_RULES, Deliveries, Delivery, Rule, Rules
from mindinsight.server.workspace.json_store import Full

ABOVE = Rule("above", "loss*", 10.0)
SILENT = Rule("silent", limit=30.0, level="info", on=False)


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return Rules(tmp_path / "workspace", tmp_path / "base")


def again(tmp_path: Any, base: str = "base") -> Rules:
    return Rules(tmp_path / "workspace", tmp_path / base)


def test_what_is_not_finite_and_failures_are_looked_for_from_the_beginning(rules: Rules) -> None:
    assert rules.all() == {
        "not_finite": Rule("not_finite", "*", level="error", on=True),
        "failed": Rule("failed", "*", level="error", on=True),
    }


def test_rules_are_there_after_a_restart_for_this_base_alone(rules: Rules, tmp_path: Path) -> None:
    rules.add(ABOVE)
    rules.add(SILENT)
    assert list(again(tmp_path).all().items())[len(BUILT_IN) :] == [("1", ABOVE), ("2", SILENT)]
    assert list(again(tmp_path, "other").all()) == [*BUILT_IN]
    assert stat.S_IMODE((tmp_path / "workspace" / "rules.json").stat().st_mode) == 0o600


def test_a_rule_is_changed_in_its_place(rules: Rules) -> None:
    rules.add(ABOVE)
    rules.add(SILENT)
    rules.change("1", SILENT)
    assert list(rules.all().items())[len(BUILT_IN) :] == [("1", SILENT), ("2", SILENT)]
    with pytest.raises(KeyError):
        rules.change("3", ABOVE)


def test_a_built_in_rule_can_be_switched_off_and_not_removed(rules: Rules, tmp_path: Path) -> None:
    off = {rule_id: replace(rule, level="info", on=False) for rule_id, rule in BUILT_IN.items()}
    for rule_id, rule in off.items():
        rules.change(rule_id, rule)
        with pytest.raises(KeyError):
            rules.forget(rule_id)
    rules.add(ABOVE)
    assert again(tmp_path).all() == {**off, "1": ABOVE}


def test_a_number_is_not_given_to_another_rule_while_it_is_known(rules: Rules) -> None:
    for _ in range(3):
        rules.add(ABOVE)
    rules.forget("2")
    with pytest.raises(KeyError):
        rules.forget("2")
    rules.add(SILENT)
    assert list(rules.all()) == [*BUILT_IN, "1", "3", "4"]


def test_there_is_an_end_to_what_is_kept(rules: Rules) -> None:
    for _ in range(MAX_RULES):
        rules.add(ABOVE)
    with pytest.raises(Full):
        rules.add(ABOVE)
    rules.change("1", SILENT)


@pytest.mark.parametrize(
    "wrong",
    [
        {"condition": "between"},
        {},
        {"condition": "above", "limit": "ten"},
        {"condition": "above", "limit": float("nan")},
        {"condition": "above", "tags": 3},
        {"condition": "above", "tags": "x" * 201},
        {"condition": "above", "level": "fatal"},
    ],
)
def test_what_cannot_be_understood_is_left_out_and_the_rest_is_read(
    rules: Rules, tmp_path: Path, wrong: Any
) -> None:
    rules.add(ABOVE)
    path = tmp_path / "workspace" / "rules.json"
    content = json.loads(path.read_text())
    content[str(tmp_path / "base")]["2"] = wrong
    content[str(tmp_path / "base")]["3"] = {"condition": "silent", "limit": 5, "later": True}
    path.write_text(json.dumps(content))
    read_rules = again(tmp_path).all()
    assert list(read_rules) == [*BUILT_IN, "1", "3"]
    assert read_rules["3"] == Rule("silent", limit=5)


STATE = Delivery(["a", "b"], [{"id": "b", "step": 3}], 1, 2, 1000.0)


def test_a_state_is_there_after_a_restart_and_for_its_base_directory_alone(tmp_path: Path) -> None:
    Deliveries(tmp_path, Path("/base")).keep("hook", lambda: STATE)
    assert Deliveries(tmp_path, Path("/base")).all().get("hook") == STATE
    assert Deliveries(tmp_path, Path("/base")).all().get("another") is None
    assert Deliveries(tmp_path, Path("/other")).all().get("hook") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"seen": [1]},
        {"waiting": [{"step": 1}]},
        {"waiting": [3]},
        {"failures": -1},
        {"failures": "many"},
        {"tried": float("inf")},
        {"unknown": 1},
    ],
)
def test_what_is_not_a_state_is_none(tmp_path: Path, wrong: dict[str, Any]) -> None:
    (tmp_path / "webhooks.json").write_text(json.dumps({"/base": {"hook": wrong}}))
    assert Deliveries(tmp_path, Path("/base")).all().get("hook") is None
