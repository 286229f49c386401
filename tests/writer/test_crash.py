"""A process killed at any moment leaves whole records up to its last flush, none torn before the end."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.summary_pb2 import Event
from tests.thoroughness import amount

KILLS = amount(200, 50)


def steps_of(directory: Any, records_of: Any) -> tuple[Any, Any]:
    """The steps in every file of a killed run, and how many files end inside a record."""
    steps, torn = [], []
    for path in sorted(directory.glob("*_MS")):
        records, rest = records_of(path)
        events = [Event.FromString(record) for record in records]
        assert all(event.version == "MindSpore.Event:1" for event in events[:1])
        steps += [event.step for event in events[1:]]
        torn.append(bool(rest))
    return steps, torn


@pytest.mark.slow
def test_killed_writers_lose_nothing_they_had_flushed(tmp_path: Path, records_of: Any) -> None:
    script = Path(__file__).with_name("killed_writers.py")
    ran = subprocess.run(
        [sys.executable, script, tmp_path, str(KILLS), "11"], check=True, capture_output=True, text=True
    )
    runs = [json.loads(line) for line in ran.stdout.splitlines()]
    recorded = 0
    for run in runs:
        steps, torn = steps_of(Path(run["directory"]), records_of)
        assert steps == list(range(len(steps)))
        assert len(steps) > run["flushed"]
        assert not any(torn[:-1])
        recorded += len(steps)
    assert len(runs) == KILLS
    assert recorded > KILLS
