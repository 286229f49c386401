"""Print writes the lines that MindSpore's Print writes in graph mode."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.operators import Print, tensor_text

# Printed by mindspore.ops.Print of MindSpore 2.10 in graph mode; tests/interop/in_mindspore.py does it again.
RECORDED = Path(__file__).parents[1] / "data" / "writer"


def test_tensors_are_printed_as_mindspore_does_in_graph_mode(capsys: pytest.CaptureFixture[str]) -> None:
    show = Print()
    with np.load(RECORDED / "mindspore_print.npz") as arrays:
        for name in arrays.files:
            show(arrays[name])
    assert capsys.readouterr().out == (RECORDED / "mindspore_print.txt").read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((0, 3), np.float32), "Tensor(shape=[0, 3], dtype=Float32, value=\n)"),
        (np.bool_(True), "True"),
        (np.array(12345678901), "12345678901"),
    ],
)
def test_tensors_that_mindspore_does_not_print(value: Any, text: str) -> None:
    assert tensor_text(value) == text


def test_arguments_are_printed_in_order_each_on_lines_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    Print()("x", np.array([[1], [1]], np.int32), "y", 3, 2.5, True, (1, 2))
    assert capsys.readouterr().out.splitlines() == [
        "x",
        "Tensor(shape=[2, 1], dtype=Int32, value=",
        "[[1]",
        " [1]])",
        "y",
        "3",
        "2.5",
        "True",
        "(1, 2)",
    ]


def test_what_has_no_numbers_is_refused() -> None:
    with pytest.raises(TypeError):
        Print()(object())


def test_inside_a_compiled_function_the_value_is_printed_when_it_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = []
    jax = SimpleNamespace(
        is_traced=lambda value: True, deliver=lambda put, value: waiting.append(put), barrier=None
    )
    monkeypatch.setattr(
        "mindinsight.writer.frameworks.framework_values.framework_of",
        lambda value: jax if value == "traced" else None,
    )
    Print()("traced")
    assert capsys.readouterr().out == ""
    waiting[0](np.array([7]))
    assert capsys.readouterr().out == "Tensor(shape=[1], dtype=Int64, value=[7])\n"


def test_a_stand_in_of_a_tracer_is_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    Print()(type("Proxy", (), {"__module__": "torch.fx.proxy"})())
    assert capsys.readouterr().out == ""
