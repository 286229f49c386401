"""Sender of alerts to webhooks: messages for each service, and a POST limited in time."""

import http.client
import io
import json
import logging
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import IO, Any, Final

from mindinsight.server.compute.background_jobs import start_within_limit
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.alert.alert_cache import MOST, AlertsQuery, alert_list
from mindinsight.server.settings import Webhook, WebhookFormat
from mindinsight.server.texts import message
from mindinsight.server.workspace.alert_rules import Deliveries, Delivery

LIMIT: Final = 10.0  # seconds, for connecting and again for the exchange; services answer within one
_ANSWER: Final = 65_536  # bytes read of a response; the services send a few hundred


def post(url: str, content: dict[str, Any], limit: float = LIMIT) -> str:
    """POST a JSON value, and return "" if the receiver accepted it, otherwise the reason. Never raises.
    `limit` in seconds holds for connecting and again for the exchange, however slowly bytes arrive."""
    body = json.dumps(content, ensure_ascii=True).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="POST")
    opener = urllib.request.build_opener(_NoRedirect, _Http, _Https)
    try:
        with opener.open(request, timeout=limit) as answer:
            return _refusal(answer.read(_ANSWER))
    except urllib.error.HTTPError as error:
        error.close()
        return f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__
    except http.client.HTTPException as error:
        return f"not an HTTP response ({type(error).__name__})"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirect handler that follows no redirect. The response becomes an error."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class _TimedReader(io.RawIOBase):
    """Stream of a socket that raises TimeoutError after a deadline, even if bytes keep arriving."""

    def __init__(self, stream: io.RawIOBase, sock: socket.socket, end: float) -> None:
        self._stream = stream
        self._socket = sock
        self._end = end  # by time.monotonic()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """Response that must be complete at `end`, by time.monotonic()."""

    def __init__(self, sock: socket.socket, *arguments: Any, end: float, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        stream = self.fp.detach()
        self.fp = io.BufferedReader(_TimedReader(stream, sock, end))


class _TimedHttp(http.client.HTTPConnection):
    """Connection with a deadline for each response, including a proxy's response while connecting."""

    def connect(self) -> None:
        limit = self.timeout or LIMIT
        self._end_in(2 * limit)
        super().connect()
        self._end_in(limit)

    def _end_in(self, seconds: float) -> None:
        self.response_class = partial(_TimedResponse, end=time.monotonic() + seconds)  # type: ignore[assignment]


class _TimedHttps(_TimedHttp, http.client.HTTPSConnection):
    """Connection with TLS, in which Python limits the handshake."""


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_TimedHttp, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_TimedHttps, req)


def _refusal(answer: bytes) -> str:
    """Return the error that Feishu (`code`) or DingTalk (`errcode`) reports with status 200, or ""."""
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(content, dict):
        return ""
    code = content.get("errcode", content.get("code", 0))
    return "" if code in (0, None) else f"{code} {content.get('errmsg', content.get('msg', ''))}".strip()


_LINES: Final = 10  # alerts listed in one message
_MARKS: Final = {"error": "🔴", "warning": "🟠", "info": "🔵"}

Alert = Mapping[str, Any]  # an item of ``alert_list``


def webhook_body(
    style: WebhookFormat, alerts: Sequence[Alert], address: str, dropped: int = 0
) -> dict[str, Any]:
    """Return the JSON value to post: the alerts, newest first, the server's address, and the number dropped.

    The style `json` has the alerts as they are. The others have a text for people: `slack` for incoming
    webhooks, `feishu` for custom bots, `dingtalk` for custom robots. A robot that requires a keyword in each
    message finds `MindInsight`.
    """
    if style == "json":
        listed = [dict(alert) for alert in alerts]
        return {"source": "MindInsight", "address": address, "alerts": listed, "left_out": dropped}
    text = plain_text(alerts, address, dropped)
    if style == "slack":
        return {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
    if style == "feishu":
        return {"msg_type": "text", "content": {"text": text}}
    return {"msgtype": "text", "text": {"content": text}}


def plain_text(alerts: Sequence[Alert], address: str, dropped: int = 0) -> str:
    """Return a message for chats: a line for each of the first ten alerts, then the number of the others.
    `MindInsight` comes before them, and the address of the page of alerts after them. `dropped` alerts
    count among the others."""
    lines = [f"{_MARKS.get(alert['level'], '')} {alert['run']}: {_line(alert)}" for alert in alerts[:_LINES]]
    if more := max(0, len(alerts) - _LINES) + dropped:
        lines.append(message("alert.came_more", {"n": more}))
    return "\n".join(["MindInsight", *lines, f"{address}alert"])


def _line(alert: Alert) -> str:
    step = message("alert.step", {"step": alert["step"]})
    if not alert["condition"]:
        detail = f" – {alert['text']}" if alert["text"] else ""
        return f"{alert['title'] or message('alert.untitled', {})} ({step}){detail}"
    what = alert["claim"]["text"] if alert["claim"] else message("alert.untitled", {})
    return what if alert["stray"] else f"{what} ({step})"


_log = logging.getLogger(__name__)

_TICK: Final = 5.0  # seconds between two checks; alerts in between are sent as one message
_LONGEST: Final = 3600.0  # seconds between two attempts, so that a repaired address is used within the hour
_WAITING: Final = MOST  # queued alerts of an address: the maximum of one check
_FIRST_READ: Final = 600.0  # seconds; a file that cannot be read to its end must not delay all alerts
_SEEN: Final = 10 * MOST  # ids of posted alerts that are remembered, at most a megabyte in the workspace


class Outbox(threading.Thread):
    """Queue of one webhook, and the thread that posts it. `states` stores the queue across restarts."""

    def __init__(self, webhook: Webhook, states: Deliveries, address: str, limit: float = LIMIT) -> None:
        super().__init__(name="webhook", daemon=True)
        self._webhook = webhook
        self._states = states
        self._address = address
        self._limit = limit
        self._key = sha256(f"{webhook.format}={webhook.url}".encode()).hexdigest()[:16]  # the URL is a secret
        self._changed = threading.Condition()
        self._stopped = False
        stored = states.all().get(self._key)
        self._state = stored or Delivery()
        self.is_new = stored is None
        self._began = time.time()
        since = max(0.0, time.time() - self._state.tried)  # not negative after the clock was set back
        self._due = time.monotonic() + max(0.0, pause(self._state.failures) - since)

    def see(self, alerts: Sequence[Alert]) -> None:
        """Queue the unknown warnings and errors, mark all ``alerts``, the newest first, as known, and store
        both. Alerts older than a new webhook are not queued. Of too many queued alerts, the oldest are
        dropped and counted."""
        with self._changed:
            state = self._state
            known = set(state.seen)
            new = [alert for alert in alerts if alert["id"] not in known]
            posted = [dict(alert) for alert in new if alert["level"] != "info" and not self._was_there(alert)]
            if not new and not self.is_new:
                return
            self.is_new = False
            waiting = [*posted, *state.waiting]
            self._state = replace(
                state,
                seen=[*state.seen, *(alert["id"] for alert in reversed(new))][-_SEEN:],
                waiting=waiting[:_WAITING],
                dropped=state.dropped + len(waiting[_WAITING:]),
            )
            self._changed.notify()
        self._keep()

    def _was_there(self, alert: Alert) -> bool:
        """Return True if an alert is older than a new webhook, which does not receive it."""
        wall = alert.get("wall")
        return self.is_new and not (isinstance(wall, int | float) and wall >= self._began)

    def stop(self) -> None:
        """Ask the thread to end, without waiting for it. A post that has begun is completed first."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        """Post queued alerts until stopped."""
        while self._wait():
            try:
                self._deliver()
            except Exception:
                _log.exception("Posting to the %s failed", self._webhook.shown)
                self._settle(self._state, failed=True)

    def _wait(self) -> bool:
        """Wait until there is an alert to post and the next attempt is due, and return False if stopped."""
        with self._changed:
            while not self._stopped:
                left = self._due - time.monotonic()
                if self._state.waiting and left <= 0:
                    return True
                self._changed.wait(max(left, 0.0) if self._state.waiting else _TICK)
        return False

    def _deliver(self) -> None:
        sent = self._state
        body = webhook_body(self._webhook.format, sent.waiting, self._address, sent.dropped)
        reason = post(self._webhook.url, body, self._limit)
        self._settle(sent, failed=bool(reason))
        if reason:
            left, seconds = len(self._state.waiting), pause(self._state.failures)
            text = "The %s rejected %d alerts: %s. The next attempt is in %.0f s."
            _log.warning(text, self._webhook.shown, left, reason, seconds)

    def _settle(self, sent: Delivery, failed: bool) -> None:
        """Record the result of posting the queue of `sent`. Alerts that were queued since then remain."""
        with self._changed:
            state = replace(self._state, tried=time.time())
            if failed:
                self._state = replace(state, failures=state.failures + 1)
            else:
                taken = {alert["id"] for alert in sent.waiting}
                waiting = [alert for alert in state.waiting if alert["id"] not in taken]
                dropped = state.dropped - sent.dropped
                self._state = replace(state, waiting=waiting, dropped=dropped, failures=0)
            self._due = time.monotonic() + pause(self._state.failures)
        self._keep()

    def _keep(self) -> None:
        """Store the state. Log a warning if that fails."""
        try:
            self._states.keep(self._key, lambda: self._state)
        except OSError as error:
            _log.warning("Cannot store the state of webhooks in the workspace: %s", error.strerror or error)


def pause(failures: int) -> float:
    """Return the seconds until the next attempt after consecutive failures: 10, 20, 40 … 3600, and 0 without
    a failure.
    """
    return min(_TICK * 2 ** min(failures, 20), _LONGEST) if failures else 0.0


class WebhookSender:
    """Sender of new alerts to all webhooks.

    `alerts` returns the server's alerts, newest first, or None before all files were read.
    """

    def __init__(
        self,
        webhooks: Sequence[Webhook],
        alerts: Callable[[], Sequence[Alert] | None],
        address: str,
        states: Deliveries,
        limit: float = LIMIT,
    ) -> None:
        self._outboxes = [Outbox(webhook, states, address, limit) for webhook in webhooks]
        self._alerts = alerts
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        """Start the threads. Log a thread that cannot be started, and continue with the others."""
        for thread in (*self._outboxes, self._thread):
            try:
                start_within_limit(thread)
            except (RuntimeError, MemoryError) as error:
                _log.warning("A thread that posts alerts cannot be started: %s", error)

    def stop(self) -> None:
        """Ask the threads to end, each after its current post."""
        self._stopped.set()
        for outbox in self._outboxes:
            outbox.stop()

    def check(self) -> None:
        """Read the alerts once, and queue new ones for every webhook. Do nothing until all files are read."""
        alerts = self._alerts()
        for outbox in self._outboxes if alerts is not None else ():
            outbox.see(alerts or ())

    def _run(self) -> None:
        while not self._stopped.wait(_TICK):
            try:
                self.check()
            except Exception:
                _log.exception("Checking for alerts failed")


def sender_of(service: Service) -> WebhookSender:
    """Return the sender of a server's alerts, not yet started."""
    first: dict[str, int] = {}  # bytes of each run at the first scan, to be read before the first alert
    end = time.monotonic() + _FIRST_READ

    def alerts() -> Sequence[Alert] | None:
        snapshot = service.store.snapshot()
        if not snapshot.scanned:
            return None
        if time.monotonic() < end:
            sizes = {run.id: run.total for run in snapshot.runs.values()}
            first.update({} if first else sizes)
            if any(run.read < min(run.total, first.get(run.id, 0)) for run in snapshot.runs.values()):
                return None
        newest: list[Alert] = alert_list(service, AlertsQuery(limit=MOST))["alerts"]
        return newest

    settings = service.settings
    return WebhookSender(settings.webhooks, alerts, settings.address, service.workspace.deliveries)
