"""The tracker, called as an Accelerator calls it. A real one: tests/interop/loggers_in_frameworks.py."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def tracker(frameworks: Any, tmp_path: Path) -> Any:
    from mindinsight.writer.integrations.accelerate import MindInsightTracker

    return MindInsightTracker("run", tmp_path)


def test_steps_are_counted_where_none_is_given(tracker: Any, tmp_path: Path, reading_of: Any) -> None:
    tracker.store_init_configuration({"lr": 0.5})
    tracker.log({"loss": 1.0})
    tracker.log({"loss": 0.5}, step=7)
    tracker.log({"loss": 0.25})
    tracker.finish()
    reading = reading_of(tmp_path / "run")
    assert reading.scalars() == [(1, "loss", 1.0), (7, "loss", 0.5), (8, "loss", 0.25)]
    assert any(event.HasField("train_lineage") for event in reading.lineage())


def test_a_process_that_records_nothing_makes_nothing(tracker: Any, tmp_path: Path) -> None:
    assert tracker.main_process_only
    tracker.finish()
    assert not list(tmp_path.iterdir())
