"""What is said of a recording with gaps in its times and steps."""

from dataclasses import replace

import numpy as np
import pytest

from mindinsight.server.claims import sentence
from mindinsight.server.errors import Gone
from mindinsight.server.store.recording_gaps import clock_claims, lost_claims, recording_claims, time_claims
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarPart, ScalarSeries
from mindinsight.server.types import Damage, Doubles, FileState, Ints

STEPS = np.arange(1, 101)
WALL = 1_700_000_000.0


def run(*parts: tuple[Ints, Doubles]) -> Run:
    columns = [
        ScalarPart(steps, walls, np.ones(len(steps), np.float32), np.zeros(1, np.int64))
        for steps, walls in parts
    ]
    scalars = {"loss": ScalarSeries("loss", columns, version=1)}
    return Run("./a", "a", "/a", "./a", None, WALL, WALL, 1, scalars=scalars)


def walls(**jumps: float) -> Doubles:
    """Return times two seconds apart, with a jump before some rows: ``at_40=-3600``."""
    passed = np.full(len(STEPS), 2.0)
    for name, seconds in jumps.items():
        passed[int(name[3:])] += seconds
    return np.asarray(WALL + np.cumsum(passed))


def at(seconds: Ints) -> Doubles:
    return np.asarray(WALL + seconds, np.float64)


def texts(record: Run) -> list[str]:
    return [sentence(claim) for claim in time_claims(record)]


def test_a_clock_that_goes_back_and_forth_is_told_twice() -> None:
    assert texts(run((STEPS, walls(at_40=-3600, at_70=43_200)))) == [
        "The recorded time goes back by 60 min at step 41, so start and duration are unknown.",
        "No scalar was recorded for 12 h before step 71. Whether the training paused or the clock was set is "
        "unknown.",
    ]
    several = run((STEPS, walls(at_40=-90, at_70=-600)))
    assert texts(several) == [
        "The recorded time goes back at 2 steps, by 10 min at step 71, so start and duration are unknown."
    ]


def test_a_file_of_another_process_may_begin_before_the_end_of_the_one_before() -> None:
    first, second = STEPS[:50], STEPS[50:]
    assert texts(run((first, at(2 * first)), (second, at(2 * second - 80)))) == []


def test_a_resumed_run_whose_clock_is_behind_goes_back_unless_the_order_of_its_files_is_unknown() -> None:
    first, second = STEPS[:50], STEPS[50:]
    resumed = run((first, at(2 * first)), (second, at(2 * second - 9000)))
    assert texts(resumed)[0] == (
        "The recorded time goes back by 2.5 h at step 51, so start and duration are unknown."
    )
    files = tuple(FileState(name, 1, WALL, 1, 0) for name in ("tfevents.new", "tfevents.old"))
    assert clock_claims(replace(resumed, files=files)) == []


def test_where_another_scalar_was_recorded_the_training_did_not_pause() -> None:
    loss = run((STEPS, walls(at_40=43_200)))
    beside = ScalarPart(
        np.array([40]), walls()[40:41] + 20_000, np.ones(1, np.float32), np.zeros(1, np.int64)
    )
    assert len(texts(loss)) == 1
    both = {**loss.scalars, "accuracy": ScalarSeries("accuracy", [beside], version=1)}
    assert texts(replace(loss, scalars=both)) == []


def test_times_of_few_values_tell_no_pause() -> None:
    few = STEPS[:10]
    assert texts(run((few, at(np.where(few > 5, 43_200, 0) + few)))) == []
    assert time_claims(replace(run((few, at(few))), scalars={})) == []


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (STEPS[STEPS != 41], "loss has no value at step 41, and"),
        (5 * STEPS[(STEPS < 41) | (STEPS > 43)], "loss has no values at 3 steps from 205 to 215, and"),
        (STEPS, ""),
        (np.cumsum(STEPS), ""),  # at no regular steps
    ],
)
def test_steps_that_damage_took_are_told_where_the_others_are_regular(steps: Ints, text: str) -> None:
    file = FileState("x", 10, WALL, 10, 0)
    record = run((steps, at(np.arange(len(steps)))))
    assert lost_claims(replace(record, files=(file,))) == []
    (claim,) = lost_claims(replace(record, files=(replace(file, damage=(Damage(1, 2, "damage.zeros"),)),)))
    assert claim.key == ("claim.file.lost_steps" if text else "claim.file.lost")
    assert text in sentence(claim)


def test_a_file_that_is_gone_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    record = run((STEPS, walls(at_40=-3600)))
    assert [claim.key for claim in recording_claims(record)] == ["claim.run.clock_back"]

    def gone(_: ScalarSeries) -> None:
        raise Gone("x")

    monkeypatch.setattr(ScalarSeries, "line", gone)
    assert recording_claims(record) == []
