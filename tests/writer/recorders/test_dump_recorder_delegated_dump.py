"""The configuration that is left for MindSpore's graph mode."""

import json
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mindinsight.writer.recorders.dump_recorder import delegate_dump, settings_of
from mindinsight.writer.recorders.recorder_config import ConfigError, load_dump_config, parse_dump_config


@pytest.fixture
def path() -> Iterator[Path]:
    """A path that MindSpore takes: no dots, which the temporary folder of a user may have."""
    with tempfile.TemporaryDirectory(prefix="delegated-", dir="/tmp") as folder:
        yield Path(folder) / "dump"


def test_the_configuration_is_written_and_named_in_the_variable(path: Path) -> None:
    config = parse_dump_config(
        {"path": str(path), "net_name": "Net", "iteration": "0|5-8", "kernels": ["MatMul"]}
    )
    environment: dict[str, str] = {}
    file = delegate_dump(config, False, "CPU", environment)
    assert environment == {"MINDSPORE_DUMP_CONFIG": str(file)}
    content = json.loads(file.read_text())
    assert content["e2e_dump_settings"]["enable"] is True
    common = content["common_dump_settings"]
    assert (common["path"], common["iteration"], common["kernels"]) == (str(path), "0|5-8", ["MatMul"])
    required = {"dump_mode", "path", "net_name", "iteration", "input_output", "kernels", "support_device"}
    assert required <= common.keys()
    assert load_dump_config(file).iteration == "0|5-8"


def test_after_the_first_compilation_it_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    config = parse_dump_config({"path": str(tmp_path / "dump")})
    environment: dict[str, str] = {}
    with pytest.raises(RuntimeError, match="start the recorder before the first step"):
        delegate_dump(config, True, "CPU", environment)
    assert (environment, list(tmp_path.iterdir())) == ({}, [])


def test_a_file_the_variable_names_already_holds_even_later(tmp_path: Path) -> None:
    file = tmp_path / "data_dump.json"
    file.write_text(json.dumps({"common_dump_settings": {"path": "/tmp/dump"}}))
    environment = {"MINDSPORE_DUMP_CONFIG": str(file)}
    assert delegate_dump(load_dump_config(file), True, "CPU", environment) == file
    assert environment == {"MINDSPORE_DUMP_CONFIG": str(file)}


def test_a_path_mindspore_refuses_is_refused_here() -> None:
    with pytest.raises(ConfigError, match="in path MindSpore takes letters"):
        delegate_dump(parse_dump_config({"path": "/tmp/a.b"}), False, "CPU", {})


def test_statistics_are_left_out_on_the_cpu_and_said_to_be(caplog: pytest.LogCaptureFixture) -> None:
    config = parse_dump_config({"path": "/tmp/dump", "saved_data": "full", "statistic_category": ["max"]})
    with caplog.at_level(logging.WARNING):
        common = settings_of(config, "CPU")["common_dump_settings"]
    assert (common["saved_data"], "statistic_category" in common) == ("tensor", False)
    assert "not saved_data full" in caplog.text
    common = settings_of(config, "Ascend")["common_dump_settings"]
    assert (common["saved_data"], common["statistic_category"]) == ("full", ["max"])
