"""Alerts that the training code of a run raised, as its event files hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mindinsight.server.errors import Gone
from mindinsight.server.formats.payloads import Alert, alert
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.store.run import Run

MOST: Final = 1000  # of a run: the first


@dataclass(frozen=True, slots=True)
class RecordedAlert:
    """An alert with its run, step and wall time in Unix seconds."""

    run: Run
    step: int
    wall: float
    content: Alert


def recorded_alerts(run: Run) -> list[RecordedAlert]:
    """Alerts in the order recorded; those whose bytes cannot be read are left out."""
    series = run.references.get("alert", {}).get("")
    alerts = []
    for row in range(min(series.count, MOST) if series else 0):
        assert series is not None
        try:
            content = alert(series.read(row))
        except (Gone, UnreadableError):
            continue
        alerts.append(RecordedAlert(run, int(series.steps[row]), float(series.walls[row]), content))
    return alerts
