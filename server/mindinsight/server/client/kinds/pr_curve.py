"""Precision-recall curves: tables of a row for each threshold."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mindinsight.server.client.kinds import Payload, with_ending
from mindinsight.server.formats.payloads.chart_payloads import ROWS, PrCurve, pr_curve

_COLUMNS: Final = ("threshold", *ROWS)


def write(stem: Path, value: PrCurve) -> Path:
    """Write `<step>.csv`, with numbers in the shortest form that reads back exactly. Return the path."""
    target = with_ending(stem, ".csv")
    with target.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, _COLUMNS)
        table.writeheader()
        table.writerows(rows(value))
    return target


def rows(value: PrCurve) -> Iterator[dict[str, float]]:
    """Yield threshold, counts, precision and recall for each threshold."""
    for threshold, column in zip(value.thresholds.tolist(), value.rows.T.tolist(), strict=True):
        yield dict(zip(_COLUMNS, (threshold, *column), strict=True))


PAYLOAD: Final = Payload(pr_curve, write, rows)
