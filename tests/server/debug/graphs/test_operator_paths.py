"""Paths of operators in a drawing."""

from mindinsight.server.debug.graphs.operator_paths import call_of, paths_of
from mindinsight.server.formats.dumps.types import Operator


def operator(name: str, *scope: str) -> Operator:
    return Operator(name, name, "", scope, "", 0, 0)


def test_calls_stand_in_their_phase_and_module() -> None:
    block = "Module.layers.0.Block.forward.0"
    paths = paths_of(
        [
            operator(block),
            operator("Functional.linear.3.forward", block),
            operator("Functional.relu.0.forward", "Functional"),
            operator("Module.fc.Linear.forward.1"),
            operator("Module.fc.Linear.backward.0"),
            operator("Module.fc.Linear.parameters_grad", "fc"),
            operator("Tensor.add_.0.forward", "optimizer"),
        ]
    )
    assert paths == [
        None,
        "layers.0 · Block/Functional.linear.3",
        "Functional.relu.0",
        "fc · Linear #1",
        "Backward/fc · Linear",
        "Backward/fc · Linear parameters_grad",
        "optimizer/Tensor.add_.0",
    ]


def test_scoped_names_stay() -> None:
    assert call_of("Default/fc-Dense/MatMul-op1") is None
    assert paths_of([operator("Default/fc-Dense/MatMul-op1", "Default", "fc-Dense")]) == [
        "Default/fc-Dense/MatMul-op1"
    ]
