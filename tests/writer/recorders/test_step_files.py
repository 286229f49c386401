"""JSON files of a step: order, stacks that entries share, and what a crash leaves."""

import json
import math
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.recorders.recorder_config import parse_probe_config
from mindinsight.writer.recorders.step_files import Describer, StepFiles, is_finite, plain_leaf


def files_of(directory: Any, **keys: Any) -> StepFiles:
    return StepFiles(directory / "rank0", parse_probe_config({"dump_path": str(directory)}, keys), "pytorch")


def written(files: Any) -> dict[Any, Any]:
    files.write(files.contents())
    return {path.name: json.loads(path.read_text()) for path in files.directory.iterdir()}


def test_entries_stand_in_the_order_of_their_ends(tmp_path: Path) -> None:
    files = files_of(tmp_path, level="mix")
    files.add("Module.fc.Linear.forward.0", {"input_args": [1]})
    files.add("Functional.linear.0.forward", {"output": []})
    files.add("Module.fc.Linear.forward.0", {"output": [2]})
    files.add_parent("Functional.linear.0.forward", "Module.fc.Linear.forward.0")
    content = written(files)
    assert content["dump.json"] == {
        "task": "statistics",
        "level": "mix",
        "framework": "pytorch",
        "dump_data_dir": None,
        "data": {
            "Functional.linear.0.forward": {"output": []},
            "Module.fc.Linear.forward.0": {"input_args": [1], "output": [2]},
        },
    }
    assert next(iter(content["dump.json"]["data"])) == "Functional.linear.0.forward"
    assert content["construct.json"] == {"Functional.linear.0.forward": "Module.fc.Linear.forward.0"}


def test_entries_of_one_stack_share_a_record_and_calls_are_counted(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    for _ in range(2):
        files.add_stack(f"Torch.add.{files.count('Torch.add')}.forward", ["File a.py, line 1, in f, \n x"])
    files.add_stack("Torch.mul.0.forward", [])
    assert written(files)["stack.json"] == {
        "0": [["Torch.add.0.forward", "Torch.add.1.forward"], ["File a.py, line 1, in f, \n x"]],
        "1": [["Torch.mul.0.forward"], []],
    }


def test_a_structure_has_no_values_and_tensors_name_their_directory(tmp_path: Path) -> None:
    structure = files_of(tmp_path / "a", task="structure")
    structure.add_stack("Torch.add.0.forward", [])
    assert sorted(written(structure)) == ["construct.json", "stack.json"]
    tensors = files_of(tmp_path / "b", task="tensor", extra_info=False)
    tensors.add("Torch.add.0.forward", {"output": [float("nan")]})
    content = written(tensors)
    assert list(content) == ["dump.json"]
    assert Path(content["dump.json"]["dump_data_dir"]) == tmp_path / "b" / "rank0" / "dump_tensor_data"


def test_calls_that_were_only_looked_at_are_counted(tmp_path: Path) -> None:
    files = files_of(tmp_path, task="overflow_check")
    files.count_checked()
    files.count_checked()
    document = written(files)["dump.json"]
    assert (document["checked"], document["data"]) == (2, {})
    assert files.contents() == {}


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    assert files.contents() == {}
    files.add_variable("scale.0.debug", None)
    assert "debug.json" in files.contents()
    assert files.contents() == {}


class Names(Describer):
    """Describer of a framework whose tensors are sets; leaves are the stems of their files."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        return {"data_name": stem} if isinstance(value, set) else None


class Plain(Describer):
    """Describer without a framework: every leaf is a number, text or array."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        return None


@dataclass
class Batch:
    x: Any
    y: Any


def test_places_in_containers_are_in_the_names_of_files() -> None:
    pair = namedtuple("pair", ["left", "right"])
    value = [set(), {"a": (set(), 2)}, Batch(set(), None), pair(set(), "b")]
    described = Names(False, None).describe(value, "entry.input")
    assert described == [
        {"data_name": "entry.input.0"},
        {"a": [{"data_name": "entry.input.1.a.0"}, {"type": "int", "value": 2}]},
        {"x": {"data_name": "entry.input.2.x"}, "y": None},
        {"left": {"data_name": "entry.input.3.left"}, "right": {"type": "str", "value": "b"}},
    ]


def test_a_list_in_itself_ends() -> None:
    value: list[Any] = []
    value.append(value)
    described = Names(False, None).describe(value, "entry")
    depth = 0
    while described:
        described, depth = described[0], depth + 1
    assert depth == 401


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        (True, {"type": "bool", "value": True}),
        (slice(1, None, 2), {"type": "slice", "value": [1, None, 2]}),
        (..., {"type": "ellipsis", "value": "..."}),
        (np.float32(1.5), {"type": "float32", "value": 1.5}),
        (object(), None),
    ],
)
def test_plain_arguments_have_leaves(value: object, leaf: object) -> None:
    assert plain_leaf(value) == leaf


def test_arrays_have_statistics_unless_they_are_empty_or_text() -> None:
    leaf = plain_leaf(np.array([3.0, -4.0]))
    assert leaf is not None
    assert [leaf[name] for name in ("Max", "Min", "Mean", "Norm")] == [3, -4, -0.5, 5]
    for array in (np.zeros(0), np.array(["a"])):
        empty = plain_leaf(array)
        assert empty is not None
        assert empty["Max"] is None


@pytest.mark.parametrize(
    ("output", "finite"),
    [
        ([np.array([1.0, math.nan])], False),
        ({"x": np.array([0.0, math.inf])}, False),
        ([np.array([]), 1.5, 3, True, "nan", slice(1, 2), None, object(), 10**400], True),
        ({"loss": math.nan}, False),
        ([np.float32(math.inf)], False),
        ([np.complex64(complex(1, math.nan))], False),
        ([np.complex64(1 + 2j)], True),
    ],
)
def test_outputs_that_are_not_finite_are_told(output: object, finite: bool) -> None:
    assert is_finite(Plain(False, None).describe(output, "entry.output")) is finite


@pytest.mark.parametrize("value", [1.0, math.nan])
@pytest.mark.parametrize("keys", [("Max",), ("Max", "Min"), ("type", "value"), ("Max", "Min", "type")])
def test_a_dictionary_may_have_the_keys_of_a_leaf(keys: tuple[str, ...], value: float) -> None:
    described = Plain(False, None).describe(dict.fromkeys(keys, np.array([value])), "entry.output")
    assert is_finite(described) is math.isfinite(value)
