"""Values are printed in the lines MindSpore prints, taken from a run of MindSpore 2.10."""

from types import SimpleNamespace

import numpy as np
import pytest

from mindinsight.writer.printing import Print, tensor_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[1], [1]], np.int32), "Tensor(shape=[2, 1], dtype=Int32, value=\n[[1],\n [1]])"),
        (
            np.array([1.5, -2, np.nan, np.inf], np.float32),
            "Tensor(shape=[4], dtype=Float32, "
            "value= [ 1.50000000e+00, -2.00000000e+00,             nan,             inf])",
        ),
        (np.array([[True, False]]), "Tensor(shape=[1, 2], dtype=Bool, value=\n[[ True, False]])"),
        (np.float32(3.5), "Tensor(shape=[], dtype=Float32, value= 3.5)"),
        (np.array(3), "Tensor(shape=[], dtype=Int64, value= 3)"),
        (np.zeros((0, 3), np.float32), "Tensor(shape=[0, 3], dtype=Float32, value=\n)"),
        (
            np.ones((2, 2, 2), np.float16),
            "Tensor(shape=[2, 2, 2], dtype=Float16, value=\n"
            "[[[ 1.0000e+00,  1.0000e+00],\n  [ 1.0000e+00,  1.0000e+00]],\n"
            " [[ 1.0000e+00,  1.0000e+00],\n  [ 1.0000e+00,  1.0000e+00]]])",
        ),
        (np.array([1.5]), "Tensor(shape=[1], dtype=Float64, value= [ 1.50000000e+00])"),
        (np.array([[-1, 100]], np.int8), "Tensor(shape=[1, 2], dtype=Int8, value=\n[[ -1, 100]])"),
        (np.array([7], np.uint8), "Tensor(shape=[1], dtype=UInt8, value= [7])"),
    ],
)
def test_a_tensor_is_printed_as_mindspore_does(value, text):
    assert tensor_text(value) == text


def test_a_large_tensor_is_abridged():
    lines = tensor_text(np.arange(2000, dtype=np.float32).reshape(20, 100)).splitlines()
    assert lines[0] == "Tensor(shape=[20, 100], dtype=Float32, value="
    assert lines[1] == (
        "[[ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00 ...  9.70000000e+01,  9.80000000e+01,"
        "  9.90000000e+01],"
    )
    assert lines[4] == " ..."
    assert len(lines) == 8


def test_arguments_are_printed_in_order_each_on_lines_of_its_own(capsys):
    Print()("x", np.array([[1], [1]], np.int32), "y", 3, 2.5, True, (1, 2))
    assert capsys.readouterr().out.splitlines() == [
        "x",
        "Tensor(shape=[2, 1], dtype=Int32, value=",
        "[[1],",
        " [1]])",
        "y",
        "3",
        "2.5",
        "True",
        "(1, 2)",
    ]


def test_what_has_no_numbers_is_refused():
    with pytest.raises(TypeError):
        Print()(object())


def test_inside_a_compiled_function_the_value_is_printed_when_it_runs(capsys, monkeypatch):
    waiting = []
    jax = SimpleNamespace(
        is_traced=lambda value: True, deliver=lambda put, value: waiting.append(put), barrier=None
    )
    monkeypatch.setattr(
        "mindinsight.writer.frameworks.traced.framework_of", lambda value: jax if value == "traced" else None
    )
    Print()("traced")
    assert capsys.readouterr().out == ""
    waiting[0](np.array([7]))
    assert capsys.readouterr().out == "Tensor(shape=[1], dtype=Int64, value= [7])\n"


def test_a_stand_in_of_a_tracer_is_passed_over(capsys):
    Print()(type("Proxy", (), {"__module__": "torch.fx.proxy"})())
    assert capsys.readouterr().out == ""
