"""The examples that need no framework run as they are and leave what they promise.

Those of the frameworks are run by tests/interop/frameworks.sh.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto import framing
from mindinsight.proto.lineage_pb2 import LineageEvent
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats import dumps
from tests.narrowing import require

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: Any, *arguments: Any) -> Any:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)


def messages(path: Any, kind: Any) -> Iterator[Any]:
    data, start = path.read_bytes(), 0
    while start < len(data):
        size = require(framing.decode_header(data[start : start + framing.HEADER_SIZE]))
        begin = start + framing.HEADER_SIZE
        start = begin + size + framing.FOOTER_SIZE
        yield kind.FromString(framing.decode_payload(data[begin:start]))


def events(directory: Any) -> list[Any]:
    (path,) = directory.glob("*_MS")
    return list(messages(path, Event))


def tags(directory: Any) -> Any:
    """Kind of value -> tags."""
    names: dict[Any, Any] = {}
    for event in events(directory):
        for value in event.summary.value:
            names.setdefault(value.WhichOneof("value"), set()).add(value.tag)
    return names


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A demonstration of few steps."""
    directory = tmp_path_factory.mktemp("demo")
    run("demo.py", "--out", directory, "--steps", 210)
    return directory


@pytest.mark.parametrize("name", ["lr_0.1", "lr_0.01", *(f"ranks/rank_{rank}" for rank in range(4))])
def test_every_run_of_the_demo_has_every_kind_of_value(demo: Any, name: Any) -> None:
    recorded_tags = tags(demo / name)
    assert {"train/loss", "train/accuracy", "eval/accuracy", "lr"} <= recorded_tags["scalar_value"]
    assert {"fc1.weight", "fc1.weight/gradient"} <= recorded_tags["histogram"]
    assert recorded_tags["image"] == {"train/input", "fc1.weight"}
    assert "eval/confusion" in recorded_tags["tensor"]
    assert len(recorded_tags["loss_landscape"]) == 1


def test_a_good_run_of_the_demo_says_so_once(demo: Any) -> None:
    alerts = [event for event in events(demo / "lr_0.1") if event.HasField("alert")]
    assert [event.alert.title for event in alerts] == ["more than 90% of the test pictures are right"]


def test_the_landscape_is_one(demo: Any) -> None:
    (value,) = [
        value
        for event in events(demo / "lr_0.1")
        for value in event.summary.value
        if value.HasField("loss_landscape")
    ]
    plane = value.loss_landscape
    z = np.reshape(plane.landscape.z.float_data, tuple(plane.landscape.z.dims))
    assert z.shape == (25, 25)
    assert np.isfinite(z).all()
    path = np.array(plane.loss_path.points.z.float_data)
    assert path[-1] < path[0]
    assert plane.convergence_point.z.float_data[0] == path[-1]


def test_the_graph_of_the_demo_has_scopes_and_edges(demo: Any) -> None:
    (graph,) = [event.graph_def for event in events(demo / "lr_0.1") if event.HasField("graph_def")]
    names = {node.full_name for node in graph.node}
    assert "Default/network-WithLossCell/_backbone-ShapeNet/fc1-Dense/MatMul-op0" in names
    assert any(name.startswith("Gradients/Default/") for name in names)
    known = {node.name for node in graph.node} | {parameter.name for parameter in graph.parameters}
    inputs = {source.name for node in graph.node for source in node.input}
    assert not [name for name in inputs - known if not name.startswith("cst")]


def test_the_demo_leaves_lineage_of_every_kind(demo: Any) -> None:
    (path,) = (demo / "lr_0.01").glob("*_lineage")
    lineage = {message.WhichOneof("what"): message for message in messages(path, LineageEvent)}
    assert set(lineage) == {"train_lineage", "evaluation_lineage", "dataset_graph", "user_defined_info"}
    assert lineage["train_lineage"].train_lineage.hyper_parameters.learning_rate == np.float32(0.01)


def test_in_the_dump_an_operator_goes_wrong_at_a_late_step(demo: Any) -> None:
    dump = dumps.open_dump(demo / "lr_0.1" / "dump")
    assert dump.damage == ()
    wrong: dict[Any, Any] = {}
    for folder in dump.folders:
        for entry in dumps.list_tensors(dump, 0, folder.step).items:
            if (
                entry.dtype.startswith("float")
                and not np.isfinite(dumps.read_tensor(require(entry.ref))).all()
            ):
                wrong.setdefault(folder.step, f"{entry.type} {entry.direction}")
    assert min(wrong) >= 3
    assert wrong[min(wrong)] == "Exp output"


def test_a_live_demo_goes_on_until_it_is_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "demo.py"), "--out", str(tmp_path), "--steps", "9", "--live"]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what runs in the background ignores it
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heard)  # noqa: PLW1509
    try:
        assert any("press Ctrl-C" in line for line in require(process.stdout))
        (path,) = (tmp_path / "lr_0.1").glob("*_MS")
        size = path.stat().st_size
        while path.stat().st_size == size:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert "ended" in require(process.stdout).read()
        assert process.wait(60) == 0
    finally:
        process.kill()
        require(process.stdout).close()
        process.wait()


def test_the_numpy_example_learns(tmp_path: Path) -> None:
    shown = run("numpy_train.py", "--out", str(tmp_path), "--steps", 200).stdout
    assert shown.startswith("epoch: 1 step: 100, loss is ")
    recorded_tags = tags(tmp_path)
    assert recorded_tags["scalar_value"] == {"train/loss", "eval/accuracy"}
    losses = [
        value.scalar_value
        for event in events(tmp_path)
        for value in event.summary.value
        if value.tag == "train/loss"
    ]
    assert len(losses) == 200
    assert np.mean(losses[-20:]) < 0.5 * np.mean(losses[:20])


@pytest.mark.slow
def test_tuning_leaves_a_study_and_a_run_for_each_trial(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    run("tune.py", "--out", out, "--trials", 3, "--workspace", tmp_path / "workspace")
    assert len(list(out.glob("half_moons/trial_*/*_MS"))) == 3
    assert len(list((tmp_path / "workspace" / "studies").glob("half_moons-*.journal"))) == 1
