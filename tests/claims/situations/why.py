"""Situations of the question why some runs are bad: planted settings, and curves that leave at a step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer import SummaryRecord, SummaryWriter
from tests.claims.situation import Question, situation

STEPS = np.arange(200)
COURSE = 0.5 + 2 * np.exp(-STEPS / 40)
SEPARATES = ["claim.why.only_good", "claim.why.only_bad"]
BREAKS = ["claim.why.breaks", "claim.why.grows", "claim.why.breaks_longer"]
DIFFERS = [
    f"claim.why.{kind}"
    for kind in ("diverges", "apart", "interval", "until", "some_differ", "some_apart", "unproven")
]
NON_FINITE, UNPROVEN = "claim.why.non_finite", "claim.why.non_finite_unproven"
PART = "claim.part.why"
BOTH = [f"{PART}.non_finite_good", f"{PART}.non_finite_bad"]
LATE = ["claim.why.behind", "claim.why.ahead"]


def but(*keys: str) -> list[str]:
    """Return the claims of a difference other than ``keys``, and that there is none."""
    return [key for key in (*DIFFERS, "claim.why.together") if key.rpartition(".")[2] not in keys]


ENDS = ["claim.why.bad_end_first", "claim.why.good_end_first"]
NOTHING = ["claim.why.none_separates", "claim.why.too_few_runs", "claim.why.by_chance"]


def curve(seed: int, factor: Any = 1.0) -> list[float]:
    """Return a falling loss with 1 % of noise, times ``factor`` [200]."""
    noise = 1 + 0.01 * np.random.default_rng(seed).standard_normal(len(STEPS))
    values: list[float] = (COURSE * noise * factor).tolist()
    return values


def groups(
    folder: Path,
    good: Sequence[Mapping[str, Any]],
    bad: Sequence[Mapping[str, Any]],
    curves: Mapping[str, Mapping[str, Sequence[float]]] | None = None,
) -> Question:
    """Write a run for each mapping of settings, by default with the same kind of curve; ask why."""
    names = [f"good_{n}" for n in range(len(good))] + [f"bad_{n}" for n in range(len(bad))]
    for number, (name, settings) in enumerate(zip(names, [*good, *bad], strict=True)):
        tags = (curves or {}).get(name, {"loss": curve(number)})
        with SummaryRecord(str(folder / name)) as record:
            if settings:
                record.add_value("custom_lineage_data", "user", dict(settings))
            for step in range(max(map(len, tags.values()))):
                for tag, values in tags.items():
                    if step < len(values):
                        record.add_value("scalar", tag, values[step])
                record.record(step)
    query = "&".join(f"{name.partition('_')[0]}=./{name}" for name in names)
    return Question(base=folder, request=f"/v2/answers/why?{query}", page=f"why?{query.replace('./', '')}")


def with_curves(
    folder: Path, good: Sequence[Mapping[str, Any]], bad: Sequence[Mapping[str, Any]]
) -> Question:
    """Write runs of the given curves, all with the same setting."""
    curves = {f"good_{n}": tags for n, tags in enumerate(good)} | {
        f"bad_{n}": tags for n, tags in enumerate(bad)
    }
    return groups(folder, [{"lr": 0.1}] * len(good), [{"lr": 0.1}] * len(bad), curves)


def drawn(seed: int, count: int) -> list[dict[str, Any]]:
    """Return settings that do nothing."""
    chance = np.random.default_rng(seed)
    return [
        {"dropout": float(chance.uniform()), "optimizer": str(chance.choice(["adam", "sgd"]))}
        for _ in range(count)
    ]


def exploding(seed: int, start: int, slow: float = 1.0) -> list[float]:
    """Return a loss that grows by a fifth in each step from ``start`` on until it is NaN."""
    values = np.array(curve(seed)) * slow * 1.2 ** np.maximum(STEPS - start, 0)
    return [value if value < 1e4 else math.nan for value in values.tolist()]


@situation(
    makes=["claim.why.only_good", "claim.why.together"],
    never=["claim.why.only_bad", "claim.why.several", "claim.why.partly", *NOTHING],
)
def learning_rate_with_an_optimum_inside(folder: Path) -> Question:
    """Good from 1e-3 to 9e-3, bad on both sides: no threshold separates them."""
    good, bad = drawn(1, 6), drawn(2, 8)
    for number, run in enumerate(good):
        run["learning_rate"] = 0.001 + 0.0016 * number
    for number, run in enumerate(bad):
        run["learning_rate"] = (1e-5 if number % 2 else 0.05) * (1 + number / 10)
    return groups(folder, good, bad)


@situation(makes=["claim.why.only_bad"], never=["claim.why.only_good", "claim.why.partly", *NOTHING])
def batch_sizes_that_are_bad_in_the_middle(folder: Path) -> Question:
    good, bad = drawn(3, 8), drawn(4, 6)
    for number, run in enumerate(good):
        run["warmup"] = (10 if number % 2 else 5000) + number
    for number, run in enumerate(bad):
        run["warmup"] = 300 + 20 * number
    return groups(folder, good, bad)


@situation(makes=["claim.why.only_good"], never=["claim.why.only_bad", "claim.why.several", *NOTHING])
def rate_above_a_threshold(folder: Path) -> Question:
    good, bad = drawn(5, 6), drawn(6, 6)
    for number, run in enumerate([*good, *bad]):
        run["learning_rate"] = 10 ** (-4 + 0.25 * number)
    return groups(folder, good, bad)


@situation(makes=["claim.why.only_good"], never=["claim.why.partly", "claim.why.same_settings", *NOTHING])
def option_that_the_bad_runs_lack(folder: Path) -> Question:
    good, bad = drawn(7, 6), drawn(8, 6)
    for number, run in enumerate(good):
        run["clip"] = 1.0 + number % 2
    return groups(folder, good, bad)


@situation(makes=["claim.why.partly"], never=[*SEPARATES, "claim.why.several", *NOTHING])
def rate_with_one_exception_on_each_side(folder: Path) -> Question:
    good, bad = drawn(9, 12), drawn(10, 12)
    for number, run in enumerate([*good, *bad]):
        run["learning_rate"] = 10 ** (-4 + 0.125 * number)
    good[0]["learning_rate"], bad[0]["learning_rate"] = 0.05, 2e-4
    return groups(folder, good, bad)


@situation(makes=["claim.why.several"], never=["claim.why.none_separates", "claim.why.by_chance"])
def rate_and_batch_size_changed_together(folder: Path) -> Question:
    good, bad = drawn(11, 6), drawn(12, 6)
    for number, run in enumerate([*good, *bad]):
        run["learning_rate"], run["batch_size"] = 10 ** (-4 + 0.25 * number), 16 * (number + 1)
    return groups(folder, good, bad)


@situation(
    makes=["claim.why.by_chance_tied"],
    never=["claim.why.by_chance", *SEPARATES, "claim.why.partly", "claim.why.none_separates"],
)
def two_runs_against_two(folder: Path) -> Question:
    """Of six groupings two are separated by a threshold: all three settings do it, by intervals."""
    good = [{"a": 1, "b": 5, "c": 2}, {"a": 2, "b": 2, "c": 9}]
    bad = [{"a": 3, "b": 3, "c": 3}, {"a": 4, "b": 4, "c": 4}]
    return groups(folder, good, bad)


@situation(makes=["claim.why.by_chance_tied"], never=["claim.why.by_chance", "claim.why.several", *SEPARATES])
def rate_and_batch_size_of_three_runs_against_three(folder: Path) -> Question:
    """Each separates the groups, as in a tenth of all groupings. None of them does best."""
    good = [{"lr": 0.1 * number, "batch": 16 * number, "drop": number % 2} for number in (1, 2, 3)]
    bad = [{"lr": 0.1 * number, "batch": 16 * number, "drop": number % 2} for number in (4, 5, 6)]
    return groups(folder, good, bad)


@situation(
    makes=["claim.why.by_chance"],
    never=["claim.why.by_chance_tied", *SEPARATES, "claim.why.partly", "claim.why.none_separates"],
)
def rate_of_three_runs_against_three(folder: Path) -> Question:
    """The other setting separates nothing."""
    good = [{"lr": 0.1 * number, "drop": number % 2} for number in (1, 2, 3)]
    bad = [{"lr": 0.1 * number, "drop": number % 2} for number in (4, 5, 6)]
    return groups(folder, good, bad)


@situation(
    makes=["claim.why.by_chance_tied"],
    never=["claim.why.by_chance", *SEPARATES, "claim.why.partly", "claim.why.none_separates"],
)
def one_of_forty_random_settings_separates(folder: Path) -> Question:
    """Four runs against four: one setting would be 3 %, and one of forty is nearly sure."""
    chance = np.random.default_rng(3)
    names = [f"setting_{n:02}" for n in range(40)]
    runs = [{name: float(chance.uniform()) for name in names} for _ in range(8)]
    for number, run in enumerate(runs):
        run["setting_07"] = float(number)
    return groups(folder, runs[:4], runs[4:])


@situation(
    makes=["claim.why.none_separates"], never=[*SEPARATES, "claim.why.partly", "claim.why.too_few_runs"]
)
def settings_that_do_nothing(folder: Path) -> Question:
    return groups(folder, drawn(13, 10), drawn(14, 10))


@situation(makes=["claim.why.too_few_runs"], never=[*SEPARATES, "claim.why.none_separates"])
def two_runs_against_two_without_an_order(folder: Path) -> Question:
    return groups(folder, [{"lr": 1}, {"lr": 3}], [{"lr": 3}, {"lr": 2}])


@situation(
    makes=["claim.why.same_settings"],
    never=["claim.why.no_settings", "claim.why.none_separates", "claim.why.too_few_runs"],
)
def same_settings_everywhere(folder: Path) -> Question:
    return groups(folder, [{"lr": 0.1}] * 2, [{"lr": 0.1}] * 2)


@situation(makes=["claim.why.only_good"], never=["claim.why.several", "claim.why.partly", *NOTHING])
def rate_that_is_also_a_fact_of_the_training(folder: Path) -> Question:
    """The writer records ``lr`` as the training's learning rate, too: it is one setting, not two."""
    question = groups(folder, [{}] * 6, [{}] * 6)
    for number, name in enumerate([*(f"good_{n}" for n in range(6)), *(f"bad_{n}" for n in range(6))]):
        with SummaryWriter(str(folder / name)) as writer:
            writer.add_hparams({"lr": 10 ** (-4 + 0.25 * number), "depth": 3}, {})
    return question


@situation(
    makes=["claim.lineage.seeds", "claim.why.same_settings"], never=[*SEPARATES, "claim.why.by_chance"]
)
def seeds_that_separate(folder: Path) -> Question:
    """A random seed is no setting, here and among the importances."""
    runs = [{"lr": 0.1, "seed": number} for number in range(12)]
    return groups(folder, runs[:6], runs[6:])


@situation(makes=["claim.why.no_settings"], never=["claim.why.same_settings", "claim.why.none_separates"])
def runs_that_recorded_no_settings(folder: Path) -> Question:
    """That nothing differs is not known."""
    return groups(folder, [{}, {}], [{}, {}])


@situation(
    makes=["claim.why.grows"], never=["claim.why.breaks", "claim.why.together", "claim.why.too_few_steps"]
)
def loss_that_grows_from_step_61_until_nan(folder: Path) -> Question:
    return with_curves(
        folder,
        [{"loss": curve(n)} for n in range(3)],
        [{"loss": exploding(n + 9, 61)} for n in range(3)],
    )


@situation(makes=["claim.why.breaks"], never=["claim.why.grows", "claim.why.together"])
def nan_out_of_nothing(folder: Path) -> Question:
    """Nothing grows before: that it was on its way is not said."""
    bad = [value if step < 120 else math.nan for step, value in enumerate(curve(9))]
    return with_curves(folder, [{"loss": curve(n)} for n in range(3)], [{"loss": bad}, {"loss": bad}])


@situation(makes=[UNPROVEN, *BOTH], never=[NON_FINITE, *BREAKS, "claim.why.diverges", "claim.why.together"])
def nan_in_a_good_run_first(folder: Path) -> Question:
    """A NaN that a good run has as well, and earlier, is not what makes runs bad."""
    good = [{"loss": curve(n)} for n in range(3)]
    good[1]["loss"][50] = math.nan
    bad = [{"loss": curve(n + 9)} for n in range(2)]
    bad[0]["loss"][90] = math.nan
    return with_curves(folder, good, bad)


@situation(
    makes=["claim.why.diverges", "claim.why.follows"],
    never=["claim.why.apart", "claim.why.together", *BREAKS],
)
def norm_before_loss(folder: Path) -> Question:
    bad = [
        {
            "norm": curve(n + 20, 1 + np.clip((STEPS - 80) / 20, 0, 2)),
            "loss": curve(n, 1 + np.clip((STEPS - 120) / 20, 0, 2)),
        }
        for n in (7, 8)
    ]
    return with_curves(folder, [{"norm": curve(n + 30), "loss": curve(n)} for n in range(3)], bad)


@situation(makes=["claim.why.diverges"], never=["claim.why.follows", "claim.why.apart", *BREAKS])
def only_the_loss_diverges(folder: Path) -> Question:
    bad = [{"norm": curve(n + 20), "loss": curve(n, 1 + np.clip((STEPS - 120) / 20, 0, 2))} for n in (7, 8)]
    return with_curves(folder, [{"norm": curve(n + 30), "loss": curve(n)} for n in range(3)], bad)


@situation(makes=["claim.why.apart"], never=["claim.why.diverges", "claim.why.together", *BREAKS])
def three_times_the_loss_from_the_start(folder: Path) -> Question:
    """There is no step at which that begins."""
    return with_curves(
        folder,
        [{"loss": curve(n)} for n in range(3)],
        [{"loss": curve(n + 9, 3.0)} for n in range(3)],
    )


@situation(makes=["claim.why.apart"], never=["claim.why.diverges", "claim.why.together", *BREAKS])
def offset_of_a_falling_loss_from_the_first_step(folder: Path) -> Question:
    """A constant offset is a growing share of a curve that falls, and no divergence at step 5."""
    good = [{"loss": [value + 3 * math.exp(-n / 6) for n, value in enumerate(curve(s))]} for s in range(3)]
    bad = [{"loss": [value + 3 * math.exp(-n / 6) + 0.5 for n, value in enumerate(curve(s))]} for s in (7, 8)]
    return with_curves(folder, good, bad)


@situation(makes=["claim.why.diverges"], never=["claim.why.apart", "claim.why.together", *BREAKS])
def offset_of_a_falling_loss_from_step_100(folder: Path) -> Question:
    bad = [{"loss": [value + 0.5 * (n >= 100) for n, value in enumerate(curve(s))]} for s in (7, 8)]
    return with_curves(folder, [{"loss": curve(n)} for n in range(3)], bad)


def delayed(seed: int, steps: int) -> list[float]:
    """Return a loss that begins to fall only after ``steps``."""
    noise = 0.008 * np.random.default_rng(seed).standard_normal(len(STEPS))
    values: list[float] = (0.4 + 1.5 * np.exp(-np.maximum(STEPS - steps, 0) / 70) + noise).tolist()
    return values


@situation(makes=["claim.why.behind", "claim.why.apart"], never=["claim.why.ahead", *but("apart"), *BREAKS])
def losses_that_begin_to_fall_35_steps_later(folder: Path) -> Question:
    good = [{"loss": delayed(n, 0)} for n in range(4)]
    return with_curves(folder, good, [{"loss": delayed(n + 9, 35)} for n in range(4)])


@situation(makes=["claim.why.ahead"], never=["claim.why.behind", "claim.why.together"])
def good_losses_that_begin_to_fall_50_steps_later(folder: Path) -> Question:
    good = [{"loss": delayed(n, 50)} for n in range(3)]
    return with_curves(folder, good, [{"loss": delayed(n + 9, 0)} for n in range(3)])


@situation(makes=["claim.why.apart"], never=[*LATE, *but("apart")])
def loss_lower_by_a_fifth_everywhere(folder: Path) -> Question:
    """Another level is no delay, although a falling curve that is lower looks like one that is ahead."""
    good = [{"loss": delayed(n, 0)} for n in range(4)]
    bad = [{"loss": [0.8 * value for value in delayed(n + 9, 0)]} for n in range(4)]
    return with_curves(folder, good, bad)


def bump(seed: int, first: int, last: int, size: float) -> list[float]:
    return [value + size * (first <= step < last) for step, value in enumerate(curve(seed))]


@situation(makes=["claim.why.interval"], never=[*but("interval"), *LATE, *BREAKS])
def loss_higher_from_step_70_to_170(folder: Path) -> Question:
    good = [{"loss": curve(n)} for n in range(4)]
    return with_curves(folder, good, [{"loss": bump(n + 9, 70, 170, 0.8)} for n in range(4)])


@situation(makes=["claim.why.until"], never=[*but("until"), *LATE, *BREAKS])
def loss_higher_until_step_110(folder: Path) -> Question:
    good = [{"loss": curve(n)} for n in range(4)]
    return with_curves(folder, good, [{"loss": bump(n + 9, 0, 110, 0.7)} for n in range(4)])


@situation(makes=["claim.why.diverges"], never=[*but("diverges"), *LATE, *BREAKS])
def loss_higher_from_step_70_on(folder: Path) -> Question:
    """It does not meet the good one again."""
    good = [{"loss": curve(n)} for n in range(4)]
    return with_curves(folder, good, [{"loss": bump(n + 9, 70, 200, 0.8)} for n in range(4)])


@situation(makes=["claim.why.some_differ"], never=[*but("some_differ"), *LATE, *BREAKS])
def one_bad_run_of_five_leaves(folder: Path) -> Question:
    good = [{"loss": curve(n)} for n in range(5)]
    bad = [{"loss": curve(n + 9, 1 + 2.5 * (STEPS >= 90) * (n == 3))} for n in range(5)]
    return with_curves(folder, good, bad)


@situation(makes=["claim.why.unproven"], never=[*but("unproven"), *LATE, *BREAKS])
def one_good_and_one_bad_run_of_different_levels(folder: Path) -> Question:
    """How much two runs differ by chance is unknown."""
    good = {tag: curve(n, 1 + 0.03 * n) for n, tag in enumerate(("loss", "norm", "time"))}
    return with_curves(folder, [good], [{tag: curve(n + 9) for n, tag in enumerate(good)}])


@situation(
    makes=["claim.why.breaks_longer"], never=["claim.why.breaks", "claim.why.grows", "claim.why.together"]
)
def nan_to_the_end_where_good_runs_had_one(folder: Path) -> Question:
    good, bad = ([{"loss": curve(n + by)} for n in range(3)] for by in (0, 9))
    for number, (ours, theirs) in enumerate(zip(good, bad, strict=True)):
        ours["loss"][4] = math.nan
        theirs["loss"][80 + 15 * number :] = [math.inf] * (120 - 15 * number)
    return with_curves(folder, good, bad)


@situation(
    makes=["claim.why.recorded_by_bad"], never=["claim.why.recorded_by_good", "claim.why.no_common_scalar"]
)
def overflow_that_only_bad_runs_recorded(folder: Path) -> Question:
    bad = [{"loss": curve(n + 9), "overflow": curve(n)} for n in range(2)]
    return with_curves(folder, [{"loss": curve(n)} for n in range(2)], bad)


@situation(
    makes=["claim.why.recorded_by_good"], never=["claim.why.recorded_by_bad", "claim.why.no_common_scalar"]
)
def accuracy_that_only_good_runs_recorded(folder: Path) -> Question:
    good = [{"loss": curve(n), "accuracy": curve(n + 3)} for n in range(2)]
    return with_curves(folder, good, [{"loss": curve(n + 9)} for n in range(2)])


@situation(makes=["claim.why.together"], never=["claim.why.diverges", "claim.why.apart", *BREAKS])
def curves_alike(folder: Path) -> Question:
    return with_curves(
        folder, [{"loss": curve(n)} for n in range(3)], [{"loss": curve(n + 9)} for n in range(3)]
    )


@situation(makes=["claim.why.too_few_steps"], never=["claim.why.together", "claim.why.no_common_scalar"])
def five_steps(folder: Path) -> Question:
    return with_curves(folder, [{"loss": curve(1)[:5]}], [{"loss": curve(2)[:5]}])


@situation(makes=["claim.why.no_common_scalar"], never=["claim.why.together", "claim.why.too_few_steps"])
def scalars_with_other_names(folder: Path) -> Question:
    return with_curves(folder, [{"loss": curve(1)}], [{"val_loss": curve(2)}])


@situation(makes=["claim.why.together"], never=[*but("together"), *LATE, *BREAKS])
def runs_of_one_kind_with_spikes_and_heavy_tails(folder: Path) -> Question:
    """Rare spikes and pauses hit some runs and not others; the groups are of the same kind."""
    chance = np.random.default_rng(11)

    def run() -> dict[str, list[float]]:
        noise = 1 + 0.05 * chance.standard_normal((2, len(STEPS)))
        spikes, pauses = chance.random((2, len(STEPS))) < [[0.004], [0.01]]
        tails = 1 + 0.05 * chance.standard_t(1.5, len(STEPS))
        curves = {"norm": noise[0] + 20 * spikes, "time": 0.1 * noise[1] + 0.5 * pauses, "loss": tails}
        return {tag: values.tolist() for tag, values in curves.items()}

    return with_curves(folder, [run() for _ in range(6)], [run() for _ in range(6)])


@situation(makes=["claim.why.apart"], never=[*but("apart", "diverges"), *LATE, *BREAKS])
def level_that_differs_between_runs_with_heavy_tails(folder: Path) -> Question:
    chance = np.random.default_rng(12)
    good, bad = (
        [{"loss": (level + 0.05 * chance.standard_t(1.5, len(STEPS))).tolist()} for _ in range(6)]
        for level in (1.0, 1.3)
    )
    return with_curves(folder, good, bad)


def unread(folder: Path, read: int) -> Question:
    """Ask about two runs of which the second has 8 MiB, and ``read`` bytes of it are read."""
    from mindinsight.server.plugins.answers.answers_routes import still_read
    from mindinsight.server.store.run import Run

    sizes = [(100, 100), (read, 8 << 20)]
    runs = [
        Run(f"./{n}", str(n), str(folder), f"./{n}", None, 0.0, 0.0, total, read=known, total=total)
        for n, (known, total) in enumerate(sizes)
    ]
    return Question(direct=lambda: still_read(runs))


@situation(makes=["claim.answers.reading"])
def half_of_a_run_is_read(folder: Path) -> Question:
    return unread(folder, 4 << 20)


@situation(never=["claim.answers.reading"])
def all_but_the_newest_step_is_read(folder: Path) -> Question:
    """A run that trains always has something that is not read yet."""
    return unread(folder, (8 << 20) - 4096)


def around_zero(folder: Path, first: int, last: int) -> Question:
    """Ask about a scalar that is noise around zero, of bad runs higher by ten noise levels for a while."""
    chance = np.random.default_rng(21)

    def run(shift: float) -> dict[str, list[float]]:
        values = 0.1 * chance.standard_normal(len(STEPS)) + shift * ((first <= STEPS) & (last > STEPS))
        return {"bias": values.tolist()}

    return with_curves(folder, [run(0.0) for _ in range(6)], [run(1.0) for _ in range(6)])


@situation(makes=["claim.why.interval"], never=but("interval"))
def noise_around_zero_that_is_higher_for_a_while(folder: Path) -> Question:
    return around_zero(folder, 70, 120)


@situation(makes=["claim.why.until"], never=but("until"))
def noise_around_zero_that_is_higher_at_first(folder: Path) -> Question:
    return around_zero(folder, 0, 70)


@situation(makes=["claim.why.diverges"], never=but("diverges"))
def loss_that_is_higher_from_the_second_step_on(folder: Path) -> Question:
    """The first step is the same: the runs have one initialisation."""
    return with_curves(
        folder,
        [{"loss": curve(n)} for n in range(4)],
        [{"loss": curve(n + 9, np.where(STEPS >= 1, 1.5, 1.0))} for n in range(4)],
    )


@situation(makes=["claim.why.some_apart"], never=but("some_apart"))
def one_bad_run_of_five_is_higher_from_the_start(folder: Path) -> Question:
    good = [{"loss": curve(n)} for n in range(5)]
    return with_curves(folder, good, [{"loss": curve(n + 9, 1 + 2.5 * (n == 3))} for n in range(5)])


@situation(makes=["claim.why.together"], never=[*but("together"), "claim.why.some_apart"])
def levels_of_runs_that_differ_by_chance(folder: Path) -> Question:
    """Of ten scalars of twelve runs some run is always far from the others."""
    chance = np.random.default_rng(22)
    runs = [
        {f"t{n}": (level + 0.1 * chance.standard_normal(len(STEPS))).tolist() for n, level in enumerate(row)}
        for row in chance.standard_normal((12, 10))
    ]
    return with_curves(folder, runs[:6], runs[6:])


@situation(makes=["claim.why.at"], never=["claim.why.interval", *but("interval")])
def few_steps_of_which_one_can_be_told(folder: Path) -> Question:
    chance = np.random.default_rng(17)
    rows = 1 + 0.01 * chance.standard_normal((12, 17))
    rows[1::2, 10:13] += 1
    return with_curves(
        folder, [{"loss": row.tolist()} for row in rows[::2]], [{"loss": row.tolist()} for row in rows[1::2]]
    )


@situation(makes=["claim.why.interval"], never=["claim.why.at", *but("interval")])
def ten_steps_of_forty(folder: Path) -> Question:
    chance = np.random.default_rng(18)
    rows = 1 + 0.01 * chance.standard_normal((12, 40))
    rows[1::2, 15:25] += 1
    return with_curves(
        folder, [{"loss": row.tolist()} for row in rows[::2]], [{"loss": row.tolist()} for row in rows[1::2]]
    )


def ended(folder: Path, steps: int, error: str = "", of_good: int = 0) -> Question:
    """Ask about bad runs that end after a number of steps, with an exception if ``error`` is not empty."""
    for group, count in (("good", 4), ("bad", 4)):
        for number in range(count):
            fails = error and (group == "bad" or number < of_good)
            try:
                with SummaryRecord(str(folder / f"{group}_{number}")) as record:
                    for step, value in enumerate(curve(number + 9 * (group == "bad"))):
                        if group == "bad" and step == steps:
                            break
                        record.add_value("scalar", "loss", value)
                        record.record(step)
                    if fails:
                        raise RuntimeError(error)
            except RuntimeError:
                pass
    query = "&".join(f"{group}=./{group}_{number}" for group in ("good", "bad") for number in range(4))
    return Question(base=folder, request=f"/v2/answers/why?{query}", page=f"why?{query.replace('./', '')}")


@situation(
    makes=["claim.why.failed", "claim.why.bad_end_first"],
    never=["claim.why.good_end_first", "claim.why.not_found", "claim.why.no_group"],
)
def bad_runs_that_failed_early(folder: Path) -> Question:
    return ended(folder, 40, "CUDA out of memory")


@situation(makes=["claim.why.together"], never=["claim.why.failed", *ENDS])
def bad_runs_that_ended_one_step_earlier(folder: Path) -> Question:
    return ended(folder, 199)


@situation(makes=["claim.why.good_end_first"], never=["claim.why.failed", "claim.why.bad_end_first"])
def bad_runs_that_went_on(folder: Path) -> Question:
    good = [{"loss": curve(n)[:100]} for n in range(4)]
    return with_curves(folder, good, [{"loss": curve(n + 9)} for n in range(4)])


@situation(makes=["claim.why.not_found", "claim.why.together"], never=["claim.why.no_group", *ENDS])
def run_that_does_not_exist(folder: Path) -> Question:
    question = with_curves(folder, [{"loss": curve(n)} for n in range(3)], [{"loss": curve(9)}] * 3)
    return Question(base=folder, request=f"{question.request}&bad=./missing")


@situation(
    makes=["claim.why.not_found", "claim.why.no_group"],
    never=["claim.why.no_common_scalar", "claim.why.no_settings", "claim.why.together"],
)
def group_of_runs_that_do_not_exist(folder: Path) -> Question:
    """Nothing is known of what their scalars and settings were."""
    with_curves(folder, [{"loss": curve(n)} for n in range(3)], [{"loss": curve(9)}])
    return Question(base=folder, request="/v2/answers/why?good=./good_0&good=./good_1&bad=./missing")


@situation(makes=["claim.why.only_good"], never=["claim.lineage.seeds", *NOTHING])
def settings_named_after_seeds(folder: Path) -> Question:
    good = [{"seed_fraction": 0.1, "seed_lr": 1} for _ in range(6)]
    return groups(folder, good, [{"seed_fraction": 0.5, "seed_lr": 2} for _ in range(6)])


@situation(makes=[NON_FINITE, *BOTH], never=["claim.why.together", UNPROVEN, *BREAKS])
def nan_in_all_bad_runs_and_later_in_a_good_one(folder: Path) -> Question:
    good, bad = ([{"loss": curve(n + by)} for n in range(6)] for by in (0, 9))
    good[0]["loss"][110:] = [math.nan] * 90
    for run in bad:
        run["loss"][60:] = [math.nan] * 140
    return with_curves(folder, good, bad)


@situation(makes=["claim.why.together", NON_FINITE, *BOTH], never=[UNPROVEN, *BREAKS])
def nan_in_two_of_six_runs_of_both_groups(folder: Path) -> Question:
    good, bad = ([{"loss": curve(n + by)} for n in range(6)] for by in (0, 9))
    for run in (*good[:2], *bad[:2]):
        run["loss"][150:] = [math.nan] * 50
    return with_curves(folder, good, bad)


# Both sides, and both groups


def sided(folder: Path, *factors: Any) -> Question:
    """Write five good runs, and a bad run for each factor."""
    bad = [{"loss": curve(50 + number, factor)} for number, factor in enumerate(factors)]
    return with_curves(folder, [{"loss": curve(number)} for number in range(5)], bad)


HIGHER, LOWER = np.where(STEPS >= 100, 1.5, 1.0), np.where(STEPS >= 100, 0.6, 1.0)
SIDES = "claim.why.both_sides"


@situation(makes=[SIDES], never=but(SIDES))
def bad_runs_that_leave_to_both_sides(folder: Path) -> Question:
    """Their mean is that of the good runs."""
    return sided(folder, HIGHER, HIGHER, LOWER, LOWER)


@situation(makes=[SIDES], never=["claim.why.together", "claim.why.diverges"])
def all_bad_runs_but_one_leave_upwards(folder: Path) -> Question:
    return sided(folder, *[HIGHER] * 7, LOWER)


@situation(makes=[SIDES], never=["claim.why.together", "claim.why.some_differ"])
def two_of_four_bad_runs_leave_to_both_sides(folder: Path) -> Question:
    return sided(folder, HIGHER, LOWER, 1.0, 1.0)


@situation(makes=["claim.why.diverges"], never=[SIDES, "claim.why.together"])
def all_bad_runs_leave_upwards(folder: Path) -> Question:
    return sided(folder, *[HIGHER] * 4)


@situation(makes=["claim.why.some_differ"], never=[SIDES, "claim.why.together"])
def one_bad_run_leaves_and_the_others_stay(folder: Path) -> Question:
    return sided(folder, HIGHER, 1.0, 1.0, 1.0)


def rates(folder: Path, bad: Sequence[float]) -> Question:
    """Ten good runs with learning rates from 2e-4 to 0.05, and bad ones."""
    good = np.geomspace(2e-4, 0.05, 10)
    curves = {f"good_{n}": {"lr": [rate] * len(STEPS)} for n, rate in enumerate(good.tolist())}
    curves |= {f"bad_{n}": {"lr": [rate] * len(STEPS)} for n, rate in enumerate(bad)}
    return groups(folder, [{}] * 10, [{}] * len(bad), curves)


@situation(makes=[SIDES], never=["claim.why.some_apart", "claim.why.some_differ", "claim.why.apart"])
def learning_rates_below_and_above_those_of_all_good_runs(folder: Path) -> Question:
    """The low ones are near to the mean of the good runs, and below all of them."""
    return rates(folder, [*np.geomspace(1e-5, 1e-4, 5).tolist(), *np.geomspace(0.1, 1, 5).tolist()])


@situation(makes=["claim.why.some_apart"], never=[SIDES])
def learning_rates_among_and_above_those_of_good_runs(folder: Path) -> Question:
    return rates(folder, [*np.geomspace(3e-4, 2e-2, 5).tolist(), *np.geomspace(0.3, 1, 5).tolist()])


def validated(folder: Path, level: float) -> Question:
    """Six good and nine bad runs, four of which are NaN from step 60 on, with a value every tenth step."""
    curves: dict[str, dict[str, list[float]]] = {}
    for number in range(15):
        name = f"good_{number}" if number < 6 else f"bad_{number - 6}"
        values = np.array(curve(number, 1.0 if number < 6 else level))[::10]
        values[6:] = math.nan if number > 10 else values[6:]
        curves[name] = {"val/loss": values.tolist()}
    return groups(folder, [{}] * 6, [{}] * 9, curves)


@situation(makes=["claim.why.ends"], never=["claim.why.together", "claim.why.split_by"])
def losses_of_the_bad_runs_that_stay_finite_end_higher(folder: Path) -> Question:
    return validated(folder, 3.0)


@situation(makes=["claim.why.breaks"], never=["claim.why.ends"])
def losses_of_the_bad_runs_that_stay_finite_end_as_the_good_ones(folder: Path) -> Question:
    return validated(folder, 1.0)


@situation(
    makes=["claim.why.split_by"],
    never=["claim.why.apart", "claim.why.diverges", "claim.why.together", "claim.why.split_from"],
)
def runs_split_by_the_loss_in_which_they_differ(folder: Path) -> Question:
    return _split_by_loss(folder, {})


@situation(
    makes=["claim.why.split_by", "claim.why.others_together"],
    never=["claim.why.apart", "claim.why.together"],
)
def runs_split_by_the_only_scalar_in_which_they_differ(folder: Path) -> Question:
    return _split_by_loss(folder, {"norm": np.ones(len(STEPS))})


@situation(makes=["claim.why.split_from"], never=["claim.why.split_by", "claim.why.diverges"])
def runs_split_by_a_loss_that_diverges(folder: Path) -> Question:
    good = [{"loss": curve(n)} for n in range(4)]
    question = with_curves(folder, good, [{"loss": bump(n + 9, 70, 200, 0.8)} for n in range(4)])
    return replace(question, request=f"{question.request}&by=loss", page=f"{question.page}&by=loss")


@situation(
    makes=["claim.why.split_by", "claim.why.diverges"], never=["claim.why.apart", "claim.why.others_together"]
)
def another_scalar_than_the_one_that_split_the_runs(folder: Path) -> Question:
    return _split_by_loss(folder, {"norm": np.where(STEPS < 100, 1.0, 2.0)})


def _split_by_loss(folder: Path, more: Mapping[str, Any]) -> Question:
    good = [{"loss": curve(n), **{tag: curve(n + 20) for tag in more}} for n in range(5)]
    bad = [
        {"loss": curve(n + 9, 1.5), **{tag: curve(n + 40, factor) for tag, factor in more.items()}}
        for n in range(5)
    ]
    question = with_curves(folder, good, bad)
    return replace(question, request=f"{question.request}&by=loss", page=f"{question.page}&by=loss")


@situation(makes=["claim.why.together"], never=[SIDES, *DIFFERS])
def no_bad_run_leaves_to_any_side(folder: Path) -> Question:
    return sided(folder, *[1.0] * 5)


@situation(
    makes=["claim.why.in_both"],
    never=["claim.why.together", "claim.why.same_settings", "claim.why.none_separates", *DIFFERS],
)
def a_run_in_both_groups(folder: Path) -> Question:
    """It would be compared with itself."""
    question = with_curves(folder, [{"loss": curve(1)}, {"loss": curve(2)}], [{"loss": curve(3)}])
    return replace(question, request=f"{question.request}&bad=./good_1", page=f"{question.page}&bad=good_1")


@situation(makes=["claim.why.too_few_steps"], never=["claim.why.in_both"])
def equal_runs_of_two_names_in_two_groups(folder: Path) -> Question:
    values = curve(1)[:5]
    return with_curves(folder, [{"loss": values}], [{"loss": values}])


# Settings of different writers


@situation(makes=["claim.why.same_settings"], never=["claim.why.by_chance", *SEPARATES, *NOTHING])
def booleans_that_writers_spell_in_their_own_way(folder: Path) -> Question:
    """True, the text of Python and that of JSON are one value."""
    return groups(folder, [{"amp": "True"}, {"amp": "true"}] * 3, [{"amp": "TRUE"}, {"amp": "true"}] * 3)


@situation(makes=["claim.why.only_good"], never=["claim.why.same_settings", *NOTHING])
def booleans_that_differ(folder: Path) -> Question:
    return groups(folder, [{"amp": "True"}] * 6, [{"amp": "false"}] * 6)


@situation(makes=["claim.why.only_good"], never=["claim.why.same_settings", *NOTHING])
def texts_that_differ_in_case_only(folder: Path) -> Question:
    """Names are not booleans: Adam and adam are two texts."""
    return groups(folder, [{"optimizer": "Adam"}] * 6, [{"optimizer": "adam"}] * 6)


@situation(
    makes=["claim.why.same_values"],
    never=["claim.why.same_settings", "claim.why.none_separates", "claim.why.too_few_runs", *SEPARATES],
)
def settings_that_have_the_same_values_in_both_groups(folder: Path) -> Question:
    """They vary from run to run, and no group has a value that the other one lacks."""
    values = [{"lr": 0.1, "optimizer": "adam"}, {"lr": 0.2, "optimizer": "sgd"}]
    return groups(folder, values * 2, values * 2)


@situation(makes=["claim.why.partly"], never=["claim.why.same_values", *SEPARATES])
def value_that_one_group_has_more_often(folder: Path) -> Question:
    """Both values are in both groups, though nearly always adam in the good one."""
    adam, sgd = {"optimizer": "adam"}, {"optimizer": "sgd"}
    return groups(folder, [*[adam] * 11, sgd], [*[sgd] * 11, adam])


@situation(makes=["claim.why.same_settings"], never=["claim.why.same_values", *SEPARATES, *NOTHING])
def number_that_one_writer_wrote_as_an_integer(folder: Path) -> Question:
    return groups(folder, [{"scale": 1}] * 3, [{"scale": 1.0}] * 3)


def ending(folder: Path, good: int, bad: int) -> Question:
    """Compare four good with four bad runs, of which some end with infinity."""
    sides = [
        [{"loss": [*curve(n)[:150], *[math.inf] * 50] if n < ends else curve(n)} for n in range(4)]
        for ends in (good, bad)
    ]
    return with_curves(folder, *sides)


@situation(
    makes=[NON_FINITE, f"{PART}.finite_bad"],
    never=["claim.why.together", UNPROVEN, f"{PART}.finite_good", *BREAKS],
)
def good_runs_that_diverge(folder: Path) -> Question:
    """The runs that are called good end with infinity, and the bad ones do not."""
    return ending(folder, 4, 0)


@situation(makes=["claim.why.together", NON_FINITE, *BOTH], never=[UNPROVEN, f"{PART}.finite_bad", *BREAKS])
def as_many_good_as_bad_runs_that_diverge(folder: Path) -> Question:
    return ending(folder, 2, 2)


@situation(makes=[UNPROVEN, *BOTH], never=[NON_FINITE, "claim.why.together", *BREAKS])
def five_of_six_bad_and_one_of_six_good_runs_that_diverge(folder: Path) -> Question:
    good, bad = ([{"loss": curve(n + by)} for n in range(6)] for by in (0, 9))
    for run in (good[0], *bad[:5]):
        run["loss"][120:] = [math.nan] * 80
    return with_curves(folder, good, bad)


@situation(
    makes=[UNPROVEN, f"{PART}.finite_bad"],
    never=[NON_FINITE, f"{PART}.non_finite_bad", "claim.why.together", *BREAKS],
)
def one_of_four_good_runs_that_diverges(folder: Path) -> Question:
    return ending(folder, 1, 0)


@situation(
    makes=["claim.why.breaks", NON_FINITE, f"{PART}.finite_good"],
    never=[UNPROVEN, f"{PART}.finite_bad", f"{PART}.non_finite_good", "claim.why.together"],
)
def two_scalars_of_all_bad_runs_that_are_nan(folder: Path) -> Question:
    """The scalar that is NaN later is counted as well."""
    good, bad = ([{"loss": curve(n + by), "norm": curve(n + by + 30)} for n in range(4)] for by in (0, 9))
    for run in bad:
        run["loss"][100:], run["norm"][110:] = [math.nan] * 100, [math.nan] * 90
    return with_curves(folder, good, bad)


def short(folder: Path, step: int, bad: int = 8) -> Question:
    """Ask about accuracies of ten steps that are lower in the bad runs from ``step`` on."""

    def course(seed: int, loss: float) -> dict[str, list[float]]:
        noise = 0.01 * np.random.default_rng(seed).standard_normal(10)
        return {"accuracy": (0.5 + 0.02 * np.arange(10) - loss * (np.arange(10) >= step) + noise).tolist()}

    return with_curves(folder, [course(n, 0.0) for n in range(8)], [course(50 + n, 0.2) for n in range(bad)])


@situation(
    makes=["claim.why.since"],
    never=["claim.why.since_first", "claim.why.too_few_steps", "claim.why.ends", "claim.why.together"],
)
def accuracy_of_ten_steps_that_is_lower_from_the_fourth_on(folder: Path) -> Question:
    return short(folder, 3)


@situation(makes=["claim.why.since_first"], never=["claim.why.since", "claim.why.too_few_steps"])
def accuracy_of_ten_steps_that_is_lower_from_the_first_on(folder: Path) -> Question:
    return short(folder, 0)


@situation(makes=["claim.why.too_few_steps"], never=["claim.why.since", "claim.why.since_first"])
def accuracy_of_ten_steps_of_which_two_bad_runs_cannot_tell(folder: Path) -> Question:
    return short(folder, 3, bad=2)


def split_in_a_scalar(folder: Path, step: int) -> Question:
    """Ask about groups that were split by an accuracy of ten steps."""
    question = short(folder, step)
    return replace(question, request=f"{question.request}&by=accuracy", page=f"{question.page}&by=accuracy")


@situation(makes=["claim.why.split_since"], never=["claim.why.split_by", "claim.why.split_from"])
def split_by_an_accuracy_of_ten_steps(folder: Path) -> Question:
    return split_in_a_scalar(folder, 3)


@situation(makes=["claim.why.split_by"], never=["claim.why.split_since", "claim.why.split_from"])
def split_by_an_accuracy_that_does_not_differ(folder: Path) -> Question:
    return split_in_a_scalar(folder, 10)


@situation(makes=["claim.why.mixed_scalars"], never=["claim.why.mixed_setting", "claim.why.mixed_settings"])
def one_run_of_another_experiment(folder: Path) -> Question:
    usual = {"loss": curve(0), "accuracy": curve(1), "rate": curve(2)}
    other = {"loss": curve(0), "reward": curve(1), "kl": curve(2), "entropy": curve(3)}
    return with_curves(folder, [usual] * 3, [usual, usual, other])


@situation(makes=["claim.why.mixed_setting"], never=["claim.why.mixed_scalars"])
def runs_of_two_data_sets(folder: Path) -> Question:
    ours, theirs = {"dataset": "cifar10", "lr": 0.1}, {"dataset": "imagenet", "lr": 0.1}
    return groups(folder, [ours, theirs, ours], [theirs, ours, theirs])


@situation(never=["claim.why.mixed_scalars", "claim.why.mixed_setting"])
def runs_of_one_data_set_of_which_one_has_another_scalar(folder: Path) -> Question:
    own = {"dataset": "cifar10"}
    curves = {"bad_1": {"loss": curve(0), "accuracy": curve(1)}}
    return groups(folder, [own] * 2, [own] * 2, curves)


@situation(makes=["claim.why.mixed_settings"], never=["claim.why.mixed_scalars", "claim.why.mixed_setting"])
def two_experiments_that_record_the_same_scalar(folder: Path) -> Question:
    ours = [{"lr": 0.1, "batch_size": 64, "decay": 0.1, "out_dir": f"/a/{n}"} for n in range(4)]
    theirs = [{"lr": 0.1, "layers": 4, "heads": 8, "out_dir": f"/b/{n}"} for n in range(3)]
    return groups(folder, ours, theirs)


@situation(never=["claim.why.mixed_settings", "claim.why.mixed_scalars"])
def runs_of_one_experiment_some_of_which_record_fewer_settings(folder: Path) -> Question:
    return groups(folder, [{"lr": 0.1, "batch_size": 64, "decay": 0.1}] * 4, [{"lr": 0.1}] * 3)


@situation(
    makes=["claim.why.of_recorded", "claim.why.unrecorded"],
    never=["claim.why.partly", "claim.why.one_group_recorded", *SEPARATES],
)
def rate_that_separates_the_runs_that_recorded_it(folder: Path) -> Question:
    good, bad = drawn(21, 12), drawn(22, 12)
    for number, run in enumerate([*good, *bad[:8]]):
        run["learning_rate"] = 10 ** (-4 + 0.125 * number)
    return groups(folder, good, bad)


@situation(
    makes=["claim.why.unrecorded"],
    never=["claim.why.of_recorded", "claim.why.partly", "claim.why.one_group_recorded", *SEPARATES],
)
def rate_that_half_of_the_bad_runs_did_not_record(folder: Path) -> Question:
    """The others have the same values as the good runs."""
    good, bad = drawn(23, 12), drawn(24, 12)
    for number, run in enumerate([*good, *bad[:6]]):
        run["learning_rate"] = 0.001 * (1 + number % 6)
    return groups(folder, good, bad)


@situation(
    makes=["claim.why.one_group_recorded"],
    never=["claim.why.unrecorded", "claim.why.partly", "claim.why.of_recorded", *SEPARATES],
)
def layers_that_only_some_bad_runs_recorded(folder: Path) -> Question:
    good, bad = drawn(25, 12), drawn(26, 12)
    for run in bad[:9]:
        run["layers"] = 4
    return groups(folder, good, bad)


@situation(makes=["claim.lineage.labels", "claim.why.only_good"], never=["claim.why.several"])
def directory_that_each_run_has_for_itself(folder: Path) -> Question:
    good, bad = drawn(27, 6), drawn(28, 6)
    for number, run in enumerate([*good, *bad]):
        run["learning_rate"], run["output_dir"] = 10 ** (-4 + 0.25 * number), f"/runs/{number}"
    return groups(folder, good, bad)


@situation(makes=["claim.why.only_good"], never=["claim.lineage.labels"])
def directory_of_the_data_that_the_groups_do_not_share(folder: Path) -> Question:
    good, bad = drawn(29, 6), drawn(30, 6)
    for number, run in enumerate([*good, *bad]):
        run["data_dir"] = f"/data/{number // 6}"
    return groups(folder, good, bad)


SHORTER = ["claim.why.bad_shorter", "claim.why.good_shorter"]


def of_length(folder: Path, good: int, bad: int, last: float = 1.0, runs: int = 6) -> Question:
    """Runs of two lengths, whose last value is a factor of the course; the shorter ones may end with NaN."""
    ends = [[{"loss": curve(n)[:end]} for n in range(runs)] for end in (good, bad)]
    for run in ends[0] + ends[1]:
        if len(run["loss"]) < len(STEPS):
            run["loss"][-1] *= last
    return with_curves(folder, *ends)


@situation(makes=["claim.why.bad_shorter"], never=["claim.why.good_shorter"])
def bad_runs_that_all_stopped_early(folder: Path) -> Question:
    return of_length(folder, 200, 60)


@situation(makes=["claim.why.good_shorter"], never=["claim.why.bad_shorter"])
def good_runs_that_all_stopped_early(folder: Path) -> Question:
    return of_length(folder, 60, 200)


@situation(makes=["claim.why.breaks"], never=SHORTER)
def bad_runs_that_ended_at_a_nan(folder: Path) -> Question:
    """They are short because they are bad."""
    return of_length(folder, 200, 60, math.nan)


@situation(never=SHORTER)
def two_short_runs_against_two_long_ones(folder: Path) -> Question:
    """Chance would divide four runs like this in a third of all groupings."""
    return of_length(folder, 200, 60, runs=2)


def crossed(folder: Path, bad: Sequence[int], runs: int = 32) -> Question:
    """Two switches; all runs are good but those with the numbers ``bad``."""
    chance = np.random.default_rng(61)
    settings = [
        {"lr": [0.001, 0.1][n % 2], "warmup": [0, 100][n // 2 % 2], "width": int(chance.integers(1, 9))}
        for n in range(runs)
    ]
    good = [run for n, run in enumerate(settings) if n not in bad]
    return groups(folder, good, [settings[n] for n in bad])


BOTH_SETTINGS = [f"claim.why.both_{kind}" for kind in ("only_bad", "only_good", "all_bad", "all_good")]
SPIKED = range(1, 32, 4)  # runs with the high rate and without a warmup


def others_than(*keys: str) -> list[str]:
    return [*(key for key in BOTH_SETTINGS if key not in keys), *SEPARATES]


@situation(makes=["claim.why.both_only_bad"], never=others_than("claim.why.both_only_bad"))
def high_rates_without_a_warmup_that_are_bad(folder: Path) -> Question:
    return crossed(folder, SPIKED)


@situation(makes=["claim.why.both_only_good"], never=others_than("claim.why.both_only_good"))
def high_rates_without_a_warmup_that_are_good(folder: Path) -> Question:
    return crossed(folder, [n for n in range(32) if n not in SPIKED])


@situation(makes=["claim.why.both_all_bad"], never=others_than("claim.why.both_all_bad"))
def high_rates_without_a_warmup_that_are_bad_beside_other_bad_runs(folder: Path) -> Question:
    return crossed(folder, [*SPIKED, 2, 20, 11])


@situation(makes=["claim.why.both_all_good"], never=others_than("claim.why.both_all_good"))
def high_rates_without_a_warmup_that_are_good_beside_other_good_runs(folder: Path) -> Question:
    return crossed(folder, [n for n in range(32) if n not in (*SPIKED, 2, 20, 11)])


@situation(never=BOTH_SETTINGS)
def two_switches_of_twelve_runs(folder: Path) -> Question:
    """Three bad runs that share two settings: chance does so too often."""
    return crossed(folder, [1, 5], 8)


@situation(makes=["claim.lineage.results"], never=["claim.why.several"])
def last_loss_that_is_recorded_as_a_setting(folder: Path) -> Question:
    good, bad = drawn(62, 6), drawn(63, 6)
    curves = {f"good_{n}": {"loss": curve(n)} for n in range(6)}
    curves |= {f"bad_{n}": {"loss": curve(n + 9, 2.0)} for n in range(6)}
    for run, tags in zip([*good, *bad], curves.values(), strict=True):
        run["final_loss"] = round(tags["loss"][-1], 4)
    return groups(folder, good, bad, curves)


UNLIKE = ["claim.why.unlike_scalars", "claim.why.unlike_settings"]


@situation(makes=["claim.why.unlike_scalars"], never=["claim.why.mixed_scalars", "claim.why.unlike_settings"])
def one_run_of_each_of_two_experiments(folder: Path) -> Question:
    ours = {"loss": curve(0), "accuracy": curve(1), "rate": curve(2)}
    return with_curves(folder, [ours], [{"loss": curve(0), "reward": curve(1), "kl": curve(2)}])


@situation(never=[*UNLIKE, "claim.why.mixed_scalars"])
def two_runs_whose_scalars_have_other_names_for_the_same(folder: Path) -> Question:
    ours = {"train/loss": curve(0), "val/loss": curve(1), "lr": curve(2)}
    theirs = {"loss/train": curve(0), "eval/loss": curve(1), "learning_rate": curve(2)}
    return with_curves(folder, [ours], [theirs])


@situation(
    makes=["claim.why.unlike_settings"], never=["claim.why.mixed_settings", "claim.why.unlike_scalars"]
)
def two_runs_of_other_settings(folder: Path) -> Question:
    return groups(folder, [{"batch": 64, "decay": 0.1}], [{"layers": 4, "heads": 8}])


@situation(never=UNLIKE)
def two_runs_whose_settings_have_other_names(folder: Path) -> Question:
    return groups(folder, [{"batch": 64, "lr": 0.1}], [{"batch_size": 64, "learning_rate": 0.1}])
