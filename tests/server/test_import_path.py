"""What the process that forks workers gets, beside `commands/test_start.py`, which starts a server."""

import os

import pytest

from mindinsight.server import import_path
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.import_path import SAFE_PATH, safe_context


def test_only_workers_get_the_variable() -> None:
    safe_context(())
    assert not SAFE_PATH.keys() & os.environ.keys()
    pool = WorkerPool(1)
    try:
        assert pool.submit(os.getenv, "PYTHONSAFEPATH").result(60) in ("1", None)
    finally:
        pool.shutdown()
    assert not SAFE_PATH.keys() & os.environ.keys()


def test_a_variable_that_was_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "yes")
    monkeypatch.setattr(import_path, "_BEFORE", {"PYTHONSAFEPATH": "yes"})
    safe_context(())
    assert os.environ["PYTHONSAFEPATH"] == "yes"
