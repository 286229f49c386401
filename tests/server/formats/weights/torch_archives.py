"""Writer of PyTorch's archives without PyTorch, for tests of their readers."""

import io
import pickle
import zipfile
from typing import Any

import numpy as np


class Described:
    """Pickles as a call of a function that need not exist here."""

    def __init__(self, module: Any, name: Any, *arguments: Any) -> None:
        self.module, self.name, self.arguments = module, name, arguments


class Storage:
    def __init__(self, key: Any, count: Any, kind: str = "FloatStorage") -> None:
        self.key, self.count, self.kind = key, count, kind


class TorchPickler(pickle._Pickler):
    """Writes what PyTorch would write, without PyTorch."""

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Storage):
            return ("storage", Global("torch", value.kind), value.key, "cpu", value.count)
        return None

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        if isinstance(value, Global):
            self.write(f"c{value.module}\n{value.name}\n".encode())  # type: ignore[attr-defined]
        elif isinstance(value, Described):
            self.save(Global(value.module, value.name))
            self.save(value.arguments)
            self.write(pickle.REDUCE)  # type: ignore[attr-defined]
        else:
            super().save(value, save_persistent_id)  # type: ignore[misc]


class Global:
    def __init__(self, module: Any, name: Any) -> None:
        self.module, self.name = module, name


def tensor(storage: Any, offset: int = 0, shape: Any = (2, 3), stride: Any = (3, 1)) -> Described:
    return Described("torch._utils", "_rebuild_tensor_v2", storage, offset, shape, stride, False, {})


def write(
    path: Any, value: Any, compression: Any = zipfile.ZIP_STORED, byteorder: Any = None, **storages: Any
) -> Any:
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
