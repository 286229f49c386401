"""A server over a base directory with dumps: one healthy, one with a NaN out of an operator of step 1."""

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app, make_service
from mindinsight.server.formats.dumps import find_dump_dirs
from mindinsight.server.settings import Settings

DUMPS = Path(__file__).parents[3] / "data" / "dumps"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = tmp_path_factory.mktemp("base")
    for name in ("healthy", "broken"):
        shutil.copytree(DUMPS / "ms_sync_v2_0_names", base / "job" / name)
    (file,) = (base / "job" / "broken" / "rank_0" / "Net" / "0" / "1").glob("MatMul.MatMul-op66.*.output.0.*")
    values = np.load(file)
    values[0, 0] = np.nan
    np.save(file, values)
    shutil.copytree(DUMPS / "msprobe_pytorch" / "L1_statistics_statistics", base / "torch")
    shutil.copytree(DUMPS / "ckpt", base / "weights")
    return base


@pytest.fixture(scope="module")
def client(base: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = Settings(base, tmp_path_factory.mktemp("workspace"), reload_interval=0.1)
    threads: Any = ThreadPoolExecutor(1)
    service = replace(make_service(settings), executor=threads)
    with TestClient(create_app(settings, service), base_url="http://127.0.0.1") as client:
        count = len(find_dump_dirs(base))
        ready(lambda: len(client.get("/v2/dump/list").json()["dumps"]) == count)
        yield client


def ready(condition: Any) -> None:
    """Wait until something is as it will be."""
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def ask(client: Any) -> Callable[..., Any]:
    """ask("tensors", dump="./job/broken", step=1) -> JSON of an answer that is fine."""

    def get(path: Any, **params: Any) -> Any:
        answer = client.get(f"/v2/dump/{path}", params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return get


@pytest.fixture(scope="module")
def finished(ask: Callable[..., Any]) -> Callable[..., Any]:
    """The same, asked again until the work behind it is done."""

    def get(path: Any, **params: Any) -> Any:
        ready(lambda: ask(path, **params)["done"])
        return ask(path, **params)

    return get
