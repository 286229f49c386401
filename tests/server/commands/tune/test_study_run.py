"""Progress of a study at a terminal, and where there is none."""

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.commands.tune.study_run import best_value, duration, failure_text, progress_line
from mindinsight.server.tuning.tuning_file import Target

COUNTS = {"done": 4, "wanted": 10, "failed": 1, "pruned": 2, "interrupted": 0, "running": 0, "left": 200.0}
FILE = """\
summary_base_dir: runs
command: [{python}, -c, "raise SystemExit(3)"]
target: {{name: loss}}
tuner: {{seed: 1}}
parameters: {{x: {{bounds: [0, 1], type: float}}}}
"""


def test_a_line_of_progress() -> None:
    line = progress_line(COUNTS, "Lowest loss: 0.5 (trial 3)")
    assert line == "4 of 10 trials · Lowest loss: 0.5 (trial 3) · 1 failed · 2 pruned · about 3 min left"
    assert progress_line({**COUNTS, "left": None, "failed": 0, "pruned": 0}, "") == "4 of 10 trials"


def test_the_best_is_named_by_the_direction_of_its_target() -> None:
    assert best_value(Target("loss", "scalar", "minimize"), 0.5, 3) == "Lowest loss: 0.5 (trial 3)"
    assert best_value(Target("acc", "metric", "maximize"), 0.5, 3) == "Highest acc: 0.5 (trial 3)"


def test_times_that_are_left() -> None:
    assert [duration(seconds) for seconds in (5, 89, 91, 3600, 7500)] == [
        "5 s",
        "89 s",
        "2 min",
        "60 min",
        "2 h 05 min",
    ]


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        ({"reason": "exit", "code": 3}, "exit code 3"),
        ({"reason": "signal", "signal": 9}, "ended by signal 9"),
        (
            {"reason": "no_target", "target": "acc", "there": ["a"]},
            "no target acc; The run has: a",
        ),
        (
            {"reason": "no_target", "target": "acc", "there": []},
            "no target acc: the run recorded nothing of this kind",
        ),
        ({"reason": "not_finite", "target": "loss", "value": "nan"}, "loss is nan"),
        ({"reason": "timeout", "seconds": 90}, "longer than 90 s"),
    ],
)
def test_reasons_of_failed_trials(failure: Any, text: str) -> None:
    assert failure_text(failure) == text


def test_a_bar_at_a_terminal_and_lines_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "tune.yaml").write_text(FILE.format(python=sys.executable))
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "tune", "--config", "tune.yaml"]
    options = ["--trials", "1", "--workspace", "workspace"]
    ours, theirs = pty.openpty()
    subprocess.run([*command, *options], cwd=tmp_path, stderr=theirs, check=False, timeout=120)
    os.close(theirs)
    shown = read_all(ours)
    assert "░" in shown
    assert "█" in shown
    assert "1 of 1 trials · 1 failed" in shown
    options = ["--trials", "2", "--workspace", "workspace"]
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert "\r" not in done.stderr
    assert "Trial 1 failed: exit code 3" in done.stderr


def read_all(terminal: Any) -> str:
    parts: list[Any] = []
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
