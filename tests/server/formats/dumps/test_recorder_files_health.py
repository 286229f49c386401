"""Norms beside a step of the flight recorder, and files that hold something else."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindinsight.server.claims import sentence
from mindinsight.server.debug.compare.norm_changes import norm_claims
from mindinsight.server.formats.dumps.dump_types import FileDamage
from mindinsight.server.formats.dumps.recorder_files import (
    Health,
    WatchedSteps,
    health_steps,
    read_health,
    read_norms,
    read_watched,
)
from tests.thoroughness import amount

CONTENT = {"healthy_step": 20, "weights": {"w": 1.5, "b": 2}, "weights_now": {"w": float("inf"), "b": None}}


def dump_at(*roots: Path) -> Any:
    return SimpleNamespace(folders=[SimpleNamespace(root=str(root), rank=0, step=25) for root in roots])


def test_norms_are_those_of_the_last_healthy_check_and_of_the_fault(tmp_path: Path) -> None:
    (tmp_path / "health_25.json").write_text(json.dumps(CONTENT))
    dump = dump_at(tmp_path)
    assert read_health(dump, 0, 25) == Health(20, {"w": 1.5, "b": 2.0}, {"w": float("inf")})
    assert read_health(dump, 1, 25) is None
    assert read_health(dump, 0, 24) is None


def test_the_steps_that_a_recorder_watched_are_of_its_rank(tmp_path: Path) -> None:
    facts = {"version": 1, "steps": 200, "reported": 0, "written": 5.5}
    (tmp_path / "flight_recorder_3.json").write_text(json.dumps(facts))
    assert read_watched(tmp_path, 3) == WatchedSteps(200, 0, 5.5)
    assert read_watched(tmp_path, 0) is None


@pytest.mark.parametrize("content", ["[]", "{", "null", '{"steps": 1, "reported": 0}', '{"steps": "x"}', ""])
def test_what_is_no_record_of_watched_steps_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "flight_recorder_0.json").write_text(content)
    assert read_watched(tmp_path, 0) is None


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"healthy_step": "20"}', '{"healthy_step": -1}', "[" * 100_000, ""]
)
def test_what_is_no_record_of_norms_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "health_25.json").write_text(content)
    assert read_health(dump_at(tmp_path), 0, 25) is None


def test_a_damaged_file_leaves_the_one_of_another_folder(tmp_path: Path) -> None:
    for name, content in (("a", "{"), ("b", json.dumps({"healthy_step": 3, "weights": ["w"]}))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "health_25.json").write_text(content)
    assert read_health(dump_at(tmp_path / "b", tmp_path / "a"), 0, 25) == Health(
        3, {}, {}, damaged=("weights",)
    )


def test_outputs_of_the_fault_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    outputs = {"outputs": {"a": 1, "b": 2}, "outputs_now": {"b": 3, "a": math.nan, "c": True}}
    (tmp_path / "health_25.json").write_text(json.dumps({**CONTENT, **outputs, "repeated": ["b", 7]}))
    norms = read_norms(dump_at(tmp_path), 0, 25)
    assert isinstance(norms, Health) and norms.outputs_now is not None
    assert list(norms.outputs_now) == ["b", "a"]
    assert (norms.outputs, norms.repeated, norms.damaged) == ({"a": 1.0, "b": 2.0}, ("b",), ())


@pytest.mark.parametrize(
    "content", ["[]", "{", "{}", "3", '{"healthy_step": true}', '{"healthy_step": 25}', "[" * 100_000, ""]
)
def test_a_file_that_holds_no_norms_is_damaged(tmp_path: Path, content: str) -> None:
    path = tmp_path / "health_25.json"
    path.write_text(content)
    assert read_norms(dump_at(tmp_path), 0, 25) == FileDamage(str(path), "dump.json", of_tensors=False)


def test_steps_with_norms_are_listed_by_name(tmp_path: Path) -> None:
    for name in ("health_25.json", "health_3.json", "health_.json", "health_4.json.part", "health_7.txt"):
        (tmp_path / name).write_text("{")
    assert health_steps(dump_at(tmp_path)) == {3: [0], 25: [0]}
    assert read_norms(dump_at(tmp_path), 0, 24) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a", "w.b", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["", "a", "w.b"]), inner),
    max_leaves=6,
)
FIELDS = ("healthy_step", "outputs", "outputs_now", "repeated", "weights", "weights_now")


@settings(max_examples=amount(400, 80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.dictionaries(st.sampled_from(FIELDS), JSON) | JSON, step=st.integers(-1, 24))
def test_any_json_is_norms_or_damage_and_has_claims(tmp_path: Path, content: Any, step: int) -> None:
    if isinstance(content, dict):
        content.setdefault("healthy_step", step)
    (tmp_path / "health_25.json").write_text(json.dumps(content))
    norms = read_norms(dump_at(tmp_path), 0, 25)
    if isinstance(norms, Health):
        assert [sentence(claim) for claim in norm_claims(norms, 25, 0)]
    else:
        assert isinstance(norms, FileDamage)
