import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.http.service import CLASSES, POOLS


def test_health_counts_what_is_not_shown(samples: Any) -> None:
    body = samples("damaged/flip_body_crc", "lenet", max_runs=1).get("/health").json()
    assert body["status"] == "ok"
    assert body["runs"] == 1
    assert body["runs_left_out"] == 1


def test_health_names_no_file_and_no_run(samples: Any, tmp_path: Path) -> None:
    text = samples("damaged/flip_body_crc").get("/health").text
    assert '"damaged_stretches":1' in text
    assert '"damaged_bytes":757' in text
    assert "flip" not in text
    assert str(tmp_path) not in text


def test_metrics_are_prometheus_text(samples: Any) -> None:
    answer = samples("damaged/flip_body_crc").get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert "mindinsight_damaged_stretches 1" in lines
    assert 'mindinsight_work_running{class="dumps"} 0' in lines
    assert 'mindinsight_pool_killed_total{pool="openers"} 0' in lines
    classes = {line.split('"')[1] for line in lines if "work_running{" in line}
    assert classes == {"payloads", "dumps", "graphs", "checkpoints"}
    pattern = re.compile(
        r"# TYPE mindinsight_\w+ (gauge|counter)|mindinsight_\w+(\{\w+=\"\w+\"\})? -?\d+(\.\d+)?(e[+-]\d+)?"
    )
    assert all(pattern.fullmatch(line) for line in lines)


def test_metrics_tell_of_each_class_of_work_and_each_pool(samples: Any) -> None:
    client = samples("lenet")
    service = client.app.state.service
    names = ("running", "waiting", "stuck", "oldest_seconds", "cancelled_total", "refused_total", "cut_total")
    expected: dict[str, int] = {}
    for n, work in enumerate(CLASSES):
        values = {name: 10 * n + m for m, name in enumerate(names, 1)}
        service.bulkheads[work] = SimpleNamespace(
            **{name.partition("_")[0]: value for name, value in values.items()},
            cancel=int,
            threads=Threads(1, work),
        )
        expected |= {f'mindinsight_work_{name}{{class="{work}"}}': value for name, value in values.items()}
    for n, (pool, name) in enumerate(zip(service.pools, POOLS, strict=True)):
        pool.killed = n + 1
        expected[f'mindinsight_pool_killed_total{{pool="{name}"}}'] = n + 1
        expected[f'mindinsight_pool_running{{pool="{name}"}}'] = 0
    lines = [line.rpartition(" ") for line in client.get("/metrics").text.splitlines()]
    shown = {
        name: int(value)
        for name, _, value in lines
        if name.startswith(("mindinsight_work_", "mindinsight_pool_"))
    }
    assert shown == expected


def test_metrics_count_what_is_left_out_and_skipped(samples: Any, tmp_path: Path) -> None:
    event = Event(wall_time=1.0, step=1, explain=b"not ours")
    base = tmp_path / "base" / "explained"
    base.mkdir(parents=True)
    name = "events.out.events.summary.2000000000.0.host_MS"
    (base / name).write_bytes(encode_record(event.SerializeToString()))
    lines = samples("lenet", "damaged/flip_body_crc", max_runs=2).get("/metrics").text.splitlines()
    assert "mindinsight_records_skipped 1" in lines
    assert "mindinsight_runs_left_out 1" in lines


def test_health_tells_of_workers_that_cannot_begin_and_when_the_files_were_seen(samples: Any) -> None:
    client = samples("lenet")
    body = client.get("/health").json()
    assert body["workers_missing"] is False
    assert 0 <= body["seconds_since_look"] < 60
    assert "mindinsight_workers_missing 0" in client.get("/metrics").text.splitlines()
    etag = client.get("/v2/runs").headers["etag"]
    client.app.state.service.executor.missing = True
    assert client.get("/health").json()["workers_missing"] is True
    assert "mindinsight_workers_missing 1" in client.get("/metrics").text.splitlines()
    answer = client.get("/v2/runs", headers={"If-None-Match": etag})
    assert answer.json()["errors"] == [{"path": "", "reason": "workers.missing"}]
    (some,) = client.get("/v2/runs", params={"run": "./lenet"}).json()["errors"]
    assert some["reason"] == "workers.missing"


def test_the_time_since_the_last_look_grows_while_there_is_none(
    samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = samples("lenet")
    client.app.state.service.loader.stop()
    scanned = client.app.state.service.store.snapshot().scanned
    monkeypatch.setattr("mindinsight.server.http.health.time.time", lambda: scanned + 500)
    assert client.get("/health").json()["seconds_since_look"] == 500
    monkeypatch.setattr("mindinsight.server.http.health.time.time", lambda: scanned - 500)  # a clock set back
    assert client.get("/health").json()["seconds_since_look"] == 0
