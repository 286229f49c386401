"""Norms beside a step of the flight recorder, and files that hold something else."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.server.formats.dumps.recorder_files import Health, read_health

CONTENT = {"healthy_step": 20, "weights": {"w": 1.5, "b": 2}, "weights_now": {"w": float("inf"), "b": None}}


def dump_at(*roots: Path) -> Any:
    return SimpleNamespace(folders=[SimpleNamespace(root=str(root), rank=0, step=25) for root in roots])


def test_norms_are_those_of_the_last_healthy_check_and_of_the_fault(tmp_path: Path) -> None:
    (tmp_path / "health_25.json").write_text(json.dumps(CONTENT))
    dump = dump_at(tmp_path)
    assert read_health(dump, 0, 25) == Health(20, {"w": 1.5, "b": 2.0}, {"w": float("inf")})
    assert read_health(dump, 1, 25) is None
    assert read_health(dump, 0, 24) is None


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
    assert read_health(dump_at(tmp_path / "b", tmp_path / "a"), 0, 25) == Health(3, {}, {})
