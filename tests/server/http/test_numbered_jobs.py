"""Jobs by number over two servers of one workspace."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from mindinsight.server.compute.background_jobs import BackgroundJob, Threads
from mindinsight.server.compute.plugin_modules import PluginState
from mindinsight.server.errors import ApiError
from mindinsight.server.http import numbered_jobs
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.workspace.job_requests import JobRequests


class Body(BaseModel):
    upto: int


def count(service: Any, body: Body) -> BackgroundJob[int]:
    service.made.append(body.upto)
    return BackgroundJob(Threads(1, "job"), lambda: iter(range(body.upto)))


COUNT = NumberedJob("count", Body, count)


def server(folder: Path) -> Any:
    """What a job needs of a server."""
    workspace = SimpleNamespace(job_requests=JobRequests(folder))
    return SimpleNamespace(parts=PluginState(), workspace=workspace, made=[])


def test_a_server_does_the_job_that_another_one_was_asked_for(tmp_path: Path) -> None:
    first, second = server(tmp_path), server(tmp_path)
    number = COUNT.start(first, Body(upto=3))
    for service in (first, second, second):
        job = COUNT.find(service, number)
        assert job.wait(60)
        assert list(job.items) == [0, 1, 2]
    assert (first.made, second.made) == ([3], [3])


def test_numbers_of_two_servers_are_never_the_same(tmp_path: Path) -> None:
    services = [server(tmp_path), server(tmp_path)]
    numbers = {COUNT.start(service, Body(upto=i)) for i in range(20) for service in services}
    assert len(numbers) == 40
    assert max(numbers) < 2**53


def test_a_number_of_no_job_or_of_another_kind_is_an_error(tmp_path: Path) -> None:
    service, other = server(tmp_path), NumberedJob("other", Body, count)
    number = COUNT.start(service, Body(upto=1))
    with pytest.raises(ApiError, match=f"There is no other {number} any more") as error:
        other.find(service, number)
    assert (error.value.status, error.value.code) == (404, "unknown_other")
    with pytest.raises(ApiError):
        COUNT.find(service, -1)


def clock_of(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Clock of the jobs, which the test sets by `now`."""
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(numbered_jobs, "time", clock)
    return clock


def test_a_job_that_came_to_nothing_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = clock_of(monkeypatch)
    service, rows = server(tmp_path), [1, 2]

    def work(service: Any, body: Body) -> BackgroundJob[int]:
        service.made.append(body.upto)
        items = list(rows)
        return BackgroundJob(Threads(1, "job"), lambda: iter(items))

    harmed = NumberedJob("harmed", Body, work)
    good = harmed.start(service, Body(upto=1))
    rows.clear()
    empty = harmed.start(service, Body(upto=2))

    def read(number: int) -> list[int]:
        job = harmed.find(service, number)
        assert job.wait(60)
        return list(job.items)

    assert (read(empty), read(empty)) == ([], [])
    clock.now += numbered_jobs.RETRY_SECONDS - 1
    rows.append(3)
    assert (read(empty), read(good)) == ([], [1, 2])
    clock.now += 1
    assert (read(empty), read(good)) == ([3], [1, 2])
    clock.now += 60
    assert (read(empty), read(good)) == ([3], [1, 2])
    assert service.made == [1, 2, 2]


def test_a_client_that_asks_seldom_is_shown_that_nothing_came_of_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = clock_of(monkeypatch)
    service, go_on = server(tmp_path), Event()

    def work(service: Any, body: Body) -> BackgroundJob[int]:
        service.made.append(body.upto)
        return BackgroundJob(Threads(1, "job"), lambda: iter([] if go_on.wait(60) else [1]))

    slow = NumberedJob("slow", Body, work)
    number = slow.start(service, Body(upto=1))
    job = slow.find(service, number)
    assert not job.done
    go_on.set()
    assert job.wait(60)
    clock.now += 60
    assert slow.find(service, number) is job
    assert service.made == [1]
