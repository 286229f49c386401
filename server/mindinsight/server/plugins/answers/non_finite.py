"""Claims about NaN and infinity in scalars of good and bad runs: in how many of each, and from which step."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.claims import Claim, Verdict, few
from mindinsight.server.curves.setting_separation import separations
from mindinsight.server.store.run import Run

CHANCE: Final = 0.05  # p-value of the counts up to which a difference between them is no chance
_SCALARS: Final = 1000  # scalars whose values are counted by run, to limit the time
_NAMED: Final = 3  # scalars, or different counts, that are named


class _First(NamedTuple):
    """First non-finite value of a run."""

    step: int
    run: str


class _Group(NamedTuple):
    """Runs of a group that recorded a scalar."""

    runs: int
    non_finite: tuple[_First, ...]  # in ascending order

    def claim(self, group: str) -> Claim:
        """Return the clause of a claim that counts the runs with non-finite values and names the first
        one."""
        count = {"count": len(self.non_finite), "of": self.runs}
        if not self.non_finite:
            return Claim(f"claim.part.why.finite_{group}", "note", count)
        step, run = self.non_finite[0]
        first = {"step": step, "run": run.removeprefix("./") or "."}
        return Claim(f"claim.part.why.non_finite_{group}", "note", {**count, **first})


def non_finite_claims(good: Sequence[Run], bad: Sequence[Run], tags: Sequence[str]) -> Iterator[Claim]:
    """Yield up to three claims on how many runs of both groups have NaN or infinity in a scalar, if any
    run of either has. Scalars with the same counts share a claim. Its verdict is a note where the share of
    both groups is the same, and unknown where chance may explain the difference."""
    alike: dict[tuple[int, int, int, int], list[tuple[str, _Group, _Group]]] = {}
    for tag in tags[:_SCALARS]:
        ours, theirs = _group(good, tag), _group(bad, tag)
        if ours.non_finite or theirs.non_finite:
            counts = len(ours.non_finite), ours.runs, len(theirs.non_finite), theirs.runs
            alike.setdefault(counts, []).append((tag, ours, theirs))
    for rows in list(alike.values())[:_NAMED]:
        tag, ours, theirs = min(rows, key=lambda row: min(row[1].non_finite + row[2].non_finite))
        names = [tag, *(name for name, *_ in rows if name != tag)]
        facts = {
            "tags": few(names, _NAMED),
            "n": len(rows),
            "good": ours.claim("good"),
            "bad": theirs.claim("bad"),
        }
        verdict = _verdict(ours, theirs)
        key = "claim.why.non_finite_unproven" if verdict == "unknown" else "claim.why.non_finite"
        evidence = tuple({"tag": tag, **first._asdict()} for first in ours.non_finite + theirs.non_finite)
        yield Claim(key, verdict, facts, evidence)


def _group(runs: Sequence[Run], tag: str) -> _Group:
    lines = [(run.id, series.line()) for run in runs if (series := run.scalars.get(tag)) is not None]
    firsts = [
        _First(int(line.steps[np.argmin(finite)]), run)
        for run, line in lines
        if not (finite := np.isfinite(line.values)).all()
    ]
    return _Group(len(lines), tuple(sorted(firsts)))


def _verdict(good: _Group, bad: _Group) -> Verdict:
    """Return "found" if the groups' shares of non-finite runs differ significantly, "note" if they are
    equal. Return "unknown" if chance may explain the difference."""
    ours, theirs = len(good.non_finite), len(bad.non_finite)
    if ours * bad.runs == theirs * good.runs:
        return "note"
    columns = [
        [number < count for number in range(group.runs)] for group, count in ((good, ours), (bad, theirs))
    ]
    return "found" if separations(columns[:1], columns[1:])[0].chance <= CHANCE else "unknown"
