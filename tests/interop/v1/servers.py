"""MindInsight 2.3.1 and our server beside each other, over one base directory of sample runs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data"
API = "/v1/mindinsight"
PEER = ("mindinsight==2.3.1", "numpy<2", "pandas<2.2", "marshmallow<4", "scikit-learn<1.5", "setuptools<70")
SECONDS = 120  # until a server must answer
_FIRST_TIME = 1_795_300_000  # Unix seconds, after all the times in the names of sample files


@dataclass(frozen=True)
class Answer:
    """Status, content type and what came: parsed JSON, or bytes."""

    status: int
    kind: str
    headers: dict[str, str]
    content: Any


@dataclass(frozen=True)
class Server:
    """Where one of the two is."""

    name: str
    address: str  # without the interface's path

    def ask(self, method: str, path: str, query: Any = (), body: Any = None) -> Answer:
        """One call below /v1/mindinsight; ``body`` is sent as JSON, bytes as they are."""
        pairs = [(key, item) for key, value in dict(query).items() for item in _listed(value)]
        address = f"{self.address}{API}/{path}" + (f"?{urllib.parse.urlencode(pairs)}" if pairs else "")
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        request = urllib.request.Request(address, data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return _answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            return _answer(error.code, error.headers, error.read())


def sample_base(base: Path, damaged: bool) -> Path:
    """``base`` with every sample run as a direct folder, the whole ones and graphs or the damaged ones.

    All files of a run are given one time, each run's a second after the last: both servers then agree
    which is the newest.
    """
    events = DATA / "events"
    folders = sorted({path.parent for path in events.rglob("*summary.*") if path.is_file()})
    for run in (run for run in folders if (run.parent.name == "damaged") is damaged):
        name = "_".join(run.relative_to(events).parts)
        shutil.copytree(run, base / name, ignore=shutil.ignore_patterns("*.json", "*.md", "ckpt_dir"))
    if not damaged:
        (base / "graphs").mkdir()
        for name in ("aggregated", "conv_optimize"):
            shutil.copy(DATA / "graph" / f"{name}.pb", base / "graphs")
        shutil.copy(DATA / "graph" / "conv_optimize.pb", base / "graphs" / "ms_output_optimize.pb")
        _without_events(base)
    for second, run in enumerate(sorted(base.iterdir()), _FIRST_TIME):
        for path in (run, *run.rglob("*")):
            os.utime(path, (second, second))
    return base


def _without_events(base: Path) -> None:
    """Jobs with a dump or a profile alone; the base itself is a job as well."""
    for job in ("dumped", "other_dumped"):
        shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / job / "dump")
    profile = base / "profiled" / "profiler"
    profile.mkdir(parents=True)
    (profile / "profiler_info_0.json").write_text('{"context_mode": "graph"}')
    (profile / "cpu_op_type_info_0.csv").touch()
    (file,) = (DATA / "events" / "lenet").glob("*_MS")
    shutil.copy(file, base)


def peer_environment() -> Path:
    """The folder of programs of an environment with MindInsight 2.3.1; made when it is missing."""
    root = Path(__file__).parents[3]
    folder = Path(os.environ.get("ENVIRONMENTS", root / ".venv-interop")) / "venv-mindinsight"
    if not (folder / "bin" / "mindinsight").exists():
        subprocess.run([os.environ.get("PYTHON", "python3"), "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *PEER], check=True)
    return folder / "bin"


@contextlib.contextmanager
def peer(base: Path, workspace: Path) -> Iterator[Server]:
    """MindInsight 2.3.1 over ``base``."""
    programs, port = peer_environment(), free_port()
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    options = ["--port", str(port), "--workspace", str(workspace), "--summary-base-dir", str(base)]
    program = str(programs / "mindinsight")
    subprocess.run([program, "start", *options], env=environment, check=True, stdout=subprocess.DEVNULL)
    try:
        yield _ready(Server("MindInsight 2.3.1", f"http://127.0.0.1:{port}"))
    finally:
        stop = [program, "stop", "--port", str(port)]
        subprocess.run(stop, env=environment, check=False, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def ours(base: Path, workspace: Path) -> Iterator[Server]:
    """Our server over ``base``."""
    port = free_port()
    options = ["--port", str(port), "--workspace", str(workspace), "--summary-base-dir", str(base)]
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "start", "--foreground", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield _ready(Server("ours", f"http://127.0.0.1:{port}"))
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _ready(server: Server) -> Server:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            answer = server.ask("GET", "datavisual/train-jobs", {"limit": 999})
            if answer.status == 200 and answer.content["load_status"] == "loaded":
                return server
        time.sleep(0.5)
    raise TimeoutError(f"{server.name} does not answer")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _answer(status: int, headers: Any, body: bytes) -> Answer:
    kind = (headers.get("Content-Type") or "").partition(";")[0]
    content = json.loads(body) if kind == "application/json" and body.strip() else body
    return Answer(status, kind, {name.lower(): value for name, value in headers.items()}, content)
