"""Names and graph of the operators of a step."""

from pathlib import Path
from typing import Any

from mindinsight.proto import graph_pb2
from mindinsight.writer.recorders.capture import CodeLine, GraphRecorder, TensorFacts

X = TensorFacts("x", (2, 4), "float32")
WEIGHT = TensorFacts("w", (4, 3), "float32")
HIDDEN = TensorFacts("h", (2, 3), "float32")


def graph(recorder: Any) -> Any:
    return graph_pb2.ModelProto.FromString(recorder.serialised()).graph


def test_operators_are_numbered_by_type_and_joined_by_their_tensors() -> None:
    recorder = GraphRecorder("Net", [("fc1.weight", WEIGHT)])
    assert recorder.operator("mm", "Default/fc1-Linear", [X, WEIGHT]) == "Default/fc1-Linear/mm-op0"
    recorder.outputs([HIDDEN])
    assert recorder.operator("relu", "Default", [HIDDEN]) == "Default/relu-op0"
    recorder.outputs([TensorFacts("r", (2, 3), "float32")])
    assert recorder.operator("mm", "Gradients/Default", [HIDDEN]) == "Gradients/Default/mm-op1"
    recorder.outputs([])
    proto = graph(recorder)
    assert [node.full_name for node in proto.node] == [
        "Default/fc1-Linear/mm-op0",
        "Default/relu-op0",
        "Gradients/Default/mm-op1",
    ]
    assert [[source.name for source in node.input] for node in proto.node] == [
        ["inputs0", "fc1.weight"],
        ["1"],
        ["1"],
    ]
    assert [parameter.name for parameter in proto.parameters] == ["inputs0", "fc1.weight"]
    assert [dim.size for dim in proto.parameters[1].type.tensor_type.shape.dim] == [4, 3]


def test_an_operator_in_place_takes_over_its_tensor() -> None:
    recorder = GraphRecorder("Net")
    recorder.operator("mm", "Default", [X])
    recorder.outputs([HIDDEN])
    recorder.operator("add_", "Default", [HIDDEN])
    recorder.outputs([HIDDEN])
    recorder.operator("relu", "Default", [HIDDEN])
    recorder.outputs([TensorFacts("r", (2, 3), "float32")])
    assert [source.name for source in graph(recorder).node[2].input] == ["2"]


def test_the_number_beside_a_tensor_is_an_attribute() -> None:
    recorder = GraphRecorder("Net")
    recorder.operator("mul", "Default", [X], numbers={"1": 6e4})
    recorder.outputs([X])
    recorder.operator("relu", "Default", [X])
    recorder.outputs([X])
    first, second = graph(recorder).node
    ((name, value),) = [(attribute.name, attribute.value) for attribute in first.attribute]
    assert (name, value.double_val, len(second.attribute)) == ("input.1", 6e4, 0)


def test_several_outputs_and_lines_of_code_are_in_the_graph(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("a\n    values, where = x.topk(2)\n")
    recorder = GraphRecorder("Net")
    recorder.operator(
        "topk", "Default", [X], [CodeLine(str(file), 2, "forward"), CodeLine("gone.py", 7, "f")]
    )
    recorder.outputs([TensorFacts("v", (2, 2), "float32"), TensorFacts("i", (2, 2), "int64")])
    (node,) = graph(recorder).node
    assert len(node.output_type.sequence_type.elem_types) == 2
    assert list(node.source_address) == [
        f"# In file {Path(file)}:2, 0~25/values, where = x.topk(2)/",
        "# In file gone.py:7, 0~0//",
    ]
