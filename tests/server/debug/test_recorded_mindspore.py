"""A fault in a dump that our recorder made of a MindSpore training in PyNative mode.

``samples/README.md`` has the script: a square root of negative numbers, two steps.
"""

import zipfile
from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.server.client.dump_reader import DumpReader
from mindinsight.server.formats.dumps import open_dump

SAMPLES = Path(__file__).parents[2] / "data" / "dumps" / "samples"


def unpacked(name: str, root: Path) -> Path:
    with zipfile.ZipFile(SAMPLES / f"{name}.zip") as archive:
        archive.extractall(root)
    return root / name


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> DumpReader:
    return mindinsight.dump(unpacked("recorded_mindspore", tmp_path_factory.mktemp("recorded")))


def test_the_operator_and_its_line_are_found(dump: DumpReader) -> None:
    fault = dump.first_fault().fault
    assert fault is not None
    assert (fault.kind, fault.rank, fault.step) == ("made", 0, 0)
    assert fault.operator is not None
    assert fault.operator.name == "Default/Sqrt-op0"
    assert fault.source is not None
    assert fault.source.file == "/home/user/train/planted.py"
    assert fault.source.code == "return ops.sqrt(hidden - 100)"


def test_forward_and_backward_have_the_names_of_mindspore(dump: DumpReader) -> None:
    names = [operator.name for operator in dump.operators(0)]
    assert names[:3] == ["Default/fc-Dense/MatMul-op0", "Default/fc-Dense/BiasAdd-op0", "Default/SubExt-op0"]
    assert "Gradients/Default/fc-Dense/Grad_MatMul/MatMul-op0" in names
    backward = next(o for o in dump.operators(0) if o.name.startswith("Gradients/Default/fc-Dense"))
    assert "hidden = self.fc(x)" in [frame.code for frame in backward.stack]


def test_operators_are_joined_and_constants_have_their_slots(dump: DumpReader) -> None:
    operators = {operator.name: operator for operator in dump.operators(0)}
    assert "Default/SubExt-op0" in operators["Default/Sqrt-op0"].sources
    slots = {
        (entry.slot, entry.direction): entry.dtype
        for entry in dump.tensors(0)
        if entry.operator == "Default/fc-Dense/MatMul-op0"
    }
    assert {slot for slot, direction in slots if direction == "input"} == {"0", "1", "2", "3"}
    weight = dump.tensor("fc.weight", step=0, direction="parameter")
    np.testing.assert_array_equal(weight, dump.tensor("Default/fc-Dense/MatMul-op0", 0, 1, direction="input"))


def test_the_backward_that_autograd_runs_unseen_is_recorded(tmp_path: Path) -> None:
    path = unpacked("recorded_convolution", tmp_path)
    dump = mindinsight.dump(path)
    slots = {(entry.type, entry.direction, entry.slot) for entry in dump.tensors(0)}
    for kind, inputs in (("MaxPoolGrad", 3), ("Conv2DBackpropInput", 2), ("Conv2DBackpropFilter", 2)):
        assert {(kind, "input", str(slot)) for slot in range(inputs)} | {(kind, "output", "0")} <= slots
    operators = {operator.name: operator for operator in dump.operators(0)}
    filters = operators["Gradients/Default/conv2-Conv2d/Grad_Conv2D/Conv2DBackpropFilter-op0"]
    pooled = "Gradients/Default/pool-MaxPool2d/Grad_MaxPool/MaxPoolGrad-op0"
    assert set(filters.sources) == {pooled, "Default/conv1-Conv2d/BiasAdd-op0"}
    (gap,) = open_dump(path).not_recorded  # the net calls a compiled function
    assert (gap.rank, gap.kind, gap.names) == (0, "backward", ("jit",))
