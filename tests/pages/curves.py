"""What the tests of the scalar page share: its cards, what they draw, the address, two long runs."""

import math
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mindinsight.writer import SummaryRecord


def card(page: Any, tag: Any) -> Any:
    return page.get_by_role("group", name=tag, exact=True)


def options(page: Any, tag: Any) -> Any:
    card(page, tag).get_by_role("button", name="Card menu").click()
    return page.get_by_role("dialog", name="Card menu")


def query(page: Any) -> Any:
    return parse_qs(urlsplit(page.url).query)


def lines(chart: Any) -> list[Any]:
    return [trace for trace in chart.traces() if trace["mode"] == "lines" and trace["axis"] == "y"]


def numbers(values: Any) -> list[Any]:
    return [float(value) for value in values]


def eventually_true(page: Any, probe: Any) -> None:
    end = time.monotonic() + 30
    while not probe():
        assert time.monotonic() < end, "it stayed untrue"
        page.wait_for_timeout(50)


def long_runs(base: Any) -> Any:
    """Two runs of 20,000 steps that part at step 5,000, and one spike."""
    for name, late in (("first", 0.0), ("second", 0.01)):
        with SummaryRecord(str(base / name)) as record:
            for step in range(20_000):
                value = math.exp(-step / 4000) + 0.01 * math.sin(step) + 50 * (step == 12_000)
                record.add_value("scalar", "loss", value + (late if step >= 5000 else 0))
                record.add_value("scalar", "rate", 0.1 / (1 + step))
                record.record(step)
    return base
