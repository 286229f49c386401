"""Signs of a fault in one curve: jumps, and levels that never fall, rise, collapse or grow.

A level is the median of a part of a curve, or its mean where values are shares of a few samples. Noise around
a level does not count.
"""

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np

from mindinsight.server.types import Doubles, Floats, Ints

FEWEST: Final = 20  # finite values of a curve that is judged
_PARTS: Final = 10  # of a long curve; chosen: the FEWEST values still give four, which show a course
_PART: Final = 5  # values of a part, at least: of fewer, a median follows single values
_CERTAIN: Final = 3.0  # standard errors by which levels differ: of 1,000 pairs of equal levels, one or two do
MEDIAN: Final = 1.25  # standard error of a median in standard errors of a mean, for normal noise

# Of the level: a fall by which half of a training is below the other must show, or is hidden by the noise.
SHOWN_FALL: Final = 0.02
_MOST_NOISE: Final = 0.1  # of the level: noise as large hides a fall by a twentieth in the first hundredth
_FELL: Final = (
    2.5  # standard errors by which a fall shows: in one of twenty flat curves, noise looks like one
)
_WITHIN: Final = 2.0  # deviations that hold all levels of a curve without a trend, in 95 % and more
_SLIGHT_CERTAIN: Final = 3.5  # standard errors of a slight fall: one of 4,000 curves of noise has it
_SLIGHT: Final = 0.01  # of its level: a training that learns lowers its loss by more
# What a person sees at a glance. Cyclic learning rates, and two nets against each other, do it for a while
# only, so that it must last.
RISEN: Final = 2.0
RISEN_BESIDE: Final = 1.5  # of a validation loss whose training loss falls, which is a second sign
RISEN_AT_END: Final = 10.0  # enough without lasting
RISEN_STEADILY: Final = 1.1  # of a validation loss that rises on and on while its training loss falls
LASTING: Final = 0.25  # of the curve
_RISES_ON: Final = 3  # levels that rise to the end one after another, which is enough without lasting
UNDONE: Final = 0.5  # of its fall, by which such a rise undoes it
UNDONE_RATE: Final = 0.25  # the same of an error rate, whose noise is small beside its rise
REGAINED: Final = 0.1  # of its fall, below which a loss is near zero and its factors do not matter
COLLAPSED: Final = 0.5  # of its highest level: more than a change of data or a restart of a schedule costs
GROWN: Final = 100.0  # orders of magnitude. Schedules and warm-up change the norm of gradients by less.

BEFORE: Final = 50  # finite values with which a value is compared
# Ranges of these 50 values by which a jump exceeds the largest of them. The range of normal noise is 4.5
# deviations, so that a jump is 15 above the mean.
RANGES: Final = 3.0
FACTOR: Final = 2.0  # of the largest value before: less is no jump to a person who looks at the curve
# Power of the ratio of the largest value before to the median, by which a jump exceeds the largest one. For
# lognormal noise that is six deviations above the median.
_SCATTER: Final = 1.75
# A tail that holds a larger value in one of ten such curves explains a jump. Of 200 curves each of Student's
# t and Pareto's law with two or three degrees of freedom 2-6 % have a jump, 20-33 % without this limit. All
# curves in which one value is three times its level, with noise of 5 %, keep theirs.
_TAIL_CHANCE: Final = 0.1
_TAIL: Final = 0.9  # quantile of the values before one, beyond which a value is in the tail
_TAIL_ROWS: Final = 2000  # values before a jump whose tail is looked at
_NEGLIGIBLE: Final = 1e-3  # of the first values: a loss that has all but reached zero flickers below that
_APART: Final = 10  # values between two that belong to jumps of their own
_MOST_JUMPS: Final = 50  # whose tails are looked at: if none stands out of so many, no later one does
# The exponent of a tail is a mean of logarithms. That of normal noise has the weight of five values, as a
# mean of few is uncertain.
_NORMAL_TAIL, _NORMAL_WEIGHT = 0.27, 5
AGAIN: Final = 3  # jumps at equal distances, which cyclic rates and tasks in turn make
_EQUAL: Final = 0.05  # of a distance: restarts are recorded at the next step only
EARLY: Final = 10  # finite values with which a value is compared at the begin of a curve
EARLY_FACTOR: Final = 10.0  # of the largest of fewer than `BEFORE` values, which show little of the noise
LASTS: Final = 5  # values after a rise for good, at least
# Equal values at the end of a curve: one of float16 repeats a value a few times, and a validation loss that
# is recorded at each step as long as it is the last one.
_ENDED: Final = 50
_ENDED_TIMES: Final = 10
_ZERO: Final = 1e-9  # of the value before: float32 has seven digits, so that less is the noise of zero
_SHIFT: Final = 10  # values before and after a shift: medians of so many do not follow spikes
_MOST_OF_RISE: Final = 0.7  # of a rise, at one step: a curve that diverges takes longer
RUN_UP: Final = 4  # values that rise to a non-finite one, each above all before: noise does that seldom
_RUN_UP_BEFORE: Final = 10  # values before them
RUN_UP_FACTOR: Final = 5.0  # of the largest value before them, by which the last one exceeds it
_MOST: Final = 1 << 20  # values of a curve that are looked at: a tenth of a second


@dataclass(frozen=True, slots=True)
class Levels:
    """Levels of a curve, whose finite values [n] are divided into parts of equal length."""

    steps: Ints  # [n]
    values: Doubles  # [n], finite
    levels: Doubles  # [parts]
    deviations: Doubles  # [parts], standard deviation of the values of a part

    @property
    def noise(self) -> float:
        """Return the noise of the curve: the median over its equal parts of the standard deviation of a
        part's values."""
        return float(np.median(self.deviations))

    @property
    def begin(self) -> float:
        """Return the level of the first part."""
        return float(self.levels[0])

    @property
    def end(self) -> float:
        """Return the level of the last part."""
        return float(self.levels[-1])

    def step_of(self, part: int) -> int:
        """Return the step in the middle of a part."""
        return int(self.steps[(2 * part + 1) * len(self.steps) // (2 * len(self.levels))])

    def part_at(self, step: int) -> int:
        """Return the index in ``levels`` of the part of the curve that holds a step, the last index for a
        later step."""
        row = int(np.searchsorted(self.steps, step))
        return min(row * len(self.levels) // len(self.steps), len(self.levels) - 1)

    def is_certain(self, part: int) -> bool:
        """Return True if the level of a part differs from that of the last part by more than noise
        explains."""
        size = len(self.values) / len(self.levels)
        error = MEDIAN * math.hypot(self.deviations[part], self.deviations[-1]) / math.sqrt(size)
        return abs(float(self.levels[part]) - self.end) > _CERTAIN * error

    def lies_above_end(self, part: int) -> bool:
        """Return True if nine of ten values of a part are above nine of ten of the last part."""
        parts = np.array_split(self.values, len(self.levels))
        return float(np.quantile(parts[part], 1 - _TAIL)) > float(np.quantile(parts[-1], _TAIL))

    def has_grown(self, part: int, least: float) -> bool:
        """Return True if the last part has ``least`` times the level of a part or more, and if the logarithms
        differ by more than noise explains: noise grows with the level. All values must be above zero."""
        if not 0 < least * self.levels[part] <= self.end or self.values.min() <= 0:
            return False
        parts = np.array_split(np.log(self.values), len(self.levels))
        error = MEDIAN * math.hypot(parts[part].std(), parts[-1].std()) / math.sqrt(len(parts[-1]))
        return math.log(self.end / float(self.levels[part])) > _CERTAIN * error


@dataclass(frozen=True, slots=True)
class Change:
    """Change of a level: the level at its extreme, the step there, the last level, and their ratio."""

    extreme: float
    step: int
    end: float
    factor: float


def levels_of(steps: Ints, values: Floats, shares: bool = False) -> Levels | None:
    """Return the levels of [n] points: medians of up to ten equal parts of the finite values. Return None
    with fewer than twenty finite values, or with ones too large to be squared. With `shares`, such as
    accuracies of small batches, levels are means, because there are few different values."""
    finite = np.isfinite(values)
    known = values[finite].astype(np.float64)
    if len(known) < FEWEST:
        return None
    parts = np.array_split(known, min(_PARTS, len(known) // _PART))
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.array([part.std() for part in parts])
        levels = np.array([part.mean() if shares else np.median(part) for part in parts])
    if not np.isfinite([levels, deviations]).all():
        return None  # of numbers beyond the range of squares
    return Levels(steps[finite], known, levels, deviations)


def is_level(levels: Levels) -> bool:
    """Return True if a curve is flat: it neither rises nor falls by more than its noise, and a fall of two
    hundredths of its level would have shown. A curve that falls by more than a hundredth of its level is not
    flat if noise does not explain the fall. Values at the begin that are a hundred times the first are left
    out: what explodes at once and comes back to where it began has not fallen."""
    values, noise = levels.values, levels.noise
    middle = abs(float(np.median(levels.levels)))
    exploded = float(values[:EARLY].max()) >= GROWN * abs(values[0]) > 0
    if exploded and values[0] - levels.end > max(_CERTAIN * noise, _SLIGHT * middle):
        return False
    values = values[EARLY:] if exploded else values
    doubt = _CERTAIN * noise * 2 / math.sqrt(len(values))
    if noise > _MOST_NOISE * middle or (noise > SHOWN_FALL * middle and doubt > SHOWN_FALL * middle):
        return False
    fall = levels.begin - levels.end
    if fall > noise or float(np.ptp(levels.levels)) > _WITHIN * noise:
        return False
    count = len(values) // 2
    while count >= _PART:  # did it fall, in the first half or at once?
        fall = float(values[:count].mean() - values[count:].mean())
        error = noise * math.sqrt(1 / count + 1 / (len(values) - count))
        if fall > max(_FELL * error, _SLIGHT * middle):
            return False
        count //= 2
    return True


def slight_fall(levels: Levels) -> bool:
    """Return True if a flat curve fell after all: its first third lies above its last by 3.5 standard errors,
    and by a third of a hundredth of its level."""
    first, _, last = np.array_split(levels.values[EARLY:], 3)
    error = levels.noise * math.sqrt(1 / len(first) + 1 / len(last))
    least = _SLIGHT / 3 * abs(float(np.median(levels.levels)))
    return float(first.mean() - last.mean()) > max(least, _SLIGHT_CERTAIN * error)


def rise_above_lowest(levels: Levels, least: float = RISEN, undoing: float = UNDONE) -> Change | None:
    """Return the lasting rise of a curve to `least` times its lowest level or more. Return None for a lower
    or brief rise, one within noise or below a tenth of the fall, a level of 0 or less, and a rise like an
    earlier one that came back.

    It lasts for the last quarter of the curve, unless it is tenfold, or rises on over the last levels and
    undoes the share ``undoing`` of the fall.
    """
    part = int(np.argmin(levels.levels))
    low, end = float(levels.levels[part]), levels.end
    last = math.ceil(LASTING * len(levels.levels))
    certain = levels.is_certain(part) or levels.has_grown(part, RISEN_AT_END)
    if low <= 0 or end - low < REGAINED * (levels.begin - low) or not certain:
        return None
    if _swings(levels.levels[: part + 1], least):
        return None
    after = levels.levels[part:]
    rises_on = len(after) > _RISES_ON and bool((np.diff(after) > 0).all())
    undone = end >= least * low and end - low >= undoing * (levels.begin - low)
    lasts = float(levels.levels[-last:].min()) >= least * low or end >= RISEN_AT_END * low
    if not lasts and not (rises_on and undone):
        return None
    return Change(low, levels.step_of(part), end, end / low)


@dataclass(frozen=True, slots=True)
class Shift:
    """Shift of a curve at one step: its row, and the medians of ten values before it and from it on."""

    row: int
    before: float
    after: float


def shift_to_end(levels: Levels, rise: Change) -> Shift | None:
    """Return the point at which a curve shifts from its lowest level to its last, or None if less than most
    of the rise lies within a few values there. It is the point after the lowest level that divides the values
    best into low and high ones."""
    first = levels.part_at(rise.step) * len(levels.values) // len(levels.levels)
    values = levels.values[first:]
    count = len(values)
    if count < 2 * _SHIFT:
        return None
    sums = np.cumsum(np.clip(values, rise.extreme, rise.end))
    before = np.arange(1, count)
    with np.errstate(over="ignore", invalid="ignore"):
        gains = (sums[-1] / count * before - sums[:-1]) ** 2 / (before * (count - before))
    row = _SHIFT + int(np.argmax(gains[_SHIFT - 1 : count - _SHIFT]))
    low, high = float(np.median(values[row - _SHIFT : row])), float(np.median(values[row : row + _SHIFT]))
    most = high - low >= _MOST_OF_RISE * (rise.end - rise.extreme)
    return Shift(first + row, low, high) if most else None


def only_rises(levels: Levels) -> bool:
    """Return True if each level of a curve is above the one before. The last is above the first by more
    than noise and a tenth of it. Return False for a curve that begins at zero, which may have been
    switched on later."""
    if not levels.begin or not (np.diff(levels.levels) > 0).all() or not levels.is_certain(0):
        return False
    return levels.end - levels.begin >= (RISEN_STEADILY - 1) * abs(levels.begin)


def rise_below_zero(levels: Levels) -> Change | None:
    """Return the rise of a curve whose lowest level is zero or below, or None. It undoes half of the fall
    or more and rises on over the last levels. The factor is the undone share of the fall. For such a
    curve, the factors of `rise_above_lowest` have no meaning."""
    part = int(np.argmin(levels.levels))
    low, end, fall = float(levels.levels[part]), levels.end, levels.begin - float(levels.levels[part])
    after = levels.levels[part:]
    if low > 0 or fall <= 0 or end - low < UNDONE * fall or not levels.is_certain(part):
        return None
    if len(after) <= _RISES_ON or not (np.diff(after) > 0).all():
        return None
    return Change(low, levels.step_of(part), end, (end - low) / fall)


@dataclass(frozen=True, slots=True)
class RunUp:
    """Growth up to a non-finite value: the values before it began, its first step, and the last value."""

    high: float  # largest value before
    step: int
    value: float
    last: int  # step of the last value
    of: int = 1  # values whose medians grow


def run_up(steps: Ints, values: Floats) -> RunUp | None:
    """Return the growth of [n] points right before the first non-finite one after finite ones. Return None if
    no point is non-finite after finite ones, or if the points before it do not grow like that.

    The growth is the last four or more values before it, each above all earlier ones. The last is five times
    the largest of the ten or more values before the growth. None of these is negative. If there is no such
    growth, medians of five values are judged so.
    """
    lost = non_finite(values)
    known = values[lost.leading : lost.first].astype(np.float64) if lost and lost.first is not None else ()
    steps = steps[lost.leading : lost.leading + len(known)] if lost else steps
    spare = len(known) % _PART
    medians = np.median(np.reshape(known[spare:], (-1, _PART)), axis=1) if len(known) else ()
    if up := _run_up(steps, np.asarray(known)):
        return up
    up = _run_up(steps[spare + _PART - 1 :: _PART], np.asarray(medians), _PART)
    return up and replace(up, value=float(np.asarray(known)[-1]))


def _run_up(steps: Ints, known: Doubles, of: int = 1) -> RunUp | None:
    if len(known) < _RUN_UP_BEFORE + RUN_UP or known.min() < 0:
        return None
    highest = np.maximum.accumulate(known)
    falls = np.flatnonzero(known[1:] <= highest[:-1])
    first = int(falls[-1]) + 2 if len(falls) else 0
    if first < _RUN_UP_BEFORE or len(known) - first < RUN_UP:
        return None
    high, value = float(highest[first - 1]), float(known[-1])
    if value < RUN_UP_FACTOR * high:
        return None
    return RunUp(high, int(steps[first]), value, int(steps[len(known) - 1]), of)


@dataclass(frozen=True, slots=True)
class NonFinite:
    """Non-finite values of a curve: placeholders before the finite ones or between them, and the others."""

    leading: int  # values before the first finite one, if they may be placeholders
    every: int  # values from one finite value to the next, if all others are placeholders, else 0
    first: int | None  # row of the first other one
    last: int  # row of the last other one
    count: int  # of the others
    lasts: bool  # no value after the first other one is finite


def non_finite(values: Floats) -> NonFinite | None:
    """Return the non-finite values among [n] values, or None if all are finite. Those before the first
    finite value are placeholders if they are one value or up to a tenth of all. All are placeholders if
    finite values follow at equal distances, up to the end."""
    finite = np.isfinite(values)
    rows = np.flatnonzero(~finite)
    known = np.flatnonzero(finite)
    if not len(rows):
        return None
    distances = np.diff(known)
    if len(distances) > 1 and (distances == distances[0]).all():
        every = int(distances[0])
        if every > 1 and known[0] <= every and len(values) - known[-1] <= every:
            return NonFinite(int(known[0]), every, None, 0, 0, False)
    leading = int(known[0]) if len(known) and known[0] <= max(1, len(values) // _PARTS) else 0
    other = rows[rows >= leading]
    if not len(other):
        return NonFinite(leading, 0, None, 0, 0, False)
    first, last = int(other[0]), int(other[-1])
    return NonFinite(leading, 0, first, last, len(other), not finite[first:].any())


def _swings(levels: Doubles, least: float) -> bool:
    """Return True if one of ``levels`` [n] is ``least`` times an earlier one and the level later falls by
    that factor."""
    rises = levels / np.minimum.accumulate(levels) >= least
    return any(bool((levels[at:] * least <= levels[at]).any()) for at in np.flatnonzero(rises))


def collapse(levels: Levels) -> Change | None:
    """Return the fall of a curve that ends at half of its highest level or less, or None. The highest
    level is above zero. The step is the first after which no value is nearer to the highest level than to
    the last one."""
    part = int(np.argmax(levels.levels))
    high, end = float(levels.levels[part]), levels.end
    if high <= 0 or end > COLLAPSED * high or not levels.is_certain(part):
        return None
    above = np.flatnonzero(levels.values > (high + end) / 2)
    row = min(int(above[-1]) + 1, len(levels.steps) - 1)
    return Change(high, int(levels.steps[row]), end, end / high)


def growth(levels: Levels) -> Change | None:
    """Return the growth of a curve that ends a hundred times above its lowest level, or None. Return None
    also if that level is not above zero."""
    part = int(np.argmin(levels.levels))
    low, end = float(levels.levels[part]), levels.end
    if low <= 0 or end < GROWN * low:
        return None
    return Change(low, levels.step_of(part), end, end / low)


@dataclass(frozen=True, slots=True)
class Jump:
    """First jump of a curve, and the range of the values before it."""

    step: int
    value: float
    low: float
    high: float
    before: int  # values before it that were compared
    limit: float  # above which a value is a jump
    again: int = 0  # jumps at equal distances, this one among them
    every: int = 0  # values from one of them to the next
    more: int = 0  # times that values far apart exceed the limit again later
    peak: float = 0.0  # highest value from the jump on, its own included
    peak_step: int = 0
    stays: float = 0.0  # value that nine of ten exceed from the jump on, if that is above all before, else 0


def first_jump(steps: Ints, values: Floats) -> Jump | None:
    """Return the first jump upwards among [n] points, or None.

    A value with fewer than 10 finite values before it is no jump, nor one after equal values, whose noise is
    unknown. With fewer than 50, all of them are above zero, and a jump is tenfold. Later ones also exceed
    what the tail of all values before explains. In 2,000 steps of noise (normal or exponential) none is taken
    for a jump; of lognormal noise with a deviation of up to 1, in 1-2 % of such curves one is. Three or more
    jumps at equal distances are one, with their number and distance.
    """
    finite = np.isfinite(values)
    known, at = values[finite][:_MOST].astype(np.float64), steps[finite][:_MOST]
    for row in range(EARLY, min(BEFORE, len(known))):
        if known[:row].min() > 0 and (jump := _jump_at(row, row, known, at, EARLY_FACTOR)):
            return _with_peak(jump, known[row:], at[row:])
    if len(known) <= BEFORE:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(known[:-1], BEFORE)
    rows = np.flatnonzero(known[BEFORE:] > FACTOR * np.abs(windows.max(axis=1))) + BEFORE
    jumps = {row: jump for row in rows.tolist() if (jump := _jump_at(row, BEFORE, known, at, FACTOR))}
    distances = np.diff([*jumps])
    if len(jumps) >= AGAIN and np.ptp(distances) <= 1 + _EQUAL * distances.min():
        return replace(next(iter(jumps.values())), again=len(jumps), every=int(np.median(distances)))
    least = _NEGLIGIBLE * float(np.median(np.abs(known[:EARLY])))
    for row, jump in islice(jumps.items(), _MOST_JUMPS):
        limit = max(jump.limit, least, _tail_limit(known[max(0, row - _TAIL_ROWS) : row], len(known)))
        if jump.value > limit:
            return _with_peak(replace(jump, limit=limit), known[row:], at[row:])
    return None


def _with_peak(jump: Jump, values: Doubles, steps: Ints) -> Jump:
    """Return a jump with what follows it in ``values`` [n], of which it is the first."""
    above = np.flatnonzero(values > jump.limit)
    highest = int(np.argmax(values))
    again = int(np.count_nonzero(np.diff(above) > _APART))
    most = float(np.quantile(values, 1 - _TAIL)) if len(values) > LASTS else 0.0
    stays = most if most > jump.high else 0.0
    peak, step = float(values[highest]), int(steps[highest])
    return replace(jump, more=again, stays=stays, peak=peak, peak_step=step)


def _tail_limit(before: Doubles, count: int) -> float:
    """Return the value that noise with the tail of the values ``before`` [n] exceeds in one of ten curves of
    ``count`` values.

    Values are compared with the median of 50 before them, in distances of that from their quantile of 0.9.
    Beyond one such distance they are taken to follow a power law, whose exponent is Hill's estimate.
    """
    windows = np.lib.stride_tricks.sliding_window_view(before, BEFORE)
    medians = np.median(windows, axis=1)
    spreads = np.quantile(windows, _TAIL, axis=1) - medians
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excesses = (before[BEFORE:] - medians[:-1]) / spreads[:-1]
        excesses = np.r_[(before[:BEFORE] - medians[0]) / spreads[0], excesses]
    tail = excesses[np.isfinite(excesses) & (excesses > 1)]
    exponent = (np.log(tail).sum() + _NORMAL_WEIGHT * _NORMAL_TAIL) / (len(tail) + _NORMAL_WEIGHT)
    odds = (len(tail) + 1) / len(before) * count / _TAIL_CHANCE
    return float(medians[-1] + spreads[-1] * max(odds, 1.0) ** exponent)


def _jump_at(row: int, count: int, values: Doubles, steps: Ints, factor: float) -> Jump | None:
    """Return the jump of one of [n] values above ``count`` values before it, or None."""
    before = values[row - count : row]
    low, high, median = float(before.min()), float(before.max()), float(np.median(before))
    with np.errstate(over="ignore"):
        limit = max(high + RANGES * np.float64(high - low), np.float64(factor) * abs(high))
        if low > 0:  # norms and losses spread by factors
            limit = max(limit, high * np.float64(high / median) ** _SCATTER)
    if high == low or not values[row] > limit:
        return None
    return Jump(int(steps[row]), float(values[row]), low, high, count, float(limit))


def rise_for_good(steps: Ints, values: Floats) -> Jump | None:
    """Return the first rise among [n] points to values that stay a hundred times above all before, or
    None. The values before are above zero, at least one. Five or more values follow."""
    finite = np.isfinite(values)
    known, at = values[finite].astype(np.float64), steps[finite]
    if len(known) <= LASTS or known[0] <= 0:
        return None
    highest = np.maximum.accumulate(known)[:-1]
    lowest = np.minimum.accumulate(known[::-1])[::-1][1:]
    rows = np.flatnonzero(lowest >= GROWN * highest)
    if not len(rows) or len(known) - (row := int(rows[0]) + 1) < LASTS or known[:row].min() <= 0:
        return None
    low, high = float(known[:row].min()), float(highest[row - 1])
    return Jump(int(at[row]), float(np.median(known[-LASTS:])), low, high, row, GROWN)


def is_constant(values: Floats) -> bool:
    """Return True if [n] values, twenty or more, are all the same number."""
    return len(values) >= FEWEST and bool(np.isfinite(values[0])) and bool((values == values[0]).all())


def constant_end(values: Floats) -> int:
    """Return how many values at the end of [n] are the same number, or 0. They count from fifty on, if
    they are ten times as many as were equal in a row before, and not zero, which a training may reach. Ten
    or more changes of the value come before them."""
    if len(values) < _ENDED + EARLY or not np.isfinite(values[-1]) or not values[-1]:
        return 0
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    count = len(values) - int(changes[-1]) if len(changes) >= EARLY else 0
    longest = int(np.diff(changes, prepend=0).max(initial=0))
    return count if count >= max(_ENDED, _ENDED_TIMES * longest) else 0


def zero_end(values: Floats) -> int:
    """Return how many values at the end of [n] are zero, or less than a billionth of the one before them, or
    0 for fewer than fifty, and if fewer than ten others come before them. What falls slowly is not zero."""
    sizes = np.abs(values)
    highest = np.maximum.accumulate(sizes[::-1])[::-1]
    others = np.flatnonzero(np.isfinite(sizes[:-1]) & (sizes[:-1] * _ZERO > highest[1:]))
    row = int(others[-1]) + 1 if len(others) else 0
    return len(values) - row if row >= EARLY and len(values) - row >= _ENDED else 0
