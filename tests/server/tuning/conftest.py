"""Tuning files and trainings of a few lines."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# A training: reads its values, does what the test wants, and records what came out.
TRAINING = """\
import json, math, os, sys, time
from mindinsight.writer import HyperConfig, SummaryRecord
config = HyperConfig()
params = config.params
{before}
with SummaryRecord(config.summary_dir) as record:
    {body}
"""
VALUE = """\
    record.add_value("scalar", "value", {value})
    record.record(1)
"""


@pytest.fixture
def training(tmp_path: Path) -> Callable[..., Any]:
    """training(value, before="") -> the command of a training that records ``value``, an expression."""

    def write(
        value: str = "params.x", before: str = "", body: Any = None, name: str = "train.py"
    ) -> list[Any]:
        script = tmp_path / name
        text = VALUE.format(value=value).strip() if body is None else body
        script.write_text(TRAINING.format(before=before, body=text))
        return [sys.executable, str(script)]

    return write


@pytest.fixture
def tuning_file(tmp_path: Path) -> Callable[..., Any]:
    """tuning_file(command, parameters=..., **keys) -> path; YAML takes JSON."""

    def write(command: Any, parameters: Any = None, name: str = "tune.yaml", **keys: Any) -> Any:
        content = {
            "summary_base_dir": str(tmp_path / "runs"),
            "command": command,
            "study": "probe",
            "target": {"group": "scalar", "name": "value"},
            "tuner": {"name": "random", "seed": 0},
            "parameters": parameters or {"x": {"bounds": [0, 1], "type": "float"}},
            **keys,
        }
        file = tmp_path / name
        file.write_text(json.dumps(content))
        return file

    return write


@pytest.fixture
def workspace(tmp_path: Path) -> Any:
    return tmp_path / "workspace"


@pytest.fixture
def begin_tuner(workspace: Any) -> Iterator[Any]:
    """begin_tuner(file, *options) -> the process of ``mindinsight tune``; none is left behind."""
    begun = []

    def begin(file: Any, *options: Any) -> Any:
        command = [sys.executable, "-m", "mindinsight.server.commands.main", "tune", "--config", str(file)]
        arguments = [*map(str, options), "--workspace", str(workspace)]
        process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


@pytest.fixture
def tune(begin_tuner: Any) -> Callable[..., Any]:
    """tune(file, *options) -> (exit code, JSON on standard output or None, standard error)."""

    def run(file: Any, *options: Any) -> tuple[Any, Any, Any]:
        process = begin_tuner(file, *options)
        out, err = process.communicate(timeout=240)
        return process.returncode, json.loads(out) if out.startswith("{") else out, err

    return run


def alive(process: Any) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def optuna_study(workspace: Any) -> Any:
    """The study in the one journal of a workspace, opened with Optuna's own interface."""
    import optuna
    from optuna.storages.journal import JournalFileBackend

    (journal,) = (workspace / "studies").glob("*.journal")
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
    return optuna.load_study(study_name="probe", storage=storage)
