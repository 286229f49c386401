import os
import platform
from pathlib import Path

from mindinsight.writer.files.tfevents_name import TfeventsName


def test_a_name_has_second_host_process_and_suffix() -> None:
    path = TfeventsName(Path("runs"), ".worker").at(1234)
    assert path == Path(f"runs/events.out.tfevents.0000001234.{platform.node()}.{os.getpid()}.0.worker")
