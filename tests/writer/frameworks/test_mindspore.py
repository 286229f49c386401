"""What MindSpore's context and cells tell; tests/interop/in_mindspore.py asks the real ones."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import RecorderSettings, SummaryCollector, SummaryRecord, record_gradients
from mindinsight.writer.callbacks import RunContext
from mindinsight.writer.operators import take_operator_values


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[Any]:
    take_operator_values()
    yield
    take_operator_values()


@pytest.fixture
def network(mindspore: Any) -> Any:
    return mindspore.nn.Cell(
        mindspore.Parameter("fc.weight", (2, 2)),
        mindspore.Parameter("fc.bias", (2,)),
        mindspore.Parameter("scale", ()),
    )


def backward(network: Any) -> None:
    for parameter in network.parameters:
        parameter.backward(np.ones(parameter.shape))


def tags() -> list[Any]:
    return [f"{plugin} {tag}" for plugin, tag, _ in take_operator_values()]


def test_gradients_of_a_cell_become_histograms(network: Any) -> None:
    remove = record_gradients(network, "fc")
    backward(network)
    assert tags() == ["histogram fc.weight/gradient", "histogram fc.bias/gradient"]
    remove()
    backward(network)
    assert tags() == []


def test_a_parameter_without_dimensions_has_no_histogram(network: Any) -> None:
    record_gradients(network, "scale")
    backward(network)
    assert tags() == []


def test_only_every_nth_pass_of_a_cell_is_recorded(network: Any) -> None:
    record_gradients(network, "fc.bias", every=2)
    recorded = []
    for _ in range(4):
        backward(network)
        recorded.append(len(tags()))
    assert recorded == [1, 0, 1, 0]


def test_in_graph_mode_passes_cannot_be_counted(network: Any, mindspore: Any) -> None:
    mindspore.context["mode"] = mindspore.GRAPH_MODE
    with pytest.raises(ValueError, match="every must be 1"):
        record_gradients(network, every=2)
    record_gradients(network)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [(1, "MindSpore compiles no graph in PyNative mode: set_context"), (0, "has not run in graph mode")],
)
def test_a_recorder_says_why_there_is_no_graph(
    tmp_path: Path, network: Any, mindspore: Any, caplog: pytest.LogCaptureFixture, mode: int, reason: str
) -> None:
    mindspore.context["mode"] = mode
    with caplog.at_level(logging.WARNING), SummaryRecord(tmp_path, network=network) as record:
        for step in range(4):
            record.record(step)
    assert [reason in message for message in caplog.messages] == [True]


def test_a_collector_says_why_there_is_no_graph(
    tmp_path: Path, network: Any, caplog: pytest.LogCaptureFixture
) -> None:
    arguments = {"mode": "train", "network": network, "cur_step_num": 1, "net_outputs": 0.5}
    with caplog.at_level(logging.WARNING), SummaryCollector(tmp_path, keep_default_action=False,
        collect_specified_data={"collect_graph": True}) as collector:  # fmt: skip
        collector.begin(RunContext(arguments))
        collector.step_end(RunContext(arguments))
    assert ["compiles no graph in PyNative mode" in message for message in caplog.messages] == [True]


def test_the_file_of_the_context_turns_the_data_recorder_on(
    tmp_path: Path, mindspore: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MS_RDR_ENABLE", raising=False)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"rdr": {"enable": True, "mode": 2, "path": str(tmp_path / "left")}}))
    mindspore.context["env_config_path"] = str(config)
    assert RecorderSettings.of({}) == RecorderSettings(True, 2, tmp_path / "left")
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
    left = {path.name.split(".2")[0] for path in (tmp_path / "left" / "rank_0" / "rdr").iterdir()}
    assert left == {"RUN.settings", "SUMMARY.last_values"}


def test_without_a_file_in_the_context_the_variables_hold(mindspore: Any) -> None:
    assert RecorderSettings.of({"MS_RDR_ENABLE": "1"}).enable
    del mindspore.context["env_config_path"]
    assert RecorderSettings.of({"MS_RDR_ENABLE": "1"}).enable
