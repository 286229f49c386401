"""Alerts that reach a server of HTTP, in this process."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.plugins.alert.webhook_sender import WebhookSender, post
from mindinsight.server.settings import Settings
from mindinsight.server.settings.webhooks import Webhook

from .test_webhook_messages import alert


class Receiver:
    """A server that keeps what is posted, and answers as it is told."""

    def __init__(self) -> None:
        receiver = self
        self.bodies: list[Any] = []
        self.answer: tuple[int, bytes] = (200, b"ok")

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                receiver.bodies.append(json.loads(self.rfile.read(length)))
                status, body = receiver.answer
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"{receiver.url}elsewhere")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Receiver]:
    receiver = Receiver()
    receiver.thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.thread.join()
    receiver.server.server_close()


@pytest.fixture
def receiver(endpoint: Receiver) -> Receiver:
    endpoint.bodies, endpoint.answer = [], (200, b"ok")
    return endpoint


def test_only_new_alerts_are_posted_and_each_once(receiver: Receiver) -> None:
    alerts: list[Any] = [alert(1)]
    hooks = [Webhook("slack", receiver.url), Webhook("json", receiver.url)]
    sender = WebhookSender(hooks, lambda: alerts, "http://h/")
    sender.tick()  # those that are there already
    assert receiver.bodies == []
    alerts[:0] = [alert(2), alert(3, level="info")]
    sender.tick()
    sender.tick()
    slack, generic = receiver.bodies
    assert "step 2" in slack["text"]
    assert [row["step"] for row in generic["alerts"]] == [2]


def test_nothing_is_sent_before_the_files_are_read(receiver: Receiver) -> None:
    state: dict[str, Any] = {"alerts": None}
    sender = WebhookSender([Webhook("json", receiver.url)], lambda: state["alerts"], "")
    sender.tick()
    state["alerts"] = [alert(1)]
    sender.tick()
    assert receiver.bodies == []


def test_what_was_not_taken_is_tried_again(receiver: Receiver) -> None:
    alerts: list[Any] = []
    sender = WebhookSender([Webhook("feishu", receiver.url)], lambda: alerts, "")
    sender.tick()
    receiver.answer = (500, b"")
    alerts.append(alert(1))
    sender.tick()
    receiver.answer = (200, b'{"code": 0}')
    for _ in range(3):  # two ticks of pause, then again
        sender.tick()
    assert len(receiver.bodies) == 2
    assert "step 1" in receiver.bodies[1]["content"]["text"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, b"ok"), ""),
        (
            (200, b'{"errcode": 310000, "errmsg": "keywords not in content"}'),
            "310000 keywords not in content",
        ),
        ((200, b'{"code": 19021, "msg": "sign match fail"}'), "19021 sign match fail"),
        ((404, b""), "HTTP 404"),
        ((302, b""), "HTTP 302"),
    ],
)
def test_a_refusal_has_a_reason_and_no_redirect_is_followed(
    receiver: Receiver, answer: tuple[int, bytes], why: str
) -> None:
    receiver.answer = answer
    assert post(receiver.url, {"a": 1}) == why
    assert receiver.bodies == [{"a": 1}]


def test_an_address_where_nobody_listens_raises_nothing() -> None:
    assert post("http://127.0.0.1:1/", {}) != ""


def test_a_server_with_webhooks_posts_as_long_as_it_runs(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    hooks = (Webhook("json", "http://127.0.0.1:1/"),)
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1, webhooks=hooks))
    with TestClient(app):
        (thread,) = [thread for thread in threading.enumerate() if thread.name == "webhooks"]
    thread.join(10)
    assert not thread.is_alive()
