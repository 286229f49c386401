"""Alerts that reach receivers over real sockets, whatever other addresses do."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.compute import background_jobs
from mindinsight.server.plugins.alert import webhook_sender
from mindinsight.server.plugins.alert.webhook_sender import WebhookSender, pause, plain_text, webhook_body
from mindinsight.server.settings import Settings, Webhook
from mindinsight.server.workspace.alert_rules import Deliveries
from tests.waiting import until

from .receivers import Receiver, answering, drip_head, garbage, receiving


def alert(number: int, **fields: Any) -> dict[str, Any]:
    plain = {
        "id": f"./a|not_finite|loss|{number}",
        "run": "./a",
        "level": "error",
        "step": number,
        "title": "",
        "text": "",
        "condition": "not_finite",
        "limit": 0.0,
        "tag": "loss<1>",
        "value": "nan",
        "stray": None,
        "claim": {"text": "loss<1> is NaN"},
    }
    return {**plain, **fields}


def test_each_service_has_its_own_envelope() -> None:
    alerts = [alert(3)]
    text = "MindInsight\n🔴 ./a: loss<1> is NaN (step 3)\nhttp://h:1/alert"
    assert plain_text(alerts, "http://h:1/") == text
    assert webhook_body("json", alerts, "http://h:1/")["alerts"] == alerts
    assert webhook_body("slack", alerts, "http://h:1/") == {"text": text.replace("<1>", "&lt;1&gt;")}
    assert webhook_body("feishu", alerts, "http://h:1/") == {"msg_type": "text", "content": {"text": text}}
    assert webhook_body("dingtalk", alerts, "http://h:1/") == {"msgtype": "text", "text": {"content": text}}


def test_every_sort_of_alert_has_a_line() -> None:
    lines = plain_text(
        [
            alert(1, condition=None, title="Bad batch", text="rank 3", level="warning"),
            alert(2, condition="above", claim={"text": "loss<1> is 12.5, above 10"}),
            alert(3, stray={"kind": "silent"}, claim={"text": "loss<1> of rank 3: silent"}),
            alert(4, condition="above", claim=None),
        ],
        "",
    ).split("\n")
    assert lines[1:5] == [
        "🟠 ./a: Bad batch (step 1) – rank 3",
        "🔴 ./a: loss<1> is 12.5, above 10 (step 2)",
        "🔴 ./a: loss<1> of rank 3: silent",
        "🔴 ./a: Untitled alert (step 4)",
    ]


def test_many_alerts_are_ten_lines_and_a_number() -> None:
    lines = plain_text([alert(number) for number in range(13)], "").split("\n")
    assert len(lines) == 13
    assert lines[-2] == "3 more alerts"


LIMIT = 0.5  # s of one delivery


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def receiver(endpoint: Receiver) -> Receiver:
    endpoint.bodies, endpoint.answer = [], (200, b"ok")
    return endpoint


def test_a_thread_that_dies_as_it_begins_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As a thread does that gets a stack, and then no memory for its first call."""
    webhooks = [Webhook("json", "http://127.0.0.1:9/")] * 2
    sender = WebhookSender(webhooks, list, "http://h/", Deliveries(tmp_path, Path("/base")), LIMIT)
    monkeypatch.setattr(background_jobs, "START_SECONDS", 1.0)  # enough for the thread that does start
    monkeypatch.setattr(sender._outboxes[0], "_bootstrap", int)
    sender.start()
    sender.stop()
    sender._outboxes[1].join(60)
    assert caplog.text.count("A thread that posts alerts cannot be started") == 1


@pytest.fixture
def sending(tmp_path: Path) -> Any:
    """A sender to these addresses that looks when it is told to."""

    @contextmanager
    def start(alerts: Callable[[], Any], *webhooks: Webhook) -> Iterator[WebhookSender]:
        sender = WebhookSender(webhooks, alerts, "http://h/", Deliveries(tmp_path, Path("/base")), LIMIT)
        for outbox in sender._outboxes:
            outbox.start()
        try:
            yield sender
        finally:  # also of a test that fails, else its threads are counted by the tests that follow
            sender.stop()
            for outbox in sender._outboxes:
                outbox.join(60)
        assert not any(outbox.is_alive() for outbox in sender._outboxes)

    return start


def test_only_new_alerts_are_posted_and_each_once(receiver: Receiver, sending: Any) -> None:
    alerts: list[Any] = [alert(1)]
    with sending(lambda: alerts, Webhook("json", receiver.url)) as sender:
        sender.check()  # those that are there already
        alerts[:0] = [alert(2), alert(3, level="info")]
        sender.check()
        assert until(lambda: receiver.bodies)
        sender.check()
        alerts[:0] = [alert(4)]
        sender.check()
        assert until(lambda: receiver.steps() == [2, 4])


def test_what_a_run_does_after_the_start_is_posted_at_the_first_check(
    receiver: Receiver, sending: Any
) -> None:
    alerts: list[Any] = []
    with sending(lambda: alerts, Webhook("json", receiver.url)) as sender:
        now = time.time()
        alerts += [alert(1, wall=now + 0.8), alert(2, wall=now - 60), alert(3, wall="nan")]
        sender.check()
        assert until(lambda: receiver.steps() == [1])
        assert until(lambda: not sender._outboxes[0]._state.waiting)


def test_each_address_gets_its_own_format(receiver: Receiver, sending: Any) -> None:
    alerts: list[Any] = []
    with sending(lambda: alerts, Webhook("slack", receiver.url)) as sender:
        sender.check()
        alerts.append(alert(2))
        sender.check()
        assert until(lambda: receiver.bodies)
    assert "step 2" in receiver.bodies[0]["text"]


def test_nothing_is_sent_before_the_files_are_read(receiver: Receiver, sending: Any) -> None:
    state: dict[str, Any] = {"alerts": None}
    with sending(lambda: state["alerts"], Webhook("json", receiver.url)) as sender:
        sender.check()
        state["alerts"] = [alert(1)]
        sender.check()
        state["alerts"] = [alert(2), alert(1)]
        sender.check()
        assert until(lambda: receiver.steps() == [2])


def test_what_was_not_taken_is_tried_again(
    receiver: Receiver, sending: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "pause", lambda failures: 0.05 * failures)
    alerts: list[Any] = []
    receiver.answer = (500, b"")
    with sending(lambda: alerts, Webhook("json", receiver.url)) as sender:
        sender.check()
        alerts.append(alert(1))
        sender.check()
        assert until(lambda: len(receiver.bodies) >= 2)
        alerts[:0] = [alert(2)]
        sender.check()
        receiver.answer = (200, b"")
        assert until(lambda: receiver.steps()[-2:] == [1, 2])


@pytest.mark.parametrize("speak", [garbage, drip_head])
def test_bad_addresses_neither_delay_nor_lose_alerts_of_others(
    receiver: Receiver, sending: Any, speak: Any
) -> None:
    alerts: list[Any] = []
    with answering(speak) as (bad, times):
        hooks = [Webhook("json", bad), Webhook("slack", bad), Webhook("json", receiver.url)]
        with sending(lambda: alerts, *hooks) as sender:
            sender.check()
            for number in range(1, 6):
                alerts[:0] = [alert(number)]
                sender.check()
                assert until(partial(lambda count: len(receiver.bodies) == count, number), 5)
            assert until(lambda: sender._outboxes[0]._state.failures == 1)
    assert receiver.steps() == [1, 2, 3, 4, 5]
    assert len(times) == 2  # each was asked once, and is left alone for ten seconds


def test_the_intervals_grow_to_an_hour_and_no_further() -> None:
    assert [pause(failures) for failures in (0, 1, 2, 3, 9, 10, 10**6)] == [0, 10, 20, 40, 2560, 3600, 3600]


def test_a_restart_loses_no_alert_and_keeps_the_interval(receiver: Receiver, sending: Any) -> None:
    alerts: list[Any] = []
    hook = Webhook("json", receiver.url)
    receiver.answer = (500, b"")
    with sending(lambda: alerts, hook) as sender:
        sender.check()
        alerts.append(alert(1))
        sender.check()
        assert until(lambda: sender._outboxes[0]._state.failures == 1)
    alerts[:0] = [alert(2)]  # while no server ran
    receiver.answer = (200, b"")
    with sending(lambda: alerts, hook) as sender:
        (outbox,) = sender._outboxes
        assert 0 < outbox._due - time.monotonic() <= 10
        sender.check()
        assert [row["step"] for row in outbox._state.waiting] == [2, 1]
        with outbox._changed:  # the ten seconds are over
            outbox._due = 0.0
            outbox._changed.notify()
        assert until(lambda: receiver.steps() == [1, 1, 2])


def test_a_clock_set_back_adds_nothing_to_the_interval(
    receiver: Receiver, sending: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    alerts: list[Any] = []
    hook = Webhook("json", receiver.url)
    receiver.answer = (500, b"")
    with sending(lambda: alerts, hook) as sender:
        sender.check()
        alerts.append(alert(1))
        sender.check()
        assert until(lambda: sender._outboxes[0]._state.failures == 1)
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    with sending(lambda: alerts, hook) as sender:
        assert sender._outboxes[0]._due - time.monotonic() <= 10


def test_alerts_without_room_are_counted(
    receiver: Receiver, sending: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "_WAITING", 2)
    alerts: list[Any] = []
    with sending(lambda: alerts, Webhook("json", receiver.url)) as sender:
        sender.check()
        alerts[:0] = [alert(number) for number in (5, 4, 3, 2, 1)]
        sender.check()
        assert until(lambda: receiver.bodies)
    assert (receiver.steps(), receiver.bodies[0]["left_out"]) == ([4, 5], 3)


def test_a_workspace_that_takes_nothing_costs_the_state_alone(
    receiver: Receiver, sending: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Deliveries, "keep", full)
    alerts: list[Any] = []
    with sending(lambda: alerts, Webhook("json", receiver.url)) as sender:
        sender.check()
        alerts.append(alert(1))
        sender.check()
        assert until(lambda: receiver.steps() == [1])


def test_a_server_with_webhooks_posts_as_long_as_it_runs(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    hooks = (Webhook("json", "http://127.0.0.1:1/"),)
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1, webhooks=hooks))
    before = set(threading.enumerate())
    with TestClient(app):
        threads = [thread for thread in threading.enumerate() if thread.name in ("webhook", "webhooks")]
        threads = [thread for thread in threads if thread.is_alive() and thread not in before]
        assert len(threads) == 2
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
