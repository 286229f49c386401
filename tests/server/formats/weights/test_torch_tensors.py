"""Descriptions of tensors in pickles of PyTorch."""

from pathlib import Path
from typing import Any

from mindinsight.server.formats.weights.torch_files import open_torch, read_torch
from tests.server.formats.weights.torch_archives import (
    SIX,
    Described,
    Global,
    Storage,
    tensor,
    write,
)

DATA = Path(__file__).parents[3] / "data" / "weights"


def test_a_whole_module_gives_its_parameters() -> None:
    assert {name: tensor.shape for name, tensor in open_torch(DATA / "module.pt").tensors.items()} == {
        "_parameters.weight": (2, 3),
        "_parameters.bias": (2,),
    }


def test_what_is_not_a_tensor_is_passed_over(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    value = {
        "weight": tensor(Storage("0", 6)),
        "system": Described("os", "system", "exit 1"),
        "half": Described("torch._utils", "_rebuild_tensor_v2", "no storage", 0, (1,), (1,)),
        "short": Described("torch._utils", "_rebuild_tensor_v2", Storage("0", 6)),
        "parameter": Described("torch._utils", "_rebuild_parameter"),
        "dict": Described("collections", "OrderedDict", [1, 2]),
        "odd": Described("torch._utils", "_rebuild_tensor_v2", Storage("0", 6), "x", None, (1,)),
        "loop": loop,
        "twice": [{"x": 1}] * 2,
        ("a", "tuple"): tensor(Storage("0", 6)),
    }
    file = open_torch(write(tmp_path / "a.pt", value, s0=SIX))
    assert list(file.tensors) == ["weight"]


def test_tensors_of_subclasses_and_parameters(tmp_path: Path) -> None:
    inner: tuple[Any, ...] = (Storage("0", 6), 0, (2, 3), (3, 1), False, {})
    value = {
        "parameter": Described("torch._utils", "_rebuild_parameter", tensor(Storage("0", 6)), True, {}),
        "subclass": Described(
            *("torch._tensor", "_rebuild_from_type_v2", Global("torch._utils", "_rebuild_tensor_v2")),
            *(Global("my.own", "Tensor"), inner, {}),
        ),
        "device": Described("torch_npu.utils", "_rebuild_npu_tensor", *inner, "format"),
        "no type": Described("torch._utils", "_rebuild_tensor_v3", *inner, "float32", {}),
    }
    file = open_torch(write(tmp_path / "a.pt", value, s0=SIX))
    assert list(file.tensors) == ["parameter", "subclass", "device"]
    for name in file.tensors:
        assert read_torch(file, name).tolist() == [[0, 1, 2], [3, 4, 5]]
