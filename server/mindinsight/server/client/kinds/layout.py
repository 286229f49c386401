"""Dashboards: charts of scalars by category, as JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mindinsight.server.client.kinds import Payload, with_ending
from mindinsight.server.formats.payloads.chart_payloads import Category, layout


def write(stem: Path, value: tuple[Category, ...]) -> Path:
    """Write `<step>.json`. Return the path."""
    target = with_ending(stem, ".json")
    target.write_text(json.dumps([asdict(category) for category in value], indent=2), encoding="utf-8")
    return target


def rows(value: tuple[Category, ...]) -> Iterator[dict[str, Any]]:
    """Yield a row for each chart: its category, title, expressions and margins."""
    for category in value:
        for chart in category.charts:
            yield {"category": category.title, **asdict(chart)}


PAYLOAD: Final = Payload(layout, write, rows)
