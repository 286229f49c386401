"""msprobe's configuration: what is read, and what is refused with which words."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.recorders.recorder_config import (
    ConfigError,
    Selection,
    load_probe_config,
    parse_probe_config,
)

FILE = {
    "task": "tensor",
    "dump_path": "/tmp/dump",
    "rank": [0, "2-3"],
    "step": [1],
    "level": "mix",
    "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "md5"},
    "tensor": {"scope": [], "list": ["linear"], "data_mode": ["forward"], "file_format": "npy"},
}


def test_a_file_of_msprobe_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(FILE))
    config = load_probe_config(file, {})
    assert (config.task, config.level, str(config.dump_path)) == ("tensor", "mix", "/tmp/dump")
    assert (config.ranks, config.steps, config.names) == ({0, 2, 3}, {1}, ("linear",))
    assert (config.directions, config.sides) == ({"forward"}, {"input", "output"})
    assert config.summary_mode == "statistics"  # the section of another task does not count
    assert config.without_effect == ("file_format",)


def test_arguments_go_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(FILE))
    config = load_probe_config(file, {"task": "statistics", "step": [7], "level": None})
    assert (config.task, config.steps, config.level, config.summary_mode) == (
        "statistics",
        {7},
        "mix",
        "md5",
    )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"task": "run_ut"}, "task is one of statistics, tensor, overflow_check, structure, got 'run_ut'"),
        ({"level": "L3"}, "level is one of L0, L1, L2, mix, got 'L3'"),
        ({"step": [True]}, 'step holds numbers from 0 on and ranges such as "5-8", got True'),
        ({"rank": ["3-1"]}, "rank: '3-1' is not a range"),
        ({"step": 2.5}, r'step is a list of numbers and ranges such as \[0, "5-8"\], got 2.5'),
        ({"scope": ["Functional.relu.0.forward"]}, "scope is the names of the first and the last entry"),
        ({"scope": ["relu", "relu"]}, "a name is such as Functional.linear.0.forward"),
        ({"list": "relu"}, "list is a list of names, got 'relu'"),
        ({"data_mode": ["sideways"]}, "data_mode holds 'sideways'; allowed are all, forward, backward"),
        ({"summary_mode": "sha"}, "summary_mode is one of statistics, md5, got 'sha'"),
        ({"extra_info": 1}, "extra_info is true or false, got 1"),
        ({"dump_path": ""}, "dump_path is not set"),
        ({"dump_paths": "/tmp"}, "'dump_paths' is not a key; allowed are task, dump_path"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(keys: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_probe_config({"dump_path": "/tmp/dump"}, keys)


def test_a_file_that_is_no_json_or_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text("{")
    with pytest.raises(ConfigError, match=r"config\.json is not JSON"):
        load_probe_config(file, {})
    with pytest.raises(ConfigError, match="is a file"):
        parse_probe_config({}, {"dump_path": file})


CALLS = [f"{name}.forward" for name in ("Functional.linear.0", "Functional.relu.0", "Torch.add.0")]


def test_everything_is_selected_without_scope_and_list() -> None:
    assert all(map(Selection(), CALLS))


def test_a_scope_runs_from_the_first_call_to_the_last() -> None:
    selection = Selection(scope=(CALLS[1], CALLS[1]))
    assert [selection(name) for name in CALLS] == [False, True, False]


def test_a_list_holds_parts_of_names() -> None:
    assert [Selection(names=("relu", "Torch"))(name) for name in CALLS] == [False, True, True]


def test_a_scope_of_modules_holds_what_runs_in_them() -> None:
    first, last = "Module.fc1.Linear.forward.0", "Module.act.ReLU.forward.0"
    selection = Selection(scope=(first, last), level="mix")
    assert not selection(CALLS[0])
    selection.begin(first)
    assert selection(first) and selection(CALLS[0])
    selection.end(first)
    selection.begin(last)
    assert selection(CALLS[1])
    selection.end(last)
    assert not selection(CALLS[2])


def test_a_listed_module_selects_the_calls_within_with_level_mix() -> None:
    module = "Module.fc1.Linear.forward.0"
    selection = Selection(names=("fc1",), level="mix")
    selection.begin(module)
    assert selection(CALLS[0])
    selection.end(module)
    assert not selection(CALLS[0])
