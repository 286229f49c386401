"""One server over recorded dumps for all tests of the debugger, and a session for each test."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.v1.debugger.debugger_session import Session
from tests.server.v1.conftest import DATA, Interface, serving
from tests.waiting import until

SESSIONS = "debugger/sessions"
RELU = "Default/network-WithLossCell/_backbone-Net/relu-ReLU/ReLU-op52"
CONV = "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/Conv2D-op51"
WEIGHT = "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/conv1.weight"


@pytest.fixture(scope="package")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    base = tmp_path_factory.mktemp("base")
    for name in ("dump", "second", "third"):
        shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / name)
    shutil.copytree(DATA / "dumps" / "msprobe_pytorch" / "L0_tensor_statistics", base / "torch")
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base.parent / "beside" / "dump")
    with serving(base, tmp_path_factory.mktemp("workspace")) as client:
        until(lambda: len(client.get("/v2/dump/list").json()["dumps"]) >= 4)
        yield Interface(client)


@pytest.fixture
def session(dumps: Any) -> Iterator[Any]:
    """Paths below a new session of ./job/dump, ended afterwards."""
    number = dumps.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/dump"})
    yield f"{SESSIONS}/{number}"
    dumps.sent(f"{SESSIONS}/{number}/delete")


@pytest.fixture
def open_session() -> Iterator[Session]:
    """A session without a server: what the routes work on."""
    with ThreadPoolExecutor(1) as executor:
        dump = open_dump(str(DATA / "dumps" / "ms_sync_v2_0_names"))
        session = Session("1", "./dump", dump, executor, None, Threads(2, "job"))
        yield session
        session.close()


def go(dumps: Any, session: Any, **body: Any) -> Any:
    """Control the session and wait until it is ready again."""
    answer = dumps.sent(f"{session}/control", body)
    until(lambda: state(dumps, session)["state"] == "waiting")
    return answer


def state(dumps: Any, session: Any) -> Any:
    return dumps.sent(f"{session}/retrieve", {"mode": "all"})["metadata"]


def watch(dumps: Any, session: Any, condition: Any, params: Any = (), **body: Any) -> Any:
    limits = [{"name": name, "value": value} for name, value in params]
    body = {"condition": {"id": condition, "params": limits}, **body}
    return dumps.sent(f"{session}/create-watchpoint", body)


def recorded(name: Any, step: Any) -> Any:
    (file,) = (DATA / "dumps/ms_sync_v2_0_names/rank_0/Net/0" / str(step)).glob(f"{name}.*.output.0.*.npy")
    return np.load(file)
