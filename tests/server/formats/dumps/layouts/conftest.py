"""Dumps of msprobe, copied or made by hand."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.dumps import list_tensors, open_dump


@pytest.fixture
def root(samples: Any, tmp_path: Path) -> Any:
    """A dump of PyTorch with modules, calls and tensors, to be changed."""
    return Path(shutil.copytree(samples / "msprobe_pytorch/mix_tensor_2ranks", tmp_path / "dump"))


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Any]:
    """``made(data)``: a dump of one rank with these entries and no files."""

    def make(data: Any, **top: Any) -> Any:
        folder = tmp_path / "made" / "step3" / "rank"
        (folder / "dump_tensor_data").mkdir(parents=True)
        (folder / "dump.json").write_text(json.dumps({"task": "tensor", **top, "data": data}))
        return folder

    return make


def leaf(**fields: Any) -> dict[Any, Any]:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], **fields}


def listed(folder: Any) -> Any:
    dump = open_dump(folder.parents[1])
    return list_tensors(dump, 0, dump.steps()[0])
