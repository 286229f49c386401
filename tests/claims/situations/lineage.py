"""Situations of importance: searches of runs whose objective follows a known rule."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, situation

LEADS = ["claim.lineage.matters"]
UNORDERED = "claim.lineage.matters_unordered"
REGIONS = ["claim.lineage.lowest", "claim.lineage.highest"]
ARROWS = ["claim.lineage.rises", "claim.lineage.falls"]
CHANCE = ["claim.lineage.nothing", "claim.lineage.undecided"]
SUBTLE = ["claim.lineage.weak", "claim.lineage.pair", "claim.lineage.failing"]
EXTREME = ["claim.lineage.all_lower", "claim.lineage.all_higher"]


def search(
    folder: Path, settings: Mapping[str, Sequence[Any]], objective: Iterable[Any], name: str = "loss"
) -> Question:
    """Write one run for each value of the objective, None for a run without it; ask what matters."""
    for number, value in enumerate(objective):
        with SummaryRecord(str(folder / f"run_{number:03}")) as record:
            known = {key: column[number] for key, column in settings.items() if column[number] is not None}
            record.add_value("custom_lineage_data", "user", known)
            if value is not None:
                record.add_value("eval_lineage", "eval", {"metrics": {name: float(value)}})
            record.record(1)
    return Question(
        base=folder,
        request=f"/v2/lineage/importance?objective=metric:{name}",
        page=f"lineage?o=metric:{name}",
    )


def drawn(count: int, seed: int = 0) -> tuple[np.random.Generator, dict[str, list[Any]]]:
    """Return a generator, and settings that do nothing."""
    chance = np.random.default_rng(seed)
    optimizers = chance.choice(["adam", "sgd", "lion"], count).tolist()
    return chance, {"dropout": chance.uniform(0, 0.5, count).tolist(), "optimizer": optimizers}


def rates(chance: np.random.Generator, count: int) -> tuple[list[float], Any]:
    """Return learning rates from 1e-5 to 1e-1, uniform by logarithm, and the logarithms."""
    logarithms = chance.uniform(-5, -1, count)
    return (10**logarithms).tolist(), logarithms


@situation(makes=[*LEADS, "claim.lineage.lowest"], never=[*ARROWS, *CHANCE, "claim.lineage.highest"])
def learning_rate_with_an_inner_optimum(folder: Path) -> Question:
    """The loss is lowest at 1e-3, in the middle of the range: no arrow."""
    chance, settings = drawn(60)
    settings["learning_rate"], logarithms = rates(chance, 60)
    return search(folder, settings, (logarithms + 3) ** 2 + chance.normal(size=60) * 0.2)


@situation(makes=[*LEADS, "claim.lineage.rises"], never=["claim.lineage.falls", "claim.lineage.together"])
def loss_that_rises_with_the_rate(folder: Path) -> Question:
    """Monotone: an arrow is right."""
    chance, settings = drawn(50)
    settings["learning_rate"], logarithms = rates(chance, 50)
    return search(folder, settings, logarithms + 6 + chance.normal(size=50) * 0.2)


@situation(
    makes=["claim.lineage.falls", "claim.lineage.highest"],
    never=["claim.lineage.rises", "claim.lineage.lowest"],
)
def accuracy_that_falls_with_the_rate(folder: Path) -> Question:
    """Higher is better for an accuracy, so the region is that of the highest."""
    chance, settings = drawn(50, 1)
    settings["learning_rate"], logarithms = rates(chance, 50)
    return search(folder, settings, -logarithms / 10 + chance.normal(size=50) * 0.02, "accuracy")


@situation(makes=REGIONS, never=["claim.lineage.too_few"])
def objective_whose_name_says_nothing(folder: Path) -> Question:
    """Nobody knows whether a high or a low value is better: both ends are named."""
    chance, settings = drawn(50, 2)
    settings["learning_rate"], logarithms = rates(chance, 50)
    return search(folder, settings, logarithms + chance.normal(size=50) * 0.1, "q")


@situation(makes=["claim.lineage.pair"], never=[*LEADS, *CHANCE, *REGIONS, "claim.lineage.weak"])
def two_settings_that_matter_only_together(folder: Path) -> Question:
    """High where both are high or both are low: neither has an effect of its own."""
    chance, settings = drawn(70, 21)
    width, depth = chance.uniform(-1, 1, (2, 70))
    settings["width"], settings["depth"] = width.tolist(), depth.tolist()
    return search(folder, settings, 2 + 0.7 * (width * depth > 0) + 0.03 * chance.normal(size=70))


@situation(makes=["claim.lineage.weak"], never=[*LEADS, *CHANCE, "claim.lineage.pair"])
def setting_with_a_weak_effect(folder: Path) -> Question:
    """A seventh of the variance: too little for a forest, and too much for chance."""
    chance, settings = drawn(64, 25)
    width, noise = chance.uniform(-1, 1, 64), chance.normal(size=64)
    width -= width.mean()
    noise -= noise.mean() + width * (noise @ width) / (width @ width)  # the correlation is as planted
    settings["width"] = width.tolist()
    return search(folder, settings, 3 + 0.4 * width / width.std() + noise / noise.std())


@situation(makes=[], never=["claim.lineage.weak", *LEADS])
def setting_that_only_one_of_two_experiments_has(folder: Path) -> Question:
    """Its values do nothing: that runs have it at all tells which experiment they are of."""
    chance, settings = drawn(64, 45)
    settings["momentum"] = [*chance.uniform(0, 1, 40).tolist(), *[None] * 24]
    loss = 2 + 0.1 * chance.normal(size=64)
    loss[40:] -= 0.06
    return search(folder, settings, loss)


@situation(makes=["claim.lineage.failing", "claim.lineage.nothing"], never=LEADS)
def runs_that_fail_above_a_rate(folder: Path) -> Question:
    chance, settings = drawn(70, 23)
    rate = chance.uniform(0, 1, 70)
    settings["rate"] = rate.tolist()
    loss = np.where(rate > 0.7, math.nan, 2 + 0.02 * chance.normal(size=70))
    return search(folder, settings, loss)


def unrecorded(folder: Path, above: float) -> Question:
    """A tenth of the runs recorded no rate; all of them and those with a rate above ``above`` fail."""
    chance, settings = drawn(70, 26)
    rate = chance.uniform(0, 1, 70)
    settings["rate"] = [None if row % 10 == 0 else value for row, value in enumerate(rate.tolist())]
    fails = (rate > above) | (np.arange(70) % 10 == 0)
    return search(folder, settings, np.where(fails, math.nan, 2 + 0.02 * chance.normal(size=70)))


@situation(makes=["claim.lineage.failing"], never=LEADS)
def failing_runs_some_of_which_recorded_no_rate(folder: Path) -> Question:
    return unrecorded(folder, 0.7)


@situation(makes=["claim.lineage.left_out"], never=["claim.lineage.failing"])
def runs_that_fail_where_they_recorded_no_rate(folder: Path) -> Question:
    """A missing value is none: the runs that recorded a rate all succeeded."""
    return unrecorded(folder, 1.0)


def three_of_23(folder: Path, shift: float, spread: float = 0.01) -> Question:
    """Three runs of another optimizer: too few for a forest."""
    chance, settings = drawn(23, 31)
    settings["optimizer"] = ["sgd"] * 3 + ["adam", "adamw"] * 10
    accuracy = 0.93 + spread * chance.uniform(-1, 1, 23)
    accuracy[:3] += shift
    return search(folder, settings, accuracy, "accuracy")


@situation(makes=["claim.lineage.all_lower"], never=[*CHANCE, "claim.lineage.all_higher"])
def three_runs_of_an_optimizer_that_are_worst(folder: Path) -> Question:
    return three_of_23(folder, -0.1)


@situation(makes=["claim.lineage.all_higher"], never=[*CHANCE, "claim.lineage.all_lower"])
def three_runs_of_an_optimizer_that_are_best(folder: Path) -> Question:
    return three_of_23(folder, 0.1)


@situation(makes=["claim.lineage.undecided"], never=[*EXTREME, *LEADS])
def three_runs_of_an_optimizer_among_the_others(folder: Path) -> Question:
    return three_of_23(folder, 0.0)


@situation(makes=["claim.lineage.unrecorded", "claim.lineage.failing"], never=EXTREME)
def runs_without_the_objective_beside_failing_ones(folder: Path) -> Question:
    """Those that did not record it have another rate, and do not count as failed."""
    chance, settings = drawn(80, 23)
    rate = chance.uniform(0, 1, 80)
    rate[70:] = 0.1
    settings["rate"] = rate.tolist()
    loss = np.where(rate > 0.7, math.nan, 2 + 0.02 * chance.normal(size=80)).tolist()
    return search(folder, settings, [*loss[:70], *[None] * 10])


@situation(makes=["claim.lineage.left_out"], never=["claim.lineage.failing", "claim.lineage.unrecorded"])
def runs_that_fail_by_chance(folder: Path) -> Question:
    chance, settings = drawn(70, 24)
    settings["rate"] = chance.uniform(0, 1, 70).tolist()
    loss = np.where(chance.uniform(size=70) > 0.7, math.nan, 2 + 0.02 * chance.normal(size=70))
    return search(folder, settings, loss)


@situation(makes=["claim.lineage.nothing"], never=[*LEADS, *REGIONS, *ARROWS, *SUBTLE])
def settings_that_do_nothing(folder: Path) -> Question:
    """Forty runs of pure noise."""
    chance, settings = drawn(40, 3)
    return search(folder, settings, chance.normal(size=40) + 5)


@situation(makes=["claim.lineage.undecided"], never=["claim.lineage.nothing", *LEADS])
def few_runs_that_differ_by_chance(folder: Path) -> Question:
    """Sixteen runs cannot refute a middling effect."""
    chance, settings = drawn(16, 4)
    return search(folder, settings, chance.normal(size=16) + 5)


@situation(makes=["claim.lineage.rare", "claim.lineage.nothing"], never=LEADS)
def setting_that_four_runs_have(folder: Path) -> Question:
    """A perfect correlation over 4 of 60 runs leads no ranking."""
    chance, settings = drawn(60, 5)
    loss = chance.normal(size=60) + 5
    settings["noise"] = [*loss[:4].tolist(), *[None] * 56]
    return search(folder, settings, loss)


@situation(makes=LEADS, never=["claim.lineage.rare"])
def setting_that_exactly_half_of_the_runs_have(folder: Path) -> Question:
    """Thirty of sixty runs are the least number that a setting needs."""
    chance, settings = drawn(60, 6)
    width = chance.uniform(0, 1, 60)
    settings["width"] = [*width[:30].tolist(), *[None] * 30]
    loss = np.where(np.arange(60) < 30, 5 * width, 2.5)
    return search(folder, settings, loss + chance.normal(size=60) * 0.1)


@situation(makes=LEADS, never=["claim.lineage.rare"])
def setting_that_most_runs_have(folder: Path) -> Question:
    """Forty of fifty runs carry the setting that decides."""
    chance, settings = drawn(50, 6)
    width = chance.uniform(0, 1, 50)
    settings["width"] = [value if number % 5 else None for number, value in enumerate(width.tolist())]
    return search(folder, settings, 5 * width + chance.normal(size=50) * 0.1)


@situation(makes=["claim.lineage.too_few"], never=[*LEADS, *CHANCE, "claim.lineage.constant"])
def one_run(folder: Path) -> Question:
    """One run explains nothing."""
    return search(folder, {"lr": [0.1]}, [1.0])


@situation(
    makes=["claim.lineage.too_few", "claim.lineage.unrecorded"], never=["claim.lineage.left_out", *LEADS]
)
def objective_missing_in_most_runs(folder: Path) -> Question:
    """Three of thirty runs have the objective."""
    _, settings = drawn(30, 7)
    return search(folder, settings, [1.0, 2.0, 3.0, *[None] * 27])


@situation(makes=["claim.lineage.left_out", *LEADS], never=["claim.lineage.too_few"])
def diverged_runs(folder: Path) -> Question:
    """Five runs end in NaN: they are left out, and that is said."""
    chance, settings = drawn(50, 8)
    settings["learning_rate"], logarithms = rates(chance, 50)
    loss = (logarithms + 3) ** 2 + chance.normal(size=50) * 0.1
    loss[:5] = math.nan
    return search(folder, settings, loss)


@situation(makes=["claim.lineage.constant"], never=[*CHANCE, *LEADS, "claim.lineage.left_out"])
def constant_objective(folder: Path) -> Question:
    """All runs reach the same loss."""
    _, settings = drawn(20, 9)
    return search(folder, settings, [2.0] * 20)


@situation(
    makes=["claim.lineage.same_settings", "claim.lineage.seeds"], never=[*CHANCE, "claim.lineage.constant"]
)
def equal_settings(folder: Path) -> Question:
    """Twenty repetitions with different seeds: a seed is no setting."""
    chance = np.random.default_rng(10)
    return search(folder, {"lr": [0.1] * 20, "seed": [*range(20)]}, chance.normal(size=20))


@situation(makes=[*LEADS, "claim.lineage.together", "claim.part.lineage.any_of"], never=[UNORDERED])
def two_settings_that_move_together(folder: Path) -> Question:
    """The batch size grows with the rate: nobody can tell which of them matters."""
    chance, settings = drawn(60, 11)
    settings["learning_rate"], logarithms = rates(chance, 60)
    settings["batch_size"] = np.round(2 ** (logarithms + 10)).astype(int).tolist()
    return search(folder, settings, (logarithms + 3) ** 2)


@situation(makes=[*LEADS, "claim.lineage.lowest"], never=[*ARROWS, "claim.lineage.labels"])
def optimizer_that_decides(folder: Path) -> Question:
    """A text decides; its best value is named and it has no direction."""
    chance, settings = drawn(45, 12)
    loss = [1.0 if name == "adam" else 3.0 for name in settings["optimizer"]]
    return search(folder, settings, np.array(loss) + chance.normal(size=45) * 0.2)


@situation(makes=[*LEADS, "claim.lineage.rises"], never=["claim.lineage.labels", "claim.lineage.fixed"])
def integers_beyond_those_of_a_float_that_decide(folder: Path) -> Question:
    """They differ in every run, as names do, but their size is what the loss follows."""
    _, settings = drawn(45, 14)
    settings["tokens"] = [2**62 + number for number in range(45)]
    return search(folder, settings, range(45))


@situation(makes=["claim.lineage.labels"], never=[*LEADS, "claim.lineage.same_settings"])
def names_of_runs(folder: Path) -> Question:
    """A text that is different in every run explains everything and nothing."""
    chance, settings = drawn(40, 13)
    settings["comment"] = [f"trial {number}" for number in range(40)]
    return search(folder, settings, chance.normal(size=40))


@situation(makes=["claim.lineage.fixed"], never=["claim.lineage.same_settings", "claim.lineage.seeds"])
def a_seed_that_is_the_same_everywhere(folder: Path) -> Question:
    chance, settings = drawn(40, 15)
    settings["seed"] = [7] * 40
    return search(folder, settings, chance.normal(size=40) + 5)


@situation(
    makes=["claim.lineage.fixed", "claim.lineage.seeds"],
    never=["claim.lineage.same_settings", "claim.lineage.rare"],
)
def seed_and_a_setting_that_never_changes(folder: Path) -> Question:
    """What is left out is named."""
    chance, settings = drawn(40, 15)
    settings["seed"], settings["layers"] = list(range(40)), [12] * 40
    return search(folder, settings, chance.normal(size=40) + 5)


@situation(
    makes=LEADS,
    never=["claim.lineage.same_settings", "claim.lineage.left_out", "claim.lineage.fixed"],
)
def one_hyperparameter_is_nan(folder: Path) -> Question:
    """A NaN among the values of a setting removes neither it nor the others."""
    chance, settings = drawn(40, 14)
    width = chance.uniform(0, 1, 40)
    settings["width"] = [math.nan, *width[1:].tolist()]
    return search(folder, settings, 5 * width)


@situation(makes=[*LEADS, "claim.lineage.falls"], never=["claim.lineage.rises"])
def negative_objective(folder: Path) -> Question:
    """Values below and at zero are values like others."""
    chance, settings = drawn(40, 15)
    depth = chance.integers(0, 9, 40)
    settings["depth"] = depth.tolist()
    return search(folder, settings, -depth + chance.normal(size=40) * 0.1)


@situation(makes=["claim.lineage.few_combinations"], never=[*LEADS, *CHANCE, *SUBTLE])
def eight_combinations_with_five_seeds_each(folder: Path) -> Question:
    """Each of the random settings names the combination; none of them is known to matter."""
    chance, settings = drawn(8, 31)
    settings["learning_rate"], logarithms = rates(chance, 8)
    repeated = {name: [value for value in column for _ in range(5)] for name, column in settings.items()}
    return search(folder, repeated, np.repeat(logarithms, 5) + 6 + 0.1 * chance.normal(size=40))


@situation(makes=[*LEADS], never=["claim.lineage.few_combinations", *CHANCE])
def full_grid_of_eight_with_five_seeds_each(folder: Path) -> Question:
    """Four rates with each of two optimizers: the effect of one is not that of the other."""
    chance = np.random.default_rng(32)
    logarithms = np.repeat([-4, -3, -2, -1], 10)
    settings = {
        "learning_rate": (10.0**logarithms).tolist(),
        "optimizer": [name for _ in range(4) for name in ("adam", "sgd") for _ in range(5)],
    }
    loss = logarithms + 6 + 0.3 * chance.normal(size=40)
    return search(folder, settings, loss)


@situation(makes=["claim.lineage.left_out"], never=["claim.lineage.failing", *LEADS])
def combination_that_fails_with_every_seed(folder: Path) -> Question:
    """Two of twenty combinations fail with all four seeds. Nothing tells which setting is the cause."""
    chance, settings = drawn(20, 33)
    settings["rate"] = chance.uniform(0, 1, 20).tolist()
    repeated = {name: [value for value in column for _ in range(4)] for name, column in settings.items()}
    highest = np.repeat(np.argsort(np.argsort(settings["dropout"])) >= 18, 4)
    return search(folder, repeated, np.where(highest, math.nan, 2 + 0.02 * chance.normal(size=80)))


@situation(makes=[*LEADS], never=["claim.lineage.together"])
def setting_that_follows_the_one_that_matters(folder: Path) -> Question:
    """The decay follows the rate loosely and has no effect of its own: only the rate is named."""
    from mindinsight.server.curves.importance import importance

    chance, settings = drawn(60, 34)
    settings["learning_rate"], logarithms = rates(chance, 60)
    settings["decay"] = (logarithms + 0.9 * chance.normal(size=60)).tolist()
    answer = importance("loss", settings, ((logarithms + 3) ** 2 + 0.1 * chance.normal(size=60)).tolist())
    (named,) = [claim.values["settings"] for claim in answer.claims if "settings" in claim.values]
    assert named == ["learning_rate"]
    return Question(direct=lambda: answer.claims)


@situation(makes=["claim.lineage.fixed"], never=["claim.lineage.same_columns", *LEADS])
def rate_that_is_written_as_1_and_as_1_0(folder: Path) -> Question:
    """Equal numbers are one value."""
    from mindinsight.server.curves.importance import importance

    chance, settings = drawn(40, 35)
    settings["scale"] = [1, 1.0] * 20
    loss = np.tile([1.0, 2.0], 20) + 0.1 * chance.normal(size=40)
    return Question(direct=lambda: importance("loss", settings, loss.tolist()).claims)


@situation(makes=["claim.lineage.left_out"], never=["claim.lineage.pair"])
def inner_optimum_of_a_rate_that_the_decay_follows(folder: Path) -> Question:
    """The product of both is nearly the square of one."""
    from mindinsight.server.curves.importance import importance

    chance, settings = drawn(16, 37)
    settings["learning_rate"], logarithms = rates(chance, 16)
    settings["decay"] = (logarithms + 0.3 * chance.normal(size=16)).tolist()
    loss = (logarithms + 3) ** 2 + 0.3 * chance.normal(size=16)
    loss[0] = math.nan
    return Question(direct=lambda: importance("loss", settings, loss.tolist()).claims)


def crossed(folder: Path, first: float, second: float) -> Question:
    """Two switches, each in half of the runs, that raise the loss by ``first`` and ``second``."""
    chance = np.random.default_rng(41)
    left, right = np.arange(64) % 2, np.arange(64) // 2 % 2
    loss = 1 + first * left + second * right + 0.05 * chance.normal(size=64)
    return search(folder, {"left": left.tolist(), "right": right.tolist()}, loss)


@situation(makes=[UNORDERED], never=[*LEADS, "claim.lineage.together", "claim.part.lineage.any_of"])
def two_switches_that_matter_alike(folder: Path) -> Question:
    """Which explains more is due to the noise."""
    return crossed(folder, 1.0, 1.0)


@situation(makes=LEADS, never=[UNORDERED])
def two_switches_of_which_one_matters_more(folder: Path) -> Question:
    return crossed(folder, 1.0, 0.4)


def repeating(folder: Path, rounded: int, noise: float) -> Question:
    """Momentum decides. The last loss is recorded as a setting, rounded or measured once more."""
    chance, settings = drawn(40, 42)
    settings["momentum"] = [0.5, 0.9] * 20
    loss = np.tile([1.0, 0.3], 20) * np.exp(0.1 * chance.normal(size=40))
    settings["final"] = np.round(loss * np.exp(noise * chance.normal(size=40)), rounded).tolist()
    return search(folder, settings, loss)


@situation(makes=["claim.lineage.results", "claim.part.lineage.result", *LEADS], never=[UNORDERED])
def result_that_is_recorded_as_a_setting(folder: Path) -> Question:
    return repeating(folder, 5, 0.0)


@situation(makes=LEADS, never=["claim.lineage.results", "claim.part.lineage.result"])
def setting_that_the_result_follows_closely(folder: Path) -> Question:
    """It is no copy of the result, so it may be its cause."""
    return repeating(folder, 5, 0.02)


@situation(makes=["claim.lineage.labels"], never=["claim.lineage.fixed"])
def time_at_which_each_run_started(folder: Path) -> Question:
    """A time names the run, although the loss falls with it."""
    chance, settings = drawn(40, 43)
    settings["started"] = [1.79e9 + 3600 * number for number in range(40)]
    return search(folder, settings, 2 - np.arange(40) / 40 + 0.1 * chance.normal(size=40))


@situation(makes=["claim.why.mixed_setting"], never=["claim.why.mixed_settings", "claim.why.mixed_scalars"])
def search_over_two_data_sets(folder: Path) -> Question:
    chance, settings = drawn(40, 44)
    settings["dataset"] = ["cifar", "imagenet"] * 20
    return search(folder, settings, np.tile([0.3, 2.5], 20) + 0.05 * chance.normal(size=40))


def two_experiments(chance: np.random.Generator, shared: int) -> dict[str, list[Any]]:
    """Return the settings of 40 runs of an experiment with dropout, and of 40 others without it, which have
    ``shared`` settings in common besides the rate."""
    rate = rates(chance, 80)[0]
    first = chance.uniform(0, 0.5, 40).tolist()
    common = {f"width{number}": chance.integers(1, 9, 80).tolist() for number in range(shared)}
    second = chance.choice(["adam", "sgd"], 40).tolist()
    depth = chance.integers(1, 5, 40).tolist()
    return {
        "learning_rate": rate,
        "dropout": [*first, *[None] * 40],
        "heads": [*chance.integers(1, 5, 40).tolist(), *[None] * 40],
        "optimizer": [*[None] * 40, *second],
        "depth": [*[None] * 40, *depth],
        **common,
    }


@situation(makes=["claim.lineage.partly", "claim.why.unlike_settings", *LEADS], never=[UNORDERED])
def settings_of_one_of_two_experiments(folder: Path) -> Question:
    """The second is better at every rate. Dropout, which the first alone recorded, does nothing."""
    chance = np.random.default_rng(4)
    settings = two_experiments(chance, 0)
    level = np.repeat([6.0, 3.0], 40)
    loss = level + np.log10(settings["learning_rate"]) + chance.normal(size=80) * 0.1
    return search(folder, settings, loss)


@situation(makes=LEADS, never=["claim.lineage.partly", "claim.why.unlike_settings"])
def setting_that_half_of_the_runs_of_one_experiment_have(folder: Path) -> Question:
    """An option that is not set in half of the runs is a value like others, if all else is common."""
    chance, settings = drawn(40, 3)
    settings["learning_rate"] = rates(chance, 40)[0]
    settings["warmup"] = [100 if number % 2 else None for number in range(40)]
    loss = [2.0 - number % 2 for number in range(40)] + chance.normal(size=40) * 0.1
    return search(folder, settings, loss)
