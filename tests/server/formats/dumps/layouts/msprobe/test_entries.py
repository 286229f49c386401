"""Names, leaves and statistics of entries of dump.json."""

from typing import Any

import pytest

from mindinsight.server.formats.dumps import (
    list_operators,
    open_dump,
)
from mindinsight.server.formats.dumps.layouts.msprobe.entries import (
    parse_call,
    parse_tensor_name,
    statistics_of,
)
from tests.narrowing import require
from tests.server.formats.dumps.layouts.conftest import leaf, listed


def test_leaves_of_every_shape(made: Any) -> None:
    folder = made(
        {
            "Torch.cat.0.forward": {
                "input_args": [[leaf(), [leaf()]], None, {"type": "int", "value": 3}, {"key": leaf()}],
                "input_kwargs": {"out": leaf(), "dims": [{"type": "slice", "value": [1, None]}]},
                "output": leaf(),
            },
            "Module.a.b.Net.parameters_grad.0": {
                "w": [leaf(Max=float("inf"), Min=None)],
                "v": [leaf(), leaf()],
            },
            "saved.0": leaf(Max="nan", Mean=[1], Norm=10**400),
            "odd": ["not", "an", "object"],
            "none": {"input_args": None},
        },
        level="debug",
    )
    entries = listed(folder)
    assert [(e.operator.split(".")[0], e.direction, e.slot) for e in entries] == [
        ("Torch", "input", "0.0"),
        ("Torch", "input", "0.1.0"),
        ("Torch", "input", "3.key"),
        ("Torch", "input", "out"),
        ("Torch", "output", "0"),
        ("Module", "output", "w"),
        ("Module", "output", "v.0"),
        ("Module", "output", "v.1"),
        ("saved", "output", "0"),
    ]
    assert entries[5].statistics.max == float("inf")
    assert entries[8].statistics.l2norm is None
    operators = list_operators(open_dump(folder.parents[1]), 0, 3)
    assert operators[0].arguments == (("input.2", "3"), ("input.dims.0", "[1, null]"))


@pytest.mark.parametrize("shape", ["2", [2, "x"], {"a": 1}, None])
def test_shapes_that_are_none(made: Any, shape: Any) -> None:
    (entry,) = listed(made({"Torch.a.0.forward": {"output": [leaf(shape=shape)]}}))
    assert entry.shape is None


def test_lists_without_end(made: Any) -> None:
    value: Any = leaf()
    for _ in range(200):
        value = [value]
    assert len(listed(made({"Torch.a.0.forward": {"output": [value, leaf()]}}))) == 1


def test_entries_that_are_no_object(made: Any) -> None:
    assert not listed(made(["a"]))


@pytest.mark.parametrize(
    ("entry", "kind", "path", "forward"),
    [
        ("Functional.conv2d.1.backward", "conv2d", ("Functional",), "Functional.conv2d.1.forward"),
        ("Primitive.a.b.MatMul.0.forward", "MatMul", ("Primitive",), "Primitive.a.b.MatMul.0.forward"),
        ("Module.m.0.fc.Linear.backward.2", "Linear", ("m", "0", "fc"), "Module.m.0.fc.Linear.forward.2"),
        ("Cell.n.Dense.parameters_grad.0", "Dense", ("n",), "Cell.n.Dense.forward.0"),
        ("optimizer", "optimizer", (), "optimizer"),
    ],
)
def test_names_of_calls(entry: Any, kind: Any, path: Any, forward: Any) -> None:
    assert parse_call(entry) == (kind, path, forward)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("Torch.a.0.forward.input.0.1.pt", ("Torch.a.0.forward", "input", "0.1")),
        (
            "Module.m.Linear.forward.0.parameters.weight.npy",
            ("Module.m.Linear.forward.0", "parameter", "weight"),
        ),
        ("Cell.m.Dense.parameters_grad.0.bias.npy", ("Cell.m.Dense.parameters_grad.0", "output", "bias")),
        ("Torch.a.0.backward.output.2.npy", ("Torch.a.0.backward", "output", "2")),
        ("notes.txt", None),
        ("a.npy", None),
    ],
)
def test_names_of_tensor_files(name: Any, parsed: Any) -> None:
    assert parse_tensor_name(name) == parsed


def test_a_single_number_stands_in_place_of_its_checksum() -> None:
    """``summary_mode: xor`` of msprobe 26.2 writes the value of a 0-d tensor as its ``md5``."""
    result = require(statistics_of({"shape": [], "md5": -1.5}))
    assert (result.min, result.max, result.mean, result.l2norm) == (-1.5, -1.5, -1.5, 1.5)
    assert (result.checksum, result.checksum_kind) == ("-1.5", "value")
    assert require(statistics_of({"shape": [], "md5": float("nan")})).checksum == "nan"
    assert statistics_of({"shape": [], "md5": None}) is None
    assert statistics_of({"shape": [], "md5": True}) is None
