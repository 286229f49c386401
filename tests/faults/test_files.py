"""Files and folders that come in masses, grow fast, bear wrong times, vanish and return."""

import os
import shutil
import stat
import threading
import time
import urllib.error


def test_thousands_of_files_at_once(base, server):
    """Two thousand files in eight runs, and more runs than are shown."""
    for run in range(8):
        path = base.run(str(run), 0, 5)
        for number in range(250):
            shutil.copy(path, path.with_name(f"events.out.events.summary.{1_700_000_001 + number}.0.host_MS"))
    server.start()
    assert server.shows(**dict.fromkeys(map(str, range(8)), 4)) is True
    assert server.get("health")["files"] == 8 * 251


def test_a_file_that_grows_by_megabytes_while_it_is_read(base, server):
    path, piece, count = base.run("a", 0, 1), base.records(1, 10_001), 20

    def write():
        with path.open("ab") as file:
            for _ in range(count):
                file.write(piece)
                file.flush()

    server.start()
    writer = threading.Thread(target=write)
    writer.start()
    writer.join()
    assert server.shows(a=10_000) is True
    assert server.get("health")["points"] == 1 + 10_000 * count
    assert server.get("health")["damaged_stretches"] == 0


def test_times_before_the_epoch_and_after_all_of_us_change_nothing(base, server):
    for name, when in (("past", -1e9), ("future", 4e9)):
        path = base.run(name)
        os.utime(path, (when, when))
    server.start()
    assert server.shows(past=99, future=99) is True
    path = base.run("future", 100, 110)
    os.utime(path, (0, 0))  # the clock was set back
    assert server.shows(past=99, future=109) is True


def test_a_base_that_goes_and_comes_back(base, server, wait):
    base.run("a")
    server.start()
    assert server.shows(a=99) is True
    moved = base.path.rename(base.path.with_name("elsewhere"))
    assert wait(lambda: server.get("health")["base_missing"])
    moved.rename(base.path)
    base.run("a", 100, 110)
    assert server.shows(a=109) is True


def test_a_folder_in_place_of_a_file_is_named_until_the_file_is_back(base, server, wait):
    """As with a permission that was taken, whoever runs the tests."""
    path = base.run("a")
    server.start()
    assert server.shows(a=99) is True
    kept = path.rename(path.with_name("kept"))
    path.mkdir()
    base.run("b")
    assert wait(lambda: server.runs().get("./b", {}).get("step") == 99)
    path.rmdir()
    kept.rename(path)
    base.run("a", 100, 110)
    assert server.shows(a=109, b=99) is True


def test_a_run_deleted_while_it_is_read_is_gone_and_said(base, server, wait):
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


def test_the_workspace_belongs_to_its_user_alone(base, server, wait):
    base.run("a", 0, 30_000)
    server.start(token="the-token-of-the-log")
    auth = {"Authorization": "Bearer the-token-of-the-log"}
    assert wait(lambda: server.get("v2/runs", **auth)["runs"])
    assert wait(lambda: list((server.workspace / "cache").rglob("*.pack")))
    server.get("v2/runs?token=the-token-of-the-log", **auth)
    for path in (server.workspace, *server.workspace.rglob("*")):
        kept = stat.S_IMODE(path.stat().st_mode)
        assert kept == (0o700 if path.is_dir() else 0o600), (path, oct(kept))
    assert "the-token-of-the-log" not in server.log()


def test_a_repeated_fault_is_said_once_and_counted(base, server, wait):
    for name in range(20):
        path = base.run(str(name))
        path.write_bytes(b"noise" * 100)
    server.start()
    assert wait(lambda: server.get("health")["damaged_stretches"] == 20)
    assert server.log().count("WARNING") + server.log().count("ERROR") <= 5
