"""What tells good runs from bad ones: settings by their effect, scalars by the step at which they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mindinsight.server.api.lineage_values import hyper_of
from mindinsight.server.compute.non_finite import non_finite_as_text
from mindinsight.server.curves.parting import ORDER, Parting, part
from mindinsight.server.curves.separation import Value, chance, separation
from mindinsight.server.store.run import Run
from mindinsight.server.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Setting:
    """A hyper-parameter in which the groups differ."""

    name: str
    effect: float  # from 0 to 1: how well it tells the groups apart
    chance: float  # from 0 to 1: how often groups of these sizes are told apart as well by chance
    good: list[Value]  # the values of the good runs, each once
    bad: list[Value]


@dataclass(frozen=True, slots=True)
class TagParting:
    """The parting of one scalar."""

    tag: str
    parting: Parting


def settings(good: Sequence[Run], bad: Sequence[Run]) -> list[Setting]:
    """Settings that are not the same in all runs, the most telling first."""
    values = [[hyper_of(run.lineage) for run in group] for group in (good, bad)]
    names = sorted({name for group in values for run in group for name in run})
    rows = []
    for name in names:
        ours, theirs = ([run.get(name) for run in group] for group in values)
        if len({repr(value) for value in (*ours, *theirs)}) > 1:
            effect, luck = separation(ours, theirs), chance(ours, theirs)
            rows.append(Setting(name, effect, luck, _distinct(ours), _distinct(theirs)))
    return sorted(rows, key=lambda row: (-row.effect, row.chance, _variety(row), row.name))


def _variety(setting: Setting) -> int:
    """How many values there are: of two settings that tell as much, a number for each run tells less."""
    return len({repr(value) for value in (*setting.good, *setting.bad)})


def _distinct(values: Sequence[Value]) -> list[Value]:
    once = {repr(value): value for value in values}
    return [non_finite_as_text(once[name]) for name in sorted(once)]


def partings(good: Sequence[Run], bad: Sequence[Run]) -> list[TagParting]:
    """Each scalar that both groups have: those that part first, the earliest of them first."""
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
