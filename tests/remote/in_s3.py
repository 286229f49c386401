"""A server over a real S3 interface on loopback: moto in server mode, behind a proxy that counts requests.

    pip install 'moto[server,s3]' s3fs pytest
    python -m pytest tests/remote/in_s3.py      (make test-remote)

The proxy makes the store slow (200 ms a request) and unreliable (1 % answers 503) where a test says so.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import s3fs
from fastapi.testclient import TestClient

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of
from mindinsight.writer import SummaryRecord
from tests.remote.answers import answers, copy_runs, lineages, wait_until_read
from tests.waiting import until
from tests.writer.conftest import records_in

DUMPS = Path(__file__).parents[1] / "data" / "dumps" / "msprobe_pytorch"
BUCKET = "training"
URL = f"s3://{BUCKET}/summary"
NAME = "events.out.events.summary.1700000000.0.host_MS"
MANY = 999


class Proxy(ThreadingHTTPServer):
    """Passes requests on to the store, counts them, and hinders them."""

    daemon_threads = True

    def __init__(self, store_port: int, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Passing)
        self.store_port = store_port
        self.latency = 0.0
        self.failing = 0.0  # share
        self.status = 0  # of every answer
        self.counts: Counter[str] = Counter()
        self.most_at_once = 0
        self.at_once = 0
        self.lock = threading.Lock()
        self.random = random.Random(1)


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def _pass(self) -> None:
        proxy = self.server
        query = parse_qs(urlsplit(self.path).query)
        listing = self.command == "GET" and ("list-type" in query or "delimiter" in query)
        with proxy.lock:
            proxy.counts["list" if listing else self.command] += 1
            proxy.at_once += 1
            proxy.most_at_once = max(proxy.most_at_once, proxy.at_once)
            fails = proxy.random.random() < proxy.failing
        try:
            time.sleep(proxy.latency)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if proxy.status or fails:
                self._answer(proxy.status or 503, {}, b"")
                return
            connection = http.client.HTTPConnection("127.0.0.1", proxy.store_port, timeout=60)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            self._answer(answer.status, dict(answer.getheaders()), answer.read())
            connection.close()
        finally:
            with proxy.lock:
                proxy.at_once -= 1

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "server", "date"):
                self.send_header(name, value)
        length = headers.get("Content-Length", str(len(body))) if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", length)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def moto_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            time.sleep(0.1)
    yield port
    process.terminate()
    process.wait()


@pytest.fixture(scope="module")
def proxy_port() -> int:
    """The same for all tests: processes that are reused keep the environment of the first."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture
def proxy(moto_port: int, proxy_port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    proxy = Proxy(moto_port, proxy_port)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{proxy.server_port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-sesame")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-sesame")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield proxy
    proxy.shutdown()
    proxy.server_close()


@pytest.fixture
def bucket(moto_port: int, proxy: Proxy) -> Iterator[s3fs.S3FileSystem]:
    """The store without the proxy in between, with an empty bucket."""
    files = s3fs.S3FileSystem(
        endpoint_url=f"http://127.0.0.1:{moto_port}", skip_instance_cache=True, use_listings_cache=False
    )
    files.mkdir(BUCKET)
    yield files
    if files.exists(BUCKET):
        files.rm(BUCKET, recursive=True)


@contextmanager
def served(text: str, workspace: Path, interval: float = 1.0) -> Iterator[TestClient]:
    bases = bases_of([f"lab={text}"], workspace)
    settings = Settings(bases, workspace, workers=1, reload_interval=interval)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client


def records(first: int, end: int) -> bytes:
    events = [Event(wall_time=float(step), step=step) for step in range(first, end)]
    for event in events:
        event.summary.value.add(tag="loss", scalar_value=float(event.step))
    return b"".join(encode_record(event.SerializeToString()) for event in events)


def step_of(client: TestClient) -> int | None:
    """Newest step of the only run."""
    runs = client.get("v2/runs").json()["runs"]
    return runs[0]["step"] if runs else None


def errors(client: TestClient) -> list[str]:
    return [error["reason"] for error in client.get("v2/runs").json()["errors"]]


def test_every_kind_is_shown_as_from_a_directory(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path
) -> None:
    """At 200 ms a request and 1 % failures."""
    folder = tmp_path / "runs"
    copy_runs(folder)
    bucket.put(f"{folder}/", f"{BUCKET}/summary/", recursive=True)
    with served(str(folder), tmp_path / "local") as client:
        wait_until_read(client)
        expected = answers(client), lineages(client)
    proxy.latency, proxy.failing = 0.2, 0.01
    with served(URL, tmp_path / "workspace") as client:
        wait_until_read(client)
        assert (answers(client), lineages(client)) == expected
    assert proxy.most_at_once <= 8


def test_requests_of_many_runs(bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path) -> None:
    """At most two requests a file at first, and a listing page for 1 000 objects afterwards."""
    content = records(0, 20)
    bucket.pipe({f"{BUCKET}/summary/run_{number:03}/{NAME}": content for number in range(MANY)})
    with served(URL, tmp_path / "workspace") as client:

        def read() -> bool:
            runs = client.get("v2/runs").json()["runs"]
            return len(runs) == MANY and all(run["step"] == 19 for run in runs)

        assert until(read, 300)
        first = Counter(proxy.counts)
        print(f"first: {dict(first)}, at once {proxy.most_at_once}")
        assert first["GET"] <= 2 * MANY
        assert proxy.most_at_once <= 8
        until(lambda: proxy.counts["list"] - first["list"] >= 4)
        later = proxy.counts - first
        print(f"four passes later: {dict(later)}")
        assert later["GET"] == 0
        grown = f"{BUCKET}/summary/run_500/{NAME}"
        bucket.pipe({grown: content + records(20, 30)})
        before, began = Counter(proxy.counts), time.monotonic()
        path = "v2/scalar/series?run=./lab/run_500&tag=loss"
        assert until(lambda: client.get(path).json()["series"][0]["last"][0] == 29)
        print(f"growth seen after {time.monotonic() - began:.1f} s: {dict(proxy.counts - before)}")
        assert (proxy.counts - before)["GET"] == 1


@pytest.mark.parametrize(("status", "reason"), [(403, "remote.forbidden"), (503, "remote.unreachable")])
def test_a_store_that_refuses(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path, status: int, reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """Expired credentials, or a store that is overloaded: what is known stays, and the list says why."""
    bucket.pipe({f"{BUCKET}/summary/run/{NAME}": records(0, 5)})
    with served(URL, tmp_path / "workspace") as client:
        assert until(lambda: [run["step"] for run in client.get("v2/runs").json()["runs"]] == [4])
        proxy.status = status
        assert until(lambda: errors(client) == [reason])
        assert [run["step"] for run in client.get("v2/runs").json()["runs"]] == [4]
        proxy.status = 0
        bucket.pipe({f"{BUCKET}/summary/run/{NAME}": records(0, 9)})
        assert until(lambda: [run["step"] for run in client.get("v2/runs").json()["runs"]] == [8])
        assert until(lambda: errors(client) == [])
        shown = client.get("v2/runs").text + client.get("/").text + client.get("/health").text
    assert "sesame" not in shown + caplog.text


def test_a_bucket_that_vanishes(bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path) -> None:
    bucket.pipe({f"{BUCKET}/summary/run/{NAME}": records(0, 5)})
    with served(URL, tmp_path / "workspace") as client:
        assert until(lambda: [run["step"] for run in client.get("v2/runs").json()["runs"]] == [4])
        bucket.rm(BUCKET, recursive=True)
        assert until(lambda: errors(client) == ["remote.gone"])
        assert [run["step"] for run in client.get("v2/runs").json()["runs"]] == [4]


def test_the_command_shows_the_url_and_no_credentials(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path
) -> None:
    bucket.pipe({f"{BUCKET}/summary/run/{NAME}": records(0, 5)})
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "start", "--foreground"]
    options = ["--summary-base-dir", URL, "--workspace", str(tmp_path / "workspace"), "--port", port]
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        copied = tmp_path / "workspace" / "remote"
        assert until(lambda: list(copied.rglob(NAME)))
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=60)
    assert f"Summary base dir: {URL}" in out
    log = "".join(path.read_text() for path in (tmp_path / "workspace" / "log").glob("*"))
    assert "sesame" not in out + log


def test_a_dump_is_fetched_as_it_is_looked_at(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path
) -> None:
    """At 50 ms a request: one read for each tensor that is looked at, and none afterwards."""
    folder = tmp_path / "runs"
    dump = folder / "dump" / "step0" / "rank0"
    (dump / "dump_tensor_data").mkdir(parents=True)
    data: dict[str, object] = {}
    for number in range(100):
        name = f"Functional.relu.{number}.forward"
        np.save(dump / "dump_tensor_data" / f"{name}.output.0.npy", np.full(1000, number, np.float32))
        fields = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1000]}
        data[name] = {"output": [{**fields, "data_name": f"{name}.output.0.npy"}]}
    (dump / "dump.json").write_text(
        json.dumps({"task": "tensor", "level": "L1", "framework": "pytorch", "data": data})
    )
    bucket.put(f"{folder}/", f"{BUCKET}/summary/", recursive=True)
    proxy.latency = 0.05
    with served(URL, tmp_path / "workspace") as client:
        assert until(lambda: client.get("/v2/dump/list").json()["dumps"])
        listed = Counter(proxy.counts)
        step = {"dump": "./lab/dump", "rank": 0, "step": 0}
        began = time.monotonic()
        assert until(lambda: client.get("/v2/dump/tensors", params=step).json().get("done")), client.get(
            "/v2/dump/tensors", params=step
        ).text
        first = proxy.counts - listed
        print(f"100 tensors: {dict(first)} in {time.monotonic() - began:.1f} s")
        rows = client.get("/v2/dump/tensors", params=step).json()["rows"]
        assert [row["statistics"]["maximum"] for row in rows] == list(range(100))
        assert listed["GET"] == 1  # dump.json
        assert 100 <= first["GET"] <= 105  # a connection may break
        client.get("/v2/dump/fault", params=step).raise_for_status()
        assert (proxy.counts - listed)["GET"] == first["GET"]
    assert proxy.most_at_once <= 9  # and a listing


def test_of_a_large_checkpoint_only_what_is_looked_at_is_fetched(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path
) -> None:
    count = 18 << 20  # float32 numbers: 72 MB each
    entries = {
        name: {
            "dtype": "F32",
            "shape": [count],
            "data_offsets": [number * 4 * count, (number + 1) * 4 * count],
        }
        for number, name in enumerate(("first", "second"))
    }
    head = json.dumps(entries).encode()
    path = tmp_path / "net.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head)
    os.truncate(path, path.stat().st_size + 8 * count)
    bucket.put(str(path), f"{BUCKET}/summary/net.safetensors")
    with served(URL, tmp_path / "workspace") as client:
        assert until(lambda: client.get("/v2/dump/checkpoints").json()["checkpoints"])
        before = proxy.counts["GET"]
        window = {"file": "./lab/net.safetensors", "name": "second"}
        answer = client.get("/v2/dump/checkpoint/values", params=window)
        answer.raise_for_status()
        copies = (tmp_path / "workspace" / "remote").rglob("*.ranges")
        fetched = sum(copy.stat().st_blocks * 512 for copy in copies)
        print(f"values of one tensor: {proxy.counts['GET'] - before} reads, {fetched / 1e6:.1f} MB of 151")
        assert 0 < fetched < 10e6


def test_a_dump_whose_store_refuses_is_listed_and_says_so(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(DUMPS / "mix_tensor_2ranks", folder / "dump")
    bucket.put(f"{folder}/", f"{BUCKET}/summary/", recursive=True)
    with served(URL, tmp_path / "workspace") as client:
        assert until(lambda: client.get("/v2/dump/list").json()["dumps"])
        proxy.status = 403
        step = {"dump": "./lab/dump", "rank": 0, "step": 0}
        assert until(lambda: client.get("/v2/dump/tensors", params=step).json().get("done")), client.get(
            "/v2/dump/tensors", params=step
        ).text
        text = client.get("/v2/dump/tensors", params=step).text
        assert "credentials of the server" in text
        assert "sesame" not in text
        proxy.status = 0


def test_a_training_writes_to_the_store_and_is_followed(
    bucket: s3fs.S3FileSystem, proxy: Proxy, tmp_path: Path
) -> None:
    """While 5 % of the answers are 503: everything that was flushed is there, and shown as it comes."""
    proxy.failing = 0.05
    with (
        served(URL, tmp_path / "workspace") as client,
        SummaryRecord(f"{URL}/run", flush_seconds=0.2) as record,
    ):
        for step in range(1, 301):
            record.add_value("scalar", "loss", 1.0 / step)
            record.record(step)
            if step % 100 == 0:
                record.flush()
                assert until(lambda: step_of(client) == step)  # noqa: B023
    names = bucket.find(f"{BUCKET}/summary/run")
    assert len(names) == 1
    assert len(records_in(bucket.cat_file(names[0]))[0]) == 302  # and those that begin and end it
