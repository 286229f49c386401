"""Layers that die, and what only looks like it; sequences of statistics of watched steps."""

import random

import pytest

from mindinsight.writer.capture.dead_layers import DeadLayers, FaultEpisode, SilentGradients, Watched

ALIVE = Watched({"fc1": 2.0, "act": 1.5, "fc2": 1.0}, {}, frozenset())
DEAD = Watched({"fc1": 9.0, "act": 0.0, "fc2": 1.0}, {"fc1": -4.0}, frozenset({"fc1"}))


def reasons(*steps: Watched) -> list[str]:
    layers = DeadLayers()
    return [layers.check(number, watched) for number, watched in enumerate(steps)]


def test_a_dead_module_is_named_once_and_again_after_it_came_back() -> None:
    reported = "every output of act is zero; its norm was 1.5 at step 0"
    assert reasons(ALIVE, DEAD, DEAD, DEAD, DEAD) == ["", "", reported, "", ""]
    assert reasons(ALIVE, DEAD, DEAD, ALIVE, DEAD, DEAD)[-1] == reported.replace("step 0", "step 3")


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
    episode = FaultEpisode()
    assert [step for step in [5, 6, 7, 8, 20, 41, 42, 90] if episode.begins(step)] == [5, 41, 90]
