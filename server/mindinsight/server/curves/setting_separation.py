"""Settings that separate two groups of runs, as failing ones from others, and how often chance would."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim, few, range_claim
from mindinsight.server.curves.correlations import is_number
from mindinsight.server.types import Doubles, Ints

_DIVISIONS: Final = 2000  # divisions into two groups that are tried
_ROUNDING: Final = 1e-9  # difference of scores that counts as equal
_THRESHOLD: Final = 0.001  # share of a threshold's effect that decides between equal effects
_FEW_RUNS: Final = 12  # from as many on, texts that most runs have for themselves are names of runs
_FACT: Final = re.compile(
    r"(^|[:._/-])(dir|directory|path|file|folder|output|logs?|logdir|time|timestamp|date|started|id|uuid|host"
    r"|hostname|port|pid|(run|exp|experiment|job|trial)[_-]?name)$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_FACT_TEXT: Final = re.compile(r"[/\\]|^\d{4}-\d\d-\d\d")  # a path or a date
_ONE_SIDED: Final = 0.1  # effect by which an interval exceeds a threshold, or the threshold is stated
_NAMED: Final = 8  # values that one sentence lists
_PARTS: Final = 4  # parts of the numbers of a setting at whose ends a region of two settings ends
_MASKS: Final = 50_000  # regions of two settings that are searched in about a second
_BLOCK: Final = 2000  # regions that are counted together: 16 MB

Value: TypeAlias = str | int | float | bool | None  # None: the run does not have the setting
Runs: TypeAlias = npt.NDArray[np.bool_]  # [n] True for some of the runs
Divisions: TypeAlias = npt.NDArray[np.bool_]  # [d, n] True for runs in the first group


@dataclass(frozen=True, slots=True)
class Separation:
    """Separation of good from bad runs by one setting."""

    effect: float  # 0 to 1: difference of the shares of both groups that have one of ``values``
    chance: float  # probability that this setting separates random groups equally well
    corrected: float  # probability that any of the settings compared does
    region_of: str  # "good" or "bad": the group with the larger share of ``values``
    values: tuple[Value, ...]  # distinct values of the region in order, for numbers those of an interval
    inside: tuple[int, int]  # numbers of good and bad runs with one of ``values``
    judged: tuple[int, int]  # numbers of good and bad runs that were compared


def identity(value: Value) -> str | tuple[str, Value]:
    """Return a hashable key for a value, in which 1 equals 1.0, True differs from 1, and NaN equals NaN."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)
    return ("number", value) if is_number else repr(value)


def same_value(left: Any, right: Any) -> bool:
    """Return True if two values are equal, or one is a number and the other the text of that number."""
    if isinstance(left, str) != isinstance(right, str):
        text, other = (left, right) if isinstance(left, str) else (right, left)
        return is_number(other) and _NUMBER.fullmatch(text.strip()) is not None and float(text) == other
    return identity(left) == identity(right)


def names_runs(name: str, values: Sequence[Value]) -> bool:
    """Return True if a setting names single runs: a path, a time, or a text that most runs have for
    themselves. ``values`` has one value for each run. `core/run_traits.js` has the same rule for the
    pages."""
    known = [value for value in values if value is not None]
    if 2 * len({*map(identity, known)}) <= len(values):
        return False
    texts = any(isinstance(value, str) for value in known)
    facts = len(values) >= _FEW_RUNS or all(_FACT_TEXT.search(str(value)) for value in known)
    return _FACT.search(name) is not None or (texts and facts)


def numbered(rows: Iterable[Sequence[Value]]) -> Ints:
    """Number the distinct rows from 0 in order of first occurrence, and return the number of each row [n]."""
    numbers: dict[tuple[object, ...], int] = {}
    return np.array([numbers.setdefault((*map(identity, row),), len(numbers)) for row in rows], np.int64)


def separations(
    good: Sequence[Sequence[Value]], bad: Sequence[Sequence[Value]], *, recorded_only: bool = False
) -> list[Separation]:
    """Return one separation per setting. ``good`` and ``bad`` have one list of values by run per setting.
    With ``recorded_only``, a setting that runs of both groups have is judged by those runs alone."""
    sizes = [(len(ours), len(theirs)) for ours, theirs in zip(good, bad, strict=True)]
    if not sizes or 0 in sizes[0]:
        return [Separation(0.0, 1.0, 1.0, "good", (), (0, 0), size) for size in sizes]
    first, second = sizes[0]
    divisions = _divisions(first + second, first)
    actual = (np.arange(first + second) < first)[None]
    chances, observed, regions = [], [], []
    for ours, theirs in zip(good, bad, strict=True):
        compared = np.array([value is not None for value in (*ours, *theirs)])
        if not recorded_only or not compared[:first].any() or not compared[first:].any():
            compared[:] = True
        values = [value for value, known in zip((*ours, *theirs), compared, strict=True) if known]
        order, ordered = _order(values)
        scores = _scores(order, ordered, divisions[:, compared])
        score = float(_scores(order, ordered, actual[:, compared])[0])
        descending = np.sort(-scores)
        chances.append(np.searchsorted(descending, -scores + _ROUNDING, side="right") / len(scores))
        observed.append(float((scores >= score - _ROUNDING).mean()))
        regions.append(_region(values, order, ordered, int(compared[:first].sum())))
    smallest = np.min(np.stack(chances), axis=0)  # [d]
    return [
        Separation(effect, chance, max(chance, float((smallest <= chance + _ROUNDING).mean())), *where)
        for (effect, where), chance in zip(regions, observed, strict=True)
    ]


def _order(values: Sequence[Value]) -> tuple[Ints, bool]:
    """Return [n] the rank of each run's value, and True if the values have an order. A missing value
    precedes all numbers. NaN, booleans and text have no order."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        numbers = [value for value in known if not (isinstance(value, float) and math.isnan(value))]
        if len(numbers) == len(known):
            number_of = {value: number for number, value in enumerate(sorted(set(numbers)), start=1)}
            return np.array([0 if value is None else number_of[value] for value in values], np.int64), True
    by_name = {key: number for number, key in enumerate(sorted({*map(identity, values)}, key=repr))}
    return np.array([by_name[identity(value)] for value in values], np.int64), False


def _differences(order: Ints, divisions: Divisions) -> Doubles:
    """Return [d, values], for each division, the share of its first group with a value minus that of the
    second."""
    holders = np.eye(int(order.max()) + 1)[order]  # [n, values]
    first = divisions.sum(axis=1, keepdims=True)
    second = len(order) - first
    shares = divisions @ holders / np.maximum(first, 1) - ~divisions @ holders / np.maximum(second, 1)
    return np.asarray(shares * ((first > 0) & (second > 0)), np.float64)


def _scores(order: Ints, ordered: bool, divisions: Divisions) -> Doubles:
    """Return the effect [d] of each division. Of equal effects, a threshold counts more than an interval.
    Intervals are much more numerous than thresholds, so chance finds one more often."""
    shares = _differences(order, divisions)
    if not ordered:
        return np.asarray(np.abs(shares).sum(axis=1) / 2, np.float64)
    below = np.cumsum(shares, axis=1)
    high, low = np.maximum(below.max(axis=1), 0.0), np.minimum(below.min(axis=1), 0.0)
    return np.asarray(high - low + _THRESHOLD * np.maximum(high, -low), np.float64)


def _region(
    values: Sequence[Value], order: Ints, ordered: bool, first: int
) -> tuple[float, tuple[str, tuple[Value, ...], tuple[int, int], tuple[int, int]]]:
    """Return the effect, and the region of values that differs: its group, its values, and by group the
    numbers of runs in the region and in all."""
    shares = _differences(order, (np.arange(len(values)) < first)[None])[0]
    if ordered:
        chosen, side = _interval(shares)
    else:
        chosen, side = shares > 0, "good"
        if chosen.sum() > (shares < 0).sum():
            chosen, side = shares < 0, "bad"
    inside = chosen[order]
    there = {number: values[row] for row, number in enumerate(order.tolist()) if chosen[number]}
    counts = int(inside[:first].sum()), int(inside[first:].sum())
    sizes = first, len(values) - first
    effect = abs(counts[0] / sizes[0] - counts[1] / sizes[1])
    return effect, (side, tuple(there[number] for number in sorted(there)), counts, sizes)


def _interval(shares: Doubles) -> tuple[npt.NDArray[np.bool_], str]:
    """Return the interval in which the shares differ most, and the group in it. The complement of an
    interval separates equally well. Of both, the one that is an interval is returned."""
    below = np.concatenate(([0.0], np.cumsum(shares)))
    top, bottom = int(np.argmax(below)), int(np.argmin(below))
    low, high = sorted((top, bottom))
    places = np.arange(len(shares))
    inside = (places >= low) & (places < high)
    side = "good" if top > bottom else "bad"
    if side == "bad" and (low == 0 or high == len(shares)):  # a threshold is stated for the good runs
        return ~inside, "good"
    return inside, side


@lru_cache(maxsize=4)
def _divisions(number: int, first: int) -> Divisions:
    """Return all divisions of runs into groups, or a random sample that starts with the actual one."""
    if math.comb(number, first) <= _DIVISIONS:
        chosen = [list(rows) for rows in combinations(range(number), first)]
    else:
        generator = np.random.default_rng(0)
        chosen = [generator.permutation(number)[:first].tolist() for _ in range(_DIVISIONS)]
        chosen[0] = list(range(first))  # the actual division, so that no chance is 0
    divisions = np.zeros((len(chosen), number), np.bool_)
    divisions[np.arange(len(chosen))[:, None], chosen] = True
    return divisions


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Region of two settings in which all runs belong to one group, though neither setting does it alone."""

    names: tuple[str, str]
    regions: tuple[list[Any], list[Any]]  # parts of a sentence
    side: str  # "good" or "bad": the group of the runs
    runs: int
    chance: float  # probability that any region of two settings is as large in random groups


def conjunction(columns: Mapping[str, Sequence[Value]], first: int) -> Conjunction | None:
    """Return the region of two settings that holds runs of one group only and is the least likely by chance.
    Return None if there is none, if several pairs of settings tie for it, if a group is empty, or if there
    are more regions than `_MASKS` to search."""
    count = len(next(iter(columns.values()), ()))
    sides = {name: list(_sides(column)) for name, column in columns.items()}
    pairs = list(combinations(sides, 2))
    if sum(len(sides[left]) * len(sides[right]) for left, right in pairs) > _MASKS or not 0 < first < count:
        return None
    candidates = [
        (names, (left, right), mask)
        for names in pairs
        for left, ours in sides[names[0]]
        for right, theirs in sides[names[1]]
        if 1 < (mask := ours & theirs).sum() < min(ours.sum(), theirs.sum())
    ]
    if not candidates:
        return None
    masks = np.unique(np.stack([mask for _, _, mask in candidates]), axis=0)
    divisions = _divisions(count, first)
    smallest = np.ones(len(divisions))
    for start in range(0, len(masks), _BLOCK):
        smallest = np.minimum(smallest, _purity(masks[start : start + _BLOCK], divisions).min(axis=0))
    actual = (np.arange(count) < first)[None]
    chances = _purity(np.stack([mask for _, _, mask in candidates]), actual)[:, 0]
    best = float(chances.min())
    rows = np.flatnonzero(chances <= best * (1 + _ROUNDING)).tolist()
    if best == 1 or len({candidates[row][0] for row in rows}) > 1:
        return None
    names, regions, mask = candidates[rows[0]]
    chance = float((smallest <= best * (1 + _ROUNDING)).mean())
    return Conjunction(names, regions, "good" if mask[:first].any() else "bad", int(mask.sum()), chance)


def _purity(masks: Runs, divisions: Divisions) -> Doubles:
    """Return [m, d] how rarely random groups have all runs of a mask in one group, 1 if they are in both."""
    count = divisions.shape[1]
    first = int(divisions[0].sum())
    inside = masks.astype(np.float32) @ divisions.T.astype(np.float32)
    sizes = masks.sum(axis=1)
    whole = np.array([[_all_of(count, size, int(k)) for k in sizes] for size in (first, count - first)])
    ours = np.where(inside == sizes[:, None], whole[0][:, None], 1.0)
    return np.asarray(np.where(inside == 0, whole[1][:, None], ours), np.float64)


def _all_of(count: int, size: int, chosen: int) -> float:
    """Return the probability that all ``chosen`` of ``count`` runs are in a random group of ``size``."""
    return math.comb(count - chosen, size - chosen) / math.comb(count, size) if chosen <= size else 0.0


def _sides(column: Sequence[Value]) -> Iterator[tuple[list[Any], Runs]]:
    """Yield regions of a setting as parts of a sentence, with their runs: each text, or the numbers up to and
    from the ends of a few parts."""
    keys = [identity(value) for value in column]
    distinct = dict(zip(keys, column, strict=True))
    if not _order(column)[1] or None in distinct.values() or len(distinct) == 2:
        for key, value in distinct.items() if len(distinct) <= 2 * _PARTS else ():
            yield parts_of([value]), np.array([other == key for other in keys])
        return
    numbers: Any = np.array(column, np.float64)
    for number in np.unique(np.quantile(numbers, np.arange(1, _PARTS) / _PARTS, method="lower")).tolist():
        for end, chosen in (("at_most", numbers <= number), ("at_least", numbers > number)):
            inside = numbers[chosen]
            if 0 < len(inside) < len(numbers):
                value = float(inside.max() if end == "at_most" else inside.min())
                yield [Claim(f"claim.part.lineage.{end}", "note", {"value": value})], chosen


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
    """Return the setting that best separates failing runs from others, or None if chance exceeds
    ``limit``. ``first`` are the rows of independent runs, and ``fails`` [len(first)] is True for failing
    ones. A setting is judged by the runs that recorded it."""
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
    values, region = _failing_region(separation, rows)
    keys = {identity(value) for value in values}
    inside = known & np.array([identity(value) in keys for value in column])
    return FailingSetting(name, region, inside, known, chance)


def _failing_region(
    separation: Separation, rows: Sequence[tuple[Any, bool]]
) -> tuple[Sequence[Value], list[Any]]:
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
    at = max(range(len(shares)), key=lambda number: abs(shares[number])) + 1
    if separation.effect > abs(shares[at - 1]) + _ONE_SIDED:
        return separation.values, parts_of(separation.values)
    chosen = numbers[at:] if shares[at - 1] > 0 else numbers[:at]
    if len(chosen) == 1:
        return chosen, [chosen[0]]
    end = ("at_least", chosen[0]) if shares[at - 1] > 0 else ("at_most", chosen[-1])
    return chosen, [Claim(f"claim.part.lineage.{end[0]}", "note", {"value": end[1]})]


def is_usable(value: Any) -> bool:
    """Return True if a value is neither missing (None) nor NaN."""
    return value is not None and value == value  # noqa: PLR0124 (NaN, of any type)


def parts_of(values: Sequence[Value]) -> list[Any]:
    """Return the values of a region as parts of a sentence, in order: numbers as an interval, texts one by
    one."""
    unset = [Claim("claim.part.why.unset", "note")] if None in values else []
    known: list[Value] = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(known) or len(known) < 2:
        return [*unset, *few([str(value) if isinstance(value, bool) else value for value in known], _NAMED)]
    return [*unset, range_claim(numbers[0], numbers[-1])]
