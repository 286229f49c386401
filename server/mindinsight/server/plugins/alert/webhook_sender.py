"""Sender of alerts to webhooks: one thread looks for new alerts, and one for each address posts them.

Only addresses of the command line are posted to: neither a file that is read nor a page can name another.
Alerts that are there when a server has read its files for the first time with a webhook are not sent. What an
address does not take stays in its queue, over restarts too, and is tried again at growing intervals.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from mindinsight.server.http.service import Service
from mindinsight.server.plugins.alert.alert_list import MOST, alert_list
from mindinsight.server.plugins.alert.webhook_messages import Alert, webhook_body
from mindinsight.server.plugins.alert.webhook_post import LIMIT, post
from mindinsight.server.settings.webhooks import Webhook
from mindinsight.server.workspace.deliveries import Deliveries, Delivery

_log = logging.getLogger(__name__)

_TICK: Final = 5.0  # s between two looks: the alerts of that time are one message
_LONGEST: Final = 3600.0  # s between two attempts: an address that is mended is noticed within the hour
_WAITING: Final = MOST  # alerts that wait for an address: as many as one look finds
_FIRST_READ: Final = 600.0  # s: a file that is never read to its end must not withhold all alerts
_SEEN: Final = 10 * MOST  # ids of alerts that are not posted again, a megabyte at most in the workspace


class Outbox(threading.Thread):
    """Queue of one webhook, and the thread that posts it. ``states`` keeps it over restarts."""

    def __init__(self, webhook: Webhook, states: Deliveries, address: str, limit: float = LIMIT) -> None:
        super().__init__(name="webhook", daemon=True)
        self._webhook = webhook
        self._states = states
        self._address = address
        self._limit = limit
        self._key = sha256(f"{webhook.format}={webhook.url}".encode()).hexdigest()[:16]  # the URL is a secret
        self._changed = threading.Condition()
        self._stopped = False
        stored = states.of(self._key)
        self._state = stored or Delivery()
        self.is_new = stored is None
        since = max(0.0, time.time() - self._state.tried)  # a clock set back must not add to the wait
        self._due = time.monotonic() + max(0.0, pause(self._state.failures) - since)

    def see(self, alerts: Sequence[Alert]) -> None:
        """Queue the alerts, newest first, that are not known; of a new webhook only note them."""
        with self._changed:
            state = self._state
            known = set(state.seen)
            new = [alert for alert in alerts if alert["id"] not in known]
            posted = [] if self.is_new else [dict(alert) for alert in new if alert["level"] != "info"]
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

    def stop(self) -> None:
        """Ask the thread to end; it does at once, or after the post it is at."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        while self._wait():
            try:
                self._deliver()
            except Exception:
                _log.exception("Posting to the %s failed", self._webhook.shown)
                self._settle(self._state, failed=True)

    def _wait(self) -> bool:
        """Wait until there is something to post and the time for it has come; False when stopped."""
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
        why = post(self._webhook.url, body, self._limit)
        self._settle(sent, failed=bool(why))
        if why:
            left, seconds = len(self._state.waiting), pause(self._state.failures)
            text = "The %s did not take %d alerts: %s. The next attempt is in %.0f s."
            _log.warning(text, self._webhook.shown, left, why, seconds)

    def _settle(self, sent: Delivery, failed: bool) -> None:
        """Note the end of an attempt to post what waited in the state ``sent``; more may have come since."""
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
        try:
            self._states.keep(self._key, lambda: self._state)
        except OSError as error:
            _log.warning("The workspace does not take the state of webhooks: %s", error.strerror or error)


def pause(failures: int) -> float:
    """Return the seconds until the next attempt after so many failures in a row: 10, 20, 40 … 3600."""
    return min(_TICK * 2 ** min(failures, 20), _LONGEST) if failures else 0.0


class WebhookSender:
    """Posts new alerts to all webhooks. ``alerts`` returns those of the server, newest first; None while it
    has not read its files."""

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
        for outbox in self._outboxes:
            outbox.start()
        self._thread.start()

    def stop(self) -> None:
        """Ask the threads to end; each does after the post it is at."""
        self._stopped.set()
        for outbox in self._outboxes:
            outbox.stop()

    def look(self) -> None:
        """Look for new alerts once, and queue them for every address."""
        alerts = self._alerts()
        for outbox in self._outboxes if alerts is not None else ():
            outbox.see(alerts or ())

    def _run(self) -> None:
        while not self._stopped.wait(_TICK):
            try:
                self.look()
            except Exception:
                _log.exception("Looking for alerts failed")


def sender_of(service: Service) -> WebhookSender:
    """The sender of a server's alerts."""
    first: dict[str, int] = {}  # bytes of the runs that the server found first: they have to be read once
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
        newest: list[Alert] = alert_list(service, limit=MOST)["alerts"]
        return newest

    settings = service.settings
    return WebhookSender(settings.webhooks, alerts, settings.address, service.workspace.deliveries)
