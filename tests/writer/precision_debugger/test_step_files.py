"""JSON files of a step: order, stacks that entries share, and what a crash leaves."""

import json
from pathlib import Path
from typing import Any

from mindinsight.writer.precision_debugger.probe_config import parse_config
from mindinsight.writer.precision_debugger.step_files import StepFiles


def files_of(directory: Any, **keys: Any) -> StepFiles:
    return StepFiles(directory / "rank0", parse_config({"dump_path": str(directory)}, keys), "pytorch")


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


def test_nothing_new_writes_nothing(tmp_path: Path) -> None:
    files = files_of(tmp_path)
    assert files.contents() == {}
    files.add_variable("scale.0.debug", None)
    assert "debug.json" in files.contents()
    assert files.contents() == {}
