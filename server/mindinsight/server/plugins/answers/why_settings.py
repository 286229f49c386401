"""Settings that separate good from bad runs, and the claims about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mindinsight.server.api.recorded_results import repeated_results, result_claims
from mindinsight.server.api.run_answers import hyper_of
from mindinsight.server.claims import Claim, Verdict, few, format_number
from mindinsight.server.compute.json_values import exact_as_text
from mindinsight.server.curves.importance import is_seed, label_note, seed_note
from mindinsight.server.curves.setting_separation import (
    Separation,
    Value,
    conjunction,
    identity,
    names_runs,
    separations,
)
from mindinsight.server.formats.lineage import repeated_facts
from mindinsight.server.plugins.answers.non_finite import CHANCE
from mindinsight.server.store.run import Run

_CHANCE_PARTLY: Final = 0.01  # the same for a separation with exceptions
_CHANCE_BOTH: Final = 0.02  # the same for a region of two settings
_NAMED: Final = 3  # settings named in a claim
_TEXTS: Final = 4  # texts of a region named in a claim


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Settings that are not compared: random seeds, names of runs, and results with their names."""

    seeds: list[str]
    labels: list[str]
    results: Mapping[str, str]

    @property
    def names(self) -> set[str]:
        """Return the names of all settings that are left out."""
        return {*self.seeds, *self.labels, *self.results}

    def claims(self) -> list[Claim]:
        """Return the notes that these settings are not compared, [] if there are none."""
        return [*seed_note(self.seeds), *label_note(self.labels), *result_claims(self.results)]


@dataclass(frozen=True, slots=True)
class Setting:
    """Hyperparameter that differs between runs, and how well it separates good runs from bad ones."""

    name: str
    separation: Separation
    good: list[Value]  # distinct values of the good runs
    bad: list[Value]
    recorded: tuple[int, int]  # numbers of good and bad runs that recorded it

    @property
    def is_compared(self) -> bool:
        """Return False if only runs of one group recorded the setting, and not all runs of that group."""
        return all(self.recorded) or self.separation.effect == 1


def settings(good: Sequence[Run], bad: Sequence[Run], by: str = "") -> list[Setting]:
    """Return the settings that are not the same in all runs, the most telling first. Random seeds, names
    of runs and results are left out. ``by`` is the scalar that split the runs."""
    values = [[hyper_of(run.lineage) for run in group] for group in (good, bad)]
    recorded = recorded_settings([*good, *bad])
    names = sorted(recorded - left_out([*good, *bad], recorded, by).names)
    columns = [[[run.get(name) for run in group] for name in names] for group in values]
    differing = [
        number
        for number in range(len(names))
        if len({identity(value) for group in columns for value in group[number]}) > 1
    ]
    ours, theirs = ([group[number] for number in differing] for group in columns)
    judged = zip(ours, theirs, separations(ours, theirs, recorded_only=True), strict=True)
    rows = [
        Setting(names[number], judge, _distinct(first), _distinct(second), (_known(first), _known(second)))
        for number, (first, second, judge) in zip(differing, judged, strict=True)
    ]
    return sorted(rows, key=_telling)


def recorded_settings(runs: Sequence[Run]) -> set[str]:
    """Return the names of the settings that runs recorded, without facts that repeat a user's setting."""
    lineages = [run.lineage for run in runs if run.lineage is not None]
    user = {name for lineage in lineages for name in lineage.user_defined}
    return {name for run in runs for name in hyper_of(run.lineage)} - (repeated_facts(lineages) - user)


def _known(values: Sequence[Value]) -> int:
    return sum(value is not None for value in values)


def left_out(runs: Sequence[Run], recorded: set[str], by: str = "") -> LeftOut:
    """Return the ``recorded`` settings that are not compared: random seeds, names of runs, and settings
    that repeat a result. ``by`` is the scalar that split the runs."""
    values = [hyper_of(run.lineage) for run in runs]
    columns = {name: [run.get(name) for run in values] for name in sorted(recorded)}
    seeds = [name for name, column in columns.items() if is_seed(name, column)]
    labels = [name for name, column in columns.items() if name not in seeds and names_runs(name, column)]
    rest = {name: column for name, column in columns.items() if name not in (*seeds, *labels)}
    return LeftOut(seeds, labels, repeated_results(runs, rest, by))


def _telling(row: Setting) -> tuple[bool, float, float, int, str]:
    """Return a sort key of a setting: significant first, then by effect, then those with fewer values."""
    separation = row.separation
    variety = len({identity(value) for value in (*row.good, *row.bad)})
    proven = row.is_compared and _is_proven(separation)
    return not proven, -separation.effect * row.is_compared, separation.chance, variety, row.name


def _differs(row: Setting) -> bool:
    """Return True if the values of a setting, or significantly the shares of them, differ by group."""
    ours, theirs = ({identity(value) for value in group} for group in (row.good, row.bad))
    return ours != theirs or _is_proven(row.separation)


def _is_proven(separation: Separation) -> bool:
    return separation.corrected <= (CHANCE if separation.effect == 1 else _CHANCE_PARTLY)


def _distinct(values: Sequence[Value]) -> list[Value]:
    once = {identity(value): value for value in values}
    return [exact_as_text(value) for value in sorted(once.values(), key=repr)]


def setting_claims(rows: Sequence[Setting], recorded: int, good: int, bad: int) -> Iterator[Claim]:
    """Yield claims about the settings that tell good runs from bad ones, or that none does. Yield nothing if
    the settings that differ cannot be compared, because only one group recorded them.

    ``rows`` are the settings that differ, the most telling first. ``recorded`` is the number of all compared
    settings, ``good`` and ``bad`` the numbers of runs.
    """
    if not recorded:
        yield Claim("claim.why.no_settings", "unknown")
        return
    if not rows:
        yield Claim("claim.why.same_settings", "clear", {"n": recorded})
        return
    rows = [row for row in rows if row.is_compared]
    if not rows:
        return
    differing = any(map(_differs, rows))
    proven = [row for row in rows if _is_proven(row.separation)]
    for row in proven[:_NAMED]:
        yield _separates(row, good, bad)
    full = [row for row in rows if row.separation.effect == 1]
    if len(certain := [row for row in full if _is_proven(row.separation)]) > 1:
        names = few([row.name for row in certain], _NAMED)
        yield Claim("claim.why.several", "unknown", {"settings": names, "n": len(certain)})
    if proven:
        return
    facts = {"n": len(rows), "good": good, "bad": bad}
    percents = [max(1, round(100 * row.separation.corrected)) for row in full]
    tied = [row.name for row, percent in zip(full, percents, strict=True) if percent == percents[0]]
    if len(tied) > 1:
        values = {**facts, "settings": few(tied, _NAMED), "percent": percents[0]}
        yield Claim("claim.why.by_chance_tied", "unknown", values)
    elif full:
        values = {**facts, "setting": full[0].name, "percent": percents[0]}
        yield Claim("claim.why.by_chance", "unknown", values)
    if not full:
        decided = separations([list(range(good))], [list(range(good, good + bad))])[0].chance <= CHANCE
        separable = "claim.why.none_separates" if differing else "claim.why.same_values"
        key = separable if decided else "claim.why.too_few_runs"
        yield Claim(key, "clear" if decided else "unknown", facts)


def unrecorded_claims(rows: Sequence[Setting], good: int, bad: int) -> Iterator[Claim]:
    """Yield up to three claims about settings that some runs did not record, and whether their values were
    compared. ``good`` and ``bad`` are the numbers of runs."""
    alike: dict[tuple[str, tuple[int, int]], list[str]] = {}
    for row in rows:
        if not row.is_compared:
            alike.setdefault(("claim.why.one_group_recorded", row.recorded), []).append(row.name)
        elif all(row.recorded) and row.recorded != (good, bad):
            missing = good - row.recorded[0], bad - row.recorded[1]
            alike.setdefault(("claim.why.unrecorded", missing), []).append(row.name)
    for (key, (ours, theirs)), names in [*alike.items()][:_NAMED]:
        facts = {"n": len(names), "settings": few(names, _NAMED), "good": ours, "bad": theirs}
        verdict: Verdict = "note" if key == "claim.why.unrecorded" else "unknown"
        yield Claim(key, verdict, {**facts, "goods": good, "bads": bad})


def _separates(row: Setting, good: int, bad: int) -> Claim:
    """Return the claim about values of a setting that one group has, and the other less often or never."""
    separation = row.separation
    region = _region(separation.values, [*row.good, *row.bad])
    facts = {"setting": row.name, "region": region, "effect": separation.effect}
    inside = {"good": separation.inside[0], "bad": separation.inside[1]}
    evidence = ({"setting": row.name, "chance": separation.corrected},)
    if separation.judged != (good, bad):
        judged = dict(zip(("goods", "bads"), separation.judged, strict=True))
        return Claim("claim.why.of_recorded", "found", {**facts, **inside, **judged}, evidence)
    if separation.effect < 1:
        return Claim("claim.why.partly", "found", {**facts, **inside, "goods": good, "bads": bad}, evidence)
    counts = {"n": inside[separation.region_of]}
    key = "claim.why.only_good" if separation.region_of == "good" else "claim.why.only_bad"
    return Claim(key, "found", {**facts, **counts}, evidence)


_DIGITS: Final = range(4, 17)  # from those of a sentence to those of a float64


def _region(values: Sequence[Value], every: Sequence[Value]) -> list[Any]:
    """Return the values of a region as parts of a sentence: numbers as an interval, texts one by one. They
    are written in full if two of ``every`` value of the setting would look alike otherwise."""
    unset = [Claim("claim.part.why.unset", "note")] if None in values else []
    known = [value for value in values if value is not None]
    numbers = [value for value in known if isinstance(value, int | float) and not isinstance(value, bool)]
    distinct = {repr(value) for value in every}
    shown = {_shown(value) for value in every}
    words = [repr(value) if len(shown) < len(distinct) else exact_as_text(value) for value in known]
    if len(numbers) == len(known) > 1 and len(shown) < len(distinct):
        digits = next((n for n in _DIGITS if len({_shown(value, n) for value in every}) == len(distinct)), 17)
        words = [_shown(value, digits) for value in known]
    if len(numbers) < len(known) or len(known) < 2:
        return [*unset, *few(words, _TEXTS)]
    return [*unset, Claim("claim.part.lineage.range", "note", {"low": words[0], "high": words[-1]})]


def _shown(value: Value, digits: int = 4) -> str:
    """Return a value as a sentence shows it, a number with so many significant digits."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format_number(value, digits)
    return str(value)


def conjunction_claims(good: Sequence[Run], bad: Sequence[Run], rows: Sequence[Setting]) -> Iterator[Claim]:
    """Yield the claim that two settings together tell the groups apart beyond chance, where neither does by
    itself."""
    runs = [hyper_of(run.lineage) for run in (*good, *bad)]
    columns = {name: [run.get(name) for run in runs] for name in sorted(row.name for row in rows)}
    alone = any(row.separation.effect == 1 and _is_proven(row.separation) for row in rows)
    both = None if alone else conjunction(columns, len(good))
    if both is None or both.chance > _CHANCE_BOTH:
        return
    size = len(good) if both.side == "good" else len(bad)
    key = "only" if both.runs == size else "all"
    facts: dict[str, Any] = {"n": both.runs, "of": size, "effect": both.runs / size}
    facts |= {"setting": both.names[0], "other": both.names[1]}
    facts |= {"region": both.regions[0], "other_region": both.regions[1]}
    evidence = tuple({"setting": name, "chance": both.chance} for name in both.names)
    yield Claim(f"claim.why.both_{key}_{both.side}", "found", facts, evidence)
