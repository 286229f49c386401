"""Files and folders that come in masses, grow fast, bear wrong times, vanish and return."""

import ctypes
import itertools
import os
import shutil
import stat
import subprocess
import threading
import time
import urllib.error
from pathlib import Path
from typing import Any

import pytest

from tests.thoroughness import amount


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("runs", "files"), [(20, amount(500, 100)), (1500, 1), (1, amount(20_000, 1_000))])
def test_thousands_of_files_at_once(base: Any, server: Any, wait: Any, runs: int, files: int) -> None:
    """They appear all together, beside a run that is followed already; at most 999 runs are."""
    base.run("first")
    server.start()
    assert server.shows(first=99) is True
    content = base.records(4, 5)
    aside = base.path.with_name("aside")
    for run in range(runs):
        (aside / str(run)).mkdir(parents=True)
        for number in range(files):
            name = f"events.out.events.summary.{1_700_000_001 + number}.0.host_MS"
            (aside / str(run) / name).write_bytes(content)
    aside.rename(base.path / "all")
    if runs > 998:
        health = {"runs": 999, "runs_left_out": runs - 998}
        assert wait(lambda: health.items() <= server.get("health").items(), 600, lambda: server.get("health"))
        return
    points = 100 + runs * files
    assert wait(lambda: server.get("health")["points"] == points, 1500, lambda: server.get("health"))
    assert server.get("health")["files"] == runs * files + 1
    assert {run["step"] for run in server.runs().values()} == {4, 99}


def test_a_file_that_grows_by_fifty_megabytes_a_second_while_it_is_read(
    base: Any, server: Any, wait: Any
) -> None:
    """As fast as the disk takes it, which is faster (the rate is printed); in pieces that cut records."""
    path, count = base.run("a", 0, 1), 20
    heavy = b"".join(base.heavy(step, 500_000) for step in range(1, 11))
    piece = base.records(1, 2_001) + heavy
    sizes = [len(piece) // 3, 2 * len(piece) // 3, len(piece)]

    def write() -> None:
        with path.open("ab") as file:
            for _ in range(count):
                for start, end in itertools.pairwise([0, *sizes]):
                    file.write(piece[start:end])
                    file.flush()

    server.start()
    writer = threading.Thread(target=write)
    began = time.monotonic()
    writer.start()
    writer.join()
    print(f"{len(piece) * count / 1e6 / (time.monotonic() - began):.0f} MB/s")
    size = path.stat().st_size  # what was read past the size that was last noticed counts a moment later
    assert wait(lambda: server.get("health")["bytes_read"] == size, 150, lambda: server.get("health"))
    health = server.get("health")
    assert (health["damaged_stretches"], health["points"]) == (0, 1 + 2_010 * count)


def test_times_before_the_epoch_and_after_all_of_us_change_nothing(base: Any, server: Any) -> None:
    for name, when in (("past", -1e9), ("future", 4e9)):
        path = base.run(name)
        os.utime(path, (when, when))
    server.start()
    assert server.shows(past=99, future=99) is True
    path = base.run("future", 100, 110)
    os.utime(path, (0, 0))  # the clock was set back
    assert server.shows(past=99, future=109) is True


JUMPING = """
import sys, time
from pathlib import Path
jump, now, now_ns = Path({jump!r}), time.time, time.time_ns
time.time = lambda: now() + float(jump.read_text() or 0)
time.time_ns = lambda: now_ns() + int(float(jump.read_text() or 0)) * 10**9
from mindinsight.server.process.serve import main
sys.exit(main())
"""


def test_a_clock_that_jumps_by_ten_days_while_runs_are_followed_changes_nothing(
    base: Any, server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jump, days = tmp_path / "jump", 864_000
    jump.write_text("0")
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", JUMPING.format(jump=str(jump)))
    base.run("run")
    server.start()
    assert server.shows(run=99)
    for round_number, seconds in enumerate((days, -days, 0), 1):
        jump.write_text(str(seconds))
        base.run("run", 100 * round_number, 100 * round_number + 100)
        base.run(f"new{round_number}")
        runs = {f"new{number}": 99 for number in range(1, round_number + 1)}
        assert server.shows(run=100 * round_number + 99, **runs)
        assert server.get("health")["status"] == "ok"
        assert server.change("v2/runs/notes", run="./run", note=f"round {round_number}")
    assert server.stop() == 0


def test_a_base_that_goes_and_comes_back(base: Any, server: Any, wait: Any) -> None:
    base.run("a")
    server.start()
    assert server.shows(a=99) is True
    moved = base.path.rename(base.path.with_name("elsewhere"))
    assert wait(lambda: server.get("health")["base_missing"])
    moved.rename(base.path)
    base.run("a", 100, 110)
    assert server.shows(a=109) is True


def obeying() -> None:
    """In the server's process: let modes count for root, too (capabilities 1 and 2, prctl(2)'s 24)."""
    if os.getuid() == 0:
        for capability in (1, 2):
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


def obeys(path: Any) -> bool:
    """Whether a mode of 0 keeps a process that was prepared like the server from reading."""
    return subprocess.run(["cat", path], preexec_fn=obeying, capture_output=True, check=False).returncode != 0


def test_a_permission_that_is_taken_and_given(base: Any, server: Any, wait: Any) -> None:
    path = base.run("a")
    base.run("b")
    server.start(limits=obeying, watch="polling")
    assert server.shows(a=99, b=99) is True
    path.chmod(0)
    taken = obeys(path)  # a container may not let go of what root may
    base.run("b", 100, 110)
    os.utime(path)
    assert wait(lambda: server.steps() == {"./a": 99, "./b": 109})
    if taken:
        assert wait(lambda: server.get("health")["files_unreadable"] == 1)
        (file,) = server.get("v2/runs/files?run=./a")["files"]
        assert file["error"] == "file.permission"
    path.chmod(0o600)
    base.run("a", 100, 120)
    assert server.shows(a=119, b=109) is True
    assert wait(lambda: server.get("health")["files_unreadable"] == 0)


def test_a_folder_without_permission_is_named_until_it_has_one(base: Any, server: Any, wait: Any) -> None:
    path = base.run("a")
    base.run("b")
    server.start(limits=obeying, watch="polling")
    assert server.shows(a=99, b=99) is True
    path.parent.chmod(0)
    taken = obeys(path)
    if taken:
        assert wait(lambda: [error["reason"] for error in server.get("v2/runs")["errors"]])
    base.run("b", 100, 110)
    assert wait(lambda: server.runs()["./b"]["step"] == 109)
    path.parent.chmod(0o700)
    base.run("a", 100, 120)
    assert server.shows(a=119, b=109) is True
    assert not server.get("v2/runs")["errors"]


def test_a_folder_in_place_of_a_file_is_named_until_the_file_is_back(
    base: Any, server: Any, wait: Any
) -> None:
    """As with a permission that was taken, whoever runs the tests."""
    path = base.run("a")
    server.start()
    assert server.shows(a=99) is True
    moved = path.rename(path.with_name("kept"))
    path.mkdir()
    base.run("b")
    assert wait(lambda: server.runs().get("./b", {}).get("step") == 99)
    path.rmdir()
    moved.rename(path)
    base.run("a", 100, 110)
    assert server.shows(a=109, b=99) is True


def test_a_run_deleted_while_it_is_read_is_gone_and_said(base: Any, server: Any, wait: Any) -> None:
    server.start()
    for _ in range(5):
        path = base.run("a", 0, 20_000)
        time.sleep(0.05)
        shutil.rmtree(path.parent)
    assert wait(lambda: not server.runs())
    try:
        server.get("v2/runs/files?run=./a")
    except urllib.error.HTTPError as error:
        with error:
            assert error.code == 404
    assert server.get("health")["status"] == "ok"


def test_the_workspace_belongs_to_its_user_alone(base: Any, server: Any, wait: Any) -> None:
    base.run("a", 0, 30_000)
    server.start(token="the-token-of-the-log")
    auth = {"Authorization": "Bearer the-token-of-the-log"}
    assert wait(lambda: server.get("v2/runs", **auth)["runs"])
    assert wait(lambda: list((server.workspace / "cache").rglob("*.pack")))
    server.get("v2/runs?token=the-token-of-the-log", **auth)
    for path in (server.workspace, *server.workspace.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), (path, oct(mode))
    assert "the-token-of-the-log" not in server.log()


def test_a_repeated_fault_is_said_once_and_counted(base: Any, server: Any, wait: Any) -> None:
    for name in range(20):
        path = base.run(str(name))
        path.write_bytes(b"noise" * 100)
    server.start()
    assert wait(lambda: server.get("health")["damaged_stretches"] == 20)
    assert server.log().count("WARNING") + server.log().count("ERROR") <= 5
