"""State of the webhooks: which alerts each has seen and which it has not taken yet, kept over restarts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindinsight.server.workspace.json_store import JsonStore


@dataclass(frozen=True, slots=True)
class Delivery:
    """State of one webhook. Alerts are JSON values as ``alert_list`` returns them."""

    seen: list[str] = field(default_factory=list)  # ids of alerts, delivered or waiting; oldest first
    waiting: list[dict[str, Any]] = field(default_factory=list)  # newest first
    dropped: int = 0  # alerts for which the queue had no room since the last delivery
    failures: int = 0  # attempts since the last delivery
    tried: float = 0.0  # Unix seconds of the last attempt


class Deliveries:
    """The states of one base directory by webhook, in ``<folder>/webhooks.json``."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._store = JsonStore(folder / "webhooks.json", base, _delivery)

    def of(self, webhook: str) -> Delivery | None:
        """Return the state of a webhook, or None for one that is new."""
        return self._store.values().get(webhook)

    def keep(self, webhook: str, current: Callable[[], Delivery]) -> None:
        """Store the state of a webhook as it is once the file is locked. Raises OSError."""
        self._store.change(lambda deliveries: {**deliveries, webhook: current()})


def _delivery(content: dict[str, Any]) -> Delivery | None:
    """Parse a state; None for anything that this module did not write."""
    try:
        delivery = Delivery(**content)
        alerts = all(isinstance(alert["id"], str) for alert in delivery.waiting)
        good = alerts and all(isinstance(name, str) for name in delivery.seen)
        numbers = (delivery.dropped, delivery.failures, delivery.tried)
        good = good and all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
    except (TypeError, KeyError, OverflowError):
        return None
    return delivery if good and delivery.failures >= 0 else None
