"""MindSpore's Running Data Recorder alone: texts of what happened before a failure, no tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mindinsight.server.formats.dumps.recorder_files import recorder_logs
from mindinsight.server.formats.dumps.types import (
    Array,
    Dump,
    Listing,
    Operator,
    Overflow,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
)
from mindinsight.server.formats.stored import Values
from mindinsight.server.formats.unreadable import UnreadableError

NAME: Final = "recorder"


def match(path: Path) -> float:
    """Ranks with recorder files; a dump in the same place is surer of itself and takes them along."""
    return 0.5 if recorder_logs(path) else -1.0


def open_dump(path: Path) -> Dump:
    """The recorder files of all ranks."""
    logs = recorder_logs(path)
    ranks = sorted({log.rank for log in logs})
    names = tuple((rank, f"rank_{rank}") for rank in ranks)
    return Dump(str(path), NAME, (), names, framework="mindspore", logs=logs)


def tensors(folder: StepFolder) -> Listing[TensorEntry]:
    """None: the recorder keeps no tensors."""
    return Listing(())


def operators(folder: StepFolder) -> Listing[Operator]:
    """None: they are in the texts."""
    return Listing(())


def overflows(folder: StepFolder) -> Listing[Overflow]:
    """None."""
    return Listing(())


def header(ref: TensorRef) -> TensorHeader:
    """Always ``UnreadableError``: there is no tensor to describe."""
    raise UnreadableError("dump.missing", ref.path)


def read(ref: TensorRef) -> Array:
    """Always ``UnreadableError``: there is no tensor to read."""
    raise UnreadableError("dump.missing", ref.path)


def values(ref: TensorRef) -> Values:
    """Always ``UnreadableError``."""
    raise UnreadableError("dump.missing", ref.path)
