"""Two ranks of a real msrun on CPU: what they write, and that our reader takes it for one job each.

    python tests/interop/ranks_in_mindspore.py --mindspore /envs/ms/bin/python

Run with the project's own Python; msrun lies beside MindSpore's.
"""

import argparse
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import mindinsight

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("rank_in_mindspore.py")


def launch(python, base):
    binaries = Path(python).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    logs = base / "msrun"
    ran = subprocess.run(
        [binaries / "msrun", "--worker_num=2", "--local_worker_num=2", f"--master_port={port}", "--join=True",
         f"--log_dir={logs}", WORKER, base / "runs"],
        env={**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
             "PYTHONPATH": f"{ROOT / 'proto'}{os.pathsep}{ROOT / 'writer'}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, "\n".join([ran.stdout, *(log.read_text() for log in logs.glob("worker*"))])


def check(runs):
    names = {path.relative_to(runs).parent.as_posix() for path in runs.rglob("*_MS")}
    assert names == {"summary_dir0", "summary_dir1", "shared/rank_0", "shared/rank_1"}, names
    summary = mindinsight.open(runs)
    jobs = {run: (summary.run(run).job, summary.run(run).rank) for run in summary.runs}
    assert jobs == {
        "./summary_dir0": ("./summary_dir", 0),
        "./summary_dir1": ("./summary_dir", 1),
        "./shared/rank_0": ("./shared", 0),
        "./shared/rank_1": ("./shared", 1),
    }, jobs
    steps = {run: line.steps.tolist() for (run, _), line in summary.scalars("mean").items()}
    assert steps == {"./summary_dir0": [1, 2, 3], "./summary_dir1": [1, 2, 3]}, steps
    assert all(summary.run(run).finished for run in summary.runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mindspore", required=True, help="Python of an environment with MindSpore")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        (base / "runs").mkdir()
        launch(Path(chosen.mindspore).absolute(), base)
        check(base / "runs")
    print("msrun with 2 processes on CPU: operators in graph mode, directories, jobs: ok")


if __name__ == "__main__":
    main()
