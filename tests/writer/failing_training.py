"""A training that fails under the data recorder, and the files it leaves."""

from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.recorders.running_data_recorder import RecorderSettings, RunningDataRecorder

ON = RecorderSettings(enable=True)


def graph() -> GraphBuilder:
    builder = GraphBuilder("net")
    builder.node("ReLU", [builder.parameter("x")])
    return builder


def train(run: Path, steps: int, fails: bool = True, settings: RecorderSettings = ON, **options: Any) -> None:
    """A loop that records some values of each kind and then fails."""
    with SummaryRecord(run) as record, RunningDataRecorder(record, settings=settings, **options):
        for step in range(1, steps + 1):
            record.add_value("scalar", "loss", 1 / step)
            if step == 1:
                record.add_value("scalar", "rare", float("nan"))
                record.add_value("image", "input", np.zeros((1, 3, 4, 5)))
            record.add_value("tensor", "w", np.array([[1.0, np.inf], [step, 0]]))
            record.add_value("histogram", "h", np.arange(10.0))
            record.record(step)
        if fails:
            raise ZeroDivisionError("the loop's own")


def left(run: Path) -> dict[str, Path]:
    """Start of the file name -> path, of all that the recorder left for rank 0."""
    return {path.name.rsplit(".", 2)[0]: path for path in (run / "rank_0" / "rdr").iterdir()}
