"""Descriptions of tensors in pickles of PyTorch."""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.server.formats.weights.torch_files import open_torch, read_torch

DATA = Path(__file__).parents[3] / "data" / "weights"


class Described:
    """Pickles as a call of a function that need not exist here."""

    def __init__(self, module, name, *arguments):
        self.module, self.name, self.arguments = module, name, arguments


class Storage:
    def __init__(self, key, count, kind="FloatStorage"):
        self.key, self.count, self.kind = key, count, kind


class TorchPickler(pickle._Pickler):
    """Writes what PyTorch would write, without PyTorch."""

    def persistent_id(self, value):
        if isinstance(value, Storage):
            return ("storage", Global("torch", value.kind), value.key, "cpu", value.count)
        return None

    def save(self, value, save_persistent_id=True):
        if isinstance(value, Global):
            self.write(f"c{value.module}\n{value.name}\n".encode())  # type: ignore[attr-defined]
        elif isinstance(value, Described):
            self.save(Global(value.module, value.name))
            self.save(value.arguments)
            self.write(pickle.REDUCE)  # type: ignore[attr-defined]
        else:
            super().save(value, save_persistent_id)  # type: ignore[misc]


class Global:
    def __init__(self, module, name):
        self.module, self.name = module, name


def tensor(storage, offset=0, shape=(2, 3), stride=(3, 1)):
    return Described("torch._utils", "_rebuild_tensor_v2", storage, offset, shape, stride, False, {})


def write(path, value, compression=zipfile.ZIP_STORED, byteorder=None, **storages):
    description = io.BytesIO()
    TorchPickler(description, 2).dump(value)
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("archive/data.pkl", description.getvalue())
        if byteorder:
            archive.writestr("archive/byteorder", byteorder)
        for key, content in storages.items():
            archive.writestr(f"archive/data/{key.removeprefix('s')}", content)
    return path


SIX = np.arange(6, dtype="<f4").tobytes()


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
