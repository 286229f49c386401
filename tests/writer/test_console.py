"""What is printed reaches the terminal unchanged and the files line by line, whatever happens to both."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mindinsight.writer.console import ConsoleRecorder

BEGIN = """
import os, subprocess, sys, time
from pathlib import Path
from mindinsight.writer import SummaryRecord
record = SummaryRecord(sys.argv[1])
record.record_console()
"""
PRINTS = """
print("to standard output", flush=True)
print("to standard error", file=sys.stderr, flush=True)
subprocess.run([sys.executable, "-c", "print('by a child')"])
os.write(1, b"by a library\\n")
for i in range(50):
    print(f"\\r{i} %", end="", flush=True)
print()
print("no end", end="", flush=True)
"""


def run_script(text: str, directory: Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", text, str(directory)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)  # type: ignore[call-overload]


def lines_of(directory: Path) -> list[tuple[str, str]]:
    """Mark and text of every line in the files."""
    lines = []
    for path in sorted(directory.glob("console.*.log")):
        head, *records = path.read_bytes().decode("utf-8", "backslashreplace").splitlines()
        assert re.fullmatch(r"# mindinsight console 1 \d+", head)
        for line in filter(None, records):
            moment, mark, text = re.fullmatch(r"(\d+\.\d{3}) (\w) (.*)", line).groups()  # type: ignore[union-attr]
            assert abs(float(moment) - time.time()) < 600
            lines.append((mark, text))
    return lines


def test_outputs_are_those_without_a_recorder(tmp_path: Path) -> None:
    plain = run_script("import os, subprocess, sys\n" + PRINTS, tmp_path / "plain")
    recorded = run_script(BEGIN + PRINTS + "record.close()\n", tmp_path / "recorded")
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, plain.stdout, plain.stderr)
    assert lines_of(tmp_path / "plain") == []
    lines = lines_of(tmp_path / "recorded")
    assert [text for mark, text in lines if mark == "e"] == ["to standard error"]
    assert [text for mark, text in lines if mark == "o"] == [
        "to standard output",
        "by a child",
        "by a library",
        "49 %",
        "no end",
    ]


def test_outputs_to_one_place_keep_their_order(tmp_path: Path) -> None:
    text = (
        "for i in range(200):\n    print(i, file=(sys.stdout, sys.stderr)[i % 2], flush=True)\nrecord.close()"
    )
    with (tmp_path / "all.txt").open("wb") as file:
        command = [sys.executable, "-c", BEGIN + text, str(tmp_path / "run")]
        subprocess.run(command, stdout=file, stderr=file, timeout=60, check=True)
    numbers = [str(i) for i in range(200)]
    assert (tmp_path / "all.txt").read_text().split() == numbers
    assert lines_of(tmp_path / "run") == [("b", number) for number in numbers]


def test_a_terminal_stays_a_terminal(tmp_path: Path) -> None:
    text = (
        'print(sys.stdout.isatty(), os.get_terminal_size(1))\nprint("\\x1b[31mred\\x1b[0m")\nrecord.close()'
    )
    master, slave = pty.openpty()
    subprocess.run(["stty", "cols", "123", "rows", "45"], stdin=slave, check=True)
    command = [sys.executable, "-c", BEGIN + text, str(tmp_path)]
    subprocess.run(command, stdin=slave, stdout=slave, stderr=slave, timeout=60, check=True)
    os.close(slave)
    shown = b""
    while not shown.endswith(b"red\x1b[0m\r\n"):
        shown += os.read(master, 1000)
    os.close(master)
    assert shown == b"True os.terminal_size(columns=123, lines=45)\r\n\x1b[31mred\x1b[0m\r\n"
    assert [line for _, line in lines_of(tmp_path)][1] == "\x1b[31mred\x1b[0m"


@pytest.mark.parametrize("fatal", ["os.kill(os.getpid(), 9)", "os._exit(3)", "raise ValueError('broken')"])
def test_nothing_is_lost_of_a_training_that_ends(tmp_path: Path, fatal: str) -> None:
    done = run_script(f"{BEGIN}print('last words', flush=True)\n{fatal}", tmp_path)
    assert done.returncode != 0
    assert done.stdout == b"last words\n"
    lines = lines_of(tmp_path)
    assert ("o", "last words") in lines
    assert (("e", "ValueError: broken") in lines) == ("raise" in fatal)


def test_the_traceback_that_is_printed_after_the_end_is_recorded(tmp_path: Path) -> None:
    done = run_script(
        f"{BEGIN}with record:\n    print('step', flush=True)\n    raise ValueError('broken')", tmp_path
    )
    assert done.stderr.count(b"ValueError: broken") == 1
    lines = lines_of(tmp_path)
    assert lines[0] == ("o", "step")
    assert [text for letter, text in lines if letter == "e"] == done.stderr.decode().splitlines()


def test_an_exit_leaves_no_traceback(tmp_path: Path) -> None:
    run_script(f"{BEGIN}with record:\n    print('step', flush=True)\n    raise SystemExit(3)", tmp_path)
    assert lines_of(tmp_path) == [("o", "step")]


def test_printing_goes_on_without_the_program_that_records(tmp_path: Path) -> None:
    text = """
print("before", flush=True)
children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
os.kill(int(children[0]), 9)
stat = Path(f"/proc/{children[0]}/stat")
while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX":
    time.sleep(0.01)  # what it had read and not yet written is lost with it
for i in range(20000):
    print(i)
record.close()
print("after")
"""
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("looks for the process in /proc")
    done = run_script(BEGIN + text, tmp_path)
    assert done.returncode == 0
    assert done.stdout.decode().split() == ["before", *map(str, range(20000)), "after"]


def test_printing_goes_on_where_files_cannot_be_made(tmp_path: Path) -> None:
    begin = BEGIN.replace("record.record_console()", "import shutil\nshutil.rmtree(sys.argv[1])")
    text = "record.record_console()\nprint('still there', flush=True)\nos._exit(0)"
    done = run_script(f"{begin}{text}", tmp_path / "run")
    assert (done.returncode, done.stdout) == (0, b"still there\n")


def test_children_that_live_longer_still_print(tmp_path: Path) -> None:
    text = """
child = os.fork()
if not child:
    time.sleep(0.5)
    print("child", flush=True)
    os._exit(0)
record.close()
print("parent", flush=True)
os.waitpid(child, 0)
"""
    done = run_script(BEGIN + text, tmp_path)
    assert done.stdout == b"parent\nchild\n"
    assert lines_of(tmp_path) == []  # nothing was printed before the recorder was closed


def test_the_recorder_closed_first_leaves_a_later_one_alone(tmp_path: Path) -> None:
    text = """
other = SummaryRecord(sys.argv[1] + "/other")
other.record_console()
print("both", flush=True)
record.close()
print("the other", flush=True)
other.close()
print("none", flush=True)
"""
    done = run_script(BEGIN + text, tmp_path)
    assert done.stdout == b"both\nthe other\nnone\n"
    assert lines_of(tmp_path) == [("o", "both")]
    assert lines_of(tmp_path / "other") == [("o", "both"), ("o", "the other")]


SECRETS = {
    "token=abcdef123456": "token=***",
    "https://user:pass@example.com/x": "https://***@example.com/x",
    "export AWS_SECRET_KEY='wJalrXUtnFEMI/K7MDENG'": "export AWS_SECRET_KEY=***",
    "hf_abcdefghijklmnopqrstuvwx": "***",
    "-----BEGIN RSA PRIVATE KEY-----": "***",
    "MIIEpAIBAAKCAQEA+aaa/bbb": "***",
    "-----END RSA PRIVATE KEY-----": "***",
    "loss 0.25 at step 10": "loss 0.25 at step 10",
}


def test_secrets_are_shown_and_not_recorded(tmp_path: Path) -> None:
    done = run_script(f"{BEGIN}print({chr(10).join(SECRETS)!r})\nrecord.close()", tmp_path)
    assert done.stdout.decode().splitlines() == list(SECRETS)
    assert [text for _, text in lines_of(tmp_path)] == list(SECRETS.values())


def test_the_middle_is_left_out_beyond_the_limit(tmp_path: Path) -> None:
    text = "for i in range(60000):\n    print(f'line {i:06} ' + 'x' * 40)\nrecord.close()"
    begin = BEGIN.replace("record_console()", "record_console(1)")
    done = run_script(begin + text, tmp_path)
    assert len(done.stdout.splitlines()) == 60000
    paths = sorted(tmp_path.glob("console.*.log"))
    assert sum(path.stat().st_size for path in paths) <= (1 << 20) + 4 * 100
    parts = [int(path.name.split(".")[3]) for path in paths]
    assert parts[:2] == [0, 1]
    assert parts[2:] == [parts[-1] - 1, parts[-1]]
    assert parts[-1] > 10
    lines = [line for _, line in lines_of(tmp_path)]
    assert lines[0].startswith("line 000000")
    assert lines[-1].startswith("line 059999")


def test_closed_outputs_are_an_error_that_changes_nothing(tmp_path: Path) -> None:
    text = """
import os, sys
from pathlib import Path
from mindinsight.writer.console import ConsoleRecorder
os.close(1)
os.close(2)
try:
    ConsoleRecorder(Path(sys.argv[1]))
except OSError as error:
    Path(sys.argv[1], "error.txt").write_text(str(error))
"""
    assert run_script(text, tmp_path).returncode == 0
    assert (tmp_path / "error.txt").read_text() == "standard output and error are closed"
    assert lines_of(tmp_path) == []


def test_a_recorder_in_this_process_and_its_signals(tmp_path: Path) -> None:
    recorder = ConsoleRecorder(tmp_path)
    try:
        os.write(1, b"one\n")
        os.kill(recorder._process.pid, signal.SIGINT)  # Ctrl-C reaches the whole group
        os.kill(recorder._process.pid, signal.SIGTERM)
        os.write(1, b"two\n")
    finally:
        recorder.close()
    recorder.close()  # a second time does nothing
    assert [text for _, text in lines_of(tmp_path)] == ["one", "two"]
