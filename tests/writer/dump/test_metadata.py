"""Files of a dump beside its tensors: written once, for reading only, as MindSpore has them."""

import json
import stat
from pathlib import Path

import pytest

from mindinsight.proto import graph_pb2
from mindinsight.writer.dump.metadata import DumpMetadata, Gap, settings_text
from mindinsight.writer.dump.origin import Origin


def test_settings_name_the_network_and_the_iterations(tmp_path: Path) -> None:
    settings = json.loads(settings_text(tmp_path, "Net-1_a", "0|3"))["common_dump_settings"]
    assert (settings["path"], settings["net_name"], settings["iteration"]) == (
        str(tmp_path),
        "Net-1_a",
        "0|3",
    )


@pytest.mark.parametrize("name", ["", "a/b", "..", "网", "a b"])
def test_a_name_that_could_leave_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="net_name"):
        settings_text(tmp_path, name, "all")


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (Origin("mindspore", "2.3.1", "CPU"), {"device_target": "CPU", "ms_version": "2.3.1"}),
        (
            Origin("pytorch", "2.9.0", "GPU"),
            {"device_target": "GPU", "framework": "pytorch", "framework_version": "2.9.0"},
        ),
    ],
)
def test_an_origin_is_written_once_and_for_reading(
    tmp_path: Path, origin: Origin, expected: dict[str, str]
) -> None:
    metadata = DumpMetadata(tmp_path, 0)
    metadata.origin(origin)
    metadata.origin(Origin("jax", "1", "TPU"))
    path = tmp_path / ".dump_metadata" / "config.json"
    assert json.loads(path.read_text()) == expected
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


def test_a_graph_has_the_order_of_its_operators_and_iterations_are_added(tmp_path: Path) -> None:
    model = graph_pb2.ModelProto(ir_version=3)
    for name in ("Default/a-op0", "", "Default/b-op1"):
        model.graph.node.add(full_name=name)
    metadata = DumpMetadata(tmp_path, 2)
    metadata.graph(model.SerializeToString())
    metadata.add_iteration(0)
    metadata.add_iteration(7)
    written = graph_pb2.ModelProto.FromString(
        (tmp_path / "graphs" / "ms_output_trace_code_graph_2.pb").read_bytes()
    )
    assert written.graph == model.graph and not written.HasField("ir_version")
    order = tmp_path / "execution_order"
    assert (order / "ms_execution_order_graph_2.csv").read_text().splitlines()[1:] == [
        "Default/a-op0",
        "Default/b-op1",
    ]
    assert (order / "ms_global_execution_order_graph_2.csv").read_text() == "0\n7\n"


def test_what_is_missing_in_a_dump_is_added_once(tmp_path: Path) -> None:
    metadata = DumpMetadata(tmp_path, 0)
    metadata.not_recorded([])
    path = tmp_path / ".dump_metadata" / "not_recorded.json"
    assert not path.exists()
    for _ in range(2):
        metadata.not_recorded([Gap("compiled", ("conv1",))])
    metadata.not_recorded([Gap("limit", count=3, iterations=(5,))])
    compiled, limit = json.loads(path.read_text())
    assert (compiled["kind"], compiled["names"], compiled["iterations"]) == ("compiled", ["conv1"], [])
    assert (limit["kind"], limit["count"], limit["iterations"]) == ("limit", 3, [5])
