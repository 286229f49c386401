"""Situations of alignment and of ranks: pairs of runs, and jobs, whose differences are planted."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.types import Doubles
from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, situation

EQUAL = ["claim.align.equal", "claim.align.equal_common"]
AGREES = ["claim.align.agrees", "claim.align.agrees_common", "claim.align.all_agree"]
LASTING = [
    "claim.align.diverges",
    "claim.align.diverges_within",
    "claim.align.diverges_beyond_noise",
    "claim.align.non_finite_then_diverges",
    "claim.align.diverges_then_non_finite",
    "claim.align.grows",
    "claim.align.first",
    "claim.align.first_after",
]
UNDECIDED = ["claim.health.groups", "claim.health.spread", "claim.health.duplicates"]
FAULTS = [
    *(f"claim.health.{kind}" for kind in ("non_finite", "silent", "differs", "two_differ", "two_differed")),
    "claim.health.spikes",
    *UNDECIDED,
]
ENDS = ["claim.align.ends_better", "claim.align.ends_worse"]
STEPS = np.arange(200)
LOSS = 1 + np.exp(-STEPS / 50)


def written(folder: Path, scalars: Mapping[str, Mapping[int, float]]) -> None:
    """Write a run of scalars, each by step."""
    with SummaryRecord(str(folder)) as record:
        for step in sorted({step for points in scalars.values() for step in points}):
            for tag, points in scalars.items():
                if step in points:
                    record.add_value("scalar", tag, float(points[step]))
            record.record(step)


def pair(folder: Path, baseline: Iterable[float], run: Iterable[float], from_step: int = 0) -> Question:
    """Write two runs of a loss, of which the second starts at ``from_step``; ask how they align."""
    return runs(folder, {"loss": dict(enumerate(baseline))}, {"loss": dict(enumerate(run, start=from_step))})


def runs(
    folder: Path, baseline: Mapping[str, Mapping[int, float]], run: Mapping[str, Mapping[int, float]]
) -> Question:
    written(folder / "a", baseline)
    written(folder / "b", run)
    return Question(
        base=folder,
        request="/v2/answers/alignment?baseline=./a&run=./b",
        page="align?baseline=a&run=b",
    )


def job(folder: Path, ranks: Mapping[int, Sequence[float]]) -> Question:
    """Write one run for each rank with its loss; ask for the health of the job."""
    for rank, values in ranks.items():
        written(folder / "job" / f"rank_{rank}", {"loss": dict(enumerate(values))})
    return Question(base=folder, request="/v2/answers/health?job=./job", page="job?job=job")


def noisy(rank: int, steps: int = 200) -> list[float]:
    values: list[float] = (1 + 0.01 * np.random.default_rng(rank).standard_normal(steps)).tolist()
    return values


@situation(
    makes=["claim.align.differs"], never=["claim.align.noise", "claim.align.apart", *EQUAL, *AGREES, *LASTING]
)
def three_points_of_which_the_last_is_off(folder: Path) -> Question:
    """Three points say that the last is off by a third, and not whether that is noise."""
    return pair(folder, [3.0, 3.0, 3.0], [3.0, 3.0, 4.0])


@situation(makes=["claim.align.differs"], never=["claim.align.noise", *EQUAL, *AGREES])
def rare_spikes_and_one_at_the_end(folder: Path) -> Question:
    """A divergence may just have begun."""
    steps = np.arange(600)
    loss = 0.2 + 3 * np.exp(-steps / 150)
    return pair(folder, loss, loss * np.where(steps % 100 == 99, 1.01, 1))


@situation(makes=["claim.align.noise"], never=["claim.align.differs", *LASTING, *AGREES])
def rare_spikes(folder: Path) -> Question:
    """Single steps are beyond the tolerance, and the runs agree again after each."""
    return pair(folder, LOSS, LOSS * np.where(STEPS % 67 == 5, 1.01, 1))


@situation(
    makes=["claim.align.equal_common"],
    never=["claim.align.equal", *AGREES, *LASTING],
)
def ten_steps_against_a_thousand(folder: Path) -> Question:
    """Nothing is known of 990 steps."""
    return pair(folder, np.linspace(2, 1, 1000).tolist(), np.linspace(2, 1, 1000)[:10].tolist())


@situation(makes=["claim.align.equal"], never=["claim.align.equal_common", *AGREES])
def equal_at_all_steps(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS)


@situation(makes=["claim.align.agrees"], never=["claim.align.agrees_common", "claim.align.noise", *EQUAL])
def rounding_at_all_steps(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS * 1.0001)


@situation(makes=["claim.align.agrees_common"], never=["claim.align.agrees", "claim.align.all_agree", *EQUAL])
def rounding_in_a_run_that_stopped(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS[:100] * 1.0001)


@situation(
    makes=["claim.align.no_common_steps"],
    never=["claim.align.no_common_scalar", "claim.align.no_finite", *EQUAL, *AGREES],
)
def steps_that_do_not_meet(folder: Path) -> Question:
    """Equal values at other steps compare to nothing."""
    return pair(folder, LOSS, LOSS, from_step=1000)


def compared(folder: Path, reference: Iterable[float], run: Iterable[float]) -> Question:
    """Ask the command how a loss compares with that of a reference."""
    runs(folder, {"loss": dict(enumerate(reference))}, {"loss": dict(enumerate(run))})
    return Question(command=["compare", "b", "a", "--summary-base-dir", str(folder), "--json"])


@situation(makes=["claim.align.uncompared_steps"], never=[*EQUAL, *AGREES], exit_code=1)
def losses_that_differ_and_end_at_other_steps(folder: Path) -> Question:
    """Whether they differ at the steps of the longer one is unknown."""
    return compared(folder, LOSS, np.where(STEPS >= 50, LOSS * 1.5, LOSS)[:100])


@situation(makes=["claim.align.equal_common"], never=["claim.align.uncompared_steps"], exit_code=2)
def losses_that_are_equal_and_end_at_other_steps(folder: Path) -> Question:
    """The sentence about the common steps says how many there are."""
    return compared(folder, LOSS, LOSS[:100])


@situation(makes=["claim.align.diverges"], never=["claim.align.uncompared_steps"], exit_code=1)
def losses_that_differ_at_the_same_steps(folder: Path) -> Question:
    return compared(folder, LOSS, np.where(STEPS >= 50, LOSS * 1.5, LOSS))


@situation(makes=["claim.align.no_common_scalar"], never=["claim.align.no_common_steps", *EQUAL, *AGREES])
def scalars_of_other_names(folder: Path) -> Question:
    return runs(folder, {"loss": dict(enumerate(LOSS))}, {"accuracy": dict(enumerate(LOSS))})


@situation(
    makes=["claim.align.no_finite"], never=["claim.align.equal", "claim.align.non_finite", *AGREES, *LASTING]
)
def nan_at_every_step_of_both(folder: Path) -> Question:
    """NaN equals NaN in no sense that a training cares for."""
    return pair(folder, [math.nan] * 20, [math.nan] * 20)


@situation(
    makes=["claim.align.non_finite"],
    never=["claim.align.no_finite", "claim.align.first", *EQUAL],
    exit_code=1,
)
def nan_at_a_step_of_one_run(folder: Path) -> Question:
    """It passes: the curves do not diverge for good."""
    return pair(folder, LOSS, [*LOSS[:120], math.nan, *LOSS[121:]])


@situation(makes=["claim.align.non_finite", "claim.align.first"], never=["claim.align.no_finite", *EQUAL])
def nan_from_a_step_of_one_run_on(folder: Path) -> Question:
    return pair(folder, LOSS, [*LOSS[:120], *[math.nan] * (len(LOSS) - 120)])


@situation(makes=["claim.align.equal"], never=["claim.align.non_finite", "claim.align.first"])
def nan_at_the_same_step_of_both(folder: Path) -> Question:
    broken = [*LOSS[:120], math.nan, *LOSS[121:]]
    return pair(folder, broken, broken)


@situation(
    makes=["claim.align.diverges", "claim.align.first"],
    never=[
        "claim.align.diverges_beyond_noise",
        "claim.align.noise",
        "claim.align.apart",
        "claim.align.first_after",
    ],
)
def ramp_from_the_middle(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS * (1 + 1e-3 * np.maximum(STEPS - 100, 0)))


@situation(
    makes=["claim.align.diverges_beyond_noise", "claim.align.first_after"],
    never=["claim.align.diverges", "claim.align.noise", "claim.align.first"],
)
def step_out_of_a_wide_noise(folder: Path) -> Question:
    """The tolerance is exceeded long before the divergence begins."""
    noise = 0.01 * np.random.default_rng(0).standard_normal(len(STEPS))
    return pair(folder, LOSS, LOSS * (1 + noise + 0.2 * (STEPS >= 120)))


@situation(
    makes=["claim.align.differs"],
    never=["claim.align.some_steps", "claim.align.noise", *EQUAL, *AGREES, *LASTING],
)
def only_the_last_of_a_thousand_points_is_off(folder: Path) -> Question:
    """One point is no divergence, and whether one begins with it is unknown."""
    return pair(folder, [1.0] * 1000, [*[1.0] * 999, 2.0])


@situation(
    makes=["claim.align.some_steps"],
    never=["claim.align.differs", "claim.align.apart", *EQUAL, *AGREES, *LASTING],
)
def fifty_steps_off_and_equal_again(folder: Path) -> Question:
    """Equal for the last 550 steps: nothing diverged for good."""
    steps = np.arange(1000)
    loss = 0.5 + 2 * np.exp(-steps / 300)
    return pair(folder, loss, loss * np.where((steps >= 400) & (steps < 450), 1.3, 1))


@situation(
    makes=["claim.align.diverges", "claim.align.first"], never=["claim.align.some_steps", "claim.align.noise"]
)
def off_for_the_last_fifty_steps(folder: Path) -> Question:
    steps = np.arange(1000)
    loss = 0.5 + 2 * np.exp(-steps / 300)
    return pair(folder, loss, loss * np.where(steps >= 950, 1.3, 1))


@situation(
    makes=["claim.align.scaled"],
    never=["claim.align.apart", "claim.align.noise", "claim.align.differs", *AGREES, *LASTING],
)
def one_percent_off_from_the_start(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS * 1.01)


@situation(makes=["claim.align.scaled"], never=["claim.align.apart", *EQUAL, *AGREES, *LASTING])
def learning_rates_that_warm_up_to_other_values(folder: Path) -> Question:
    """They are 0 at the first step, and in the same ratio at all others."""
    warm = np.minimum(STEPS / 20, 1)
    return pair(folder, 0.003315 * warm, 1.19e-5 * warm)


@situation(
    makes=["claim.align.apart"],
    never=["claim.align.scaled", "claim.align.noise", "claim.align.differs", *AGREES, *LASTING],
)
def about_one_percent_off_from_the_start(folder: Path) -> Question:
    """The ratio varies by a fifth of the difference."""
    return pair(folder, LOSS, LOSS * (1.01 + 0.002 * np.random.default_rng(3).standard_normal(len(LOSS))))


@situation(
    makes=["claim.align.grows", "claim.align.first_after"],
    never=["claim.align.apart", "claim.align.scaled", "claim.align.diverges_beyond_noise", *EQUAL, *AGREES],
)
def loss_that_falls_in_one_run_only(folder: Path) -> Question:
    """They differ from the first step on, by ever more, and there is no step at which that begins."""
    chance = np.random.default_rng(11)
    fallen, high = 0.2 + 2.1 * np.exp(-STEPS / 40), 1.7 + 0.6 * np.exp(-STEPS / 40)
    fallen, high = (curve + 0.02 * chance.standard_normal(len(STEPS)) for curve in (fallen, high))
    return pair(folder, fallen, high)


@situation(
    makes=["claim.align.apart"],
    never=["claim.align.diverges_beyond_noise", "claim.align.grows", *EQUAL, *AGREES],
)
def twice_as_far_off_after_two_steps(folder: Path) -> Question:
    """Two steps do not say what difference was usual before."""
    noise = 0.01 * np.random.default_rng(8).standard_normal(len(STEPS))
    return pair(folder, LOSS, LOSS * (1 + noise + np.where(STEPS >= 2, 0.4, 0.2)))


@situation(
    makes=["claim.align.diverges_then_non_finite"],
    never=["claim.align.non_finite", "claim.align.non_finite_then_diverges", *EQUAL, *AGREES],
)
def divergence_at_80_and_nan_at_150(folder: Path) -> Question:
    values = LOSS * np.where(STEPS >= 80, 1.4, 1)
    values[150] = math.nan
    return pair(folder, LOSS, values)


@situation(makes=["claim.align.apart"], never=["claim.align.agrees", *EQUAL])
def baseline_of_zero(folder: Path) -> Question:
    """A share of 0 is no number: the difference is 0.5, and not 1e9 thousandths."""
    question = pair(folder, [0.0] * 20, [0.5] * 20)
    return Question(base=question.base, request=question.request)


@situation(makes=["claim.align.non_finite"], never=["claim.align.no_finite", *EQUAL, *AGREES])
def every_value_of_one_run_is_nan(folder: Path) -> Question:
    """There is no difference that could be usual or largest."""
    return pair(folder, LOSS, [math.nan] * len(LOSS))


@situation(makes=["claim.align.some_differ", "claim.align.undecided"], never=["claim.align.all_agree"])
def one_scalar_differs_and_one_stopped(folder: Path) -> Question:
    line = dict(enumerate(LOSS))
    baseline = {"loss": line, "norm": line}
    return runs(folder, baseline, {"loss": dict(enumerate(LOSS * 1.01)), "norm": dict(enumerate(LOSS[:9]))})


@situation(makes=["claim.align.all_agree"], never=["claim.align.some_differ", "claim.align.undecided"])
def two_scalars_agree(folder: Path) -> Question:
    line = dict(enumerate(LOSS))
    return runs(folder, {"loss": line, "norm": line}, {"loss": line, "norm": dict(enumerate(LOSS * 1.0001))})


@situation(makes=["claim.align.diverges_within"], never=["claim.align.diverges", *EQUAL, *AGREES])
def difference_that_takes_100_steps_to_pass_the_tolerance(folder: Path) -> Question:
    """It begins at 60, and is beyond the tolerance only from 161 on."""
    return pair(folder, LOSS, LOSS * (1 + 1e-5 * np.maximum(STEPS - 60, 0)))


def dip(folder: Path, factor: float) -> Question:
    """Write a run that differs at one step, at which the baseline is half as large as nearby."""
    values = np.where(STEPS == 100, LOSS / 2, LOSS)
    return pair(folder, values, np.where(STEPS == 100, factor * values, values))


@situation(makes=["claim.align.noise"], never=[*EQUAL, *AGREES, *LASTING])
def difference_of_a_low_value_just_beyond_the_tolerance(folder: Path) -> Question:
    """It is 1.5 thousandths of the value, and less than one of those nearby."""
    return dip(folder, 1.0015)


@situation(makes=["claim.align.agrees"], never=["claim.align.noise", *EQUAL, *LASTING])
def difference_of_a_low_value_just_within_the_tolerance(folder: Path) -> Question:
    return dip(folder, 1.0009)


@situation(
    makes=["claim.align.diverges", "claim.align.first"],
    never=["claim.align.diverges_beyond_noise", "claim.align.diverges_within", *EQUAL],
)
def random_walk_after_thirty_equal_steps(folder: Path) -> Question:
    """It differs at step 30, where no difference was usual before."""
    walk = np.cumsum(0.01 * np.random.default_rng(4).standard_normal(200)) * (STEPS >= 30)
    return pair(folder, LOSS, LOSS * np.exp(walk))


@situation(makes=["claim.align.diverges"], never=["claim.align.diverges_within", *EQUAL, *AGREES])
def difference_that_passes_the_tolerance_at_once(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS * np.where(STEPS >= 60, 1.02, 1))


@situation(makes=["claim.align.non_finite_then_diverges"], never=["claim.align.non_finite", *EQUAL, *AGREES])
def nan_at_80_and_a_divergence_at_130(folder: Path) -> Question:
    values = LOSS * np.where(STEPS >= 130, 1.4, 1)
    values[80] = math.nan
    return pair(folder, LOSS, values)


@situation(
    makes=["claim.align.non_finite"],
    never=[
        "claim.align.non_finite_then_diverges",
        "claim.align.diverges_then_non_finite",
        *EQUAL,
        *AGREES,
    ],
)
def nan_at_80_and_nothing_else(folder: Path) -> Question:
    values = LOSS.copy()
    values[80] = math.nan
    return pair(folder, LOSS, values)


def independent(folder: Path, mean: np.ndarray, noise: np.ndarray) -> Question:
    """Write two runs of ten scalars with the same means, and noise of their own."""
    chance = np.random.default_rng(5)
    both = [
        {f"loss_{n}": dict(enumerate(mean + noise * chance.standard_normal(len(mean)))) for n in range(10)}
        for _ in range(2)
    ]
    return runs(folder, *both)


@situation(makes=["claim.align.apart"], never=[*LASTING, *EQUAL, *AGREES])
def noise_of_two_losses_that_fall_to_a_sixth(folder: Path) -> Question:
    """The same noise is a larger share of a lower loss."""
    steps = np.arange(360)
    return independent(folder, 2.5 * np.exp(-steps / 120) + 0.5, np.full(360, 0.006))


@situation(makes=["claim.align.apart"], never=[*LASTING, *EQUAL, *AGREES])
def noise_of_two_losses_that_grows_three_times(folder: Path) -> Question:
    steps = np.arange(360)
    return independent(folder, np.ones(360), np.where(steps >= 140, 0.015, 0.005))


@situation(
    makes=["claim.align.first_after"], never=["claim.align.noise", "claim.align.first", *EQUAL, *AGREES]
)
def losses_that_fall_to_a_sixth_and_differ_from_step_200(folder: Path) -> Question:
    """Their noise does not explain it."""
    question = noise_of_two_losses_that_fall_to_a_sixth(folder)
    chance, steps = np.random.default_rng(9), np.arange(360)
    values = 2.5 * np.exp(-steps / 120) + 0.5 + 0.006 * chance.standard_normal(360) + 0.03 * (steps >= 200)
    written(folder / "b", {"loss_0": dict(enumerate(values))})
    return question


@situation(
    makes=["claim.health.missing_ranks"],
    never=["claim.health.alike", "claim.health.left_out_ranks", *FAULTS],
)
def ranks_0_1_and_5(folder: Path) -> Question:
    """Nothing is known of ranks 2, 3 and 4."""
    return job(folder, {rank: noisy(rank) for rank in (0, 1, 5)})


@situation(makes=["claim.health.some_of_each"], never=["claim.health.missing_ranks", "claim.health.alike"])
def one_rank_of_each_node_of_eight(folder: Path) -> Question:
    """Nothing says that ranks 1 to 7 should have recorded anything."""
    return job(folder, {rank: noisy(rank) for rank in (0, 8, 16)})


@situation(makes=["claim.health.missing_ranks"], never=["claim.health.some_of_each", "claim.health.alike"])
def ranks_of_two_nodes_of_eight_without_two(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank) for rank in range(16) if rank % 8 != 3})


@situation(
    makes=["claim.health.alike"],
    never=[
        "claim.health.missing_ranks",
        "claim.health.too_few",
        "claim.health.nothing_compared",
        *FAULTS,
    ],
)
def four_ranks_alike(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank) for rank in range(4)})


@situation(makes=["claim.health.too_few"], never=["claim.health.alike", *FAULTS])
def ranks_of_three_points(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank, 3) for rank in range(4)})


@situation(makes=["claim.health.nothing_compared"], never=["claim.health.alike", "claim.health.too_few"])
def ranks_without_a_common_scalar(folder: Path) -> Question:
    question = job(folder, {0: noisy(0)})
    written(folder / "job" / "rank_1", {"norm": dict(enumerate(noisy(1)))})
    return question


@situation(
    makes=["claim.health.non_finite"],
    never=["claim.health.alike", "claim.health.missing_ranks", "claim.health.non_finite_first"],
)
def rank_with_a_nan(folder: Path) -> Question:
    ranks = {rank: noisy(rank) for rank in range(4)}
    ranks[2][30] = math.nan
    return job(folder, ranks)


@situation(makes=["claim.health.silent"], never=["claim.health.alike", "claim.health.differs"])
def rank_that_stopped(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank, 100 if rank == 1 else 200) for rank in range(4)})


@situation(makes=["claim.health.two_differ"], never=["claim.health.alike", "claim.health.differs"])
def two_ranks_of_which_one_has_another_level(folder: Path) -> Question:
    """Which of the two is wrong is unknown, even where only one left its course."""
    high = np.array(noisy(1))
    high[100:] *= 1.5
    return job(folder, {0: noisy(0), 1: high.tolist()})


@situation(makes=["claim.health.differs"], never=["claim.health.spikes", "claim.health.two_differ"])
def rank_with_a_lasting_ramp(folder: Path) -> Question:
    """One ramp of one rank: its beginning is no spike."""
    ranks = {rank: np.array(noisy(rank)) for rank in range(4)}
    ranks[3][120:] += np.minimum(0.02 * np.arange(80), 1)
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(
    makes=["claim.health.differs"],
    never=["claim.health.alike", "claim.health.non_finite", "claim.health.two_differ"],
)
def rank_with_another_level(folder: Path) -> Question:
    ranks = {rank: np.array(noisy(rank)) for rank in range(4)}
    ranks[3][100:] *= 1.5
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.health.groups"], never=["claim.health.alike", "claim.health.spread"])
def three_of_six_ranks_are_slower_by_a_third(folder: Path) -> Question:
    """No majority says which of them are slow."""
    ranks = {rank: np.array(noisy(rank)) * (1.33 if rank in (1, 2, 5) else 1) for rank in range(6)}
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.health.differs"], never=["claim.health.alike", *UNDECIDED])
def two_of_six_ranks_are_slower_by_a_third(folder: Path) -> Question:
    ranks = {rank: np.array(noisy(rank)) * (1.33 if rank in (1, 5) else 1) for rank in range(6)}
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.explain.failed_ranks", "claim.health.alike"], never=["claim.health.differs"])
def a_rank_that_ended_with_an_exception(folder: Path) -> Question:
    """Its curve is like the others up to there, which is not all there is to say."""
    question = job(folder, {rank: noisy(rank) for rank in range(3)})
    with suppress(ValueError), SummaryRecord(str(folder / "job" / "rank_3")) as record:
        for step, value in enumerate(noisy(3)):
            record.add_value("scalar", "loss", value)
            record.record(step)
        raise ValueError("shape (2, 3) does not fit")
    return question


def with_a_batch(rank: int, first: int, high: float = 500.0) -> list[float]:
    """Return a loss of 24 steps that jumps at step ``first``, and is noisy from there on."""
    values = np.array(noisy(rank, 24))
    values[first:] = high * np.exp(
        -0.3 * np.arange(24 - first) + np.random.default_rng(rank).normal(size=24 - first)
    )
    values[first] = high
    return [float(value) for value in values]


@situation(
    makes=["claim.health.jump_first"],
    never=["claim.health.differs", "claim.health.spikes", "claim.health.alike"],
)
def a_batch_of_one_rank_that_breaks_all(folder: Path) -> Question:
    return job(folder, {rank: with_a_batch(rank, 12 if rank == 1 else 13) for rank in range(3)})


@situation(never=["claim.health.jump_first", "claim.health.differs", "claim.health.spikes"])
def all_ranks_jump_at_one_step(folder: Path) -> Question:
    return job(folder, {rank: with_a_batch(rank, 12) for rank in range(3)})


@situation(makes=["claim.health.spikes"], never=["claim.health.jump_first", "claim.health.alike"])
def a_rank_with_a_spike_that_no_other_follows(folder: Path) -> Question:
    ranks = {rank: noisy(rank) for rank in range(4)}
    ranks[2][90] = 40.0
    return job(folder, ranks)


PACES = ["claim.health.slower", "claim.health.was_slower", "claim.health.pace_unknown"]


def paced(folder: Path, seconds: Mapping[int, np.ndarray], scalar: str = "", rate: bool = False) -> Question:
    """Write one run for each rank with a loss, recorded at the end of each of its steps, and, if it has a
    name, the scalar of the seconds for a step or of the steps for a second."""
    for rank, times in seconds.items():
        events = [Event(wall_time=1.7e9, version="MindSpore.Event:1")]
        for step, wall in enumerate(1.7e9 + np.cumsum(times)):
            event = Event(wall_time=wall, step=step)
            event.summary.value.add(tag="loss", scalar_value=noisy(rank)[step])
            if scalar:
                event.summary.value.add(tag=scalar, scalar_value=(1 / times if rate else times)[step])
            events.append(event)
        file = folder / "job" / f"rank_{rank}" / "x.out.events.summary.1700000000.host_MS"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"".join(encode_record(event.SerializeToString()) for event in events))
    return Question(base=folder, request="/v2/answers/health?job=./job", page="job?job=job")


def times(rank: int, seconds: float = 0.2) -> np.ndarray:
    """Return the seconds of 200 steps, of which every 50th takes three times as long."""
    values = seconds * np.exp(0.05 * np.random.default_rng(rank).standard_normal(len(STEPS)))
    return np.asarray(values * np.where(STEPS % 50 == 49, 3, 1))


@situation(makes=["claim.health.slower"], never=["claim.health.differs", "claim.health.alike", *PACES[1:]])
def steps_of_a_rank_take_60_percent_longer_by_a_scalar(folder: Path) -> Question:
    return paced(folder, {rank: times(rank, 0.32 if rank == 3 else 0.2) for rank in range(4)}, "step_time")


@situation(makes=["claim.health.slower"], never=["claim.health.differs", "claim.health.alike", *PACES[1:]])
def a_rank_has_a_lower_throughput_from_step_100_on(folder: Path) -> Question:
    slow = np.where(STEPS >= 100, 1.6, 1.0)
    ranks = {rank: times(rank) * (slow if rank == 3 else 1) for rank in range(4)}
    return paced(folder, ranks, "throughput", rate=True)


@situation(makes=["claim.health.regular_spikes"], never=["claim.health.spikes", "claim.health.alike", *PACES])
def a_rank_that_writes_checkpoints(folder: Path) -> Question:
    saves = np.where(STEPS % 40 == 39, 9.0, 1.0)
    ranks = {rank: times(rank) * (saves if rank == 0 else 1) for rank in range(4)}
    return paced(folder, ranks, "step_time")


def with_one_slow_step(folder: Path, factor: float) -> Question:
    slow = np.where(STEPS == 70, factor, 1.0)
    ranks = {rank: times(rank) * (slow if rank == 2 else 1) for rank in range(4)}
    return paced(folder, ranks, "step_time")


@situation(makes=["claim.health.spikes"], never=["claim.health.alike"])
def a_rank_that_hangs_for_one_step(folder: Path) -> Question:
    return with_one_slow_step(folder, 40.0)


@situation(never=["claim.health.spikes"])
def a_rank_of_which_one_step_takes_three_times_as_long(folder: Path) -> Question:
    return with_one_slow_step(folder, 3.0)


@situation(makes=["claim.health.spikes"], never=["claim.health.regular_spikes", "claim.health.alike"])
def a_rank_with_slow_steps_now_and_then(folder: Path) -> Question:
    slow = np.where(np.isin(STEPS, [17, 60, 71, 140]), 9.0, 1.0)
    ranks = {rank: times(rank) * (slow if rank == 2 else 1) for rank in range(4)}
    return paced(folder, ranks, "step_time")


@situation(makes=["claim.health.slower"], never=["claim.health.differs", *PACES[1:]])
def steps_of_a_rank_take_longer_by_the_times_of_recording(folder: Path) -> Question:
    return paced(folder, {rank: times(rank, 0.32 if rank == 3 else 0.2) for rank in range(4)})


@situation(makes=["claim.health.was_slower"], never=["claim.health.slower", "claim.health.pace_unknown"])
def steps_of_a_rank_took_longer_for_a_while(folder: Path) -> Question:
    slow = np.where((STEPS >= 60) & (STEPS < 140), 1.6, 1.0)
    return paced(folder, {rank: times(rank) * (slow if rank == 3 else 1) for rank in range(4)}, "step_time")


@situation(makes=["claim.health.differs"], never=PACES)
def steps_of_a_rank_are_faster(folder: Path) -> Question:
    return paced(folder, {rank: times(rank, 0.1 if rank == 3 else 0.2) for rank in range(4)}, "step_time")


@situation(makes=["claim.health.alike"], never=PACES)
def times_of_steps_are_equal_by_a_scalar(folder: Path) -> Question:
    return paced(folder, {rank: times(rank) for rank in range(4)}, "step_time")


@situation(makes=["claim.health.alike", "claim.health.pace_unknown"], never=PACES[:2])
def ranks_wait_for_each_other_and_record_no_times(folder: Path) -> Question:
    """One of them may be slow: the others record their steps when it has done its own."""
    return paced(folder, {rank: times(0) + 0.001 * times(rank) for rank in range(4)})


@situation(makes=["claim.health.alike"], never=PACES)
def steps_of_a_millisecond_are_recorded_when_the_writer_is_ready(folder: Path) -> Question:
    return paced(folder, {rank: times(rank, 0.002 if rank == 3 else 0.001) for rank in range(4)})


@situation(makes=["claim.health.spread"], never=["claim.health.alike", "claim.health.groups"])
def each_of_seven_ranks_has_its_level(folder: Path) -> Question:
    ranks = {rank: np.array(noisy(rank)) * (1 + 0.12 * rank) for rank in range(7)}
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.health.duplicates"], never=["claim.health.alike", "claim.health.missing_ranks"])
def copy_of_a_rank(folder: Path) -> Question:
    question = job(folder, {rank: noisy(rank) for rank in range(3)})
    written(folder / "job" / "rank_02", {"loss": dict(enumerate(noisy(2)))})
    return question


@situation(makes=["claim.health.two_differed"], never=["claim.health.alike", "claim.health.two_differ"])
def two_ranks_that_differ_until_step_120(folder: Path) -> Question:
    high = np.array(noisy(1))
    high[20:120] *= 1.4
    return job(folder, {0: noisy(0), 1: high.tolist()})


@situation(makes=["claim.health.two_differ"], never=["claim.health.alike", "claim.health.two_differed"])
def two_ranks_whose_curves_cross(folder: Path) -> Question:
    """They are equal at one step, and differ before and after it."""
    falling = 2 * np.exp(-STEPS / 50) + 0.4 + 0.005 * np.array(noisy(3))
    return job(folder, {0: falling.tolist(), 1: (0.8 * np.array(noisy(1))).tolist()})


@situation(makes=["claim.health.spikes"], never=["claim.health.alike", "claim.health.differs"])
def rank_with_spikes(folder: Path) -> Question:
    ranks = {rank: np.array(noisy(rank)) for rank in range(4)}
    ranks[3][[40, 140]] *= 3
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.health.non_finite", "claim.health.non_finite_first"], never=["claim.health.alike"])
def every_rank_is_nan_a_step_after_rank_2(folder: Path) -> Question:
    """As where the gradients are summed over the ranks."""
    ranks = {rank: [*noisy(rank, 100), *[math.nan] * 100] for rank in range(4)}
    ranks[2][99] = math.nan
    return job(folder, ranks)


@situation(
    makes=["claim.health.non_finite"],
    never=["claim.health.alike", "claim.health.non_finite_first", *UNDECIDED],
)
def every_rank_is_nan_from_step_100_on(folder: Path) -> Question:
    """That they are alike in it is no health."""
    return job(folder, {rank: [*noisy(rank, 100), *[math.nan] * 100] for rank in range(4)})


@situation(makes=["claim.health.non_finite"], never=["claim.health.alike"])
def every_rank_but_one_is_nan_from_step_100_on(folder: Path) -> Question:
    ranks = {rank: [*noisy(rank, 100), *[math.nan] * 100] for rank in range(7)}
    return job(folder, {**ranks, 7: noisy(7)})


@situation(makes=["claim.health.differs"], never=["claim.health.spikes", "claim.health.alike"])
def rank_that_is_slower_in_the_last_five_steps(folder: Path) -> Question:
    """It is still slow at the end: that is no spike."""
    ranks = {rank: np.array(noisy(rank)) for rank in range(8)}
    ranks[7][195:] *= 3
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.health.alike"], never=["claim.health.missing_ranks", *UNDECIDED])
def ranks_that_are_counted_from_one(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank) for rank in range(1, 5)})


@situation(makes=["claim.health.alike"], never=["claim.health.groups", "claim.health.spread"])
def rank_that_is_noisier_around_the_same_mean(folder: Path) -> Question:
    chance = np.random.default_rng(6)
    ranks = {rank: 0.44 + 0.03 * chance.standard_normal(300) for rank in range(8)}
    ranks[6] = 0.45 + 0.104 * chance.standard_normal(300)
    return job(folder, {rank: values.tolist() for rank, values in ranks.items()})


@situation(makes=["claim.health.left_out_ranks"], never=["claim.health.missing_ranks", "claim.health.alike"])
def ranks_beyond_the_limit_of_runs(folder: Path) -> Question:
    """Ranks 0 and 1 are the oldest of six runs, of which four are shown: they are there."""
    question = job(folder, {rank: noisy(rank) for rank in range(6)})
    for number, path in enumerate(sorted((folder / "job").glob("*/*"))):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return Question(base=folder, request=question.request, settings={"max_runs": 4})


@situation(makes=["claim.align.diverges"], never=["claim.align.apart", *EQUAL])
def equal_for_forty_steps_after_a_common_nan(folder: Path) -> Question:
    """Both are NaN in the first twenty steps, and equal to the bit up to step 59."""
    values = np.array(noisy(1, 400))
    values[:20] = math.nan
    return pair(folder, values, values + 0.3 * (np.arange(400) >= 60))


@situation(makes=["claim.align.diverges"], never=["claim.align.apart", *EQUAL])
def equal_in_the_first_five_steps_only(folder: Path) -> Question:
    values = np.array(noisy(1, 400))
    return pair(folder, values, values + 0.3 * (np.arange(400) >= 5))


@situation(
    makes=["claim.align.diverges_beyond_noise"], never=["claim.align.differs", "claim.align.apart", *EQUAL]
)
def equal_but_for_a_while_and_for_the_last_100_steps(folder: Path) -> Question:
    """No more steps are needed to know that it differs at the end."""
    values, steps = np.array(noisy(1, 400)), np.arange(400)
    return pair(folder, values, values + 0.3 * (((steps >= 100) & (steps < 150)) | (steps >= 300)))


@situation(makes=["claim.align.only_baseline"], never=["claim.align.only_run", "claim.align.all_agree"])
def validation_loss_that_only_the_baseline_has(folder: Path) -> Question:
    loss = dict(enumerate(noisy(1)))
    return runs(folder, {"train/loss": loss, "val/loss": loss}, {"loss": loss})


@situation(makes=["claim.align.only_run"], never=["claim.align.only_baseline", "claim.align.undecided"])
def norm_that_only_the_run_has(folder: Path) -> Question:
    loss = dict(enumerate(noisy(1)))
    return runs(folder, {"loss": loss}, {"loss": loss, "norm": loss})


@situation(makes=["claim.health.other_steps"], never=["claim.health.alike", *FAULTS])
def rank_that_goes_on_when_the_others_have_ended(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank, 300 if rank == 2 else 200) for rank in range(6)})


@situation(makes=["claim.health.alike"], never=["claim.health.other_steps", *FAULTS])
def rank_that_is_five_steps_ahead(folder: Path) -> Question:
    return job(folder, {rank: noisy(rank, 205 if rank == 2 else 200) for rank in range(6)})


def of_seeds(folder: Path, **others: float) -> Question:
    """Write two runs of a loss, an accuracy and another seed, and ``others`` settings of the second."""
    for number, name in enumerate("ab"):
        with SummaryRecord(str(folder / name)) as record:
            settings = {
                "lr": 0.1,
                "seed": number,
                "output_dir": f"/runs/{name}",
                **(others if number else {}),
            }
            record.add_value("custom_lineage_data", "user", settings)
            for step in range(40):
                record.add_value("scalar", "loss", 1.0 + 0.5 * number)
                record.add_value("scalar", "accuracy", 0.5 + 0.1 * number)
                record.add_value("scalar", "norm", 1.0 + number)
                record.record(step)
    return Question(
        base=folder,
        request="/v2/answers/alignment?baseline=./a&run=./b",
        page="align?baseline=a&run=b",
    )


@situation(
    makes=["claim.align.other_seed", "claim.align.ends_better", "claim.align.ends_worse"],
    never=["claim.align.all_agree"],
)
def two_seeds_of_which_one_has_the_better_accuracy_and_the_worse_loss(folder: Path) -> Question:
    return of_seeds(folder)


@situation(makes=["claim.align.ends_worse"], never=["claim.align.other_seed"])
def two_seeds_of_another_rate(folder: Path) -> Question:
    return of_seeds(folder, lr=0.2)


@situation(never=["claim.align.ends_better", "claim.align.ends_worse", "claim.align.other_seed"])
def a_loss_that_agrees_again_at_the_end(folder: Path) -> Question:
    return pair(folder, LOSS, LOSS * np.where((STEPS > 40) & (STEPS < 80), 1.2, 1.0))


FALLING = 0.3 + 2.2 * np.exp(-np.arange(400) / 80) * (1 + 0.03 * np.sin(7 * np.arange(400)))


@situation(makes=["claim.align.recounted", "claim.align.ends_unknown"], never=ENDS)
def run_that_counts_epochs_of_twenty_steps(folder: Path) -> Question:
    """The values are equal; only the numbers of the steps differ."""
    return pair(folder, FALLING, FALLING[::20])


@situation(makes=["claim.align.recounted"], never=["claim.align.ends_unknown"])
def run_whose_steps_begin_with_one(folder: Path) -> Question:
    return pair(folder, FALLING, FALLING, 1)


@situation(makes=["claim.align.ends_unknown"], never=["claim.align.recounted", *ENDS])
def other_loss_every_twentieth_step(folder: Path) -> Question:
    """It is the loss of no step of the baseline."""
    return pair(folder, FALLING, FALLING[::20] * 1.02)


@situation(makes=["claim.align.ends_better"], never=["claim.align.recounted", "claim.align.ends_unknown"])
def loss_that_ends_lower_at_the_same_step(folder: Path) -> Question:
    return pair(folder, FALLING, np.where(np.arange(400) > 200, 0.8, 1) * FALLING)


WITHIN = "claim.align.ends_within_noise"
FLAT = 0.3 + 2 * np.exp(-np.arange(1000) / 200)


def normal(seed: int, size: float = 0.02) -> Doubles:
    return size * np.random.default_rng(seed).standard_normal(1000)


@situation(makes=[WITHIN], never=ENDS)
def losses_of_other_noise(folder: Path) -> Question:
    """The medians at the end differ by 1.6 standard errors."""
    return pair(folder, FLAT + normal(0), FLAT + normal(1))


@situation(makes=["claim.align.ends_worse"], never=[WITHIN])
def loss_of_other_noise_that_is_higher_by_a_tenth(folder: Path) -> Question:
    return pair(folder, FLAT + normal(0), 1.1 * FLAT + normal(1))


@situation(makes=["claim.align.ends_worse"], never=[WITHIN])
def loss_of_the_same_noise_that_is_higher_by_a_hundredth(folder: Path) -> Question:
    """Less than the noise of each curve, but not of their difference."""
    return pair(folder, FLAT + normal(0), 1.01 * FLAT + normal(0))


@situation(makes=[WITHIN], never=ENDS)
def loss_whose_last_value_alone_differs(folder: Path) -> Question:
    """It moves the median of the end, which has an even number of values."""
    values = FLAT + normal(0)
    return pair(folder, values, [*values[:-1], 9.0])


@situation(makes=[WITHIN], never=ENDS)
def losses_of_ten_epochs_with_noise(folder: Path) -> Question:
    course = FLAT[::100]
    return pair(folder, course + normal(2)[:10], course + normal(3)[:10])


@situation(makes=["claim.align.ends_better"], never=[WITHIN])
def losses_of_ten_epochs_of_which_one_is_lower_by_a_third(folder: Path) -> Question:
    course = FLAT[::100]
    return pair(folder, course + normal(2)[:10], course - 0.2 + normal(3)[:10])


def smoothed(seed: int, count: int = 100) -> Doubles:
    """Noise of 0.05 that keeps nine tenths from step to step, as a moving average does."""
    values, result = np.random.default_rng(seed).standard_normal(count + 50), [0.0]
    for value in values:
        result.append(0.9 * result[-1] + 0.022 * value)
    return np.array(result[-count:])


@situation(makes=[WITHIN], never=ENDS)
def smoothed_losses_that_wander(folder: Path) -> Question:
    """Within the last tenth alone, the waves look like a level of their own."""
    return pair(folder, FLAT[::10] + smoothed(16), FLAT[::10] + smoothed(17))


@situation(makes=["claim.align.ends_worse"], never=[WITHIN])
def smoothed_loss_that_is_higher_by_ten_deviations(folder: Path) -> Question:
    return pair(folder, FLAT[::10] + smoothed(16), FLAT[::10] + 0.5 + smoothed(17))


def named(folder: Path, *tags: str) -> Question:
    points = dict(enumerate(FALLING))
    return runs(folder, {"train/loss": points, "val/loss": points}, dict.fromkeys(tags, points))


@situation(makes=["claim.align.paired", "claim.part.align_pair"], never=["claim.align.only_run"])
def losses_of_other_names(folder: Path) -> Question:
    return named(folder, "loss/train", "eval/loss")


@situation(never=["claim.align.paired", "claim.part.align_pair"])
def losses_of_the_same_names_beside_that_of_a_test(folder: Path) -> Question:
    """A test is no validation."""
    return named(folder, "train/loss", "test/loss")
