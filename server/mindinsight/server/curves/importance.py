"""Importance of hyper-parameters for an objective, correlations with it, and the claims that follow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim, few, format_number, range_claim
from mindinsight.server.curves.correlations import chance_of, number_of, numbers_of, pearson, ranks, spearman
from mindinsight.server.curves.permutation_test import Factor, alike, is_ordered, proven
from mindinsight.server.curves.random_forest import Forest, binned, grow
from mindinsight.server.curves.setting_separation import (
    failing_setting,
    identity,
    is_usable,
    names_runs,
    numbered,
    parts_of,
)
from mindinsight.server.types import Doubles, Ints

FEWEST: Final = 12  # runs, or combinations of settings, below which hardly any effect exceeds chance
_DECIDED: Final = 30  # runs from which "nothing matters" is an answer: fewer miss a medium effect
_REPEATS: Final = 5  # shuffles of each setting
_CARRIED: Final = 0.5  # share of the runs that must have a setting, or its presence matters, not its value
_LABELS: Final = 1 / 3  # distinct texts per run from which a text is a name of runs and not a setting
_EXPLAINED: Final = 0.1  # share of the variance of unseen runs below which a forest predicts nothing
_PER_LEVEL: Final = 2  # combinations for each value of a setting but the first, as a full grid has
_BEST: Final = 0.1  # share of the runs that are called best
_FEW_BEST: Final = 4  # and the smallest number of them
_NARROW: Final = 0.6  # share of all runs in the best region above which it is not informative
_BEST_RUNS: Final = {"lowest": "claim.lineage.lowest", "highest": "claim.lineage.highest"}
_GROUPS: Final = 5  # groups of runs by a setting. Their means must all rise or all fall
_STEADY: Final = 0.5  # rank correlation below which no arrow is drawn
_WHOLE: Final = re.compile(r"[+-]?\d+(\.0)?$")
_NAMED: Final = 8  # settings that one sentence lists
_WEAK: Final = 0.02  # chance, of any setting, below which a correlation is told though no forest can use it
_PAIR: Final = 0.01  # the same of any pair of settings
_FAILING: Final = 0.01  # the same of a setting that separates runs with a non-finite objective
_EXTREME: Final = 0.02  # the same of values all of whose runs have a lower, or higher, objective than others
_ELSEWHERE: Final = 0.05  # chance that none of the best runs has one of the other texts
_ROUNDING: Final = 1e-6  # range below which nothing but rounding is left of a product of ranks
_SEPARABLE: Final = 300  # runs of which a separation is computed in a second

# A random seed is not a setting. `views/lineage/columns.js` has the same rule for the pages.
_SEED: Final = re.compile(
    r"(^|[:._-])(seed([:._-](\d+|all|cuda|data|env|everything|global|init|mindspore|model|np|numpy|python"
    r"|random|torch|train|val|value))?|random_state)$",
    re.IGNORECASE,
)
# components/runs/values.js has the same rule for the pages. Whole words are compared, and the last match
# counts.
_WORDS: Final = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z][a-z])")
_END: Final = re.compile(
    r"_(?:(?P<lowest>(?:loss(?:es)?|err|errors?|perplexity|ppl|r?mse|mae|nll|wer|cer|fid|latency|time)\d*"
    r"|[^_]*(?:损失|误差|错误率|困惑度))"
    r"|(?P<highest>(?:acc|accuracy|[a-z]*auc|auroc|f1|map|bleu|rouge[a-z]?|recall|precision|scores?|rewards?"
    r"|psnr|ssim|[a-z]?iou|dice|ndcg|mrr|r2|throughput|speed|per_sec(?:ond)?|returns?|hits?|elbo|log_?prob"
    r"|(?:log_?)?likelihood|win_rate|success|kappa|mcc|chrf|meteor|cider|spearman|pearson|exact_match"
    r"|elo|top(?=\d))\d*|[^_]*(?:准确率|精度|精确率|召回率|得分|奖励)))(?=_)"
)
_NEGATED: Final = re.compile(r"_(?:neg|negative|minus)$")  # before the word: a negated loss is best highest
_OTHER: Final = re.compile(r"_(?:scale|scaling|scaler|ratio|weight|factor|coef|coeff|drop|free|gap)(?=_)")
_TURNED: Final = re.compile(r"_(?:non?|not)$")  # before the word; as is a difference from one
_FROM_ONE: Final = re.compile(r"(?:^|[/:(])1\s*[-−]")


@dataclass(frozen=True, slots=True)
class ColumnImportance:
    """Importance of one setting for an objective."""

    key: str  # of its column
    importance: float  # mean fall of the explained share over the shuffles, 0 or more
    low: float  # smallest fall
    high: float  # largest fall
    sign: int  # +1: the objective rises with the setting, -1: it falls, 0: not monotone
    matters: bool  # beyond chance
    carried: int  # number of runs with a value other than NaN


@dataclass(frozen=True, slots=True)
class Importance:
    """Importance of all settings that vary, largest first, or empty if it is unknown."""

    claims: tuple[Claim, ...]
    columns: tuple[ColumnImportance, ...] = ()
    explained: float = 0.0  # share of the variance of the objective's ranks, of unseen runs
    runs: int = 0


def importance(
    objective: str, columns: Mapping[str, Sequence[Any]], values: Sequence[Any], seed: int = 0
) -> Importance:
    """Return the importance of ``columns`` for the ``values`` of ``objective``, all by run. With too few
    runs, or if the values or all settings are the same, the result has only claims. A value is None if a
    run does not have it. The function is pure, for use in a worker process."""
    target = np.array([number_of(value) for value in values], np.float64)
    rows: list[int] = np.flatnonzero(np.isfinite(target)).tolist()
    facts = {"objective": plain(objective), "runs": len(rows)}
    recorded = [row for row, value in enumerate(values) if value is not None]
    known_of = {name: [column[row] for row in recorded] for name, column in columns.items()}
    left_out = [
        *_left_out(objective, len(values) - len(recorded), len(recorded) - len(rows)),
        *_failing(objective, known_of, target[recorded]),
    ]
    if len(rows) < FEWEST:
        claim = Claim("claim.lineage.too_few", "unknown", {**facts, "n": len(rows), "fewest": FEWEST})
        return Importance((claim, *left_out))
    target = target[rows]
    if not target.max() > target.min():
        return Importance((Claim("claim.lineage.constant", "unknown", facts), *left_out))
    settings = {name: [column[row] for row in rows] for name, column in columns.items()}
    judged, notes = _judged(settings)
    if not judged:
        same = Claim("claim.lineage.same_settings", "unknown", facts)
        return Importance((same, *left_out, *notes))
    ordered = ranks(target) / len(target)
    matrix = np.stack([_encoded(column, ordered) for column in judged.values()], axis=1)
    trials = _trials(judged)
    factors = _factors(judged, trials)
    known = dict(zip(judged, matrix[trials.first].T, strict=True))
    targets = trials.means(ordered), trials.means(target)
    groups = alike(proven(factors, targets[0], seed), known, targets[0], factors)
    measured, explained = _measured(judged, matrix, ordered, groups, seed)
    facts = {**facts, "combinations": trials.combinations}
    extreme = list(_extreme(judged, target, trials, facts)) if factors else []
    regions = list(_regions(measured, judged, target, facts))
    claims = [
        *(claim for claim in regions if claim.key in _BEST_RUNS.values()),  # what to do comes first
        *_decisive(measured, known, targets, judged, facts, (factors, groups), extreme),
        *(claim for claim in regions if claim.key not in _BEST_RUNS.values()),
        *left_out,
        *notes,
    ]
    return Importance(tuple(claims), tuple(measured), max(0.0, explained), len(rows))


@dataclass(frozen=True, slots=True)
class _Trials:
    """Trials: groups of runs with equal settings, such as several seeds. Each group is one independent
    sample.

    A setting with many values differs between groups even if it has no effect. A permutation of single runs
    would not reproduce that.
    """

    number: Ints  # [n] of each run's trial
    first: Ints  # [t] first run of each trial
    combinations: int

    def means(self, values: Doubles) -> Doubles:
        """Return [t] the mean of ``values`` [n] over the runs of each trial."""
        return np.asarray(np.bincount(self.number, values) / np.bincount(self.number), np.float64)


def _trials(settings: Mapping[str, Sequence[Any]]) -> _Trials:
    """Return the trials of runs with these settings. With fewer than ``FEWEST`` combinations each run is a
    trial."""
    number = numbered(zip(*settings.values(), strict=True))
    first = np.unique(number, return_index=True)[1]
    if len(first) < FEWEST:
        return _Trials(np.arange(len(number)), np.arange(len(number)), len(first))
    return _Trials(number, first, len(first))


def _factors(settings: Mapping[str, Sequence[Any]], trials: _Trials) -> dict[str, Factor]:
    """Return the settings as factors by name, or {} if too few combinations separate their effects."""
    factors = {}
    levels = 0
    for name, column in settings.items():
        values = [column[row] for row in trials.first.tolist()]
        groups = numbered((value,) for value in values)
        levels += int(groups.max())
        order = None if numbers_of(values) is None else _encoded(values, groups.astype(np.float64))
        factors[name] = Factor(groups, order)
    crossed = len(factors) == 1 or _PER_LEVEL * levels <= trials.combinations
    return factors if crossed or trials.combinations >= FEWEST else {}


def plain(key: str) -> str:
    """Return the name of a lineage column without its group: ``lr`` for ``user:lr``."""
    return key.partition(":")[2] or key


def better_end(name: str) -> Literal["lowest", "highest"] | None:
    """Return whether the lowest or the highest value of an objective is best, by its name, or None if
    unclear."""
    words = f"_{_WORDS.sub('_', name).lower()}_"
    last = max(_END.finditer(words), key=lambda match: match.start(), default=None)
    if last is None or _OTHER.search(words, last.end()):
        return None
    if _TURNED.search(words, 0, last.start()) or _FROM_ONE.search(name):
        return None
    negated = _NEGATED.search(words, 0, last.start()) is not None
    return "lowest" if bool(last["lowest"]) != negated else "highest"


def _left_out(objective: str, unrecorded: int, non_finite: int) -> list[Claim]:
    """Return notes on the runs that did not record the objective, and on those where it is non-finite."""
    counts = {"unrecorded": unrecorded, "left_out": non_finite}
    return [
        Claim(f"claim.lineage.{name}", "note", {"n": count, "objective": plain(objective)})
        for name, count in counts.items()
        if count
    ]


def _failing(objective: str, columns: Mapping[str, Sequence[Any]], target: Doubles) -> list[Claim]:
    """Return a claim on the setting that separates failed runs from the others better than chance, or [].
    All runs recorded the objective. A run has failed if it is non-finite."""
    finite = np.isfinite(target)
    if finite.all() or not finite.any() or len(target) > _SEPARABLE:
        return []
    judged, _ = _judged(columns)
    if not judged:
        return []
    trials = _trials(judged)
    fails = trials.means((~finite).astype(np.float64)) >= 1 / 2
    factors = {name: judged[name] for name in _factors(judged, trials)}
    setting = failing_setting(factors, trials.first.tolist(), fails, _FAILING)
    if setting is None:
        return []
    facts = {
        "objective": plain(objective),
        "setting": plain(setting.name),
        "region": setting.region,
        "n": int((setting.inside & ~finite).sum()),
        "failed": int((setting.recorded & ~finite).sum()),
        "others": int((setting.inside & finite).sum()),
        "rest": int((setting.recorded & finite).sum()),
    }
    evidence = {"setting": setting.name, "chance": setting.chance}
    return [Claim("claim.lineage.failing", "found", facts, (evidence,))]


def _judged(settings: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Sequence[Any]], list[Claim]]:
    """Return the settings whose importance can be judged, and notes on those that are left out."""
    judged: dict[str, Sequence[Any]] = {}
    rare: list[Claim] = []
    labels: list[str] = []
    fixed: list[str] = []
    seeds: list[str] = []
    runs = max(map(len, settings.values()), default=0)
    least = max(math.ceil(_CARRIED * runs), FEWEST)
    for name, column in settings.items():
        there = [value for value in column if is_usable(value)]
        distinct = {identity(value) for value in column}
        if len(distinct) < 2 or is_seed(name, column):
            if there:
                (fixed if len(distinct) < 2 else seeds).append(plain(name))
            continue
        if len(there) < least:
            values = {"setting": plain(name), "count": len(there)}
            rare.append(Claim("claim.part.lineage.carried", "note", values))
        elif names_runs(name, column) or (
            numbers_of(column) is None and len(distinct) > _LABELS * len(column)
        ):
            labels.append(plain(name))
        else:
            judged[name] = column
    notes = []
    if rare:
        values = {"settings": few(rare, _NAMED), "runs": runs, "least": least, "n": len(rare)}
        notes.append(Claim("claim.lineage.rare", "note", values))
    notes += label_note(labels)
    if fixed and judged:
        notes.append(Claim("claim.lineage.fixed", "note", {"settings": few(fixed, _NAMED), "n": len(fixed)}))
    return judged, notes + seed_note(seeds)


def is_seed(name: str, values: Iterable[Any]) -> bool:
    """Return True if a setting is named like a random seed and all its values are whole numbers or
    missing."""
    return _SEED.search(name) is not None and all(
        value is None or (isinstance(value, int | float | str) and _WHOLE.match(str(value)))
        for value in values
    )


def seed_note(names: Sequence[str], key: str = "claim.lineage.seeds") -> list[Claim]:
    """Return a note that the settings ``names`` are left out as random seeds, or for the reason in ``key``,
    [] without names."""
    return [Claim(key, "note", {"settings": few(names, _NAMED), "n": len(names)})] if names else []


def label_note(names: Sequence[str]) -> list[Claim]:
    """Return a note that the settings ``names`` are left out because they name runs, or an empty list."""
    return seed_note(names, "claim.lineage.labels")


def _measured(
    judged: Mapping[str, Sequence[Any]],
    matrix: Doubles,
    target: Doubles,
    groups: Mapping[str, Sequence[str]],
    seed: int,
) -> tuple[list[ColumnImportance], float]:
    """Return the importance of each setting, a column of ``matrix``, largest first, and the explained
    share. Only settings of ``groups`` may matter. Those of one group are shuffled together: a forest that
    splits by either of two settings that change together would show each of them as less important."""
    generator = np.random.default_rng(seed)
    bins = binned(matrix)
    forest = grow(bins, target, generator)
    names = list(judged)
    members = {name: [first, *others] for first, others in groups.items() for name in (first, *others)}
    shuffled = [[names.index(member) for member in members.get(name, [name])] for name in names]
    falls, explained = _falls(forest, bins, target, shuffled)
    means = falls.mean(axis=1)
    measured = [
        ColumnImportance(
            name,
            max(0.0, float(means[number])),
            max(0.0, float(falls[number].min())),
            max(0.0, float(falls[number].max())),
            _sign(column, target),
            name in members and explained > _EXPLAINED,
            sum(is_usable(value) for value in column),
        )
        for number, (name, column) in enumerate(judged.items())
    ]
    return sorted(measured, key=lambda column: -column.importance), explained


def _falls(
    forest: Forest, bins: Any, target: Doubles, together: Sequence[Sequence[int]]
) -> tuple[Doubles, float]:
    """Return [columns, shuffles] the fall of the explained share, and the share itself. ``together`` has
    for each column those that are shuffled with it."""
    variance = float(target.var())
    predicted = forest.predict_unseen(bins)
    seen = ~np.isnan(predicted)  # all runs, unless every tree drew one

    def error(values: Doubles) -> float:
        return float(np.mean((values[seen] - target[seen]) ** 2)) / variance

    before = error(predicted)
    falls = np.zeros((bins.shape[1], _REPEATS))
    for column, group in enumerate(together):
        generator = np.random.default_rng(min(group))  # the same shuffles for each column of a group
        shuffled = bins.copy()
        for repeat in range(_REPEATS):
            shuffled[:, group] = bins[generator.permutation(len(bins))][:, group]
            falls[column, repeat] = error(forest.predict_unseen(shuffled)) - before
    return falls, 1 - before


def _decisive(
    measured: Sequence[ColumnImportance],
    known: Mapping[str, Doubles],
    targets: tuple[Doubles, Doubles],
    judged: Mapping[str, Sequence[Any]],
    facts: Mapping[str, Any],
    effects: tuple[Mapping[str, Factor], Mapping[str, Sequence[str]]],
    extreme: Sequence[Claim],
) -> Iterator[Claim]:
    """Yield claims about the settings that matter, or that none does, and about settings that cannot be
    separated.

    ``known`` and ``targets``, ranks and values of the objective, have one value for each trial. ``effects``
    are factors, none if no effect can be known, and the groups of settings that matter.
    ``extreme`` are the claims about values that do best or worst, which count if no forest knows more.
    """
    (factors, groups), target = effects, targets[0]
    names = [column.key for column in measured if column.matters]
    if not names:
        ordered = {name: known[name] for name in known if numbers_of(judged[name]) is not None}
        counts = {name: sum(map(is_usable, judged[name])) for name in ordered}
        if not factors or len(target) < min(facts["runs"], _DECIDED):
            values = {**facts, "n": facts["combinations"]}
            yield Claim("claim.lineage.few_combinations", "unknown", values)
            return
        if pairs := [*extreme, *_weak(ordered, target, counts, facts), *_pair(known, target, facts)]:
            yield from pairs
            return
        decided = len(target) >= _DECIDED
        key = "claim.lineage.nothing" if decided else "claim.lineage.undecided"
        yield Claim(key, "clear" if decided else "unknown", {**facts, "n": len(measured)})
        return
    evidence = tuple({"setting": column.key} for column in measured if column.matters)
    first = [name for name in names if name in groups]
    parts = [_any_of([name, *groups[name]]) for name in first]
    key = "matters" if is_ordered([factors[name] for name in first], targets) else "matters_unordered"
    values = {**facts, "settings": few(parts, _NAMED), "n": len(first)}
    yield Claim(f"claim.lineage.{key}", "found", values, evidence)
    for name in first:
        if alike := groups[name]:
            values = {"setting": plain(name), "others": few([plain(other) for other in alike], _NAMED)}
            yield Claim("claim.lineage.together", "unknown", values)


def _any_of(names: Sequence[str]) -> str | Claim:
    """Return settings of which any may matter as part of a sentence."""
    if len(names) == 1:
        return plain(names[0])
    others = few([plain(name) for name in names[1:]], _NAMED)
    return Claim("claim.part.lineage.any_of", "note", {"setting": plain(names[0]), "others": others})


def _weak(
    known: Mapping[str, Doubles], target: Doubles, counts: Mapping[str, int], facts: Mapping[str, Any]
) -> Iterator[Claim]:
    """Yield a claim about the setting with the most significant rank correlation, if chance does not
    explain it. Only runs with the setting are used, ``counts`` of them, because others often belong to
    another experiment."""
    there = {name: column >= 0 for name, column in known.items()}
    correlations = {
        name: spearman(column[there[name]], target[there[name]]) or 0.0 for name, column in known.items()
    }
    chances = {name: chance_of(correlations[name], int(there[name].sum())) for name in known}
    name = min(known, key=lambda name: chances[name], default=None)
    if name is not None and (chance := chances[name] * len(known)) <= _WEAK:
        percent = float(f"{100 * chance:.1g}")
        correlation = round(correlations[name], 2)
        values = {**facts, "setting": plain(name), "correlation": correlation, "percent": percent}
        values["runs"] = counts[name]
        yield Claim("claim.lineage.weak", "unknown", values, ({"setting": name},))


def _extreme(
    columns: Mapping[str, Sequence[Any]], target: Doubles, trials: _Trials, facts: Mapping[str, Any]
) -> Iterator[Claim]:
    """Yield claims about values of a setting whose runs are all lower, or all higher, than every other run.

    ``columns`` and ``target`` [n] have one value for each run. An exact permutation test: a group of k of t
    trials is lowest or highest in 2 of C(t, k) orders. Its chance is the sum over all groups as rare.
    """
    groups = [(name, chosen) for name, column in columns.items() for chosen in _value_groups(column)]
    count = len(trials.first)
    chances = np.array([2 / math.comb(count, int(chosen[trials.first].sum())) for _, chosen in groups])
    extreme = [
        (float(chances[chances <= chance].sum()), number)
        for number, ((_, chosen), chance) in enumerate(zip(groups, chances.tolist(), strict=True))
        if target[chosen].max() < target[~chosen].min() or target[chosen].min() > target[~chosen].max()
    ]
    chance, number = min(extreme, default=(1.0, 0))
    if chance > _EXTREME:
        return
    name, chosen = groups[number]
    once = {identity(value): value for value, there in zip(columns[name], chosen, strict=True) if there}
    is_ordered = numbers_of(columns[name]) is not None and None not in once.values()
    region = parts_of(sorted(once.values(), key=number_of if is_ordered else repr))
    inside, outside = target[chosen], target[~chosen]
    lower = bool(inside.max() < outside.min())
    ends = (inside.max(), outside.min()) if lower else (inside.min(), outside.max())
    values = {"setting": plain(name), "region": region, "n": len(inside), "rest": len(outside)}
    values |= {"inside": float(ends[0]), "outside": float(ends[1]), "percent": float(f"{100 * chance:.1g}")}
    key = "claim.lineage.all_lower" if lower else "claim.lineage.all_higher"
    yield Claim(key, "found", {**facts, **values}, ({"setting": name},))


def _value_groups(column: Sequence[Any]) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield masks of runs: for each text the runs with it, or for each number the runs below it and the
    others. No mask selects all runs."""
    order = numbers_of(column)
    if order is None or not np.isfinite(order).all():
        keys = np.array([repr(value) for value in column])
        masks = [keys == key for key in np.unique(keys)]
    else:
        masks = [part for value in np.unique(order)[1:] for part in (order < value, order >= value)]
    yield from (mask for mask in masks if not mask.all())


def _pair(known: Mapping[str, Doubles], target: Doubles, facts: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield a claim about the two settings whose product explains most beyond their separate effects, if
    significant."""
    names = list(known)
    centred = [ranks(column) - (len(column) - 1) / 2 for column in known.values()]
    best, chosen = 0.0, (0, 0)
    for first, left in enumerate(centred):
        for second in range(first + 1, len(centred)):
            right = centred[second]
            # with squares: the product of settings that follow each other is nearly one
            base = np.stack((np.ones(len(left)), left, right, left**2, right**2), axis=1)
            columns = np.stack((left * right / len(left), target), axis=1)
            rest = columns - base @ np.linalg.lstsq(base, columns, rcond=None)[0]
            correlation = abs(pearson(rest) or 0.0) if np.ptp(rest[:, 0]) > _ROUNDING else 0.0
            if correlation > best:
                best, chosen = correlation, (first, second)
    count = len(names) * (len(names) - 1) // 2
    if count and chance_of(best, len(target) - base.shape[1] + 1) * count <= _PAIR:
        setting, other = (names[number] for number in chosen)
        values = {**facts, "setting": plain(setting), "other": plain(other)}
        yield Claim("claim.lineage.pair", "found", values, ({"setting": setting}, {"setting": other}))


def _regions(
    measured: Sequence[ColumnImportance],
    judged: Mapping[str, Sequence[Any]],
    target: Doubles,
    facts: Mapping[str, Any],
) -> Iterator[Claim]:
    """Yield claims about each setting that matters: the direction of its effect, and its values in the best
    runs."""
    count = max(_FEW_BEST, int(_BEST * len(target)))
    ordered = np.sort(target)  # runs that are as good as the last of the best are among them
    best = {"lowest": target <= ordered[count - 1], "highest": target >= ordered[-count]}
    end = better_end(str(facts["objective"]))
    for column in (column for column in measured if column.matters):
        setting = {"setting": plain(column.key), "objective": facts["objective"]}
        if column.sign:
            key = "claim.lineage.rises" if column.sign > 0 else "claim.lineage.falls"
            yield Claim(key, "note", setting)
        for name, chosen in best.items():
            rows: list[int] = np.flatnonzero(chosen).tolist()
            region = _region(judged[column.key], rows) if end in (None, name) else None
            if region:
                values = {**setting, "n": len(rows), "region": region, "runs": len(target)}
                yield Claim(_BEST_RUNS[name], "found", values, ({"setting": column.key},))


def _region(column: Sequence[Any], rows: Sequence[int]) -> str | Claim | list[Any] | None:
    """Return the values in the chosen rows, or None if they are hardly fewer than those of all rows."""
    chosen = [column[row] for row in rows]
    numbers = numbers_of(column)
    if numbers is None:
        names, every = {str(value) for value in chosen}, {str(value) for value in column}
        share = sum(str(value) in names for value in column) / len(column)
        by_chance = share ** len(rows)  # that none of the chosen runs has another text
        if len(names) > len(every) / 2 and (len(names) == len(every) or by_chance > _ELSEWHERE):
            return None
        unset = [Claim("claim.part.why.unset", "note")] if any(value is None for value in chosen) else []
        return [*unset, *sorted({_text(value) for value in chosen if value is not None})]
    inside = numbers[list(rows)]
    if not np.isfinite(inside).all():
        return None
    if float(np.mean((numbers >= inside.min()) & (numbers <= inside.max()))) > _NARROW:
        return None
    low, high = chosen[int(inside.argmin())], chosen[int(inside.argmax())]
    return format_number(low) if low == high else range_claim(low, high)


def _text(value: Any) -> str:
    """Return a value as pages show it. A text that looks like a truth value is quoted."""
    is_text = isinstance(value, str) and value.lower() in {"true", "false"}
    return f'"{value}"' if is_text else str(value)


def _encoded(values: Sequence[Any], target: Doubles) -> Doubles:
    """Return a column as numbers for a forest: of numbers their ranks, or -1 if missing, of a text the rank
    of its runs' mean target."""
    numbers = numbers_of(values)
    if numbers is not None:
        known = np.isfinite(numbers)
        return np.where(known, ranks(np.where(known, numbers, 0.0)), -1.0) if known.any() else numbers * 0
    texts = ["" if value is None else f"_{value}" for value in values]
    group = np.unique(np.asarray(texts), return_inverse=True)[1]
    means = np.bincount(group, weights=target) / np.bincount(group)
    return ranks(means)[group]


def _sign(values: Sequence[Any], target: Doubles) -> int:
    """Return the direction, 1 or -1, of a monotone relation, or 0 for text and for a relation that is not
    monotone."""
    numbers = numbers_of(values)
    if numbers is None:
        return 0
    known = np.isfinite(numbers)
    numbers, target = numbers[known], target[known]
    correlation = spearman(numbers, target) if len(numbers) else None
    if correlation is None or abs(correlation) < _STEADY:
        return 0
    sign = int(np.sign(correlation))
    quantile = ranks(numbers) / len(numbers)
    ends = quantile[np.argsort(target, kind="stable")][:: int(sign)]
    count = max(_FEW_BEST, int(_BEST * len(quantile)))
    if ends[:count].mean() > 1 / _GROUPS or ends[-count:].mean() < 1 - 1 / _GROUPS:
        return 0  # the best or the worst runs lie inside the range
    groups = [
        target[(quantile >= low / _GROUPS) & (quantile < (low + 1) / _GROUPS)] for low in range(_GROUPS)
    ]
    groups = [group for group in groups if len(group)]
    means = np.array([group.mean() for group in groups])
    errors = np.array([group.std() / math.sqrt(len(group)) for group in groups])
    turns = sign * np.diff(means) < -np.hypot(errors[1:], errors[:-1]) / 2
    return 0 if turns.any() else sign
