"""Dump configurations: MindSpore's own, older shapes, and what is refused with which words."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.recorders.recorder_config import (
    ConfigError,
    KernelFilter,
    load_dump_config,
    parse_dump_config,
)

COMMON = {
    "dump_mode": 0,
    "path": "/tmp/dump",
    "net_name": "LeNet",
    "iteration": "0|5-8|100-120",
    "saved_data": "tensor",
    "input_output": 0,
    "kernels": ["Default/Conv-op12"],
    "support_device": [0, 1, 2, 3],
}


def parsed(**changes: Any) -> Any:
    return parse_dump_config(
        {"common_dump_settings": {**COMMON, **changes}, "e2e_dump_settings": {"enable": True}}, {}
    )


def test_the_tutorials_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "data_dump.json"
    file.write_text(json.dumps({"common_dump_settings": COMMON, "e2e_dump_settings": {"enable": True}}))
    config = load_dump_config(file, {})
    assert (config.path, config.net_name, config.saved_data) == (Path("/tmp/dump"), "LeNet", "tensor")
    assert [n for n in range(130) if config.selects()(n)] == [0, 5, 6, 7, 8, *range(100, 121)]
    assert config.without_effect == ()
    assert config.source == file.read_text()


def test_keys_may_stand_without_sections_and_have_defaults() -> None:
    config = parse_dump_config({"path": "/tmp/dump"}, {})
    assert (config.net_name, config.iteration, config.saved_data, config.dump_mode) == (
        "Net",
        "all",
        "tensor",
        0,
    )
    assert config.statistic_category == ("max", "min", "l2norm")
    old = {
        "DumpSettings": {
            "net_name": "ResNet50",
            "dump_mode": 1,
            "iteration": 0,
            "path": "/tmp/x",
            "kernels": [],
        }
    }
    assert parse_dump_config(old, {}).iteration == "0"


def test_without_a_path_the_diagnostic_folder_is_taken(tmp_path: Path) -> None:
    assert parse_dump_config({}, {"MS_DIAGNOSTIC_DATA_PATH": str(tmp_path)}).path == tmp_path / "debug_dump"
    with pytest.raises(
        ConfigError, match="path is not set, and neither is the variable MS_DIAGNOSTIC_DATA_PATH"
    ):
        parse_dump_config({}, {})


def test_overflow_modes_bring_their_own_rules() -> None:
    three = parsed(op_debug_mode=3, dump_mode=1, input_output=2, overflow_number=5)
    assert (three.dump_mode, three.input_output, three.overflow_number) == (0, 0, 5)
    assert parsed(op_debug_mode=1).op_debug_mode == 3
    four = parsed(op_debug_mode=4)
    assert (four.iteration, four.input_output) == ("all", 0)


def test_empty_items_of_iterations_match_nothing() -> None:
    assert [n for n in range(5) if parsed(iteration="0||2|").selects()(n)] == [0, 2]


def test_keys_without_effect_are_named() -> None:
    config = parse_dump_config(
        {
            "common_dump_settings": {**COMMON, "file_format": "bin", "colour": "red"},
            "e2e_dump_settings": {
                "enable": True,
                "trans_flag": True,
                "sample_mode": 1,
                "stat_calc_mode": "device",
            },
        },
        {},
    )
    assert sorted(config.without_effect) == ["colour", "file_format", "sample_mode", "stat_calc_mode"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dump_mode": 3}, "dump_mode is one of 0, 1, 2, got 3"),
        ({"dump_mode": "1"}, "dump_mode is one of 0, 1, 2, got '1'"),
        ({"dump_mode": True}, "dump_mode is one of 0, 1, 2, got True"),
        ({"dump_mode": 2}, "only Ascend has"),
        ({"path": "relative/folder"}, "path is absolute, got 'relative/folder'"),
        ({"path": 3}, "path is text, got 3"),
        ({"net_name": "a/b"}, "net_name is made of letters, digits, '-' and '_', got 'a/b'"),
        ({"iteration": "1,2"}, "iteration: iterations are 'all' or numbers"),
        ({"iteration": "5-3"}, "ends before it begins"),
        ({"iteration": None}, "iteration is 'all' or text"),
        ({"saved_data": "all"}, "saved_data is one of tensor, statistic, full, got 'all'"),
        ({"input_output": 4}, "input_output is one of 0, 1, 2, got 4"),
        ({"kernels": "Conv"}, "kernels is a list of names, got 'Conv'"),
        ({"kernels": [3]}, "kernels is a list of names, and holds 3"),
        ({"op_debug_mode": 7}, "op_debug_mode is one of 0, 1, 2, 3, 4, got 7"),
        ({"overflow_number": 2}, "overflow_number only has a meaning with op_debug_mode 3"),
        ({"overflow_number": -1}, "overflow_number is a number from 0 on, got -1"),
        (
            {"statistic_category": ["max", "median"]},
            "statistic_category holds 'median'; allowed are max, min",
        ),
        ({"initial_iteration": "x"}, "initial_iteration is a number from 0 on, got 'x'"),
    ],
)
def test_a_wrong_value_is_refused_with_the_key_and_what_is_allowed(change: Any, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parsed(**change)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "is not JSON"), ("[]", "is a JSON object"), ('{"common_dump_settings": 3}', "got 3")],
)
def test_a_file_that_is_no_configuration_names_itself(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "data_dump.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=words) as refused:
        load_dump_config(file, {})
    assert str(file) in str(refused.value)


NAMES = [
    "Default/fc1-Dense/MatMul-op0",
    "Gradients/Default/fc1-Dense/Grad_MatMul/MatMul-op3",
    "Default/relu-op1",
    "fc1.weight",
]


@pytest.mark.parametrize(
    ("kernels", "chosen"),
    [
        ([], [0, 1, 2, 3]),
        (["", " "], [0, 1, 2, 3]),
        (["matmul"], [0, 1]),
        (["Grad"], []),
        (["Default/relu-op1"], [2]),
        (["name-regex(Gradients/.+)"], [1]),
        (["name-regex(Gradients)"], []),
        (["name-regex(.*fc1.*)"], [0, 1, 3]),
        ([' "ReLU" ', "weight"], [2, 3]),
    ],
)
def test_entries_choose(kernels: Any, chosen: Any) -> None:
    kernel_filter = KernelFilter(kernels)
    assert [number for number, name in enumerate(NAMES) if kernel_filter(name)] == chosen


def test_entries_that_fit_nothing_are_known() -> None:
    kernel_filter = KernelFilter(["MatMul", "Conv2D", "name-regex(x.*)"])
    for name in NAMES:
        kernel_filter(name)
        kernel_filter(name)
    assert kernel_filter.unmatched == ("Conv2D", "name-regex(x.*)")


def test_a_broken_expression_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kernels: 'name-regex\(\[\)' is not a valid regular expression"):
        KernelFilter(["name-regex([)"])
