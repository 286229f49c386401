"""Onset of the divergence of good and bad runs."""

import numpy as np
import pytest

from mindinsight.server.curves.curve_comparison import compare_groups
from mindinsight.server.curves.curve_statistics import at_steps, difference
from mindinsight.server.types import Doubles, Ints

STEPS = np.arange(500)


def curve(seed: int, above: float = 0.0, since: int = 0) -> tuple[Ints, Doubles]:
    """Return a falling loss with 1 % noise and 0.5 % between runs, which ends higher by the share
    ``above``."""
    generator = np.random.default_rng(seed)
    course = (0.5 + 2 * np.exp(-STEPS / 100)) * (1 + 0.005 * generator.standard_normal())
    course = course * (1 + above * np.clip((STEPS - since) / 50, 0, 1))
    return STEPS, course * (1 + 0.01 * generator.standard_normal(500))


def test_groups_part_where_the_bad_runs_leave() -> None:
    result = compare_groups([curve(1), curve(2), curve(3)], [curve(4, 0.5, 200), curve(5, 0.5, 200)])
    assert result.kind == "parts"
    assert result.onset is not None
    assert abs(result.onset - 200) <= 15
    assert result.shift is not None
    assert 0.4 < result.shift < 0.6
    assert result.spreads is not None
    assert result.spreads > 10


@pytest.mark.parametrize(
    ("first", "size", "single"),
    [(100, np.maximum(STEPS - 99, 0) * 0.1, True), (192, np.where(STEPS >= 192, 1000.0, 0), False)],
)
def test_no_onset_lies_before_a_plain_difference(first: int, size: Doubles, single: bool) -> None:
    for seed in range(10):
        noise = 0.02 * np.random.default_rng(seed).standard_normal((12, 200))
        good, bad = (2 * np.exp(-STEPS[:200] / 40) + 0.1 + rows for rows in (noise[:6], noise[6:]))
        bad[2 if single else slice(None)] += size[:200]
        ours, theirs = ([(STEPS[:200], row) for row in group] for group in (good, bad))
        result = compare_groups(ours, theirs)
        assert result.kind == "parts"
        assert result.onset is not None and first <= result.onset <= first + 3


@pytest.mark.parametrize("runs", [1, 2, 6])
def test_no_onset_lies_where_the_groups_are_equal(runs: int) -> None:
    for seed in range(5):
        good = [curve(10 * seed + number) for number in range(runs)]
        for factor in (1.5, 1 + 0.001 * np.maximum(STEPS - 99, 0), 0.5):
            bad = [(steps, np.where(steps >= 100, factor * values, values)) for steps, values in good]
            assert compare_groups(good, bad).onset in range(100, 104)


def test_runs_that_differ_by_chance_are_together() -> None:
    kinds = {
        compare_groups([curve(seed), curve(seed + 100)], [curve(seed + 200), curve(seed + 300)]).kind
        for seed in range(10)
    }
    assert kinds == {"together"}


def test_single_runs_are_compared_by_their_noise() -> None:
    result = compare_groups([curve(1)], [curve(2, 0.3, 300)])
    assert (result.kind, result.spreads) == ("unproven", None)  # how much runs differ by chance is unknown
    assert result.onset is not None
    assert abs(result.onset - 300) <= 15


def test_runs_that_never_were_together_are_apart() -> None:
    steps, values = curve(1)
    runs = [(steps, factor * values) for factor in (1, 1.01, 0.99)]
    assert compare_groups(runs, [(steps, 3 * values) for steps, values in runs]).kind == "apart"
    assert compare_groups(runs[:1], [(steps, 3 * values)]).kind == "unproven"


def test_a_difference_that_ends_has_an_interval() -> None:
    def bump(seed: int, first: int, last: int) -> tuple[Ints, Doubles]:
        steps, values = curve(seed)
        return steps, values * np.where((steps >= first) & (steps <= last), 1.5, 1.0)

    result = compare_groups(
        [curve(seed) for seed in range(4)], [bump(seed + 9, 150, 320) for seed in range(4)]
    )
    assert (result.kind, result.from_start, result.runs) == ("interval", False, 4)
    assert result.onset is not None and abs(result.onset - 150) <= 5
    assert result.end is not None and abs(result.end - 320) <= 5
    result = compare_groups([curve(seed) for seed in range(4)], [bump(seed + 9, 0, 200) for seed in range(4)])
    assert (result.kind, result.from_start, result.diverges) == ("interval", True, None)
    assert result.end is not None and abs(result.end - 200) <= 5


@pytest.mark.parametrize("lag", [-30, 25, 60, 120])
def test_a_delay_is_told_from_other_differences(lag: int) -> None:
    def late(seed: int, by: int) -> tuple[Ints, Doubles]:
        noise = np.random.default_rng(seed).standard_normal(500)
        return STEPS, 0.5 + 2 * np.exp(-np.maximum(STEPS - by, 0) / 150) + 0.01 * noise

    good = [late(seed, max(-lag, 0)) for seed in range(3)]
    result = compare_groups(good, [late(seed + 9, max(lag, 0)) for seed in range(3)])
    assert result.lag is not None
    assert abs(result.lag - lag) <= 4
    lower = [(steps, values * 0.8) for steps, values in good]
    assert compare_groups(good, lower).lag is None


def test_one_bad_run_of_five_is_counted() -> None:
    bad = [curve(20, 2.0, 250), *(curve(seed) for seed in range(21, 25))]
    result = compare_groups([curve(seed) for seed in range(5)], bad)
    assert (result.kind, result.runs, result.diverges) == ("parts", 1, None)


def test_noise_that_is_louder_in_bad_runs_moves_no_mean() -> None:
    def loud(seed: int) -> tuple[Ints, Doubles]:
        steps, values = curve(seed)
        return steps, values + 0.1 * np.random.default_rng(seed + 50).standard_normal(500)

    kinds = {
        compare_groups([curve(s) for s in range(4)], [loud(seed + s) for s in range(4)]).kind
        for seed in range(5, 60, 9)
    }
    assert kinds == {"together"}


def test_what_is_not_finite_in_a_bad_run_is_named() -> None:
    steps, values = curve(2)
    broken = values.copy()
    broken[250:] = np.nan
    result = compare_groups([curve(1)], [(steps, broken)])
    assert (result.kind, result.onset, result.broken, result.broken_runs) == ("not_finite", 250, 250, 1)
    assert result.grows is None
    assert compare_groups([(steps, broken)], [(steps, broken)]).kind == "together"


@pytest.mark.parametrize("start", [61, 200, 400])
@pytest.mark.parametrize("rate", [1.05, 1.2, 3.0])
@pytest.mark.parametrize("noise", [0.001, 0.02])
def test_growth_until_nan_begins_where_it_was_planted(start: int, rate: float, noise: float) -> None:
    """Check bad runs that learn more slowly from their first step and break much later."""
    good = [curve(seed) for seed in (1, 2)]
    values = (0.5 + 2 * np.exp(-STEPS / 200)) * (1 + noise * np.random.default_rng(5).standard_normal(500))
    values = values * rate ** np.clip(STEPS - start, 0, 300)
    values[values > 50] = np.nan
    result = compare_groups(good, [(STEPS, values)])
    assert result.kind == "not_finite"
    assert result.grows is not None
    assert abs(result.grows - start) <= 6
    assert result.broken == np.argmax(np.isnan(values))


def test_a_good_run_that_broke_before_is_no_difference() -> None:
    steps, values = curve(2)
    early, late = values.copy(), values.copy()
    early[50:] = np.nan
    late[250:] = np.nan
    assert compare_groups([curve(1), (steps, early)], [(steps, late)]).broken is None


def test_a_lasting_break_counts_where_good_runs_had_single_values() -> None:
    steps, values = curve(2)
    once, single, lasting = values.copy(), values.copy(), values.copy()
    once[7] = single[[60, 90]] = np.nan
    lasting[[7]], lasting[310:] = np.nan, np.inf
    result = compare_groups([curve(1), (steps, once)], [(steps, single), (steps, lasting)])
    assert (result.broken, result.broken_runs, result.longer) == (310, 1, True)
    assert compare_groups([(steps, once)], [(steps, single)]).broken is None


def test_the_onset_is_that_of_the_means_where_a_run_breaks_later() -> None:
    """A sentence and a table tell the same step."""
    good = [curve(n) for n in range(4)]
    bad = [(steps, np.where(steps >= 100, values * 1.5, values)) for steps, values in map(curve, range(5, 9))]
    bad[0][1][290:] = np.nan
    result = compare_groups(good, bad)
    assert (result.kind, result.broken) == ("not_finite", 290)
    assert result.onset == result.diverges and abs((result.onset or 0) - 100) <= 15
    alike = [curve(n) for n in range(5, 9)]
    alike[0][1][290:] = np.nan
    assert (compare_groups(good, alike).onset, compare_groups(good, alike).diverges) == (290, None)


def test_few_steps_say_nothing() -> None:
    steps, values = curve(1)
    assert compare_groups([(steps[:9], values[:9])], [(steps[:9], values[:9])]).kind == "too_few"


def test_only_steps_of_both_are_compared() -> None:
    result = difference(
        np.array([1, 2, 4]), np.array([1.0, 2.0, 4.4]), np.array([2, 3, 4]), np.array([2.0, 3.0, 4.0]), 1e-3
    )
    assert result.steps.tolist() == [2, 4]
    np.testing.assert_allclose(result.difference, [0.0, 0.4])
    np.testing.assert_allclose(result.relative, [0.0, 0.1])
    assert result.diverged == 1


def test_the_tolerance_is_a_share_of_the_baseline() -> None:
    steps = np.arange(3)
    base = np.array([1000.0, 1000.0, 1000.0])
    assert difference(steps, base + [0.5, 1.0, 0.0], steps, base, 1e-3).diverged is None
    assert difference(steps, base + [0.5, 1.1, 0.0], steps, base, 1e-3).diverged == 1


def test_equal_non_finite_values_agree_and_others_part() -> None:
    steps = np.arange(4)
    same = difference(
        steps, np.array([np.nan, np.inf, -np.inf, 0.0]), steps, np.array([np.nan, np.inf, -np.inf, 0.0]), 0.0
    )
    assert same.diverged is None
    assert same.relative.tolist() == [0, 0, 0, 0]
    assert difference(steps, np.array([1.0, np.nan, 1, 1]), steps, np.ones(4), 0.5).diverged == 1
    assert difference(steps, np.array([1.0, 1, 1e-9, 1]), steps, np.array([1.0, 1, 0, 1]), 0.5).diverged == 2


def test_nothing_in_common() -> None:
    result = difference(np.array([1]), np.array([1.0]), np.array([2]), np.array([1.0]), 0.1)
    assert result.diverged is None
    assert len(result.steps) == 0


def test_another_scalar_as_axis_is_taken_at_equal_steps() -> None:
    rows, tokens = at_steps(
        np.array([10, 20, 30]), np.array([100.0, 200.0, 300.0]), np.array([5, 10, 25, 30, 40])
    )
    assert rows.tolist() == [1, 3]
    assert tokens.tolist() == [100.0, 300.0]
    assert len(at_steps(np.zeros(0, np.int64), np.zeros(0), np.array([1]))[0]) == 0


@pytest.mark.parametrize("size", [1e-300, 1e300, 1.6e308])
@pytest.mark.filterwarnings("error")
def test_values_of_any_size_are_compared_as_their_shares(size: float) -> None:
    good = [curve(n) for n in range(4)]
    bad = [(steps, np.where(steps >= 200, values * 1.5, values)) for steps, values in map(curve, range(5, 9))]
    top = max(float(values.max()) for _, values in (*good, *bad))
    scaled = [[(steps, values / top * size) for steps, values in group] for group in (good, bad)]
    plain, other = compare_groups(good, bad), compare_groups(scaled[0], scaled[1])
    assert (other.kind, other.onset, other.runs) == (plain.kind, plain.onset, plain.runs) == ("parts", 200, 4)
    assert other.shift == pytest.approx(plain.shift)
    assert compare_groups(good, scaled[1]).kind == "apart"


@pytest.mark.filterwarnings("error")
def test_the_smallest_beside_the_largest_values_give_no_warning() -> None:
    steps, values = curve(1)
    kinds = [values * 1e300, values * 1e-300, values * 0, np.where(steps % 2, 1.7e308, -1.7e308)]
    for good in kinds:
        for bad in kinds:
            result = compare_groups([(steps, good)] * 3, [(steps, bad)] * 2)
            assert result.shift is None or np.isfinite(result.shift)


def test_an_extreme_bad_run_does_not_hide_the_others() -> None:
    random, steps = np.random.default_rng(0), np.arange(400)

    def curve(end: float) -> tuple[Ints, Doubles]:
        return steps, end + (2.3 - end) * np.exp(-steps / 30) + 0.02 * random.standard_normal(400)

    good = [curve(0.22) for _ in range(4)]
    extreme = steps, np.clip(2.3 * np.exp((steps - 60) / 60), 2.3, 1000)
    assert compare_groups(good, [curve(2.32), curve(2.32), curve(2.31), extreme]).runs == 4
    assert compare_groups(good, [curve(0.22), curve(0.22), curve(0.22), extreme]).runs == 1
