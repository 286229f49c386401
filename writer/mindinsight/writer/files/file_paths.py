"""Folders and names of the files of a run, and its export as .npy files."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
from dataclasses import dataclass
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


_log: Final = logging.getLogger(__name__)


def private_folder(path: Path) -> Path:
    """``path``, made with everything above it that is missing for this user alone (mode 0700)."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def make_log_dir(path: Path, strict: bool) -> None:
    """Make the directory of a run, mode 0700.

    Raises NotADirectoryError where something else lies; what the system refuses is raised if ``strict``, else
    logged, as the first record tries again.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(f"log_dir is not a directory: {path}") from error
    except OSError as error:
        if strict:
            raise
        _log.error("cannot make %s: %s; trying again with the first record", path, error)


@dataclass(frozen=True, slots=True)
class TfeventsName:
    """Name of a TensorBoard event file without its seconds.

    TensorBoard knows its files by ``tfevents`` in the name and reads those of a directory in their order. The
    process is in the name, as several may write into one directory.
    """

    directory: Path
    suffix: str = ""

    def at(self, seconds: int) -> Path:
        """The path of the file of this Unix second."""
        when_and_where = f"{seconds:010d}.{platform.node()}.{os.getpid()}.0"
        return self.directory / f"events.out.tfevents.{when_and_where}{self.suffix}"
