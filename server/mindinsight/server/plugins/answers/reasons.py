"""What separates good runs from bad ones: settings by effect, scalars by the step of divergence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mindinsight.server.api.lineage_values import hyper_of
from mindinsight.server.claims import Claim
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.curves.parting import FEWEST, ORDER, Parting, part
from mindinsight.server.curves.separation import Separation, Value, separations
from mindinsight.server.store.run import Run
from mindinsight.server.types import Floats, Ints

_CHANCE: Final = 0.05  # corrected for all settings; above, a full separation says nothing
_CHANCE_PARTLY: Final = 0.01  # the same for one with exceptions
_NAMED: Final = 3  # settings or scalars that are named one by one
_TEXTS: Final = 4  # texts of a region that are written out
_UNREAD: Final = 1 << 20  # bytes of a run that are read in a moment


@dataclass(frozen=True, slots=True)
class Setting:
    """A hyperparameter in which the groups differ."""

    name: str
    separation: Separation
    good: list[Value]  # the values of the good runs, each once
    bad: list[Value]


@dataclass(frozen=True, slots=True)
class TagParting:
    """The divergence of one scalar."""

    tag: str
    parting: Parting


def still_read(runs: Sequence[Run]) -> list[Claim]:
    """Return the claim that some of the runs are being read, so that nothing can be said yet."""
    unread = [run for run in runs if run.total - run.read > (_UNREAD if run.read else 0)]
    if not unread:
        return []
    evidence = tuple({"run": run.id} for run in unread)
    return [Claim("claim.answers.reading", "unknown", {"n": len(unread), "count": len(runs)}, evidence)]


def settings(good: Sequence[Run], bad: Sequence[Run]) -> list[Setting]:
    """Return the settings that are not the same in all runs, the most telling first."""
    values = [[hyper_of(run.lineage) for run in group] for group in (good, bad)]
    names = sorted({name for group in values for run in group for name in run})
    columns = [[[run.get(name) for run in group] for name in names] for group in values]
    differing = [
        number
        for number in range(len(names))
        if len({repr(value) for value in (*columns[0][number], *columns[1][number])}) > 1
    ]
    ours, theirs = ([group[number] for number in differing] for group in columns)
    rows = [
        Setting(names[number], separation, _distinct(columns[0][number]), _distinct(columns[1][number]))
        for number, separation in zip(differing, separations(ours, theirs), strict=True)
    ]
    return sorted(rows, key=_telling)


def _telling(row: Setting) -> tuple[bool, float, float, int, str]:
    """Order settings: those beyond chance first, then by effect; of two that tell as much, fewer values."""
    separation = row.separation
    variety = len({repr(value) for value in (*row.good, *row.bad)})
    return not _is_proven(separation), -separation.effect, separation.chance, variety, row.name


def _is_proven(separation: Separation) -> bool:
    return separation.corrected <= (_CHANCE if separation.effect == 1 else _CHANCE_PARTLY)


def _distinct(values: Sequence[Value]) -> list[Value]:
    once = {repr(value): value for value in values}
    return [non_finite_as_text(once[name]) for name in sorted(once)]


def partings(good: Sequence[Run], bad: Sequence[Run]) -> list[TagParting]:
    """Return each scalar that both groups have: those that diverge first, the earliest of them first."""
    ours, theirs = ({tag for run in group for tag in run.scalars} for group in (good, bad))
    rows = [TagParting(tag, part(_curves(good, tag), _curves(bad, tag))) for tag in sorted(ours & theirs)]
    return sorted(rows, key=_rank)


def _rank(row: TagParting) -> tuple[int, int, float]:
    parting = row.parting
    changes = parting.kind in ("not_finite", "parts")
    return 0 if changes else ORDER.index(parting.kind), (parting.onset or 0), -abs(parting.shift or 0.0)


def _curves(runs: Sequence[Run], tag: str) -> list[tuple[Ints, Floats]]:
    lines = [series.line() for run in runs if (series := run.scalars.get(tag)) is not None]
    return [(line.steps, line.values) for line in lines]


def why_claims(
    good: Sequence[Run], bad: Sequence[Run], rows: Sequence[Setting], tags: Sequence[TagParting]
) -> list[Claim]:
    """Return what is known of why ``bad`` runs are bad: scalars first, then settings."""
    recorded = {name for run in (*good, *bad) for name in hyper_of(run.lineage)}
    return [*_scalar_claims(tags, len(bad)), *_setting_claims(rows, len(recorded), len(good), len(bad))]


def _scalar_claims(tags: Sequence[TagParting], bad: int) -> Iterator[Claim]:
    if not tags:
        yield Claim("claim.why.no_common_scalar", "unknown")
        return
    broken = [row for row in tags if row.parting.broken is not None]
    if broken:
        yield _breaks(min(broken, key=lambda row: (row.parting.broken or 0, row.tag)), bad, len(broken))
    diverging = sorted(
        (row for row in tags if row.parting.diverges is not None), key=lambda row: row.parting.diverges or 0
    )
    if diverging:
        first = {"tag": diverging[0].tag, "step": diverging[0].parting.diverges}
        yield Claim("claim.why.diverges", "found", first, (first,))
    if len(diverging) > 1:
        second = {"tag": diverging[1].tag, "step": diverging[1].parting.diverges}
        yield Claim("claim.why.follows", "found", {**second, "n": len(diverging) - 1}, (second,))
    apart = [row.tag for row in tags if row.parting.kind == "apart"]
    if apart:
        yield Claim("claim.why.apart", "found", {"tags": _few(apart), "n": len(apart)})
    short = [row.tag for row in tags if row.parting.kind == "too_few"]
    if short:
        values = {"tags": _few(short), "n": len(short), "fewest": FEWEST}
        yield Claim("claim.why.too_few_steps", "unknown", values)
    if not (broken or diverging or apart or short):
        yield Claim("claim.why.together", "clear", {"n": len(tags)})


def _breaks(row: TagParting, bad: int, tags: int) -> Claim:
    """Return the claim about the scalar that is the first to be non-finite in a bad run."""
    facts: dict[str, Any] = {
        "tag": row.tag,
        "count": row.parting.broken_runs,
        "n": bad,
        "step": row.parting.broken,
        "tags": tags,
    }
    if row.parting.grows is None:
        return Claim("claim.why.breaks", "found", facts, ({"tag": row.tag, "step": row.parting.broken},))
    facts["grows"] = row.parting.grows
    return Claim("claim.why.grows", "found", facts, ({"tag": row.tag, "step": row.parting.grows},))


def _setting_claims(rows: Sequence[Setting], recorded: int, good: int, bad: int) -> Iterator[Claim]:
    if not recorded:
        yield Claim("claim.why.no_settings", "unknown")
        return
    if not rows:
        yield Claim("claim.why.same_settings", "clear", {"n": recorded})
        return
    proven = [row for row in rows if _is_proven(row.separation)]
    for row in proven[:_NAMED]:
        yield _separates(row, good, bad)
    full = [row for row in rows if row.separation.effect == 1]
    if len(certain := [row for row in full if _is_proven(row.separation)]) > 1:
        names = _few([row.name for row in certain])
        yield Claim("claim.why.several", "unknown", {"settings": names, "n": len(certain)})
    if proven:
        return
    facts = {"n": len(rows), "good": good, "bad": bad}
    for row in full[:1]:
        percent = max(1, round(100 * row.separation.corrected))
        yield Claim("claim.why.by_chance", "unknown", {**facts, "setting": row.name, "percent": percent})
    if not full:
        decided = separations([list(range(good))], [list(range(good, good + bad))])[0].chance <= _CHANCE
        key = "claim.why.none_separates" if decided else "claim.why.too_few_runs"
        yield Claim(key, "clear" if decided else "unknown", facts)


def _separates(row: Setting, good: int, bad: int) -> Claim:
    """Return where the runs of one group lie and those of the other do not, or fewer of them."""
    separation = row.separation
    facts = {"setting": row.name, "region": _region(separation.values), "effect": separation.effect}
    inside = {"good": separation.inside[0], "bad": separation.inside[1]}
    evidence = ({"setting": row.name, "chance": separation.corrected},)
    if separation.effect < 1:
        return Claim("claim.why.partly", "found", {**facts, **inside, "goods": good, "bads": bad}, evidence)
    counts = {"n": inside[separation.region_of]}
    key = "claim.why.only_good" if separation.region_of == "good" else "claim.why.only_bad"
    return Claim(key, "found", {**facts, **counts}, evidence)


def _region(values: Sequence[Value]) -> list[Any]:
    """Return the values of a region: numbers as an interval, texts one by one."""
    unset = [Claim("claim.part.why.unset", "note")] if None in values else []
    known = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(known) or len(known) < 2:
        return [*unset, *_few([non_finite_as_text(value) for value in known], _TEXTS)]
    limits = {"low": numbers[0], "high": numbers[-1]}
    return [*unset, Claim("claim.part.lineage.range", "note", limits)]


def _few(names: Sequence[Any], most: int = _NAMED) -> list[Any]:
    return [*names[:most], *(["…"] if len(names) > most else [])]
