"""Situations of scalar pages: ranks, alerts, comparisons with a baseline, and the settings of both."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.claims import Claim
from mindinsight.server.plugins.alert.alert_cache import preview_claim
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.workspace.alert_rules import Rule
from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, situation
from tests.claims.situations.alignment import noisy, written
from tests.flight import unpack
from tests.writer.tensorboard_messages import CLASSES

RANK = [
    f"claim.rank.{name}"
    for name in (
        *(
            "differs",
            "differs_until",
            "pair",
            "pair_until",
            "spikes",
            "spikes_every",
            "silent",
            "non_finite",
            "non_finite_shared",
            "non_finite_before",
        ),
        *("alike", "too_few", "not_recorded", "spread", "grows", "near_steps", "noisier"),
    )
]
COMPARED = [
    f"claim.compare.{name}"
    for name in (
        *("beyond", "non_finite", "equal", "equal_common", "within", "within_common"),
        *("no_common_steps", "no_finite"),
    )
]


def but(keys: Sequence[str], *names: str) -> list[str]:
    return [key for key in keys if key.rpartition(".")[2] not in names]


def ranks(folder: Path, values: Mapping[int, Sequence[float]], step: int = 1) -> Question:
    """Write the losses of ranks; ask how they compare in them."""
    for rank, losses in values.items():
        scalars = {"loss": {row * step: value for row, value in enumerate(losses)}}
        written(folder / "job" / f"rank_{rank}", scalars)
    return Question(
        base=folder, request="/v2/scalar/ranks?tag=loss&job=./job", page="scalar?m=ranks&job=./job&q=loss"
    )


def four(change: Callable[[np.ndarray[Any, Any]], None]) -> dict[int, list[float]]:
    """Losses of four ranks, of which ``change`` spoils the third."""
    losses = {rank: np.array(noisy(rank)) for rank in range(4)}
    change(losses[2])
    return {rank: values.tolist() for rank, values in losses.items()}


@situation(makes=["claim.rank.non_finite_shared"], never=but(RANK, "non_finite_shared"))
def four_ranks_that_are_nan_from_step_100_on(folder: Path) -> Question:
    return ranks(folder, {rank: [*noisy(rank, 100), *[math.nan] * 100] for rank in range(4)})


@situation(
    makes=["claim.rank.non_finite_before", "claim.rank.non_finite_shared"],
    never=but(RANK, "non_finite_before", "non_finite_shared"),
)
def four_ranks_that_are_nan_one_after_the_other(folder: Path) -> Question:
    return ranks(folder, {rank: [*noisy(rank, 100 + rank), *[math.nan] * (100 - rank)] for rank in range(4)})


@situation(makes=["claim.rank.non_finite"], never=but(RANK, "non_finite"))
def a_rank_that_stays_nan_alone(folder: Path) -> Question:
    return ranks(
        folder, {rank: [*noisy(rank, 100), *[[1.0, math.nan][rank == 2]] * 100] for rank in range(4)}
    )


@situation(makes=["claim.rank.alike"], never=but(RANK, "alike"))
def four_ranks_alike(folder: Path) -> Question:
    return ranks(folder, four(lambda values: None))


def of_levels(levels: Sequence[float]) -> dict[int, list[float]]:
    return {rank: (level * np.array(noisy(rank))).tolist() for rank, level in enumerate(levels)}


@situation(makes=["claim.rank.spread"], never=but(RANK, "spread"))
def two_ranks_against_two(folder: Path) -> Question:
    """None of them differs from most of the others, and they are not alike."""
    return ranks(folder, of_levels([1, 1, 1.5, 1.5]))


@situation(makes=["claim.rank.spread"], never=but(RANK, "spread"))
def three_ranks_of_which_each_has_a_level_of_its_own(folder: Path) -> Question:
    return ranks(folder, of_levels([1, 1.5, 2]))


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def three_ranks_of_which_two_agree(folder: Path) -> Question:
    return ranks(folder, of_levels([1, 1, 2]))


@situation(makes=["claim.rank.alike"], never=["claim.rank.spread", "claim.rank.differs"])
def ranks_of_nearly_one_level(folder: Path) -> Question:
    return ranks(folder, of_levels([1, 1.001, 0.999, 1]))


@situation(
    makes=["claim.health.groups"], never=["claim.health.alike", "claim.health.differs", "claim.health.spread"]
)
def health_of_two_ranks_against_two(folder: Path) -> Question:
    question = ranks(folder, of_levels([1, 1, 1.5, 1.5]))
    return Question(base=question.base, request="/v2/answers/health?job=./job", page="job?job=job")


@situation(makes=["claim.health.alike"], never=["claim.health.spread", "claim.health.groups"])
def health_of_ranks_of_nearly_one_level(folder: Path) -> Question:
    question = ranks(folder, of_levels([1, 1.001, 0.999, 1]))
    return Question(base=question.base, request="/v2/answers/health?job=./job")


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def one_rank_is_not_zero(folder: Path) -> Question:
    """No share of a median of 0 can be given."""
    return ranks(folder, {rank: [1e-12 * (rank == 3)] * 100 for rank in range(4)})


def equal_but_one(change: Callable[[np.ndarray[Any, Any]], None], count: int = 4) -> dict[int, list[float]]:
    """Return losses that an all-reduce made equal on all ranks, of which ``change`` spoils the third."""
    losses = {rank: np.array(noisy(0)) for rank in range(count)}
    change(losses[2])
    return {rank: values.tolist() for rank, values in losses.items()}


def raised_by_a_tenth(values: np.ndarray[Any, Any]) -> None:
    values[40:] *= 1.1


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def a_rank_that_leaves_equal_ones(folder: Path) -> Question:
    return ranks(folder, equal_but_one(raised_by_a_tenth))


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def a_rank_that_is_half_as_high_again_as_equal_ones(folder: Path) -> Question:
    course = 2 * 0.95 ** np.arange(100)
    return ranks(folder, {rank: (course * (1.5 if rank == 2 else 1)).tolist() for rank in range(4)})


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def a_rank_one_step_behind_equal_ones(folder: Path) -> Question:
    def delayed(values: np.ndarray[Any, Any]) -> None:
        values[1:] = values[:-1].copy()

    return ranks(folder, equal_but_one(delayed, 8))


@situation(makes=["claim.rank.grows"], never=but(RANK, "grows"))
def a_rank_that_grows_away_from_a_constant(folder: Path) -> Question:
    course = np.full(100, 3.0)
    grown = course + 0.5 * np.maximum(np.arange(100) - 20, 0)
    return ranks(folder, {rank: (grown if rank == 2 else course).tolist() for rank in range(8)})


@situation(makes=["claim.rank.pair"], never=but(RANK, "pair"))
def two_equal_ranks_of_which_one_grows(folder: Path) -> Question:
    course = np.full(100, 3.0)
    grown = course + 0.1 * np.maximum(np.arange(100) - 40, 0)
    return ranks(folder, {0: course.tolist(), 1: grown.tolist()})


@situation(makes=["claim.rank.alike"], never=but(RANK, "alike"))
def ranks_that_are_equal_but_for_rounding(folder: Path) -> Question:
    def rounded(values: np.ndarray[Any, Any]) -> None:
        values *= 1 + 2e-7 * np.random.default_rng(0).standard_normal(len(values))

    return ranks(folder, equal_but_one(rounded))


@situation(makes=["claim.rank.spikes"], never=but(RANK, "spikes"))
def a_spike_of_one_of_equal_ranks(folder: Path) -> Question:
    def spiked(values: np.ndarray[Any, Any]) -> None:
        values[50] = 30.0

    return ranks(folder, equal_but_one(spiked))


@situation(makes=["claim.rank.spread"], never=but(RANK, "spread"))
def a_scalar_that_is_the_rank(folder: Path) -> Question:
    """The lowest is as far from the next as all others are."""
    return ranks(folder, {rank: [float(rank)] * 100 for rank in range(4)})


def noise_of_the_third(share: float) -> dict[int, list[float]]:
    """Return losses with noise of a thousandth, and of ``share`` on the third of eight ranks."""
    noise = np.random.default_rng(3).standard_normal((8, 200))
    factors = 1 + np.where(np.arange(8) == 2, share, 0.001)[:, None] * noise
    return {rank: (np.array(noisy(0)) * row).tolist() for rank, row in enumerate(factors)}


@situation(makes=["claim.rank.noisier"], never=but(RANK, "noisier"))
def a_rank_with_the_noise_of_twenty(folder: Path) -> Question:
    return ranks(folder, noise_of_the_third(0.02))


@situation(makes=["claim.rank.alike"], never=but(RANK, "alike"))
def a_rank_with_twice_the_noise(folder: Path) -> Question:
    return ranks(folder, noise_of_the_third(0.002))


@situation(makes=["claim.health.noisier"], never=["claim.health.alike", "claim.health.differs"])
def health_of_a_rank_with_the_noise_of_twenty(folder: Path) -> Question:
    return health(ranks(folder, noise_of_the_third(0.02)))


@situation(makes=["claim.health.alike"], never=["claim.health.noisier", "claim.health.differs"])
def health_of_a_rank_with_twice_the_noise(folder: Path) -> Question:
    return health(ranks(folder, noise_of_the_third(0.002)))


@situation(makes=["claim.rank.alike", "claim.rank.near_steps"], never=but(RANK, "alike", "near_steps"))
def ranks_without_a_common_step(folder: Path) -> Question:
    return turns(folder)


@situation(
    makes=["claim.health.alike", "claim.health.near_steps"],
    never=["claim.health.differs", "claim.health.nothing_compared"],
)
def health_of_ranks_without_a_common_step(folder: Path) -> Question:
    return health(turns(folder))


@situation(makes=["claim.health.alike"], never=["claim.health.near_steps", "claim.health.differs"])
def health_of_ranks_with_half_of_their_steps_in_common(folder: Path) -> Question:
    for rank in range(4):
        losses = dict(enumerate(noisy(0)))
        written(
            folder / "job" / f"rank_{rank}", {"loss": {k: losses[k] for k in range(0, 200, 1 + rank % 2)}}
        )
    return health(ranks(folder, {}))


@situation(makes=["claim.health.differs"], never=["claim.health.alike", "claim.health.spread"])
def health_of_a_rank_that_leaves_equal_ones(folder: Path) -> Question:
    return health(ranks(folder, equal_but_one(raised_by_a_tenth)))


def turns(folder: Path) -> Question:
    """Write ranks that record every tenth step, each another one."""
    for rank in range(4):
        losses = {10 * row + rank: value for row, value in enumerate(noisy(0))}
        written(folder / "job" / f"rank_{rank}", {"loss": losses})
    return ranks(folder, {})


def health(question: Question) -> Question:
    return Question(base=question.base, request="/v2/answers/health?job=./job")


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def a_rank_of_the_other_sign(folder: Path) -> Question:
    return ranks(folder, of_levels([1, 1, -1, 1]))


@situation(makes=["claim.rank.differs"], never=but(RANK, "differs"))
def a_rank_of_another_level(folder: Path) -> Question:
    def raised(values: np.ndarray[Any, Any]) -> None:
        values[120:] *= 1.5

    return ranks(folder, four(raised))


@situation(makes=["claim.rank.grows"], never=but(RANK, "grows"))
def a_rank_that_becomes_slower_little_by_little(folder: Path) -> Question:
    def slower(values: np.ndarray[Any, Any]) -> None:
        values[40:] *= 1 + 0.005 * np.arange(len(values) - 40)

    return ranks(folder, four(slower))


@situation(makes=["claim.rank.differs_until"], never=but(RANK, "differs_until"))
def a_rank_that_comes_back(folder: Path) -> Question:
    def raised(values: np.ndarray[Any, Any]) -> None:
        values[60:130] *= 1.5

    return ranks(folder, four(raised))


@situation(makes=["claim.rank.pair"], never=but(RANK, "pair"))
def two_ranks_that_differ(folder: Path) -> Question:
    high = np.array(noisy(1))
    high[100:] *= 1.5
    return ranks(folder, {0: noisy(0), 1: high.tolist()})


@situation(makes=["claim.rank.pair_until"], never=but(RANK, "pair_until"))
def two_ranks_that_differ_for_a_while(folder: Path) -> Question:
    high = np.array(noisy(1))
    high[50:120] *= 1.5
    return ranks(folder, {0: noisy(0), 1: high.tolist()})


@situation(makes=["claim.rank.spikes"], never=but(RANK, "spikes"))
def a_rank_with_two_spikes(folder: Path) -> Question:
    def spiked(values: np.ndarray[Any, Any]) -> None:
        values[[31, 150]] *= 4

    return ranks(folder, four(spiked))


def jumping(first: Sequence[int]) -> dict[int, list[float]]:
    """Losses of ranks that jump to a thousand at a step each, and fall slowly from there on."""
    losses = {rank: np.array(noisy(rank)) for rank in range(len(first))}
    for rank, step in enumerate(first):
        losses[rank][step:] = 1000 * np.exp(-0.02 * np.arange(len(losses[rank]) - step))
    return {rank: values.tolist() for rank, values in losses.items()}


@situation(makes=["claim.rank.jump_before"], never=but(RANK, "jump_before"))
def ranks_of_which_one_jumps_first(folder: Path) -> Question:
    return ranks(folder, jumping([101, 101, 100, 101]))


@situation(never=["claim.rank.jump_before"])
def ranks_that_jump_together(folder: Path) -> Question:
    return ranks(folder, jumping([100, 100, 100, 100]))


@situation(makes=["claim.rank.spikes_every"], never=but(RANK, "spikes_every"))
def a_rank_that_spikes_every_twenty_steps(folder: Path) -> Question:
    def spiked(values: np.ndarray[Any, Any]) -> None:
        values[10::20] *= 4

    return ranks(folder, four(spiked))


@situation(makes=["claim.rank.alike"], never=but(RANK, "alike"))
def eight_ranks_with_pauses_at_the_same_rate(folder: Path) -> Question:
    """Some have more pauses than others, as chance has it."""
    chance = np.random.default_rng(21)
    times = 0.1 + 0.002 * chance.standard_normal((8, 300)) + 0.5 * (chance.random((8, 300)) < 0.01)
    return ranks(folder, {rank: row.tolist() for rank, row in enumerate(times)})


@situation(makes=["claim.rank.spikes"], never=but(RANK, "spikes"))
def a_rank_with_three_spikes_that_are_nearly_as_far_apart(folder: Path) -> Question:
    """Gaps of 70 and 62 steps are no period."""

    def spiked(values: np.ndarray[Any, Any]) -> None:
        values[[46, 116, 178]] *= 4

    return ranks(folder, four(spiked))


@situation(makes=["claim.rank.silent"], never=but(RANK, "silent"))
def a_rank_that_stops(folder: Path) -> Question:
    values = four(lambda values: None)
    values[2] = values[2][:120]
    return ranks(folder, values)


@situation(makes=["claim.rank.alike"], never=["claim.rank.silent", "claim.rank.differs"])
def a_rank_that_is_three_steps_behind(folder: Path) -> Question:
    values = four(lambda values: None)
    values[2] = values[2][:-3]
    return ranks(folder, values)


@situation(makes=["claim.rank.non_finite"], never=but(RANK, "non_finite"))
def a_rank_with_an_infinity(folder: Path) -> Question:
    def broken(values: np.ndarray[Any, Any]) -> None:
        values[17] = math.inf

    return ranks(folder, four(broken))


@situation(
    makes=["claim.rank.too_few", "claim.rank.non_finite_shared"],
    never=but(RANK, "too_few", "non_finite_shared"),
)
def every_rank_is_nan_throughout(folder: Path) -> Question:
    """None of them differs from the others, and none can be compared."""
    return ranks(folder, {rank: [math.nan] * 100 for rank in range(4)})


def histogram_note(*arguments: Any) -> Question:
    script = ("components/histogram/series.js", "noteOf", arguments)
    return Question(script=script, word="histogram.{}")


@situation(makes=["histogram.empty"], never=["histogram.interpolated"])
def histograms_without_a_finite_value(folder: Path) -> Question:
    return histogram_note({"counts": [0, 0]}, "percentile")


@situation(makes=["histogram.interpolated"], never=["histogram.empty"])
def percentiles_of_a_histogram(folder: Path) -> Question:
    return histogram_note({"counts": [0, 1]}, "percentile")


@situation(makes=["claim.rank.too_few"], never=["claim.rank.alike", "claim.rank.differs", "claim.rank.pair"])
def ranks_that_record_other_steps(folder: Path) -> Question:
    for rank in range(2):
        written(folder / "job" / f"rank_{rank}", {"loss": dict(enumerate(noisy(rank), 10_000 * rank))})
    return ranks(folder, {})


@situation(
    makes=["claim.rank.alike", "claim.rank.near_steps"], never=["claim.rank.too_few", "claim.rank.differs"]
)
def ranks_that_take_turns_in_recording(folder: Path) -> Question:
    """Steps that are near each other are compared."""
    for rank in range(3):
        losses = {3 * row + rank: value for row, value in enumerate(noisy(rank, 100))}
        written(folder / "job" / f"rank_{rank}", {"loss": losses})
    return ranks(folder, {})


@situation(makes=["claim.rank.too_few"], never=["claim.rank.alike", "claim.rank.differs"])
def one_rank_of_three_points(folder: Path) -> Question:
    values = {rank: noisy(rank, 100) for rank in range(3)}
    question = ranks(folder, values)
    written(folder / "job" / "rank_3", {"loss": {0: 1.0, 50: 1.0, 99: 1.0}})
    return question


@situation(makes=["claim.rank.not_recorded"], never=but(RANK, "not_recorded"))
def one_rank_did_not_record_it(folder: Path) -> Question:
    question = ranks(folder, {rank: noisy(rank) for rank in range(3)})
    written(folder / "job" / "rank_3", {"accuracy": dict(enumerate(noisy(3)))})
    return question


@situation(makes=["claim.health.missing_ranks"], never=RANK)
def a_rank_in_the_middle_is_missing(folder: Path) -> Question:
    return ranks(folder, {rank: noisy(rank) for rank in (0, 1, 3)})


@situation(makes=["claim.health.too_few"], never=["claim.health.alike"])
def health_of_ranks_that_record_other_steps(folder: Path) -> Question:
    """A hundred points each, of which none is at a step of another rank."""
    for rank in range(2):
        losses = dict(enumerate(noisy(rank, 100), 10_000 * rank))
        written(folder / "job" / f"rank_{rank}", {"loss": losses, "lr": dict.fromkeys(losses, 0.1)})
    return Question(base=folder, request="/v2/answers/health?job=./job")


# Divergence of a run


DIVERGED = ["claim.run.diverged", "claim.run.broken_end", "claim.run.never_finite"]


def ended(folder: Path, **curves: Sequence[float]) -> Question:
    """Write a run of these scalars; ask whether it diverged."""
    written(folder / "a", {tag: dict(enumerate(values)) for tag, values in curves.items()})

    def ask(client: TestClient) -> Any:
        return client.get("v2/runs/facts", params={"run": "./a"}).json()

    return Question(base=folder, request=ask)


@situation(makes=["claim.run.diverged"], never=but(DIVERGED, "diverged"))
def a_loss_that_is_nan_to_its_end(folder: Path) -> Question:
    return ended(folder, loss=[2, 1, math.inf, math.nan, math.nan], acc=[0.1, 0.2, 0.1, 0.1, 0.1])


@situation(never=DIVERGED)
def a_loss_that_recovers_from_nan(folder: Path) -> Question:
    return ended(folder, loss=[2, math.nan, math.nan, math.nan, 1])


@situation(makes=["claim.run.broken_end"], never=but(DIVERGED, "broken_end"))
def a_loss_whose_last_point_is_nan(folder: Path) -> Question:
    """The next batch might have been finite."""
    return ended(folder, loss=[2, 1, 1, math.nan])


@situation(never=DIVERGED)
def a_metric_that_is_nan_while_the_loss_is_finite(folder: Path) -> Question:
    return ended(folder, loss=[2, 1, 1, 1, 1], auc=[0.5, math.nan, math.nan, math.nan, math.nan])


@situation(makes=["claim.run.never_finite"], never=but(DIVERGED, "never_finite"))
def a_loss_that_was_never_finite(folder: Path) -> Question:
    """Perhaps it is undefined for this training."""
    return ended(folder, loss=[math.nan] * 5)


@situation(makes=["claim.run.recorder"], never=["claim.run.diverged"])
def a_run_with_the_dump_of_a_flight_recorder(folder: Path) -> Question:
    unpack("dead_relu", folder)
    return Question(base=folder, request="/v2/runs")


@situation(never=["claim.run.recorder"])
def a_run_with_a_dump_of_another_name(folder: Path) -> Question:
    run = unpack("dead_relu", folder)
    (run / "flight_dump").rename(run / "my_flight_dump")
    return Question(base=folder, request="/v2/runs")


@situation(never=DIVERGED)
def a_loss_that_was_never_finite_beside_one_that_falls(folder: Path) -> Question:
    return ended(folder, aux_loss=[math.nan] * 5, loss=[2, 1, 1, 1, 1])


@situation(never=DIVERGED)
def a_metric_that_was_never_finite(folder: Path) -> Question:
    return ended(folder, auc=[math.nan] * 5)


# Alerts


def alerts(rule: Mapping[str, Any] | None = None, run: str = "") -> Callable[[TestClient], Any]:
    """Add a rule, and return the list of alerts, which is computed as it is asked for."""

    def ask(client: TestClient) -> Any:
        if rule:
            added = client.post("v2/alert/rules", json={**rule, "recorded": True})
            assert added.status_code == 200
        return client.get("v2/alert/list", params={"run": run} if run else {}).json()

    return ask


ALERTS = [
    f"claim.alert.{name}"
    for name in (
        *("non_finite", "non_finite_kinds", "placeholders", "above", "below"),
        *("recovered", "silent", "silent_unknown", "rank", "pair", "failed"),
    )
]


def losses(folder: Path, values: Sequence[float], rule: Mapping[str, Any] | None = None) -> Question:
    written(folder / "a", {"loss": dict(enumerate(values))})
    return Question(base=folder, request=alerts(rule))


@situation(makes=["claim.alert.non_finite"], never=but(ALERTS, "non_finite"))
def a_loss_of_nan_is_not_above_a_limit(folder: Path) -> Question:
    return losses(folder, [1, 2, math.nan], {"condition": "above", "tags": "loss", "limit": 3})


@situation(makes=["claim.alert.above"], never=but(ALERTS, "above"))
def a_loss_above_a_limit(folder: Path) -> Question:
    return losses(folder, [1, 2, 3.5], {"condition": "above", "tags": "lo*", "limit": 3})


@situation(makes=["claim.alert.above", "claim.alert.non_finite"], never=["claim.alert.below"])
def infinity_is_above_every_limit(folder: Path) -> Question:
    return losses(folder, [1, 2, math.inf], {"condition": "above", "tags": "loss", "limit": 3})


@situation(never=ALERTS)
def a_loss_that_equals_a_limit(folder: Path) -> Question:
    return losses(folder, [1, 2, 3], {"condition": "above", "tags": "loss", "limit": 3})


@situation(makes=["claim.alert.below"], never=but(ALERTS, "below"))
def a_loss_below_a_limit(folder: Path) -> Question:
    return losses(folder, [1, 0.5, 0.25], {"condition": "below", "tags": "loss", "limit": 0.5})


@situation(never=ALERTS)
def a_loss_that_was_recorded_as_the_limit(folder: Path) -> Question:
    """As float32 it is 0.1000000015, which is how 0.1 is recorded."""
    return losses(folder, [0.05, 0.1, 0.05], {"condition": "above", "tags": "loss", "limit": 0.1})


@situation(never=ALERTS)
def a_loss_that_falls_to_the_limit(folder: Path) -> Question:
    return losses(folder, [0.9, 0.8, 0.7], {"condition": "below", "tags": "loss", "limit": 0.7})


@situation(makes=["claim.alert.above"], never=but(ALERTS, "above"))
def a_loss_just_above_the_limit(folder: Path) -> Question:
    return losses(folder, [0.05, 0.10001], {"condition": "above", "tags": "loss", "limit": 0.1})


@situation(never=ALERTS)
def an_alert_rule_for_a_scalar_that_the_run_lacks(folder: Path) -> Question:
    return losses(folder, [1, 2, 3], {"condition": "above", "tags": "acc*", "limit": 0.1})


@situation(makes=["claim.alert.below", "claim.alert.recovered"], never=["claim.alert.above"])
def a_loss_below_zero_and_back(folder: Path) -> Question:
    """Minus infinity is below every limit, and not finite as well."""
    return losses(folder, [1, -0.5, 1], {"condition": "below", "tags": "lo?s", "limit": 0})


@situation(
    makes=["claim.alert.above", "claim.alert.non_finite"],
    never=["claim.alert.below", "claim.alert.recovered"],
)
def a_loss_above_a_limit_and_then_nan(folder: Path) -> Question:
    """NaN is not above the limit, but no recovery."""
    return losses(folder, [1, 9, math.nan], {"condition": "above", "tags": "loss", "limit": 3})


@situation(makes=["claim.alert.below", "claim.alert.non_finite"], never=["claim.alert.above"])
def a_loss_of_minus_infinity(folder: Path) -> Question:
    return losses(folder, [1, -math.inf, 1], {"condition": "below", "tags": "*", "limit": 0})


@situation(never=ALERTS)
def a_large_finite_loss(folder: Path) -> Question:
    return losses(folder, [1, 3e38])


def closed_with(folder: Path, error: Exception | None, closed: bool = True) -> Question:
    """Ask for the alerts of a run that an exception ended, or nothing, or of which no end was recorded."""
    record = SummaryRecord(str(folder / "a"))
    record.add_value("scalar", "loss", 1.0)
    record.record(0)
    if closed:
        record.__exit__(type(error) if error else None, error, None)
    else:
        record.flush()
    return Question(base=folder, request=alerts())


@situation(makes=["claim.alert.failed"], never=but(ALERTS, "failed"))
def a_run_that_an_exception_ended(folder: Path) -> Question:
    return closed_with(folder, RuntimeError("out of memory"))


@situation(never=ALERTS)
def a_run_that_ended_as_it_should(folder: Path) -> Question:
    return closed_with(folder, None)


@situation(never=ALERTS)
def a_run_of_which_no_end_was_recorded(folder: Path) -> Question:
    return closed_with(folder, RuntimeError("not recorded"), closed=False)


@situation(makes=["claim.alert.silent"], never=but(ALERTS, "silent"))
def nothing_written_for_an_hour(folder: Path) -> Question:
    file = folder / "a" / "x.out.events.summary.1.host_MS"
    file.parent.mkdir()
    then = time.time() - 3600
    events = [Event(wall_time=then, version="MindSpore.Event:1"), Event(wall_time=then, step=1)]
    events[1].summary.value.add(tag="loss", scalar_value=1.0)
    file.write_bytes(b"".join(encode_record(event.SerializeToString()) for event in events))
    os.utime(file, (then, then))
    return Question(base=folder, request=alerts({"condition": "silent", "limit": 30}))


@situation(makes=["claim.alert.silent_unknown"], never=but(ALERTS, "silent_unknown"))
def nothing_written_to_tensorboards_files_for_an_hour(folder: Path) -> Question:
    """They have no record of an end: torch's writer was closed, or killed."""
    file = folder / "a" / "events.out.tfevents.1700000000.host"
    file.parent.mkdir()
    then = time.time() - 3600
    records = [CLASSES["Event"](wall_time=then, file_version="brain.Event:2")]
    records.append(CLASSES["Event"](wall_time=then, step=1))
    records[1].summary.value.add(tag="loss", simple_value=1.0)
    file.write_bytes(b"".join(encode_record(event.SerializeToString()) for event in records))
    os.utime(file, (then, then))
    return Question(base=folder, request=alerts({"condition": "silent", "limit": 30}))


@situation(makes=["claim.alert.non_finite"], never=but(ALERTS, "non_finite"))
def infinities_of_one_sign_in_a_row(folder: Path) -> Question:
    """None of them is NaN."""
    return losses(folder, [1, *[math.inf] * 8])


@situation(makes=["claim.alert.non_finite_kinds"], never=but(ALERTS, "non_finite_kinds"))
def a_nan_and_then_infinities(folder: Path) -> Question:
    """The first value is not the whole alert."""
    return losses(folder, [1, math.nan, math.inf, -math.inf, math.inf])


@situation(makes=["claim.alert.non_finite_kinds"], never=but(ALERTS, "non_finite_kinds"))
def a_nan_and_later_an_infinity(folder: Path) -> Question:
    """The value between them is no recovery."""
    return losses(folder, [1, math.nan, 2, math.inf])


@situation(makes=["claim.alert.placeholders"], never=but(ALERTS, "placeholders", "recovered"))
def a_loss_that_was_not_measured_at_the_first_step(folder: Path) -> Question:
    return losses(folder, [math.nan, *range(12)])


@situation(makes=["claim.alert.non_finite"], never=but(ALERTS, "non_finite", "recovered"))
def a_loss_of_nan_between_its_first_values(folder: Path) -> Question:
    return losses(folder, [1, math.nan, *range(12)])


@situation(never=ALERTS)
def a_run_that_was_closed_is_not_silent(folder: Path) -> Question:
    return losses(folder, [1, 2], {"condition": "silent", "limit": 0.01})


PREVIEWS = [f"claim.rule.{name}" for name in ("fires", "none", "nothing", "reading")]


def preview(folder: Path, **rule: Any) -> Question:
    """Write a run of a loss; ask in how many runs a rule would fire."""
    question = ended(folder, loss=[1, 2, 3])

    def ask(client: TestClient) -> Any:
        assert callable(question.request)
        question.request(client)  # once everything has been read
        return client.get("v2/alert/rules/preview", params=rule).json()

    return Question(base=folder, request=ask)


@situation(makes=["claim.rule.fires"], never=but(PREVIEWS, "fires"))
def a_rule_that_would_have_fired(folder: Path) -> Question:
    return preview(folder, condition="above", tags="lo*", limit=2.5)


@situation(makes=["claim.rule.none"], never=but(PREVIEWS, "none"))
def a_rule_whose_limit_was_only_reached(folder: Path) -> Question:
    return preview(folder, condition="above", tags="loss", limit=3)


@situation(makes=["claim.rule.nothing"], never=but(PREVIEWS, "nothing"))
def a_rule_for_a_scalar_that_no_run_has(folder: Path) -> Question:
    return preview(folder, condition="above", tags="acc", limit=0)


@situation(makes=["claim.rule.reading"], never=but(PREVIEWS, "reading"))
def a_rule_while_a_run_is_read(folder: Path) -> Question:
    def ask() -> list[Claim]:
        run = Run("./a", "a", str(folder), "./a", None, 0.0, 0.0, 9, total=9)
        snapshot = Snapshot(1, {"./a": run}, 0, str(folder), "events", 0.0)
        return [preview_claim(snapshot, Rule("above", "loss", 3.0), 0.0)]

    return Question(direct=ask)


STRAYS = {"condition": "strays", "tags": "loss"}


@situation(makes=["claim.alert.rank", "claim.rank.differs"], never=["claim.alert.pair", "claim.rank.pair"])
def an_alert_of_a_rank_that_leaves_equal_ones(folder: Path) -> Question:
    base = ranks(folder, equal_but_one(raised_by_a_tenth)).base
    return Question(base=base, request=alerts(STRAYS, "./job/rank_2"))


@situation(makes=["claim.alert.rank", "claim.rank.differs"], never=["claim.alert.pair", "claim.rank.pair"])
def an_alert_of_a_rank(folder: Path) -> Question:
    def raised(values: np.ndarray[Any, Any]) -> None:
        values[120:] *= 1.5

    return Question(base=ranks(folder, four(raised)).base, request=alerts(STRAYS, "./job/rank_2"))


@situation(makes=["claim.alert.pair", "claim.rank.pair"], never=["claim.alert.rank", "claim.rank.differs"])
def an_alert_of_two_ranks_is_one_of_the_first(folder: Path) -> Question:
    two_ranks_that_differ(folder)
    return Question(base=folder, request=alerts(STRAYS, "./job/rank_0"))


@situation(makes=["claim.alert.pair", "claim.rank.pair"], never=["claim.alert.rank", "claim.rank.differs"])
def an_alert_of_two_ranks_is_one_of_the_second(folder: Path) -> Question:
    two_ranks_that_differ(folder)
    return Question(base=folder, request=alerts(STRAYS, "./job/rank_1"))


@situation(never=ALERTS)
def ranks_that_are_alike_raise_no_alert(folder: Path) -> Question:
    return Question(base=ranks(folder, four(lambda values: None)).base, request=alerts(STRAYS))


# Comparison with a baseline


def compared(
    folder: Path, baseline: Mapping[int, float], run: Mapping[int, float], page: bool = True
) -> Question:
    written(folder / "a", {"loss": baseline})
    written(folder / "b", {"loss": run})
    return Question(
        base=folder,
        request="/v2/scalar/compare?tag=loss&run=./a&run=./b&baseline=./a",
        page="scalar?m=compare&baseline=./a" if page else None,
    )


def counted(values: Sequence[float]) -> dict[int, float]:
    return dict(enumerate(values))


@situation(makes=["claim.compare.equal"], never=but(COMPARED, "equal"))
def two_equal_losses(folder: Path) -> Question:
    return compared(folder, counted([1, 2, 3]), counted([1, 2, 3]))


@situation(makes=["claim.compare.equal_common"], never=but(COMPARED, "equal_common"))
def ten_steps_against_a_thousand(folder: Path) -> Question:
    return compared(folder, counted([1.0] * 1000), counted([1.0] * 10))


@situation(makes=["claim.compare.within"], never=but(COMPARED, "within"))
def within_the_tolerance(folder: Path) -> Question:
    return compared(folder, counted([1, 2, 4]), counted([1, 2.001, 4]))


@situation(makes=["claim.compare.within_common"], never=but(COMPARED, "within_common"))
def within_the_tolerance_at_two_of_three_steps(folder: Path) -> Question:
    return compared(folder, counted([1, 2, 4]), counted([1, 2.001]))


@situation(makes=["claim.compare.beyond"], never=but(COMPARED, "beyond"))
def beyond_the_tolerance_at_the_last_step(folder: Path) -> Question:
    return compared(folder, counted([1, 2, 4]), counted([1, 2, 5]))


@situation(makes=["claim.compare.beyond"], never=but(COMPARED, "beyond"))
def a_baseline_of_zero(folder: Path) -> Question:
    """There is no share of 0: the difference is given as it is."""
    return compared(folder, counted([0, 0, 1]), counted([0.5, 0, 1]))


@situation(makes=["claim.compare.non_finite"], never=but(COMPARED, "non_finite"))
def nan_in_one_of_both(folder: Path) -> Question:
    return compared(folder, counted([1, 2, 3]), counted([1, math.nan, 3]))


@situation(makes=["claim.compare.equal"], never=["claim.compare.non_finite", "claim.compare.no_finite"])
def nan_at_the_same_step(folder: Path) -> Question:
    return compared(folder, counted([1, math.nan, 3]), counted([1, math.nan, 3]))


@situation(makes=["claim.compare.no_finite"], never=but(COMPARED, "no_finite"))
def nan_at_every_step(folder: Path) -> Question:
    return compared(folder, counted([math.nan] * 3), counted([math.nan] * 3))


@situation(makes=["claim.compare.no_common_steps"], never=but(COMPARED, "no_common_steps"))
def steps_that_do_not_meet(folder: Path) -> Question:
    return compared(folder, {0: 1.0, 2: 1.0}, {1: 1.0, 3: 1.0})


# What pages decide by themselves

SETTINGS = [
    f"claim.compare.{name}"
    for name in ("same_settings", "settings_differ", "settings_partly", "settings_naming", "no_settings")
]


def settings(*runs: Mapping[str, Any]) -> Question:
    hyper = [{"hyper": run} for run in runs]
    return Question(script=("views/scalar/compare_tables.js", "comparedSettings", [hyper]))


@situation(makes=["claim.compare.same_settings"], never=but(SETTINGS, "same_settings"))
def settings_that_are_the_same(folder: Path) -> Question:
    return settings({"lr": 0.1, "seed": 3}, {"lr": 0.1, "seed": 3})


@situation(makes=["claim.compare.settings_differ"], never=but(SETTINGS, "settings_differ"))
def one_setting_differs(folder: Path) -> Question:
    return settings({"lr": 0.1, "seed": 3}, {"lr": 0.1, "seed": 4})


@situation(
    makes=["claim.compare.settings_naming", "claim.compare.same_settings"],
    never=but(SETTINGS, "settings_naming", "same_settings"),
)
def only_the_output_directory_differs(folder: Path) -> Question:
    return settings({"lr": 0.1, "output_dir": "/runs/1"}, {"lr": 0.1, "output_dir": "/runs/2"})


@situation(makes=["claim.compare.settings_partly"], never=but(SETTINGS, "settings_partly"))
def a_setting_that_one_run_did_not_record(folder: Path) -> Question:
    """It may have had the same value there."""
    return settings({"lr": 0.1, "seed": 3}, {"lr": 0.1})


@situation(makes=["claim.compare.settings_partly"], never=but(SETTINGS, "settings_partly"))
def settings_of_one_run_alone(folder: Path) -> Question:
    return settings({"lr": 0.1}, {})


@situation(makes=["claim.compare.no_settings"], never=but(SETTINGS, "no_settings"))
def no_settings(folder: Path) -> Question:
    return settings({}, {})


def timed(axis: str, *times: float) -> Question:
    curves = [{"label": "a", "curve": {"wall": [1, 2, 3]}}, {"label": "b", "curve": {"wall": times}}]
    return Question(script=("views/scalar/curve.js", "timeClaims", [curves, axis]))


@situation(makes=["claim.scalar.time_back"])
def a_curve_over_relative_times_that_go_back(folder: Path) -> Question:
    return timed("relative", 5, 6, 2, 3)


@situation(never=["claim.scalar.time_back"])
def the_same_curve_over_steps(folder: Path) -> Question:
    return timed("step", 5, 6, 2, 3)


@situation(never=["claim.scalar.time_back"])
def a_curve_over_times_with_two_points_at_once(folder: Path) -> Question:
    return timed("wall", 5, 6, 6, 30_000)


COLUMNS = ["claim.lineage.same_columns", "claim.lineage.no_columns"]


def columns(*rows: Mapping[str, Any]) -> Question:
    keys = [{"key": key} for key in ("user:lr", "user:seed", "metric:acc")]
    return Question(
        script=("views/lineage/difference.js", "comparedColumns", [keys, [{"values": row} for row in rows]])
    )


@situation(makes=["claim.lineage.same_columns"], never=["claim.lineage.no_columns"])
def one_column_is_the_same(folder: Path) -> Question:
    return columns({"user:lr": 1, "user:seed": 1}, {"user:lr": 1, "user:seed": 2})


@situation(never=COLUMNS)
def a_column_that_no_run_has_is_not_the_same(folder: Path) -> Question:
    return columns({"user:lr": 1}, {"user:lr": 2})


@situation(makes=["claim.lineage.no_columns"], never=["claim.lineage.same_columns"])
def runs_without_a_value(folder: Path) -> Question:
    return columns({}, {"user:lr": None})


LOG = ["claim.log.lines", "claim.log.lines_so_far", "claim.log.drawn"]


def log(all_lines: int, matching: int, whole: bool) -> Question:
    return Question(script=("views/dump/log_lines.js", "logClaims", [all_lines, matching, 5000, whole]))


@situation(makes=["claim.log.lines"], never=but(LOG, "lines"))
def a_log_that_was_read_to_its_end(folder: Path) -> Question:
    return log(100, 3, whole=True)


@situation(makes=["claim.log.lines_so_far"], never=but(LOG, "lines_so_far"))
def a_log_of_which_more_can_be_read(folder: Path) -> Question:
    return log(100, 3, whole=False)


@situation(makes=["claim.log.lines", "claim.log.drawn"], never=["claim.log.lines_so_far"])
def a_log_of_more_lines_than_are_drawn(folder: Path) -> Question:
    return log(10_000, 5001, whole=True)


def group(folder: Path, **curves: Sequence[float]) -> Question:
    """Ask for the mean of a group of runs."""
    for name, values in curves.items():
        written(folder / name, {"loss": dict(enumerate(values))})
    query = "&".join(f"run=./{name}" for name in curves)
    return Question(base=folder, request=f"/v2/scalar/band?tag=loss&ended=hold&{query}")


def two_groups(folder: Path, runs: int, higher: float) -> Question:
    """Ask whether two groups of runs end with other values."""
    for number in range(2 * runs):
        factor = 1 + higher * (number % 2)
        with SummaryRecord(str(folder / f"run_{number:02}")) as record:
            for step, value in enumerate(noisy(number)):
                record.add_value("scalar", "loss", value * factor)
                record.record(step)
    query = "&".join(f"run=./run_{number:02}&group={number % 2}" for number in range(2 * runs))
    return Question(base=folder, request=f"/v2/scalar/ends?tag=loss&{query}")


def ends_but(key: str) -> list[str]:
    return [f"claim.group.ends_{other}" for other in ("differ", "alike", "few") if other != key]


@situation(makes=["claim.group.ends_differ"], never=ends_but("differ"))
def two_groups_of_which_one_ends_higher(folder: Path) -> Question:
    return two_groups(folder, 6, 0.5)


@situation(makes=["claim.group.ends_alike"], never=ends_but("alike"))
def two_groups_that_end_alike(folder: Path) -> Question:
    return two_groups(folder, 6, 0.0)


@situation(makes=["claim.group.ends_few"], never=ends_but("few"))
def two_groups_of_three_runs(folder: Path) -> Question:
    return two_groups(folder, 3, 0.5)


@situation(makes=["claim.group.non_finite"], never=["claim.group.gaps"])
def a_member_of_a_group_diverges(folder: Path) -> Question:
    return group(folder, a=noisy(1), b=[*noisy(2)[:60], *[math.nan] * 20])


@situation(makes=["claim.group.gaps"], never=["claim.group.non_finite"])
def a_member_of_a_group_is_nan_for_a_while(folder: Path) -> Question:
    return group(folder, a=noisy(1), b=[*noisy(2)[:60], math.nan, *noisy(3)[:40]])
