"""Folders and names of a run's files, and the export of tensors as .npy files."""

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

_LONGEST_NAME: Final = 200  # bytes. File systems allow 255, and the step is appended


class NpyExport:
    """Export of tensors to ``<directory>/tensor/<tag>_<step>.npy`` with their type. bfloat16 is float32."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "tensor"

    def __call__(self, item: Item, step: int) -> None:
        """Save ``item`` if it is a tensor, replacing an earlier file of this tag and step."""
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
    """Return ``tag`` percent-encoded, slash included. A long name ends in a digest to be unique."""
    quoted = quote(tag, safe="")
    if len(quoted) <= _LONGEST_NAME:
        return quoted
    digest = hashlib.sha256(tag.encode()).hexdigest()[:16]
    return f"{quoted[: _LONGEST_NAME - 17]}~{digest}"


_log: Final = logging.getLogger(__name__)


def private_folder(path: Path) -> Path:
    """Create a directory and its missing parents with mode 0700, and return ``path``."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def make_log_dir(path: Path, strict: bool) -> None:
    """Create the directory of a run, mode 0700.

    Raises NotADirectoryError if ``path`` is a file. Other errors are raised if ``strict``, else logged,
    because the first record tries again.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise NotADirectoryError(f"log_dir is not a directory: {path}") from error
    except OSError as error:
        if strict:
            raise
        _log.error("cannot make %s: %s; retrying with the first record", path, error)


@dataclass(frozen=True, slots=True)
class TfeventsName:
    """Name of a TensorBoard event file without its seconds.

    TensorBoard recognizes files by ``tfevents`` in the name and reads those of a directory in the order of
    names. The name contains the process, because several may write into one directory.
    """

    directory: Path
    suffix: str = ""

    def at(self, seconds: int) -> Path:
        """Return the path of the file of this Unix second."""
        when_and_where = f"{seconds:010d}.{platform.node()}.{os.getpid()}.0"
        return self.directory / f"events.out.tfevents.{when_and_where}{self.suffix}"
