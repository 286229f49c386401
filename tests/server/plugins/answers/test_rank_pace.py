"""Whose steps take longer, and by how much."""

from dataclasses import replace

import numpy as np
import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.curves.rank_anomaly import RankOutlier
from mindinsight.server.plugins.answers.rank_health import HealthCache
from mindinsight.server.plugins.answers.rank_pace import (
    is_pace,
    is_slight,
    pace_claims,
    slow_by_scalars,
    slow_by_walls,
)
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarPart, ScalarSeries
from tests.server.plugins.answers.curves import STEPS, WALL, run


def outlier(relative: float | None, *, last: int | None = None, other: int | None = None) -> RankOutlier:
    return RankOutlier(3, "lasting", 40, last_step=last, relative=relative, other=other)


@pytest.mark.parametrize(
    ("tag", "pace"),
    [
        ("step_time", True),
        ("perf/iteration_duration", True),
        ("time_per_step", True),
        ("tokens_per_second", True),
        ("images/sec", True),
        ("throughput", True),
        ("num_tokens", False),
        ("loss", False),
        ("timestamp", False),
        ("samples_per_batch", False),
    ],
)
def test_a_time_or_rate_of_steps_is_known_by_its_name(tag: str, pace: bool) -> None:
    assert is_pace(tag) is pace


@pytest.mark.parametrize(
    ("tag", "stray", "share"),
    [
        ("step_time", outlier(0.6), 0.6),
        ("throughput", outlier(-0.5), 1.0),  # half the rate is twice the time
        ("step_time", outlier(-0.5), None),
        ("throughput", outlier(0.5), None),
        ("loss", outlier(0.6), None),
        ("step_time", outlier(None), None),  # the median is 0
        ("step_time", outlier(0.6, other=2), None),  # two ranks
        ("step_time", replace(outlier(0.6), both_sides=True), None),
        ("step_time", replace(outlier(0.6), kind="spikes"), None),
    ],
)
def test_a_rank_is_slower_by_more_time_or_a_lower_rate(
    tag: str, stray: RankOutlier, share: float | None
) -> None:
    assert [rank.share for rank in slow_by_scalars([(tag, stray)])] == ([] if share is None else [share])


def test_several_slow_ranks_are_named_with_the_slowest() -> None:
    slow = [*slow_by_scalars([("step_time", outlier(0.6)), ("step_time", replace(outlier(1.2), row=1))])]
    (claim,) = pace_claims([run(f"r{rank}", {}) for rank in range(4)], slow)
    assert [entry["run"] for entry in claim.evidence] == ["./r3", "./r1"]
    assert "up to 120 %" in sentence(claim)
    (claim,) = pace_claims([run(f"r{rank}", {}) for rank in range(4)], [replace(slow[0], last=90)])
    assert "took 60 % longer" in sentence(claim)
    assert "to step 90" in sentence(claim)


def recorded(rank: int, pace: float) -> Run:
    """Return a run whose loss is recorded every ``pace`` seconds."""
    walls = WALL + np.cumsum(pace * np.exp(0.02 * np.random.default_rng(rank).standard_normal(len(STEPS))))
    part = ScalarPart(STEPS, walls, np.ones(len(STEPS), np.float32), np.zeros(1, np.int64))
    scalars = {"loss": ScalarSeries("loss", [part], version=1)}
    return replace(run(f"job/rank_{rank}", {}), job="./job", rank=rank, scalars=scalars)


def test_times_of_recording_tell_a_slow_rank_unless_steps_are_short() -> None:
    ranks = [recorded(rank, 0.9 if rank == 2 else 0.5) for rank in range(4)]
    (slow,) = slow_by_walls(ranks, ["loss"]) or []
    assert (slow.row, slow.tag) == (2, "")
    assert slow.share == pytest.approx(0.8, abs=0.05)
    assert slow_by_walls([recorded(rank, 0.5) for rank in range(4)], ["loss"]) == []
    short = [recorded(rank, 0.0009 if rank == 2 else 0.0005) for rank in range(4)]
    assert slow_by_walls(short, ["loss"]) is None
    assert slow_by_walls(ranks, ["norm"]) is None
    assert "rank 2" in sentence(HealthCache().of(ranks).claims[0])


@pytest.mark.parametrize(
    ("stray", "slight"),
    [
        (RankOutlier(0, "lasting", 40, relative=0.034), True),
        (RankOutlier(0, "lasting", 40, relative=-0.034), True),
        (RankOutlier(0, "lasting", 40, relative=0.3), False),
        (RankOutlier(0, "spikes", 0, relative=2.6), True),
        (RankOutlier(0, "spikes", 0, relative=2.6, count=2), False),
        (RankOutlier(0, "spikes", 7, relative=2.6), True),
        (RankOutlier(0, "spikes", 7, relative=26.0), False),
        (RankOutlier(0, "spikes", 7), False),
        (RankOutlier(0, "silent", 7), False),
    ],
)
def test_the_load_of_a_machine_and_a_first_step_are_slight(stray: RankOutlier, slight: bool) -> None:
    assert is_slight(stray, 0) is slight
