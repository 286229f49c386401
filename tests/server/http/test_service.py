"""The parts of a running server: its pools, bulkheads by name, and the dependency of routes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient

from mindinsight.server.app import make_service
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.settings import Settings


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    (tmp_path / "base").mkdir()
    service = make_service(Settings(tmp_path / "base", tmp_path / "workspace", workers=1))
    yield service
    for pool in service.pools:
        pool.shutdown()


def test_pools_are_apart_from_each_other(service: Service) -> None:
    assert service.pools == (service.executor, service.readers, service.openers)
    assert len({id(pool) for pool in service.pools}) == 3


def test_a_class_of_work_has_one_bulkhead(service: Service) -> None:
    assert service.bulkhead("dumps") is service.bulkhead("dumps")
    assert service.bulkhead("dumps") is not service.bulkhead("graphs")


def test_workers_are_missing_when_those_of_any_pool_are(service: Service) -> None:
    assert not service.workers_missing
    without = WorkerPool(1)
    without.missing = True
    assert replace(service, openers=without).workers_missing
    assert replace(service, readers=without).workers_missing


def test_a_route_is_given_the_service_of_its_app(service: Service) -> None:
    app = FastAPI()
    app.state.service = service

    @app.get("/base")
    async def base(given: Annotated[Service, Depends(service_of)]) -> str:
        return str(given.settings.summary_base_dir)

    assert TestClient(app).get("/base").json() == str(service.settings.summary_base_dir)
