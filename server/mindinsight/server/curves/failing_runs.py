"""Values of a setting that set apart the runs with a non-finite objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim, few, range_claim
from mindinsight.server.curves.correlations import is_number
from mindinsight.server.curves.setting_separation import Separation, Value, identity, separations

_ONE_SIDED: Final = 0.1  # effect by which an interval exceeds a threshold, or the threshold is stated
_NAMED: Final = 8  # values that one sentence lists

Runs = npt.NDArray[np.bool_]  # [n] True for some of the runs


@dataclass(frozen=True, slots=True)
class FailingSetting:
    """Setting that separates failing runs from the others best, among the runs that recorded it."""

    name: str
    region: list[Any]  # parts of a sentence
    inside: Runs  # runs with a value of the region
    recorded: Runs
    chance: float  # probability that any setting separates random groups equally well


def failing_setting(
    columns: Mapping[str, Sequence[Value]], first: Sequence[int], fails: Runs, limit: float
) -> FailingSetting | None:
    """Return the setting that separates failing runs best, or None if chance exceeds ``limit``.

    ``first`` are the rows of independent runs, and ``fails`` [len(first)] is True for failing ones. Runs
    that did not record a setting say nothing about the setting.
    """
    recorded = {name: np.array([is_usable(value) for value in column]) for name, column in columns.items()}
    together: dict[bytes, list[str]] = {}  # settings that the same runs recorded
    for name, known in recorded.items():
        together.setdefault(known[first].tobytes(), []).append(name)
    candidates: list[tuple[float, float, str, Separation]] = []
    for names in together.values():
        known = recorded[names[0]][first]
        groups = [
            [[columns[name][row] for row in np.array(first)[known & side].tolist()] for name in names]
            for side in (~fails, fails)
        ]
        for name, separation in zip(names, separations(*groups), strict=True):
            chance = min(1.0, separation.corrected * len(together))
            if chance <= limit:
                candidates.append((-separation.effect, chance, name, separation))
    if not candidates:
        return None
    _, chance, name, separation = min(candidates, key=lambda entry: entry[:3])
    column, known = columns[name], recorded[name]
    rows = [(columns[name][row], bool(bad)) for row, bad in zip(first, fails, strict=True) if known[row]]
    values, region = _region(separation, rows)
    keys = {identity(value) for value in values}
    inside = known & np.array([identity(value) in keys for value in column])
    return FailingSetting(name, region, inside, known, chance)


def _region(separation: Separation, rows: Sequence[tuple[Any, bool]]) -> tuple[Sequence[Value], list[Any]]:
    """Return the values of failing runs, and the same as parts of a sentence. Numbers are above or below a
    threshold unless an interval separates much better.
    """
    texts = [value for value, _ in rows if not is_number(value)]
    values: list[Any] = list({identity(value): value for value, _ in rows}.values())
    if texts:
        keys = {identity(value) for value in separation.values}
        if separation.region_of == "good":
            values = sorted((value for value in values if identity(value) not in keys), key=repr)
        else:
            values = list(separation.values)
        return values, parts_of(values)
    numbers: list[Any] = sorted(values)
    failed = sum(bad for _, bad in rows)
    shares: list[float] = []  # by which the share of failing runs from a number on exceeds that of others
    for number in numbers[1:]:
        above = [bad for value, bad in rows if value >= number]
        shares.append(sum(above) / failed - (len(above) - sum(above)) / (len(rows) - failed))
    at = max(range(len(shares)), key=lambda place: abs(shares[place])) + 1
    if separation.effect > abs(shares[at - 1]) + _ONE_SIDED:
        return separation.values, parts_of(separation.values)
    chosen = numbers[at:] if shares[at - 1] > 0 else numbers[:at]
    if len(chosen) == 1:
        return chosen, [chosen[0]]
    end = ("at_least", chosen[0]) if shares[at - 1] > 0 else ("at_most", chosen[-1])
    return chosen, [Claim(f"claim.part.lineage.{end[0]}", "note", {"value": end[1]})]


def is_usable(value: Any) -> bool:
    """Return True if a run has a value other than NaN."""
    return value is not None and value == value  # noqa: PLR0124 (NaN, of any type)


def parts_of(values: Sequence[Value]) -> list[Any]:
    """Return the values of a region in order as parts of a sentence: numbers as an interval, texts one by
    one.
    """
    unset = [Claim("claim.part.why.unset", "note")] if None in values else []
    known: list[Value] = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(known) or len(known) < 2:
        return [*unset, *few([str(value) if isinstance(value, bool) else value for value in known], _NAMED)]
    return [*unset, range_claim(numbers[0], numbers[-1])]
