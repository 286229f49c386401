"""Reasons that the signs of several ranks give."""

import json
import logging
import math
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.writer.recorders.fault_signs import (
    FINE,
    OWN,
    SHARED,
    SILENT,
    DeadLayers,
    Examined,
    HealthRecord,
    JumpDetector,
    LossScale,
    OngoingFault,
    RankSign,
    Replicas,
    SilentGradients,
    Watched,
    combined,
)

GOOD = RankSign(FINE, 1.5)
REDUCED, BROKEN = RankSign(SHARED, math.nan), RankSign(OWN, math.nan)
TWO = "the gradients differ between the ranks: norm 1.5 on rank 0, 3 on rank 1"
THREE = "the gradients of rank 2 differ: norm 1.5 on rank 0, 1.5 on rank 1, 3 on rank 2"


@pytest.mark.parametrize(
    ("signs", "reason", "cause", "rank", "outcome"),
    [
        ([GOOD, GOOD], "", FINE, 0, ("", FINE)),
        ([REDUCED, BROKEN], "the norm is nan", SHARED, 0, ("the norm is nan; rank 1 reported it", OWN)),
        ([REDUCED, BROKEN], "the loss is nan", OWN, 1, ("the loss is nan", OWN)),
        ([REDUCED, REDUCED], "the norm is nan", SHARED, 0, ("the norm is nan", SHARED)),
        ([GOOD, RankSign(SHARED, 9.0)], "", FINE, 0, ("another rank reported a fault", SHARED)),
        ([GOOD, RankSign(SILENT, 1.5)], "", FINE, 0, ("rank 1 reported it", SILENT)),
        ([GOOD, RankSign(FINE, 3.0)], "", FINE, 0, ("", FINE)),
        ([GOOD, RankSign(FINE, math.nan)], "", FINE, 0, ("", FINE)),
    ],
)
def test_the_ranks_at_which_a_fault_begins_are_named(
    signs: list[RankSign], reason: str, cause: int, rank: int, outcome: tuple[str, int]
) -> None:
    assert combined(signs, Examined(reason, cause), rank) == Examined(*outcome)


APART = {2: [1.5, 3.0], 3: [1.5, 1.5, 3.0]}


def signs(gradients: list[float], weights: list[float] | None = None) -> list[RankSign]:
    return [
        RankSign(FINE, norm, weight)
        for norm, weight in zip(gradients, weights or [math.nan] * len(gradients), strict=True)
    ]


@pytest.mark.parametrize(("ranks", "reason"), [(2, TWO), (3, THREE)])
def test_gradients_that_are_declared_to_be_the_same_are_compared_from_the_first_step_on(
    ranks: int, reason: str
) -> None:
    assert Replicas(True).check(0, signs(APART[ranks])) == reason
    assert Replicas(False).check(0, signs(APART[ranks])) == ""
    assert Replicas(True).check(0, [GOOD, RankSign(FINE, math.nan)]) == ""


def test_gradients_that_were_the_same_for_five_steps_have_to_stay_so() -> None:
    replicas = Replicas(None)
    assert [replicas.check(step, signs([1.5, 1.5, 1.5])) for step in range(5)] == [""] * 5
    assert replicas.check(5, signs(APART[3])) == THREE


def test_gradients_may_differ_while_they_are_accumulated() -> None:
    replicas = Replicas(None)
    answers = [
        replicas.check(step, signs([1.5, 1.5] if step % 4 == 3 else [1.5, 3.0], [7.0, 7.0]))
        for step in range(100)
    ]
    assert not any(answers)


def test_weights_that_differ_after_the_gradients_did_are_the_same_fault() -> None:
    replicas = Replicas(None)
    assert [replicas.check(step, signs([1.5] * 3, [7.0] * 3)) for step in range(5)] == [""] * 5
    assert replicas.check(5, signs(APART[3], [7.0] * 3)) == THREE
    assert replicas.check(50, signs([1.5] * 3, [7.2, 7.3, 7.2])) == ""


def test_weights_that_were_the_same_have_to_stay_so_and_it_is_told_once() -> None:
    replicas = Replicas(None)
    weights = {0: [7.0] * 3, 10: [7.1] * 3, 20: [7.2, 7.2001, 7.2], 30: [7.3, 7.4, 7.3]}
    answers = [replicas.check(step, signs(APART[3], weights.get(step))) for step in range(40)]
    norms = "norm 7.2 on rank 0, 7.2001 on rank 1, 7.2 on rank 2"
    reason = f"the weights of rank 1 differ and were equal at step 10: {norms}"
    assert [(step, text) for step, text in enumerate(answers) if text] == [(20, reason)]


def test_ranks_that_began_with_different_weights_share_them_out() -> None:
    replicas = Replicas(None)
    assert not any(replicas.check(step, signs(APART[3], APART[3])) for step in range(40))


ALIVE = Watched({"fc1": 2.0, "act": 1.5, "fc2": 1.0}, {}, frozenset())
DEAD = Watched({"fc1": 9.0, "act": 0.0, "fc2": 1.0}, {"fc1": -4.0}, frozenset({"fc1"}))


def reasons(*steps: Watched) -> list[str]:
    layers = DeadLayers()
    return [layers.check(number, watched) for number, watched in enumerate(steps)]


def test_a_dead_module_is_named_once_and_again_after_it_came_back() -> None:
    reported = "every output of act is zero; its norm was 1.5 at step 0"
    assert reasons(ALIVE, DEAD, DEAD, DEAD, DEAD) == ["", "", reported, "", ""]
    assert reasons(ALIVE, DEAD, DEAD, ALIVE, DEAD, DEAD)[-1] == reported.replace("step 0", "step 3")


def test_an_output_that_fades_away_has_not_died() -> None:
    fading = [ALIVE._replace(outputs={**ALIVE.outputs, "act": 1.5 / 4**step}) for step in range(6)]
    assert reasons(*fading, DEAD, DEAD, DEAD) == [""] * 9
    died = reasons(*fading[:3], DEAD, DEAD)
    assert died[-1] == "every output of act is zero; its norm was 0.0938 at step 2"


def test_a_function_shows_in_the_module_before_it() -> None:
    dead = DEAD._replace(outputs={"fc1": 9.0, "fc2": 1.0})
    assert reasons(ALIVE, dead, dead)[-1].startswith("no output of fc1 is above zero and no gradient")


@pytest.mark.parametrize(
    "watched",
    [
        DEAD._replace(quiet=frozenset()),  # a hinge that is satisfied while other losses go on
        DEAD._replace(outputs={"fc1": 9.0, "act": 0.5}, highest={"fc1": 0.5}),
        Watched({"gate": 0.0, "fc1": 2.0}, {}, frozenset({"fc1"})),  # gave zeros from the first step on
    ],
)
def test_zeros_alone_or_missing_gradients_alone_are_no_fault(watched: Watched) -> None:
    assert reasons(ALIVE, *[watched] * 9) == [""] * 10


def test_one_step_of_zeros_is_no_fault() -> None:
    assert reasons(ALIVE, DEAD, ALIVE, DEAD, ALIVE) == [""] * 5


def test_a_layer_that_was_dead_from_the_start_is_named_once_weights_had_time_to_move() -> None:
    dead = Watched({"fc1": 9.0, "fc2": 1.0}, {"fc1": -4.0}, frozenset({"fc1"}))
    reported = reasons(*[dead] * 12)
    assert reported[:9] == [""] * 9 and sum(map(bool, reported)) == 1


def test_gradients_that_are_gone_for_eight_steps_are_suspicious() -> None:
    silent = SilentGradients()
    assert [silent.suspicious(count) for count in [0] * 5 + [2] * 8] == [False] * 12 + [True]
    silent.settle()
    assert silent.lasting and not silent.suspicious(2)
    assert [silent.suspicious(4) for _ in range(8)] == [False] * 7 + [True]


def test_gradients_that_come_and_go_are_not_suspicious() -> None:
    silent, noise = SilentGradients(), random.Random(0)
    assert not any(silent.suspicious(4 * (noise.random() < 0.3)) for _ in range(2000))  # dropped blocks
    assert not any(silent.suspicious(3 * (step % 2)) for step in range(100))  # two networks in turns


def test_a_fault_that_lasts_is_one_episode() -> None:
    episode = OngoingFault()
    begun = []
    for step in range(100):
        if step not in (5, 6, 7, 8, 20, 41, 42, 90):
            episode.pass_healthy(watched=False)
        elif episode.begins(hidden=False):
            begun.append(step)
    assert begun == [5, 41, 90]


def test_an_output_that_stays_broken_between_the_steps_that_measure_it_is_one_fault() -> None:
    episode = OngoingFault()
    assert episode.begins(hidden=True)
    for _ in range(50):
        episode.pass_healthy(watched=False)
    assert not episode.begins(hidden=True)
    for step in range(21):
        episode.pass_healthy(watched=step == 0)
    assert episode.begins(hidden=True)


@pytest.fixture
def detector() -> JumpDetector:
    return JumpDetector("loss", factor=100.0, warmup=5)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_reported_from_the_first_step_on(detector: JumpDetector, value: Any) -> None:
    assert detector.check(value) == f"the loss is {str(value).replace('nan', 'NaN').replace('inf', 'Inf')}"


def test_a_jump_is_reported_with_its_size_after_the_warm_up(detector: JumpDetector) -> None:
    assert [detector.check(2.0) for _ in range(5)] == [""] * 5
    assert detector.check(-1000.0) == "the loss jumped to -1000, 500 times its running mean"
    assert detector.check(9.0) == ""


def test_a_jump_beyond_the_largest_values_of_late_is_compared_with_these(detector: JumpDetector) -> None:
    for _ in range(5):
        detector.check(1.0)
    assert detector.check(30.0) == "the loss jumped to 30, 30 times the largest of late"


def test_nothing_is_a_jump_while_few_values_are_known(detector: JumpDetector) -> None:
    assert [detector.check(10.0**number) for number in (0, 3, 6, 9, 12)] == [""] * 5


def test_a_reported_value_does_not_hide_the_next_one(detector: JumpDetector) -> None:
    for _ in range(5):
        detector.check(1.0)
    assert detector.check(1e6)
    assert detector.check(1e6)
    assert detector.check(math.nan)
    assert not detector.check(1.0)


@pytest.mark.parametrize("rate", [1.3, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("begin", [10, 300])
def test_an_explosion_is_reported_while_it_is_finite(detector: JumpDetector, rate: float, begin: int) -> None:
    noise = random.Random(0)
    values = [noise.uniform(0.8, 1.2) * (rate ** max(0, step - begin)) for step in range(begin + 40)]
    reported = [step for step, value in enumerate(values) if detector.check(value)]
    assert begin < reported[0] <= begin + math.ceil(math.log(150, rate)) + 3, reported


@pytest.mark.parametrize("rate", [1.2, 1.3, 2.0])
def test_noise_does_not_hide_an_explosion(rate: float) -> None:
    for seed in range(20):
        noise, detector = random.Random(seed), JumpDetector("loss", 100.0, 5)
        values = [noise.uniform(0.4, 1.6) * (rate ** max(0, step - 10)) for step in range(100)]
        reported = [step for step, value in enumerate(values) if detector.check(value)]
        assert 10 < reported[0] <= 10 + math.ceil(math.log(150, rate)) + 20, (seed, reported)


def test_growth_that_ends_is_none(detector: JumpDetector) -> None:
    values = [min(1.2**step, 20.0) for step in range(200)]  # as gradients after a plateau, or a sum of eight
    assert not any(detector.check(value) for value in values)
    values = [1.02**step for step in range(300)]
    assert not any(JumpDetector("norm", 100.0, 5).check(value) for value in values)


def test_single_batches_of_a_converged_training_are_no_jumps(detector: JumpDetector) -> None:
    values = [max(2.0 * 0.97**step, 1e-4) if step % 97 else 1.9 for step in range(1, 1000)]
    assert not any(detector.check(value) for value in values)


def test_a_level_that_lasts_is_the_new_normal(detector: JumpDetector) -> None:
    for _ in range(30):
        detector.check(1.0)
    reported = [bool(detector.check(1000.0)) for _ in range(60)]
    assert reported == [True] * 20 + [False] * 40
    assert detector.check(1e6)


def test_zeros_are_no_ground_to_compare_with(detector: JumpDetector) -> None:
    assert not any(detector.check(0.0) for _ in range(10))
    assert detector.check(5.0) == ""


def test_a_change_of_level_is_no_steady_growth() -> None:
    for seed in range(20):
        noise, detector = random.Random(seed), JumpDetector("loss", 100.0, 5)
        values = [noise.uniform(0.5, 1.5) * (50 if step >= 200 else 1) for step in range(400)]
        assert not any("grew" in detector.check(value) for value in values), seed


def test_a_loss_around_zero_does_not_grow() -> None:
    for seed in range(20):
        noise, detector = random.Random(seed), JumpDetector("loss", 100.0, 5)
        assert not any(detector.check(noise.gauss(0, 1)) for _ in range(2000)), seed


def record() -> HealthRecord:
    health = HealthRecord()
    health.update(20, {"fc": 2.5, "act": 3.25, "gate": 0.0}, {"fc.weight": 12.0, "fc.bias": 1.0})
    return health


def test_the_weight_that_grew_most_is_named() -> None:
    assert record().grown({"fc.weight": 3.1e4, "fc.bias": 11.0}) == (
        "The weight fc.weight has norm 3.1e+04, 2.58e+03 times as much as 12 at step 20."
    )
    assert record().grown({"fc.weight": 100.0, "new": float("nan")}) == ""
    assert record().grown({"fc.weight": float("nan"), "fc.bias": 99.0}) == (
        "The norm of the weight fc.weight is NaN; it was 12 at step 20."
    )
    assert HealthRecord().grown({"fc.weight": 1.0}) == ""


def test_norms_that_differ_have_as_many_digits_as_tell_them_apart() -> None:
    signs = [RankSign(0, norm) for norm in (1.5, 1.5, 1.5023)]
    sentence = Replicas(True).check(7, signs)
    assert sentence.endswith("norm 1.5 on rank 0, 1.5 on rank 1, 1.502 on rank 2")


SPLIT = Examined("the gradients differ between the ranks: norm 1, 2", 3, ranks_differ=True)


def test_the_file_holds_the_healthy_norms_and_those_of_now(tmp_path: Path) -> None:
    record().write(
        tmp_path / "rank_0", 40, {"fc.weight": 3.1e4}, {"fc": 9.0, "act": 8.0}, {"gate", "act"}, SPLIT, False
    )
    content = json.loads((tmp_path / "rank_0" / "health_40.json").read_text())
    assert (content["step"], content["healthy_step"]) == (40, 20)
    assert (content["weights"]["fc.weight"], content["weights_now"]["fc.weight"]) == (12.0, 3.1e4)
    assert (content["outputs"]["fc"], list(content["outputs_now"].items())) == (
        2.5,
        [("fc", 9.0), ("act", 8.0)],
    )
    assert content["repeated"] == ["act", "gate"]
    facts = content["reason"], content["ranks_differ"], content["broke_again"]
    assert facts == (SPLIT.reason, True, False)


def scale_of(size: float, enabled: bool = True) -> LossScale:
    scaler = SimpleNamespace(get_scale=lambda: size, is_enabled=lambda: enabled)
    return LossScale(scaler)


@pytest.mark.parametrize("norm", [math.inf, math.nan])
def test_overflow_is_left_to_the_scaler_as_long_as_the_scale_can_fall(
    norm: float, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    scale = scale_of(65536.0)
    assert scale.mends(norm) and scale.mends(norm)
    assert [record.getMessage()[:51] for record in caplog.records] == [
        "gradients overflow at a loss scale of 65536: GradSc"
    ]
    assert not scale_of(1.0).mends(norm)
    assert scale_of(1.0).remark(norm) == " although the loss scale has fallen to 1"


def test_finite_gradients_and_trainings_without_a_scaler_have_nothing_to_mend() -> None:
    assert not scale_of(65536.0).mends(3.0)
    assert scale_of(1.0).remark(3.0) == ""
    for scale in (LossScale(None), scale_of(65536.0, enabled=False)):
        assert not scale.mends(math.inf)
        assert scale.remark(math.inf) == ""


def test_a_training_that_may_have_a_scaler_is_told_how_to_give_it() -> None:
    assert LossScale(None).advice(math.inf) == (
        "With a GradScaler this is normal: give it to the recorder as scaler=."
    )
    assert LossScale(None).advice(3.0) == "" == scale_of(1.0).advice(math.inf)


@pytest.mark.parametrize(("last", "reported"), [(21.0, True), (19.0, False)])
def test_a_value_is_compared_with_the_largest_of_the_last_fifty(last: float, reported: bool) -> None:
    """The mean does not decide: it is above 0.21, and would need 100 times as much."""
    detector = JumpDetector("loss", factor=100.0, warmup=5)
    for number in range(60):
        assert not detector.check(1.0 if number % 3 else -1.0)
    assert bool(detector.check(last)) is reported
