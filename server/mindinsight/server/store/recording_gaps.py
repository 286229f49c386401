"""Claims about gaps of a recording: times that jump, and steps that damaged sections took with them."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.errors import Gone
from mindinsight.server.store import file_names
from mindinsight.server.store.run import Run, overwritten_claims
from mindinsight.server.store.series import Line, ScalarSeries
from mindinsight.server.types import Ints

_BACK: Final = 60.0  # s: a clock is adjusted by less, and threads record in another order
_LEAST_PAUSE: Final = 600.0  # s
_TIMES: Final = 100  # how much longer than usual a pause is
_FEWEST: Final = 20  # intervals that tell what is usual
_FEWEST_MISSING: Final = 5  # steps that are named without damage: fewer may have been left out on purpose
_REGULAR: Final = 0.9  # share of equal intervals from which steps are regular, if the others are multiples
_HOUR: Final = 3600.0
_FAR: Final = 1e15  # s, 30 million years: differences of such times neither overflow nor lose a minute


def recording_claims(run: Run) -> list[Claim]:
    """Return the claims about jumps of the clock, steps recorded again, and values lost by damage, [] if a
    file was removed or shortened meanwhile."""
    try:
        return [*time_claims(run), *overwritten_claims(run), *lost_claims(run)]
    except Gone:
        return []


def time_claims(run: Run) -> list[Claim]:
    """Return the claims that make the duration of a run doubtful, by its scalar with the most values, []
    without scalars. Raises Gone if stored values cannot be read."""
    series = _densest(run)
    return [] if series is None else [*clock_claims(run), *_pauses(series, run)]


def _densest(run: Run) -> ScalarSeries | None:
    return max(run.scalars.values(), key=lambda series: series.count, default=None)


def clock_claims(run: Run) -> list[Claim]:
    """Return the claim that recorded times go back, so that start and duration are unknown, or an empty
    list. Times go back within a file, in the order of recording, or if a file is older throughout than
    those before it. Files that overlap may be of several processes."""
    series, jumps, started, ended = _densest(run), list[tuple[float, int]](), np.inf, 0.0
    names = [file.name for file in run.files if file_names.role(file.name) == "summary"]
    ordered = all(map(file_names.created, names))
    for part in () if series is None else series.parts:
        walls = np.clip(part.walls, -_FAR, _FAR)
        passed = np.diff(walls)
        jumps += [(float(passed[row]), int(part.steps[row + 1])) for row in np.flatnonzero(passed <= -_BACK)]
        if ordered and float(walls.max()) + _BACK <= started < np.inf:
            jumps.append((float(walls[0]) - ended, int(part.steps[0])))
        started, ended = min(started, float(walls.min())), float(walls[-1])
    if not jumps:
        return []
    by, step = min(jumps)
    return [Claim("claim.run.clock_back", "unknown", {"n": len(jumps), "by": _duration(-by), "step": step})]


def _pauses(series: ScalarSeries, run: Run) -> Iterator[Claim]:
    """Yield the claim that no scalar was recorded for a time that is many times the usual one."""
    line = series.line()
    passed = np.diff(np.clip(line.walls, -_FAR, _FAR))
    usual = passed[passed > 0]
    if len(usual) < _FEWEST:
        return
    rows = np.flatnonzero(passed >= max(_LEAST_PAUSE, _TIMES * float(np.median(usual))))
    rows = rows[[not _recorded_between(run, line.rows([row, row + 1])) for row in rows]]
    if len(rows):
        worst = rows[np.argmax(passed[rows])]
        facts = {"n": len(rows), "by": _duration(float(passed[worst])), "step": int(line.steps[worst + 1])}
        yield Claim("claim.run.time_gap", "unknown", facts)


def _recorded_between(run: Run, ends: Line) -> bool:
    """Return True if a scalar has a point between two points, by step and time."""
    for series in run.scalars.values():
        line = series.line()
        within = (line.steps >= ends.steps[0]) & (line.steps <= ends.steps[1])
        if np.any(within & (line.walls > ends.walls[0]) & (line.walls < ends.walls[1])):
            return True
    return False


def _duration(seconds: float) -> Claim:
    hours = seconds >= 2 * _HOUR
    amount = float(f"{seconds / (_HOUR if hours else 60.0):.2g}")
    return Claim(f"claim.part.run.{'hours' if hours else 'minutes'}", "note", {"amount": amount})


def lost_claims(run: Run) -> list[Claim]:
    """Return the claim that damaged sections held an unknown number of values, or that steps are missing
    without damage, or []. Raises Gone if stored values cannot be read. It names the steps that the scalar
    with the most values lacks, if these are regular otherwise."""
    damaged, series = any(file.damage for file in run.files), _densest(run)
    missing = np.empty(0, np.int64) if series is None else _missing_steps(series.line().steps)
    if series is None or not len(missing):
        return [Claim("claim.file.lost", "unknown")] if damaged else []
    facts = {"tag": series.tag, "n": len(missing), "first": int(missing[0]), "last": int(missing[-1])}
    if damaged:
        return [Claim("claim.file.lost_steps", "unknown", facts)]
    return [Claim("claim.run.no_steps", "note", facts)] if len(missing) >= _FEWEST_MISSING else []


def _missing_steps(steps: Ints) -> Ints:
    """Return the steps [m] that a series lacks between its first and last; empty if it is not regular."""
    passed = np.diff(steps)
    if len(passed) < _FEWEST:
        return passed[:0]
    usual = int(np.median(passed))
    if np.any(passed % usual) or np.mean(passed == usual) < _REGULAR:
        return passed[:0]
    rows = np.flatnonzero(passed > usual)
    return np.concatenate(
        [passed[:0], *(np.arange(steps[row] + usual, steps[row + 1], usual) for row in rows)]
    )
