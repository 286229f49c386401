"""Good and bad runs: the step from which their curves part."""

import numpy as np
import pytest

from mindinsight.server.curves.parting import part
from mindinsight.server.types import Doubles, Ints

STEPS = np.arange(500)


def curve(seed: int, above: float = 0.0, since: int = 0) -> tuple[Ints, Doubles]:
    """A falling loss with 1 % of noise and 0.5 % from run to run, in the end ``above`` times as high."""
    generator = np.random.default_rng(seed)
    course = (0.5 + 2 * np.exp(-STEPS / 100)) * (1 + 0.005 * generator.standard_normal())
    course = course * (1 + above * np.clip((STEPS - since) / 50, 0, 1))
    return STEPS, course * (1 + 0.01 * generator.standard_normal(500))


def test_groups_part_where_the_bad_runs_leave() -> None:
    result = part([curve(1), curve(2), curve(3)], [curve(4, 0.5, 200), curve(5, 0.5, 200)])
    assert result.kind == "parts"
    assert result.onset is not None
    assert abs(result.onset - 200) <= 15
    assert result.shift is not None
    assert 0.4 < result.shift < 0.6
    assert result.spreads is not None
    assert result.spreads > 10


def test_runs_that_differ_by_chance_are_together() -> None:
    kinds = {
        part([curve(seed), curve(seed + 100)], [curve(seed + 200), curve(seed + 300)]).kind
        for seed in range(10)
    }
    assert kinds == {"together"}


def test_single_runs_are_compared_by_their_noise() -> None:
    result = part([curve(1)], [curve(2, 0.3, 300)])
    assert (result.kind, result.spreads) == ("parts", None)
    assert result.onset is not None
    assert abs(result.onset - 300) <= 15


def test_runs_that_never_were_together_are_apart() -> None:
    steps, values = curve(1)
    assert part([(steps, values)], [(steps, 3 * values)]).kind == "apart"


def test_what_is_not_finite_in_a_bad_run_is_named() -> None:
    steps, values = curve(2)
    broken = values.copy()
    broken[250:] = np.nan
    result = part([curve(1)], [(steps, broken)])
    assert (result.kind, result.onset, result.broken, result.broken_runs) == ("not_finite", 250, 250, 1)
    assert result.grows is None
    assert part([(steps, broken)], [(steps, broken)]).kind == "together"


@pytest.mark.parametrize("start", [61, 200, 400])
@pytest.mark.parametrize("rate", [1.05, 1.2, 3.0])
@pytest.mark.parametrize("noise", [0.001, 0.02])
def test_growth_until_nan_begins_where_it_was_planted(start: int, rate: float, noise: float) -> None:
    """Bad runs that learn more slowly differ from their first step, and break much later."""
    good = [curve(seed) for seed in (1, 2)]
    values = (0.5 + 2 * np.exp(-STEPS / 200)) * (1 + noise * np.random.default_rng(5).standard_normal(500))
    values = values * rate ** np.clip(STEPS - start, 0, 300)
    values[values > 50] = np.nan
    result = part(good, [(STEPS, values)])
    assert result.kind == "not_finite"
    assert result.grows is not None
    assert abs(result.grows - start) <= 6
    assert result.broken == np.argmax(np.isnan(values))


def test_a_good_run_that_broke_before_is_no_difference() -> None:
    steps, values = curve(2)
    early, late = values.copy(), values.copy()
    early[50:] = np.nan
    late[250:] = np.nan
    assert part([curve(1), (steps, early)], [(steps, late)]).broken is None


def test_few_steps_say_nothing() -> None:
    steps, values = curve(1)
    assert part([(steps[:9], values[:9])], [(steps[:9], values[:9])]).kind == "too_few"
