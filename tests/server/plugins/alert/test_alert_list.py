"""Alerts as JSON values, over runs made by hand."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.server.http.service import Service
from mindinsight.server.plugins.alert.alert_list import alert_list
from mindinsight.server.store.run import Snapshot
from mindinsight.server.workspace import Workspace
from tests.server.plugins.scalar.runs import WALL, part, run


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """Two runs; one has two stretches of values that are not finite, the other has one."""
    runs = [
        run("./a", loss=[part(range(5), [1, math.nan, math.inf, 1, -math.inf])]),
        run("./b", loss=[part(range(2), [1, math.nan])]),
    ]
    snapshot = Snapshot(1, {record.id: record for record in runs}, 0, "/x", "polling", WALL)
    absent: Any = None
    store: Any = SimpleNamespace(snapshot=lambda: snapshot)
    workspace = Workspace(tmp_path, tmp_path, lambda: snapshot.bases)
    return Service(absent, store, absent, workspace, absent, started=WALL)


def test_alerts_of_all_runs_the_newest_first(service: Service) -> None:
    answer = alert_list(service)
    assert next((alert["run"], alert["step"]) for alert in answer["alerts"]) == ("./a", 4)
    assert (answer["total"], answer["left_out"]) == (3, 0)


def test_of_some_runs_and_a_part_of_them(service: Service) -> None:
    assert [alert["step"] for alert in alert_list(service, run=["./a"])["alerts"]] == [4, 1]
    part_of_them = alert_list(service, run=["./a"], skip=1, limit=1)
    assert ([alert["step"] for alert in part_of_them["alerts"]], part_of_them["total"]) == ([1], 2)
    assert alert_list(service, level=["info"])["alerts"] == []
