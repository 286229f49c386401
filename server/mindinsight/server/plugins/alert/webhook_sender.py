"""Sender of alerts to webhooks: a thread that looks for new alerts and posts them.

Only addresses of the command line are posted to, and no redirect is followed: neither a file that is read
nor a page can name another. Alerts that are there when the server has read its files for the first time are
not sent. What cannot be delivered is tried again, less and less often, up to 100 alerts an address.
"""

from __future__ import annotations

import json
import logging
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Final

from mindinsight.server.http.service import Service
from mindinsight.server.plugins.alert.alert_list import MOST, alert_list
from mindinsight.server.plugins.alert.webhook_messages import Alert, webhook_body
from mindinsight.server.settings.webhooks import Webhook

_log = logging.getLogger(__name__)

_TICK: Final = 5.0  # s between two looks
_TIMEOUT: Final = 10.0  # s that an address may take
_KEPT: Final = 100  # alerts that wait for an address
_LONGEST: Final = 60  # ticks between two attempts
_ANSWER: Final = 65_536  # bytes of an answer that are read


@dataclass(slots=True)
class _Outbox:
    """What one address has not taken yet."""

    webhook: Webhook
    alerts: list[Alert] = field(default_factory=list)  # newest first
    failures: int = 0
    pause: int = 0  # ticks until the next attempt


class WebhookSender:
    """Posts new alerts to all webhooks. ``alerts`` gives those of the server, newest first; None while it
    has not read its files."""

    def __init__(
        self, webhooks: Sequence[Webhook], alerts: Callable[[], Sequence[Alert] | None], address: str
    ) -> None:
        self._boxes = [_Outbox(webhook) for webhook in webhooks]
        self._alerts = alerts
        self._address = address
        self._known: frozenset[str] | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it does after the post it is at."""
        self._stopped.set()

    def tick(self) -> None:
        """Look for new alerts once, and post what waits."""
        alerts = self._alerts()
        if alerts is None:
            return
        known, self._known = self._known, frozenset(alert["id"] for alert in alerts)
        new = [a for a in alerts if known is not None and a["id"] not in known and a["level"] != "info"]
        for box in self._boxes:
            box.alerts = [*new, *box.alerts][:_KEPT]
            if box.pause:
                box.pause -= 1
            elif box.alerts:
                self._deliver(box)

    def _deliver(self, box: _Outbox) -> None:
        why = post(box.webhook.url, webhook_body(box.webhook.format, box.alerts, self._address))
        if not why:
            box.alerts, box.failures = [], 0
            return
        box.failures += 1
        box.pause = min(2**box.failures, _LONGEST)
        _log.warning("The %s did not take %d alerts: %s", box.webhook.shown, len(box.alerts), why)

    def _run(self) -> None:
        while not self._stopped.wait(_TICK):
            try:
                self.tick()
            except Exception:
                _log.exception("Looking for alerts failed")


def sender_of(service: Service) -> WebhookSender:
    """The sender of a server's alerts."""

    def alerts() -> Sequence[Alert] | None:
        snapshot = service.store.snapshot()
        if not snapshot.scanned or any(run.read < run.total for run in snapshot.runs.values()):
            return None
        newest: list[Alert] = alert_list(service, limit=MOST)["alerts"]
        return newest

    return WebhookSender(service.settings.webhooks, alerts, service.settings.address)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Redirect handler that follows none: the answer is an error."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


def post(url: str, content: dict[str, Any]) -> str:
    """POST a JSON value; "" when it was taken, else why not. Raises nothing."""
    body = json.dumps(content, ensure_ascii=True).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="POST")
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_TIMEOUT) as answer:
            return _refusal(answer.read(_ANSWER))
    except urllib.error.HTTPError as error:
        error.close()
        return f"HTTP {error.code}"
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__


def _refusal(answer: bytes) -> str:
    """What Feishu (``code``) and DingTalk (``errcode``) say in an answer with status 200; "" for none."""
    try:
        content = json.loads(answer)
    except ValueError:
        return ""
    if not isinstance(content, dict):
        return ""
    code = content.get("errcode", content.get("code", 0))
    return "" if code in (0, None) else f"{code} {content.get('errmsg', content.get('msg', ''))}".strip()
