"""Export of tensors as .npy files beside the event file, to be read without a reader of ours."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np

from mindinsight.writer.encoding.encoder import Item

_LONGEST_NAME: Final = 200  # bytes; file systems take 255, and the step comes behind


class NpyExport:
    """``<directory>/tensor/<tag>_<step>.npy`` with the type and shape the tensor had; bfloat16 as float32."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "tensor"

    def __call__(self, item: Item, step: int) -> None:
        """Save ``item`` if it is a tensor, replacing what an earlier value of this tag and step left."""
        if item.kind != "tensor":
            return
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / f"{file_name(item.tag)}_{step}.npy"
        unfinished = path.with_suffix(".tmp")
        with unfinished.open("wb") as file:
            np.lib.format.write_array(file, np.asarray(item.payload), allow_pickle=False)
        unfinished.chmod(0o400)
        unfinished.replace(path)


def file_name(tag: str) -> str:
    """``tag`` percent-encoded, slash included; a long one ends in a digest so that it stays its own."""
    quoted = quote(tag, safe="")
    if len(quoted) <= _LONGEST_NAME:
        return quoted
    digest = hashlib.sha256(tag.encode()).hexdigest()[:16]
    return f"{quoted[: _LONGEST_NAME - 17]}~{digest}"
