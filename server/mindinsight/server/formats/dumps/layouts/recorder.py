"""Layout of directories with only the logs of MindSpore's Running Data Recorder, and no tensors."""

from pathlib import Path
from typing import Final

from mindinsight.server.formats.dumps.dump_layout import Layout
from mindinsight.server.formats.dumps.dump_types import Dump
from mindinsight.server.formats.dumps.recorder_files import recorder_logs

NAME: Final = "recorder"


class RecorderLayout(Layout):
    """Layout of Running Data Recorder folders without tensors."""

    name = NAME

    def match(self, path: Path) -> float:
        """Return 0.5 for ranks with recorder files, else -1. Layouts with tensors are more confident and
        list them too."""
        return 0.5 if recorder_logs(path) else -1.0

    def open_dump(self, path: Path) -> Dump:
        """Return the recorder files of all ranks."""
        logs = recorder_logs(path)
        ranks = sorted({log.rank for log in logs})
        names = tuple((rank, f"rank_{rank}") for rank in ranks)
        return Dump(str(path), NAME, (), names, framework="mindspore", logs=logs)
