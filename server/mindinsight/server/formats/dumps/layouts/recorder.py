"""MindSpore's Running Data Recorder alone: texts of what happened before a failure, no tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.recorder_files import recorder_logs
from mindinsight.server.formats.dumps.types import (
    Dump,
)

NAME: Final = "recorder"


class RecorderLayout(Layout):
    """Running Data Recorder folders without tensors."""

    name = NAME

    def match(self, path: Path) -> float:
        """Ranks with recorder files; a dump in the same place is surer of itself and takes them along."""
        return 0.5 if recorder_logs(path) else -1.0

    def open_dump(self, path: Path) -> Dump:
        """The recorder files of all ranks."""
        logs = recorder_logs(path)
        ranks = sorted({log.rank for log in logs})
        names = tuple((rank, f"rank_{rank}") for rank in ranks)
        return Dump(str(path), NAME, (), names, framework="mindspore", logs=logs)
