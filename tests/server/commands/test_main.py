"""The command as a person meets it: real processes, real ports."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.commands.main import main
from mindinsight.writer import SummaryRecord


def test_version_and_help(shell: Any) -> None:
    assert re.fullmatch(r"mindinsight \(\d+\.\d+\.\d+\)\n", shell.run("--version").stdout)
    for arguments in ((), ("help",), ("--help",)):
        done = shell.run(*arguments)
        assert done.returncode == 0
        assert "start a server" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ls", "--jsno"), "mindinsight ls: it takes no option --jsno; did you mean --json?"),
        (("start", "--summary-base-dri=x"), "did you mean --summary-base-dir?"),
        (("dump", "chek", "x"), "mindinsight dump: there is no 'chek'; did you mean check?"),
        (("strat",), "mindinsight: there is no 'strat'; did you mean start?"),
        (("ls", "more"), "mindinsight ls: it takes no argument 'more' (see mindinsight ls --help)"),
        (("ls", "/"), "mindinsight ls: it takes no argument '/'; did you mean --summary-base-dir /?"),
        (("stop", "/"), "mindinsight stop: it takes no argument '/' (see mindinsight stop --help)"),
        (("help", "strat"), "mindinsight: there is no 'strat'; did you mean start?"),
        (("start", "--port", "x"), "--port: 'x' is not a whole number from 1 to 65535"),
    ],
)
def test_a_mistake_is_one_line_with_what_was_meant(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize("command", [("start",), ("dump", "check")])
def test_help_of_one_command(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", *command])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: mindinsight {' '.join(command)} [-h]")


DATA = Path(__file__).parents[2] / "data"
DUMP = DATA / "dumps" / "ms_sync_v2_0_names"
CKPT = DATA / "dumps" / "ckpt" / "tinynet-1.ckpt"
ENGLISH = re.compile(r"[A-Za-z]+(?:,? [a-z]{2,}){2}")  # three words: names of tools and operators are shorter
NAMED = re.compile(r"mindinsight( [a-z]+)+( --[a-z]+)*|pip install \S+|“.*?”|\([^()]*\)|https?://\S+")
HEAD = "summary_base_dir: runs\ncommand: python train.py\n"
TARGET = "target: {name: loss}\n"
RATE = "parameters:\n  lr: {bounds: [0.1, 1], type: float}\n"
TUNING = {
    "no_yaml": "a: [",
    "empty": "",
    "missing": HEAD,
    "unknown_key": f"{HEAD}{TARGET}{RATE}more: 1\n",
    "study": f"{HEAD}{TARGET}{RATE}study: a/b\n",
    "command": f"summary_base_dir: runs\ncommand: []\n{TARGET}{RATE}",
    "words": f"summary_base_dir: runs\ncommand: 'a \"'\n{TARGET}{RATE}",
    "twice": f"{HEAD}{TARGET}{RATE}study: a\nstudy: b\nlimits: 3\n",
    "target": f"{HEAD}target: {{name: acc, group: system_defined}}\n{RATE}",
    "smooth": f"{HEAD}target: {{name: acc, smooth: 3}}\n{RATE}",
    "goal": f"{HEAD}target: {{name: acc, goal: up}}\n{RATE}",
    "sampler": f"{HEAD}target: [{{name: a}}, {{name: b}}]\n{RATE}tuner: {{name: gp}}\n",
    "grid": f"{HEAD}{TARGET}{RATE}tuner: {{name: grid}}\n",
    "arguments": f"{HEAD}{TARGET}{RATE}tuner: {{name: grid, args: {{a: 1}}}}\n",
    "pruner": f"{HEAD}{TARGET}{RATE}pruner: {{name: median}}\n",
    "limits": f"{HEAD}{TARGET}{RATE}limits: {{study: soon}}\n",
    "parameters": f"{HEAD}{TARGET}parameters: {{}}\n",
    "colon": f"{HEAD}target: name:loss\n{RATE}",
    **{
        f"parameter{number}": f"{HEAD}{TARGET}parameters:\n  p: {text}\n"
        for number, text in enumerate(
            (
                *("{}", "{bounds: [1, 2]}", "{bounds: [2, 1], type: float}", "{bounds: [1], type: float}"),
                *(
                    "{choice: []}",
                    "{choice: [1, 1]}",
                    "{choice: [1], log: true}",
                    "3",
                    "{bounds: 1, type: int}",
                ),
                *("{bounds: [0, 1], type: float, log: true}", "{bounds: [1, 2], type: int, decimal: 1}"),
                *("{bounds: [0.1, 0.2], type: int}", "{bounds: [1, 2], type: float, source: system_defined}"),
                *("{choice: [1], when: {q: 1}}", "{bounds: [0.11, 0.12], type: float, decimal: 1}"),
            )
        )
    },
}


@pytest.fixture
def speak(
    run: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Any:
    """Runs a command in Chinese; gives what it prints without names, and without technical details (x: y)."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setenv("MINDINSIGHT_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def spoken(*arguments: Any) -> str:
        try:
            _, out, err = run(*arguments)
        except SystemExit:
            out, err = capsys.readouterr()
        return re.sub(
            r"mindinsight( [a-z]+)+( --[a-z]+)*|pip install \S+|“.*?”|\([^()]*\)|https?://\S+", "", out + err
        )

    return spoken


def test_dumps_and_checkpoints_in_chinese(speak: Any, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(DUMP, tmp_path / "broken"))
    (file,) = (broken / "rank_0" / "Net" / "0" / "1").glob("MatMul.MatMul-op66.*.output.0.*")
    values = np.load(file)
    values[0, 0] = np.nan
    np.save(file, values)
    other = np.savez(tmp_path / "b.npz", a=np.array([np.nan, 1]), c=np.ones(2)) or tmp_path / "b.npz"
    before = np.savez(tmp_path / "a.npz", a=np.ones(2), b=np.ones(2)) or tmp_path / "a.npz"
    (tmp_path / "cut.ckpt").write_bytes(CKPT.read_bytes()[:400])
    (tmp_path / "empty").mkdir()
    (tmp_path / "map.csv").write_text("a,b,c\n")
    (tmp_path / "map.json").write_text('{"a": 1}')
    missing, nothing, csv = tmp_path / "missing", tmp_path / "empty", tmp_path / "out.csv"
    step = ("--step", 1)
    commands: list[tuple[Any, ...]] = [
        *(("dump", action, path) for action in ("ls", "stat", "check") for path in (missing, nothing, CKPT)),
        ("dump", "ls", DUMP),
        ("dump", "ls", DUMP.parent),
        ("dump", "ls", DUMP, "--step", 0, "--operator", "*MatMul*"),
        ("dump", "stat", broken, *step, "--not-finite"),
        ("dump", "stat", broken, *step, "--operator", "x"),
        ("dump", "check", broken, *step),
        ("dump", "check", DUMP, "--step", 77),
        *(
            ("dump", "check", DUMP, *step, "--condition", text)
            for text in (
                *("x", "tensor_too_large", "tensor_too_large:max_gt", "tensor_too_large:x=1"),
                *("tensor_too_large:max_gt=nan", "tensor_all_zero:zero_percentage_ge=101"),
            )
        ),
        ("dump", "compare", broken, DUMP, *step, "--all", "--csv", csv),
        ("dump", "compare", broken, DUMP, "--every-step", "--csv", csv),
        ("dump", "compare", broken, DUMP, "--every-step", "--msprobe", csv),
        ("dump", "compare", broken, DUMP, "--every-step", "--rank", 9),
        ("dump", "compare", broken, DUMP, *step, "--msprobe", csv),
        ("dump", "compare", broken, DUMP, "--rank", 9),
        ("dump", "compare", broken, DUMP, "--step", 9),
        *(("dump", "compare", broken, DUMP, "--map", tmp_path / f"map.{end}") for end in ("csv", "json")),
        ("dump", "convert", DUMP, *step, "--output", tmp_path / "converted"),
        ("dump", "convert", DUMP, *step, "--output", CKPT),
        ("ckpt", "ls", CKPT),
        ("ckpt", "ls", CKPT.parent / "tinynet-nan.ckpt"),
        *(("ckpt", "ls", path) for path in (missing, nothing, tmp_path, tmp_path / "cut.ckpt")),
        ("ckpt", "diff", before, other, "--all"),
        ("ckpt", "diff", CKPT, other),
    ]
    assert_chinese(speak, commands, tmp_path)


def assert_chinese(speak: Any, commands: list[tuple[Any, ...]], folder: Path) -> None:
    """Fail for a command that prints nothing, an English sentence or the key of a text."""
    wrong = {}
    for command in commands:
        text = speak(*command).replace(str(folder), "").replace(str(DATA), "")
        lines = [line for line in text.splitlines() if ENGLISH.search(line) or re.search(r"\bcli\.", line)]
        if lines or not re.search("[\u4e00-\u9fff]", text):
            wrong[" ".join(map(str, command))] = lines
    assert wrong == {}


def test_runs_in_chinese(speak: Any, tmp_path: Path) -> None:
    base = tmp_path / "base"
    for name, factor in (("a", 1.0), ("b", 2.0)):
        with SummaryRecord(str(base / name)) as record:
            for step in range(3):
                record.add_value("scalar", "loss", factor * step)
                record.record(step)
    where = ("--summary-dir", base)
    missing = ("--summary-dir", tmp_path / "missing")
    assert_chinese(
        speak,
        [
            ("ls", *where),
            ("ls", *where, "--runs", "x*"),
            ("ls", *missing),
            ("get", "a", "lsos", *where),
            ("get", "ab", "loss", *where),
            ("compare", "./a", "./b", *where),
            ("compare", "./a", "./x", *where),
            ("export", *where, "--output", tmp_path / "out"),
            ("export", *missing),
            ("report", "./a", *where, "--output", tmp_path / "missing" / "a.html"),
            ("report", "c", *where),
        ],
        tmp_path,
    )


def test_settings_in_chinese(speak: Any, tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "inner").mkdir(parents=True)
    file = tmp_path / "file"
    file.write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        here = ("start", "--summary-base-dir", base)
        assert_chinese(
            speak,
            [
                (*here, "--port", taken.getsockname()[1]),
                (*here, "--host", "203.0.113.1", "--no-token"),
                (*here, "--workspace", file),
                (*here, "--url-path-prefix", "a b"),
                (*here, "--webhook", "mail=x"),
                (*here, "--executor", "ray://x"),
                (*here, "--summary-base-dir", base),
                (*here, "--summary-base-dir", base / "inner"),
                ("start", "--summary-base-dir", f"a={base}", "--summary-base-dir", f"a={tmp_path / 'b'}"),
                ("start", "--summary-base-dir", tmp_path / "missing"),
                ("start", "--summary-base-dir", file),
                ("start", "--summary-base-dir", "s3://user:secret@bucket"),
                ("start", "--summary-base-dir", "s3://[bucket"),
                ("start", "--summary-base-dir", "cached::s3://bucket"),
                ("start", "--summary-base-dir", "zip://a::https://example.org/a.zip"),
                ("start", "--summary-base-dir", "unknown://bucket"),
                ("ls", "--summary-dir", "s3://bucket"),
                ("status",),
                ("stop", "--port", taken.getsockname()[1]),
                ("open", tmp_path),
                ("open", tmp_path / "missing.json"),
                ("open", file),
            ],
            tmp_path,
        )


def test_tuning_files_in_chinese(speak: Any, tmp_path: Path) -> None:
    commands: list[tuple[Any, ...]] = [("tune", tmp_path / "missing.yaml")]
    for name, text in TUNING.items():
        (tmp_path / f"{name}.yaml").write_text(text)
        commands.append(("tune", tmp_path / f"{name}.yaml", "--dry-run"))
    commands.append(("tune", tmp_path / "empty.yaml", "--timeout", "soon"))
    assert_chinese(speak, commands, tmp_path)


def test_the_package_can_be_run_as_a_module(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mindinsight", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert run("--version").stdout.startswith("mindinsight (")
    assert run("ls", "--summary-dir", str(tmp_path / "gone")).returncode == 1


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mindinsight sta", {"start", "status"}),
        ("mindinsight dump ch", {"check"}),
        ("mindinsight start --wat", {"--watch"}),
        ("mindinsight report run1 --language ", {"en", "zh"}),
        ("mindinsight nothing-begins-so", set()),
    ],
)
def test_a_shell_is_told_what_may_follow(line: str, offered: set[str], tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "offered"),
    }
    command = [sys.executable, "-m", "mindinsight.server.commands.main"]
    subprocess.run(command, env=environment, check=False, timeout=60)
    assert {text.strip() for text in (tmp_path / "offered").read_text().split("\n")} - {""} == offered
