"""How processes begin and end: fork, workers, exit without close, exceptions, ranks, several at once."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

START = """
import multiprocessing, os, sys, threading
from mindinsight.writer import SummaryRecord
directory = sys.argv[1]

def put(record, tag, step):
    record.add_value("scalar", tag, step)
    record.record(step)
"""


def run(script: Any, directory: Any, **environment: Any) -> tuple[Any, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", START + textwrap.dedent(script), str(directory)],
        capture_output=True, text=True, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def tags_and_steps(reading: Any) -> list[Any]:
    return sorted((tag, step) for step, tag, _ in reading.scalars())


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "record = None"])
def test_a_recorder_that_was_not_closed_writes_everything(tmp_path: Path, reading: Any, ending: str) -> None:
    status, errors = run(f"record = SummaryRecord(directory); put(record, 's', 1)\n{ending}", tmp_path)
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("s", 1)]
    assert reading.files()[0].stat().st_mode & 0o777 == 0o400


def test_an_exception_in_the_loop_costs_nothing(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        with SummaryRecord(directory) as record:
            put(record, "s", 1)
            raise ArithmeticError("in the loop")
    """, tmp_path)  # fmt: skip
    assert status == 1
    assert "in the loop" in errors
    assert tags_and_steps(reading) == [("s", 1)]


@pytest.mark.parametrize(("interactive", "expected"), [(False, "ArithmeticError: in the loop"), (True, "")])
def test_an_uncaught_exception_is_what_ended_the_training(
    tmp_path: Path, reading: Any, interactive: bool, expected: str
) -> None:
    """Nobody closed the recorder: of an exception in a session it is not known whether it ended anything."""
    status, _ = run(f"""
        if {interactive}:
            sys.ps1 = ">>> "
        def train():
            record = SummaryRecord(directory)
            put(record, "s", 1)
            raise ArithmeticError("in the loop")
        train()
    """, tmp_path)  # fmt: skip
    assert status == 1
    (events,) = reading.files_events()
    assert events[-1].closing.error == expected


def test_a_forked_child_leaves_the_parents_file_and_values_alone(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        record = SummaryRecord(directory)
        put(record, "parent", 1)
        record.flush()
        put(record, "parent", 2)
        record.add_value("scalar", "parent", 3)
        child = multiprocessing.get_context("fork").Process(target=int)
        with __import__("warnings").catch_warnings():
            __import__("warnings").simplefilter("ignore", DeprecationWarning)
            child.start()
        child.join()
        record.record(3)
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("parent", 1), ("parent", 2), ("parent", 3)]
    assert len(reading.files()) == 1


def test_what_a_forked_child_records_gets_a_file_of_its_own(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        def work(record):
            put(record, "child", 10)

        record = SummaryRecord(directory)
        put(record, "parent", 1)
        record.flush()
        child = multiprocessing.get_context("fork").Process(target=work, args=(record,))
        with __import__("warnings").catch_warnings():
            __import__("warnings").simplefilter("ignore", DeprecationWarning)
            child.start()
        child.join()
        put(record, "parent", 2)
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("child", 10), ("parent", 1), ("parent", 2)]
    assert len(reading.files()) == 2


def test_a_bare_fork_that_exits_normally_writes_what_it_recorded(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        record = SummaryRecord(directory)
        put(record, "parent", 1)
        record.close()
        if os.fork() == 0:
            record = SummaryRecord(directory)
            put(record, "child", 2)
            sys.exit(0)
        os.wait()
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    assert tags_and_steps(reading) == [("child", 2), ("parent", 1)]


def test_several_processes_in_one_directory_share_no_file(tmp_path: Path, reading: Any) -> None:
    script = "record = SummaryRecord(directory)\nfor step in range(50): put(record, f's{os.getpid()}', step)"
    command = [sys.executable, "-c", START + script, str(tmp_path)]
    for process in [subprocess.Popen(command) for _ in range(4)]:
        assert process.wait() == 0
    assert len(reading.files()) == 4
    steps: dict[Any, Any] = {}
    for step, tag, _ in reading.scalars():
        steps.setdefault(tag, []).append(step)
    assert [sorted(numbers) for numbers in steps.values()] == [list(range(50))] * 4


def test_each_rank_of_a_launcher_writes_into_its_directory(tmp_path: Path, reading_of: Any) -> None:
    for rank in ("0", "1"):
        status, _ = run("put(SummaryRecord(directory), 's', 1)", tmp_path, RANK=rank, WORLD_SIZE="2")
        assert status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rank_0", "rank_1"]
    (path,) = reading_of(tmp_path / "rank_1").files()
    assert path.name.split(".")[5] == "1"


def test_a_restart_appends_a_file_to_the_run(tmp_path: Path, reading: Any) -> None:
    for first in (0, 5):
        run(f"record = SummaryRecord(directory)\nfor i in range(5): put(record, 's', {first} + i)", tmp_path)
    assert [step for step, _, _ in reading.scalars()] == list(range(10))
    assert len(reading.files()) == 2


def test_values_of_several_threads_are_all_recorded(tmp_path: Path, reading: Any) -> None:
    status, errors = run("""
        record = SummaryRecord(directory)
        def work(name):
            for step in range(3000):
                put(record, name, step)
        threads = [threading.Thread(target=work, args=(f"t{index}",)) for index in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        record.record(3000)
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
    numbers: dict[Any, Any] = {}
    for _, tag, number in reading.scalars():
        numbers.setdefault(tag, []).append(number)
    assert {tag: sorted(values) for tag, values in numbers.items()} == {
        f"t{index}": list(range(3000)) for index in range(4)
    }


def test_recording_scalars_loads_no_protobuf_and_no_framework(tmp_path: Path) -> None:
    status, errors = run("""
        put(SummaryRecord(directory), "s", 1)
        loaded = [name for name in ("google.protobuf", "mindspore", "torch", "jax") if name in sys.modules]
        assert loaded == [], loaded
    """, tmp_path)  # fmt: skip
    assert (status, errors) == (0, "")
