"""Situations of the explanation of one run: planted faults and jumps, and healthy runs beside them."""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

import mindinsight
from mindinsight.server.api.checkpoint_faults import MOST as MOST_CHECKPOINTS
from mindinsight.server.api.explanation import MOST_DUMPS, Part, explain_run
from mindinsight.server.claims import Claim
from mindinsight.server.report import ReportSource
from mindinsight.server.report.run_report import MOST
from mindinsight.server.types import Doubles
from mindinsight.writer import SummaryRecord
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump, Gap
from tests.claims.situation import Question, situation
from tests.claims.situations.fault import floats, write
from tests.flight import unpack

STEPS = np.arange(200)
CURVES = (
    *("non_finite", "non_finite_once", "non_finite_passing", "in_ranks", "jump", "for_good", "rises"),
    *("overfit", "overfit_few", "run_up", "run_up_medians", "constant", "level", "collapse", "growth"),
    *("only_rises", "below_zero", "stops", "rises_at", "zero_gradients"),
    *("rises_late", "rises_early", "escapes", "overfit_epochs"),
)
FAULTY = [f"claim.explain.{name}" for name in ("found", *CURVES, "failed", "errors")]
BASELINE = [f"claim.explain.{name}" for name in ("baseline", "no_baseline", "none_healthy")]
LACKING = [
    f"claim.explain.{name}" for name in ("no_settings", "no_code", "no_settings_or_code", "no_tensors")
]


def noise(seed: int, share: float = 1.0) -> Doubles:
    values: Doubles = share * np.random.default_rng(seed).standard_normal(len(STEPS))
    return values


def falling(seed: int = 0) -> list[float]:
    """Return a falling loss with noise [200]."""
    values: list[float] = (0.5 + 2 * np.exp(-STEPS / 40) + noise(seed, 0.02)).tolist()
    return values


def changed(step: int, value: float, seed: int = 0) -> list[float]:
    """Return a falling loss with another value at one step."""
    values = falling(seed)
    values[step] = value
    return values


def record(
    run: Path,
    scalars: Mapping[str, Sequence[float]],
    settings: Mapping[str, Any] | None = None,
    code: str = "",
    script: str = "train.py",
) -> None:
    """Write a run of scalars, with settings, and a program of one package version and script."""
    with SummaryRecord(str(run)) as summary:
        if settings:
            summary.add_value("custom_lineage_data", "user", dict(settings))
        if code:
            facts = {"command": [script], "python": "3.11.2", "packages": {"numpy": code}}
            summary.add_value("code", "code", facts)
        for step in range(max(map(len, scalars.values()), default=0)):
            for tag, values in scalars.items():
                summary.add_value("scalar", tag, values[step])
            summary.record(step)


def wait_for_the_next_second() -> None:
    """Wait, because the first event of a run has the time of its file, in whole seconds."""
    time.sleep(1 - time.time() % 1 + 0.02)


def ask(folder: Path, run: str, dump: str = "") -> Question:
    """Ask on the command line and through the interface, or about one dump through the interface alone."""

    def request(client: TestClient) -> Any:
        deadline = time.monotonic() + 60  # s
        query = {"run": f"./{run}", **({"dump": f"./{run}/{dump}"} if dump else {})}
        while (answer := client.post("/v2/explanation", params=query)).status_code == 404:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        number = answer.json()["explanation"]
        while not (parts := client.get(f"/v2/explanation/{number}").json())["done"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return parts

    command = ["explain", run, "--summary-base-dir", str(folder), "--json"]
    return Question(command=None if dump else command, base=folder, request=request)


def claims_of(folder: Path, run: str, later: float = 0.0, path_of: Any = None) -> list[Claim]:
    """Return the claims of an explanation in Python, ``later`` seconds from now."""
    summary = mindinsight.open(folder)
    source = ReportSource(summary.run(run), summary.by_id(), path_of or summary.dump_path)
    parts = [part for part in explain_run(source, time.time() + later) if isinstance(part, Part)]
    return [claim for part in parts for claim in part.claims]


@situation(
    makes=["claim.explain.nothing", "claim.explain.unrecorded"],
    never=[*FAULTY, *BASELINE, *LACKING, "claim.explain.nothing_recorded"],
    exit_code=0,
)
def healthy_run(folder: Path) -> Question:
    record(folder / "run", {"loss": falling(), "accuracy": (1 - np.exp(-STEPS / 40)).tolist()})
    return ask(folder, "run")


def _watched(folder: Path, reported: int = 0, later: float = 0.0) -> Question:
    """A healthy run with the mark of a flight recorder, written `later` seconds after the run began."""
    record(folder / "run", {"loss": falling()})
    facts = {"version": 1, "steps": 200, "reported": reported, "written": time.time() + later}
    (folder / "run" / "flight_recorder_0.json").write_text(json.dumps(facts))
    return ask(folder, "run")


@situation(
    makes=["claim.explain.nothing", "claim.part.explain.watched", "claim.explain.unrecorded"],
    never=FAULTY,
    exit_code=0,
)
def run_that_a_flight_recorder_watched(folder: Path) -> Question:
    return _watched(folder)


@situation(makes=["claim.explain.nothing"], never=["claim.part.explain.watched", *FAULTY], exit_code=0)
def run_with_the_mark_of_an_earlier_training(folder: Path) -> Question:
    return _watched(folder, later=-3600)


@situation(makes=["claim.explain.nothing"], never=["claim.part.explain.watched", *FAULTY], exit_code=0)
def run_whose_flight_recorder_reported_what_was_removed(folder: Path) -> Question:
    return _watched(folder, reported=1)


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def loss_with_heavy_tails(folder: Path) -> Question:
    """Noise of Student's t with four degrees of freedom, as of a loss of small batches."""
    tails = np.random.default_rng(5).standard_t(4, len(STEPS))
    record(folder / "run", {"loss": (2 + 0.1 * tails).tolist()})
    return ask(folder, "run")


@situation(makes=["claim.explain.nothing_recorded"], never=[*FAULTY, "claim.explain.nothing"], exit_code=2)
def run_of_an_image_alone(folder: Path) -> Question:
    with SummaryRecord(str(folder / "run")) as summary:
        summary.add_value("image", "picture", np.zeros((1, 3, 8, 8), np.float32))
        summary.record(1)
    return ask(folder, "run")


@situation(
    makes=[
        "claim.explain.found",
        "claim.explain.jump",
        "claim.explain.no_baseline",
        "claim.explain.no_tensors",
    ],
    never=[
        "claim.explain.non_finite",
        "claim.explain.nothing",
        "claim.explain.baseline",
        "claim.explain.none_healthy",
        "claim.explain.no_tensors_of_nan",
    ],
    exit_code=1,
)
def loss_with_a_spike(folder: Path) -> Question:
    record(folder / "run", {"loss": changed(120, 40.0)})
    return ask(folder, "run")


def _in_turn(folder: Path, begins: tuple[int, ...]) -> Question:
    """Write a loss that is eight times as large for ten steps from each of ``begins`` on."""
    high = [any(begin <= step < begin + 10 for begin in begins) for step in STEPS]
    return _searched(folder, {"loss": np.where(high, 8.0, 1.0) * (2.0 + noise(1, 0.05))})


@situation(
    makes=["claim.explain.jump_repeated", "claim.explain.nothing", "claim.explain.open"],
    never=["claim.explain.jump"],
    exit_code=2,
)
def loss_of_a_task_that_comes_every_sixty_steps(folder: Path) -> Question:
    return _in_turn(folder, (55, 115, 175))


@situation(makes=["claim.explain.jump"], never=["claim.explain.jump_repeated"], exit_code=1)
def loss_with_spikes_at_unequal_distances(folder: Path) -> Question:
    return _in_turn(folder, (55, 120, 175))


def _after_all_is_learned(folder: Path, spike: float) -> Question:
    """A loss that falls from 1.4 to a millionth, and has one spike."""
    loss = (1.4 * np.exp(-STEPS / 5.0) + 1e-6) * np.exp(noise(4, 0.3))
    return _searched(folder, {"loss": np.where(STEPS == 150, spike, loss)})


@situation(makes=["claim.explain.nothing"], never=["claim.explain.jump"], exit_code=0)
def loss_that_flickers_once_all_is_learned(folder: Path) -> Question:
    return _after_all_is_learned(folder, 3e-5)


@situation(makes=["claim.explain.jump"], never=["claim.explain.nothing"], exit_code=1)
def loss_that_jumps_once_all_is_learned(folder: Path) -> Question:
    return _after_all_is_learned(folder, 0.05)


def _dumped_late(folder: Path, *healthy: int, epochs: bool = False) -> Question:
    """A loss that is NaN from step 37 on, of 200 or of 50, and a dump with steps that are ``healthy`` and the
    step 59."""
    loss = np.where(STEPS < 37, falling(), np.nan)
    record(folder / "run", {"loss": loss[: 50 if epochs else 200].tolist()})
    dump = Dump(folder / "run" / "dump")
    for step in (*healthy, 59):
        values = np.full(4, 1.0 if step in healthy else np.nan, np.float32)
        dump.iteration(step).output("Default/mul-op0", values)
    return ask(folder, "run")


@situation(makes=["claim.explain.nan_before"], never=["claim.explain.nothing"], exit_code=1)
def a_dump_that_begins_after_the_loss_is_nan(folder: Path) -> Question:
    return _dumped_late(folder)


@situation(makes=["claim.explain.non_finite"], never=["claim.explain.nan_before"], exit_code=1)
def a_dump_whose_steps_are_beyond_those_of_the_loss(folder: Path) -> Question:
    """The loss may count epochs: which came first is unknown."""
    return _dumped_late(folder, epochs=True)


@situation(makes=["claim.explain.non_finite"], never=["claim.explain.nan_before"], exit_code=1)
def a_dump_with_a_healthy_step_before(folder: Path) -> Question:
    return _dumped_late(folder, 58)


@situation(makes=["claim.explain.jump"], never=["claim.explain.for_good", "claim.explain.nothing"])
def loss_with_a_spike_among_its_first_values(folder: Path) -> Question:
    return _searched(folder, {"loss": changed(30, 200.0)})


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def loss_that_is_eight_times_as_large_once_among_its_first_values(folder: Path) -> Question:
    return _searched(folder, {"loss": changed(30, 8 * 2.5)})


def _from_the_begin(folder: Path, last: float) -> Question:
    """Write a loss that is a million times as large from its second value on, except for the last one."""
    return _searched(folder, {"loss": [2.3, *(4e6 * np.exp(noise(1)))[:58], last]})


@situation(
    makes=["claim.explain.for_good", "claim.explain.found"],
    never=["claim.explain.jump", "claim.explain.nothing"],
    exit_code=1,
)
def loss_that_explodes_at_its_second_value(folder: Path) -> Question:
    return _from_the_begin(folder, 3e6)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.for_good"])
def loss_that_comes_back_to_its_first_value(folder: Path) -> Question:
    return _from_the_begin(folder, 2.0)


def _rising_on(folder: Path, share: float) -> Question:
    """Write a loss that falls from 2.5 to 0.5 and then, in its last third, rises on by a share of that."""
    rise = 2 * share * np.maximum(0, STEPS - 139) / 60
    return _searched(folder, {"loss": np.maximum(0.5, 2.5 - STEPS / 60) + rise + noise(1, 0.01)})


@situation(makes=["claim.explain.rises"], never=["claim.explain.nothing"], exit_code=1)
def loss_that_rises_on_and_undoes_most_of_its_fall(folder: Path) -> Question:
    return _rising_on(folder, 0.8)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.rises"], exit_code=0)
def loss_that_rises_on_and_undoes_a_third_of_its_fall(folder: Path) -> Question:
    return _rising_on(folder, 0.4)


@situation(
    makes=["claim.explain.rises", "claim.explain.found"],
    never=["claim.explain.jump", "claim.explain.nothing"],
)
def loss_that_grows_slowly(folder: Path) -> Question:
    record(folder / "run", {"loss": (2 * 1.03**STEPS).tolist(), "loss_scale": [1.0] * len(STEPS)})
    return ask(folder, "run")


def _doubling(folder: Path, steps: int) -> Question:
    """Write a loss that rises to 2.2 times as much within ``steps`` steps, and a rate that is set then."""
    rise = np.clip((STEPS - 99) / steps, 0, 1)
    loss = 2 + 2.4 * rise + 0.3 * noise(1)
    return _searched(folder, {"loss": loss, "lr": np.where(STEPS < 100, 1e-3, 0.1)})


@situation(
    makes=["claim.explain.rises_at", "claim.explain.set"],
    never=["claim.explain.rises", "claim.explain.jump", "claim.explain.nothing"],
    exit_code=1,
)
def loss_that_doubles_when_its_rate_is_set(folder: Path) -> Question:
    return _doubling(folder, 1)


@situation(
    makes=["claim.explain.rises"],
    never=["claim.explain.rises_at", "claim.explain.set", "claim.explain.nothing"],
    exit_code=1,
)
def loss_that_doubles_over_forty_steps(folder: Path) -> Question:
    return _doubling(folder, 40)


def _in_noise(folder: Path, factor: float) -> Question:
    """A loss of lognormal noise that stays a multiple of its level from step 120 on."""
    loss = np.exp(-STEPS / 8.0) + 0.002 * np.where(STEPS < 120, 1, factor)
    return _searched(folder, {"loss": loss * np.exp(noise(7))})


@situation(makes=["claim.explain.rises"], never=["claim.explain.nothing"], exit_code=1)
def loss_in_noise_that_is_a_hundred_times_as_large(folder: Path) -> Question:
    return _in_noise(folder, 100)


@situation(
    makes=["claim.explain.nothing"], never=["claim.explain.rises_at", "claim.explain.rises"], exit_code=0
)
def loss_in_noise_that_stays(folder: Path) -> Question:
    return _in_noise(folder, 1)


@situation(
    makes=["claim.explain.jump_repeated"],
    never=["claim.explain.rises", "claim.explain.rises_at"],
    exit_code=2,
)
def loss_of_levels_of_a_curriculum(folder: Path) -> Question:
    return _searched(folder, {"loss": 2.5 ** (STEPS // 50) * (1 + 0.03 * noise(1))})


@situation(
    makes=["claim.explain.only_rises", "claim.explain.found"],
    never=["claim.explain.rises", "claim.explain.below_zero", "claim.explain.nothing"],
    exit_code=1,
)
def losses_that_rise_from_begin_to_end(folder: Path) -> Question:
    below = STEPS / 30 - 5 + noise(1, 0.05)
    return _searched(folder, {"loss": 1 + 0.9 * STEPS / 200, "b/loss": below})


@situation(makes=["claim.explain.nothing"], never=["claim.explain.only_rises"], exit_code=0)
def losses_that_rise_by_a_hundredth_or_within_noise(folder: Path) -> Question:
    scalars = {"loss": 10 + STEPS / 2000, "b/loss": 2 + STEPS / 2000 + noise(1, 0.3)}
    return _searched(folder, {**scalars, "elbo": STEPS / 30 - 5})


def _through_a_valley(folder: Path, end: float) -> Question:
    return _searched(folder, {"loss": np.interp(STEPS, [0, 100, 199], [0, -5, end]) + noise(1, 0.05)})


@situation(makes=["claim.explain.below_zero"], never=["claim.explain.only_rises"], exit_code=1)
def loss_that_falls_below_zero_and_comes_back(folder: Path) -> Question:
    return _through_a_valley(folder, -0.5)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.below_zero"], exit_code=0)
def loss_that_falls_below_zero_and_undoes_a_third_of_that(folder: Path) -> Question:
    return _through_a_valley(folder, -3.5)


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def numbers_whose_names_hold_loss_norm_or_accuracy(folder: Path) -> Question:
    """Errors that fall, counts that grow, and thresholds that are set, each without a fault."""
    fall, grow = 0.9 * np.exp(-STEPS / 30), 2.0 + STEPS**2
    scalars = dict.fromkeys(("top1_err", "accuracy_error", "1-acc", "accuracy_threshold"), fall)
    counted = ("loss/num_samples", "episode/losses", "normalized_score", "grad_norm_clip_value")
    return _searched(folder, {"loss": falling(), **scalars, **dict.fromkeys(counted, grow)})


@situation(
    makes=["claim.explain.rises", "claim.explain.collapse"], never=["claim.explain.nothing"], exit_code=1
)
def error_rates_that_turn_and_a_score_that_is_lost(folder: Path) -> Question:
    course = np.interp(STEPS, [0, 120, 199], [90, 25, 61])
    score = np.interp(STEPS, [0, 120, 150, 199], [4, 29, 4, 4])
    return _searched(folder, {"loss": falling(), "val/top1_err": course, "wer": course / 100, "bleu": score})


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def error_rates_that_turn_by_less_than_twofold_and_errors_of_other_kinds(folder: Path) -> Question:
    """An agent's error against its own estimate may grow, and a tolerance is set."""
    course = np.interp(STEPS, [0, 120, 199], [90, 25, 40])
    score = np.interp(STEPS, [0, 120, 199], [4, 29, 20])
    others = dict.fromkeys(("td_error", "tracking_error", "wer_weight"), 1.0 + STEPS)
    return _searched(folder, {"loss": falling(), "val/top1_err": course, "bleu": score, **others})


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def losses_that_rise_a_little_and_grow_from_zero(folder: Path) -> Question:
    """A training that fits a little too closely, a loss that is switched on, and a constant number."""
    late = np.maximum(0.0, STEPS - 20.0)
    record(
        folder / "run",
        {"val_loss": (0.5 + STEPS / 1000).tolist(), "aux_loss": late.tolist(), "lr": [0.1] * 200},
    )
    return ask(folder, "run")


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def values_that_a_schedule_sets(folder: Path) -> Question:
    """An annealed weight, a coefficient, the scale of a loss scaler, and a warm-up: none is a loss."""
    warm = np.minimum(1.0, (STEPS + 1) / 100)
    tags = ("loss/kl_weight", "loss_coef", "klWeightLoss", "learning_rate", "lr_norm_scale")
    scalars = {tag: warm.tolist() for tag in tags}
    scalars |= {"loss_scale": (2.0 ** (16 - STEPS // 20)).tolist(), "loss": falling()}
    return _searched(folder, scalars)


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def losses_of_two_nets_against_each_other(folder: Path) -> Question:
    swing = np.sin(STEPS / 15)
    scalars = {"g/loss": 3 + 2 * swing + noise(1, 0.2), "loss_D": 0.69 + noise(2, 0.005)}
    return _searched(folder, {**scalars, "loss": 3 + 2 * swing + noise(3, 0.2)})


@situation(makes=["claim.explain.nothing", "claim.part.explain.played"], never=FAULTY, exit_code=0)
def losses_of_an_agent(folder: Path) -> Question:
    scalars = {"episode/reward": 200 * (1 - np.exp(-STEPS / 60)), "loss": 0.1 + 0.01 * STEPS}
    return _searched(folder, {**scalars, "policy/loss": 5 + noise(1, 0.05)})


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def entropy_of_an_agent_that_becomes_sure(folder: Path) -> Question:
    entropy = np.interp(STEPS, [0, 199], [-1.34, -0.53]) + noise(1, 0.01)
    return _searched(folder, {"loss": falling(), "train/entropy_loss": entropy})


@situation(makes=["claim.explain.only_rises"], never=["claim.explain.nothing"], exit_code=1)
def likelihood_that_only_falls(folder: Path) -> Question:
    return _searched(folder, {"train/nll": np.interp(STEPS, [0, 199], [-2, 2.4]) + noise(1, 0.05)})


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def negative_loss_and_a_cyclic_learning_rate(folder: Path) -> Question:
    cycle = 1 - (STEPS % 60) / 60
    scalars = {"elbo_loss": -100 * (1 - np.exp(-STEPS / 60)) + noise(1), "lr": 0.1 * cycle}
    loss = 1.5 * np.exp(-STEPS / 80) + 0.2 + 0.15 * cycle + noise(2, 0.01)
    return _searched(folder, {**scalars, "loss": loss})


def _searched(folder: Path, scalars: Mapping[str, Any]) -> Question:
    record(folder / "run", {tag: np.asarray(values).tolist() for tag, values in scalars.items()})
    return ask(folder, "run")


@situation(
    makes=["claim.explain.level", "claim.explain.found"],
    never=["claim.explain.rises", "claim.explain.constant", "claim.explain.nothing"],
    exit_code=1,
)
def loss_that_does_not_learn(folder: Path) -> Question:
    return _searched(folder, {"loss": 2.3026 + noise(1, 0.01), "train/accuracy": 0.1 + noise(2, 0.01)})


@situation(
    makes=["claim.explain.level", "claim.explain.limits"], never=["claim.explain.nothing"], exit_code=1
)
def loss_that_does_not_learn_in_noise_of_five_percent(folder: Path) -> Question:
    values = 2.3 * (1 + 0.05 * np.random.default_rng(1).standard_normal(1500))
    return _searched(folder, {"train/loss": values})


@situation(
    makes=["claim.explain.nothing"], never=["claim.explain.level", "claim.explain.limits"], exit_code=0
)
def loss_that_falls_by_a_tenth_in_noise_of_five_percent(folder: Path) -> Question:
    noise = 1 + 0.05 * np.random.default_rng(1).standard_normal(1500)
    return _searched(folder, {"train/loss": 2.3 * noise * np.linspace(1, 0.9, 1500)})


@situation(makes=["claim.explain.level"], never=["claim.explain.nothing"], exit_code=1)
def loss_that_explodes_at_once_and_comes_back_to_where_it_began(folder: Path) -> Question:
    values = 2.6 * (1 + 0.05 * np.random.default_rng(1).standard_normal(800))
    values[:6] = 2.3, 40.0, 1e9, 1e16, 1e7, 90.0
    return _searched(folder, {"train/loss": values})


def _of_spikes(folder: Path, loss: Sequence[float]) -> Question:
    """A norm of gradients that jumps at three steps."""
    norm = np.exp(noise(3, 0.05))
    norm[[100, 131, 177]] = 20.0, 40.0, 15.0
    return _searched(folder, {"loss": loss, "grad_norm": norm})


@situation(
    makes=["claim.explain.jump_calm", "claim.explain.nothing", "claim.part.explain.jumps_again"],
    never=["claim.explain.jump", "claim.part.explain.jump_peak"],
    exit_code=0,
)
def gradients_that_jump_where_no_loss_does(folder: Path) -> Question:
    return _of_spikes(folder, falling())


@situation(
    makes=["claim.explain.jump"], never=["claim.explain.jump_calm", "claim.explain.nothing"], exit_code=1
)
def gradients_that_jump_where_a_loss_does(folder: Path) -> Question:
    return _of_spikes(folder, changed(101, 30.0))


@situation(
    makes=["claim.explain.jump", "claim.part.explain.jump_peak"],
    never=["claim.part.explain.jumps_again"],
    exit_code=1,
)
def loss_whose_jump_goes_on(folder: Path) -> Question:
    values = changed(100, 8.0)
    values[101] = 25.0
    return _searched(folder, {"loss": values})


def _of_accuracies(folder: Path, training: float, validation: float) -> Question:
    """Accuracies that part after a third of the run, and where they end."""
    learned = 0.78 * (1 - np.exp(-STEPS / 12))
    known = np.where(STEPS < 66, learned, np.interp(STEPS, [66, 199], [learned[66], validation]))
    other = np.where(STEPS < 66, learned, np.interp(STEPS, [66, 199], [learned[66], training]))
    return _searched(
        folder, {"train/accuracy": abs(other + noise(4, 0.003)), "val/accuracy": abs(known + noise(5, 0.003))}
    )


@situation(
    makes=["claim.explain.overfit_accuracy"],
    never=["claim.explain.nothing", "claim.explain.collapse"],
    exit_code=1,
)
def validation_accuracy_that_falls_while_the_training_accuracy_rises(folder: Path) -> Question:
    return _of_accuracies(folder, 0.97, 0.6)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.overfit_accuracy"], exit_code=0)
def accuracies_that_fall_together(folder: Path) -> Question:
    return _of_accuracies(folder, 0.62, 0.6)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.overfit_accuracy"], exit_code=0)
def validation_accuracy_that_stays(folder: Path) -> Question:
    return _of_accuracies(folder, 0.97, 0.775)


def _of_rates(folder: Path, rate: Any, other: Any = None) -> Question:
    rates = {"train/lr": rate, **({} if other is None else {"train/lr-head": other})}
    return _searched(folder, {"loss": falling(), **rates})


_ZERO_RATES = ["claim.explain.zero_rate", "claim.explain.zero_rates"]


@situation(makes=["claim.explain.zero_rates"], never=_ZERO_RATES[:1], exit_code=1)
def learning_rate_of_zero_at_all_steps(folder: Path) -> Question:
    return _of_rates(folder, 0.0 * STEPS)


@situation(makes=["claim.explain.zero_rate"], never=_ZERO_RATES[1:], exit_code=1)
def learning_rate_of_zero_in_the_second_half(folder: Path) -> Question:
    return _of_rates(folder, np.maximum(0.0, 1e-3 * (1 - STEPS / 100)))


@situation(makes=["claim.explain.nothing"], never=_ZERO_RATES, exit_code=0)
def learning_rate_that_ends_at_zero(folder: Path) -> Question:
    return _of_rates(folder, 1e-3 * (1 - STEPS / 199))


@situation(makes=["claim.explain.nothing"], never=_ZERO_RATES, exit_code=0)
def counts_and_limits_of_learning_rates_that_are_zero(folder: Path) -> Question:
    zeros = dict.fromkeys(("num_lr_drops", "min_lr", "lr_scale", "lr_warmup_steps"), 0.0 * STEPS)
    return _searched(folder, {"loss": falling(), **zeros})


@situation(makes=["claim.explain.nothing"], never=_ZERO_RATES, exit_code=0)
def learning_rate_of_zero_for_one_group(folder: Path) -> Question:
    return _of_rates(folder, 0.0 * STEPS, 1e-3 + 0 * STEPS)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.level"], exit_code=0)
def losses_that_learn_slowly_or_within_strong_noise(folder: Path) -> Question:
    return _searched(folder, {"loss": 2.3 - 0.001 * STEPS + noise(1, 0.02), "b/loss": 2.3 + noise(2, 0.3)})


@situation(
    makes=["claim.explain.overfit", "claim.explain.found"],
    never=["claim.explain.rises", "claim.explain.level", "claim.explain.nothing"],
    exit_code=1,
)
def validation_loss_that_rises_while_the_training_loss_falls(folder: Path) -> Question:
    train = 2 * np.exp(-STEPS / 60) + 0.05
    late = np.maximum(0, STEPS - 80) * 0.02
    return _searched(folder, {"train/loss": train + noise(1, 0.01), "val/loss": train + 0.3 + late})


def _validated(folder: Path, validation: Sequence[float], train: Sequence[float]) -> Question:
    """Write a validation loss at every 13th of 200 steps, as trainings have it once an epoch."""
    with SummaryRecord(str(folder / "run")) as summary:
        for step in range(len(STEPS)):
            summary.add_value("scalar", "train/loss", train[step])
            if step % 13 == 0 and step // 13 < len(validation):
                summary.add_value("scalar", "val/loss", validation[step // 13])
            summary.record(step)
    return ask(folder, "run")


_EPOCHS = np.arange(15)


@situation(
    makes=["claim.explain.overfit_few", "claim.explain.found"],
    never=["claim.explain.overfit", "claim.explain.rises", "claim.explain.nothing"],
    exit_code=1,
)
def validation_loss_of_fifteen_values_that_rises_while_the_training_loss_falls(folder: Path) -> Question:
    validation = 0.5 + np.exp(-_EPOCHS / 2) + np.maximum(0, _EPOCHS - 5) * 0.06 + noise(4, 0.02)[:15]
    train = 2 * np.exp(-STEPS / 60) + 0.05 + noise(1, 0.01)
    return _validated(folder, validation.tolist(), train.tolist())


@situation(makes=["claim.explain.nothing"], never=["claim.explain.overfit_few", "claim.explain.overfit"])
def validation_loss_of_fifteen_values_of_noise_and_one_high_end(folder: Path) -> Question:
    validation = np.exp(noise(3, 0.2)[:15])
    validation[-1] = 2.0
    train = 2 * np.exp(-STEPS / 60) + 0.05 + noise(1, 0.01)
    return _validated(folder, validation.tolist(), train.tolist())


@situation(makes=["claim.explain.nothing", "claim.part.explain.few"], never=["claim.part.explain.validation"])
def validation_loss_of_three_values(folder: Path) -> Question:
    return _validated(folder, [0.5, 0.7, 0.9], falling())


@situation(makes=["claim.explain.nothing", "claim.part.explain.validation"], never=["claim.part.explain.few"])
def validation_loss_of_twelve_values(folder: Path) -> Question:
    return _validated(folder, falling()[0:120:10], falling())


def _then_nan(folder: Path, growth: Sequence[float]) -> Question:
    """Write a falling loss of thirty steps, then values, then NaN."""
    values = [*falling()[:30], *growth, *[np.nan] * 40]
    record(folder / "run", {"loss": values})
    return ask(folder, "run")


@situation(
    makes=["claim.explain.run_up", "claim.explain.non_finite"],
    never=["claim.explain.jump", "claim.explain.nothing"],
    exit_code=1,
)
def early_loss_that_explodes_into_nan(folder: Path) -> Question:
    return _then_nan(folder, [4.0, 11.0, 30.0, 80.0, 220.0])


def _grows_with_noise(folder: Path, rate: float) -> Question:
    """Write a norm that grows with noise over its last 60 values before NaN."""
    norm = np.exp(rate * np.maximum(0, STEPS - 99) + noise(1, 0.1))
    return _searched(folder, {"grad_norm": np.where(STEPS < 160, norm, np.nan)})


@situation(
    makes=["claim.explain.run_up_medians", "claim.explain.non_finite"],
    never=["claim.explain.run_up", "claim.explain.nothing"],
    exit_code=1,
)
def norm_that_grows_with_noise_into_nan(folder: Path) -> Question:
    return _grows_with_noise(folder, 0.1)


@situation(makes=["claim.explain.non_finite"], never=["claim.explain.run_up_medians", "claim.explain.run_up"])
def norm_that_grows_with_noise_to_three_times_before_nan(folder: Path) -> Question:
    return _grows_with_noise(folder, 0.018)


@situation(
    makes=["claim.explain.non_finite_passing"],
    never=[
        *("claim.explain.non_finite", "claim.explain.non_finite_once", "claim.explain.nothing"),
        *("claim.explain.placeholders_every", "claim.explain.placeholders_leading"),
    ],
    exit_code=1,
)
def loss_with_nan_at_every_other_step_from_some_step_on(folder: Path) -> Question:
    return _searched(folder, {"loss": np.where((STEPS > 60) & (STEPS % 2 == 0), np.nan, falling())})


@situation(
    makes=["claim.explain.placeholders_every", "claim.explain.nothing"],
    never=["claim.explain.placeholders_leading", *FAULTY],
    exit_code=0,
)
def validation_loss_with_nan_between_evaluations(folder: Path) -> Question:
    return _searched(folder, {"loss": falling(), "val/loss": np.where(STEPS % 10 == 9, falling(), np.nan)})


@situation(
    makes=["claim.explain.non_finite_passing"], never=["claim.explain.placeholders_every"], exit_code=1
)
def validation_loss_whose_last_evaluations_are_nan(folder: Path) -> Question:
    finite = (STEPS % 10 == 9) & (STEPS < 150)
    return _searched(folder, {"loss": falling(), "val/loss": np.where(finite, falling(), np.nan)})


@situation(
    makes=["claim.explain.placeholders_leading", "claim.explain.nothing"],
    never=["claim.explain.placeholders_every", *FAULTY],
    exit_code=0,
)
def best_loss_that_begins_with_infinity(folder: Path) -> Question:
    best = np.minimum.accumulate(np.array([np.inf, *falling()[1:]]))
    return _searched(folder, {"loss": falling(), "best/loss": best})


@situation(
    makes=["claim.explain.non_finite_passing"], never=["claim.explain.placeholders_leading"], exit_code=1
)
def loss_whose_first_half_is_nan(folder: Path) -> Question:
    return _searched(folder, {"loss": np.where(STEPS < 100, np.nan, falling())})


def _with_gradients(folder: Path, loss: Any, **others: Any) -> Question:
    norms = np.where((STEPS > 20) & (STEPS < 44), np.inf, 1 + noise(1, 0.1))
    return _searched(folder, {"loss": loss, "grad_norm": norms, **others})


@situation(
    makes=["claim.explain.non_finite_scaled", "claim.explain.nothing"],
    never=["claim.explain.non_finite_skipped", *FAULTY],
    exit_code=0,
)
def gradients_that_overflow_while_the_scale_falls(folder: Path) -> Question:
    return _with_gradients(folder, falling(), loss_scale=2.0 ** (40 - np.clip(STEPS - 20, 0, 23)))


@situation(makes=["claim.explain.non_finite_skipped"], never=["claim.explain.non_finite_scaled"], exit_code=2)
def gradients_that_overflow_while_the_scale_stays(folder: Path) -> Question:
    return _with_gradients(folder, falling(), loss_scale=np.ones(len(STEPS)))


@situation(
    makes=["claim.explain.non_finite_skipped", "claim.explain.nothing"],
    never=["claim.explain.non_finite_passing", *FAULTY],
    exit_code=2,
)
def gradients_that_overflow_while_the_loss_stays_finite(folder: Path) -> Question:
    return _with_gradients(folder, falling())


@situation(
    makes=["claim.explain.non_finite_passing"], never=["claim.explain.non_finite_skipped"], exit_code=1
)
def gradients_that_overflow_with_the_loss(folder: Path) -> Question:
    return _with_gradients(folder, np.where(STEPS == 30, np.nan, falling()))


def _set_at(folder: Path, step: int) -> Question:
    """A loss that jumps at step 121, and a learning rate that is set once."""
    loss = np.where(STEPS > 120, 30.0, falling())
    rate = np.where(step <= STEPS, 1.0, 0.01)
    return _searched(folder, {"loss": loss, "lr": rate, "schedule/lr2": 0.1 * np.exp(-STEPS / 50)})


@situation(makes=["claim.explain.jump", "claim.explain.set"], exit_code=1)
def learning_rate_set_a_step_before_the_jump(folder: Path) -> Question:
    return _set_at(folder, 120)


@situation(
    makes=["claim.explain.jump"], never=["claim.explain.set", "claim.explain.set_at_once"], exit_code=1
)
def an_epoch_that_begins_at_the_jump(folder: Path) -> Question:
    """It counts up each forty steps, as at the fault."""
    loss = np.where(STEPS > 120, 30.0, falling())
    return _searched(folder, {"loss": loss, "epoch": STEPS // 40})


def _restarted(folder: Path, length: int) -> Question:
    """A loss that jumps at step 121, and a cosine learning rate that restarts each ``length`` steps."""
    loss = np.where(STEPS > 120, 30.0, falling())
    rate = 0.05 + 0.5 * (1 + np.cos(np.pi * (STEPS % length) / length))
    return _searched(folder, {"loss": loss, "lr": rate})


@situation(makes=["claim.explain.set_at_once"], never=["claim.explain.set"], exit_code=1)
def learning_rate_that_restarts_at_the_jump(folder: Path) -> Question:
    return _restarted(folder, 120)


@situation(makes=["claim.explain.jump"], never=["claim.explain.set_at_once"], exit_code=1)
def learning_rate_that_restarts_later(folder: Path) -> Question:
    return _restarted(folder, 150)


@situation(makes=["claim.explain.jump"], never=["claim.explain.set"], exit_code=1)
def learning_rate_set_behind_the_jump(folder: Path) -> Question:
    return _set_at(folder, 122)


@situation(makes=["claim.explain.jump"], never=["claim.explain.set"], exit_code=1)
def learning_rate_set_twenty_steps_before_the_jump(folder: Path) -> Question:
    return _set_at(folder, 101)


@situation(makes=["claim.explain.non_finite"], never=["claim.explain.run_up"], exit_code=1)
def early_loss_that_rises_to_less_than_five_times_before_nan(folder: Path) -> Question:
    return _then_nan(folder, [3.0, 4.0, 6.0, 9.0])


@situation(makes=["claim.explain.rises"], never=["claim.explain.overfit"], exit_code=1)
def validation_loss_that_rises_with_the_training_loss(folder: Path) -> Question:
    rising = np.abs(STEPS - 60) / 50 + 0.2
    return _searched(folder, {"train/loss": rising, "val/loss": rising + 0.2})


STEADY = "claim.explain.overfit_steady"


def _slightly_overfit(folder: Path, late: np.ndarray, train: np.ndarray | None = None) -> Question:
    """Write a validation loss that rises late, by default beside a training loss that falls."""
    falls = 2 * np.exp(-STEPS / 40) + 0.05
    scalars = {"train/loss": (falls if train is None else train) + noise(1, 0.01)}
    return _searched(folder, {**scalars, "val/loss": falls + 0.4 + late + noise(5, 0.01)})


@situation(makes=[STEADY], never=["claim.explain.overfit", "claim.explain.rises", "claim.explain.nothing"])
def validation_loss_that_rises_steadily_by_a_quarter(folder: Path) -> Question:
    return _slightly_overfit(folder, np.maximum(0, STEPS - 80) * 0.0032)


@situation(makes=[STEADY], never=["claim.explain.overfit_few", "claim.explain.nothing"])
def validation_loss_of_fifteen_values_that_rises_steadily_by_a_fifth(folder: Path) -> Question:
    validation = 0.5 + np.exp(-_EPOCHS) + np.maximum(0, _EPOCHS - 5) * 0.012 + noise(4, 0.003)[:15]
    train = 2 * np.exp(-STEPS / 60) + 0.05 + noise(1, 0.01)
    return _validated(folder, validation.tolist(), train.tolist())


@situation(makes=["claim.explain.nothing"], never=[STEADY, "claim.explain.overfit", "claim.explain.rises"])
def validation_loss_that_rises_by_a_twentieth(folder: Path) -> Question:
    return _slightly_overfit(folder, np.maximum(0, STEPS - 80) * 0.0003)


@situation(makes=["claim.explain.nothing"], never=[STEADY, "claim.explain.overfit", "claim.explain.rises"])
def validation_loss_that_fluctuates_by_a_third(folder: Path) -> Question:
    return _slightly_overfit(folder, np.abs(noise(6, 0.15)) * (STEPS > 80))


@situation(makes=["claim.explain.nothing"], never=[STEADY, "claim.explain.overfit", "claim.explain.rises"])
def validation_loss_that_rose_by_a_third_and_came_back(folder: Path) -> Question:
    return _slightly_overfit(folder, np.maximum(0, 50 - np.abs(STEPS - 130)) * 0.003)


@situation(makes=["claim.explain.nothing"], never=[STEADY, "claim.explain.overfit"])
def validation_loss_that_rises_by_a_third_beside_a_training_loss_that_does(folder: Path) -> Question:
    late = np.maximum(0, STEPS - 80) * 0.0032
    return _slightly_overfit(folder, late, 2 * np.exp(-STEPS / 40) + 0.4 + late)


@situation(
    makes=["claim.explain.collapse", "claim.explain.found"],
    never=["claim.explain.nothing", "claim.explain.jump"],
    exit_code=1,
)
def accuracy_that_collapses(folder: Path) -> Question:
    return _searched(folder, {"loss": falling(), "val/accuracy": np.where(STEPS < 100, 0.9, 0.1)})


@situation(makes=["claim.explain.nothing"], never=["claim.explain.collapse"], exit_code=0)
def accuracies_that_recover_or_are_of_small_batches(folder: Path) -> Question:
    dip = np.where((STEPS > 90) & (STEPS < 120), 0.1, 0.9)
    batch = np.random.default_rng(2).binomial(4, 0.5, len(STEPS)) / 4
    return _searched(folder, {"val/accuracy": dip, "train/accuracy": batch})


def _rewarded(folder: Path, end: float) -> Question:
    """Write a reward that rises from -20 to 180, and then ends at another level."""
    reward = np.where(STEPS < 150, 180 - 200 * np.exp(-STEPS / 30), end) + noise(2, 5.0)
    return _searched(folder, {"rollout/ep_rew_mean": reward, "rewards/chosen": -STEPS / 100})


@situation(
    makes=["claim.explain.nothing"],
    never=["claim.explain.collapse", "claim.part.explain.accuracies"],
    exit_code=0,
)
def reward_below_zero_that_is_lost(folder: Path) -> Question:
    """Half of a negative level is no measure: it is not judged, and not said to be."""
    return _searched(folder, {"reward": np.where(STEPS < 120, -200.0 + STEPS, -195.0) + noise(5)})


@situation(makes=["claim.explain.collapse"], never=["claim.explain.nothing"], exit_code=1)
def reward_that_is_lost(folder: Path) -> Question:
    return _rewarded(folder, 10.0)


@situation(
    makes=["claim.explain.nothing"],
    never=["claim.explain.collapse", "claim.part.explain.played"],
    exit_code=0,
)
def reward_that_falls_by_a_third(folder: Path) -> Question:
    return _rewarded(folder, 120.0)


@situation(
    makes=["claim.explain.nothing"], never=["claim.explain.collapse", "claim.explain.open"], exit_code=0
)
def reward_that_begins_high(folder: Path) -> Question:
    """Shaped rewards are held back on and on."""
    return _searched(folder, {"reward": 1 + 9 * np.exp(-STEPS / 40)})


@situation(
    makes=["claim.explain.growth", "claim.explain.found"],
    never=["claim.explain.nothing", "claim.explain.rises", "claim.explain.growth_small"],
    exit_code=1,
)
def norm_that_grows_by_orders_of_magnitude(folder: Path) -> Question:
    return _searched(
        folder, {"loss": falling(), "grad_norm": np.exp(STEPS / 20) * (1 + np.abs(noise(1, 0.1)))}
    )


@situation(
    makes=["claim.explain.growth_small", "claim.explain.nothing"], never=["claim.explain.growth"], exit_code=2
)
def norm_of_an_adapter_that_begins_near_zero(folder: Path) -> Question:
    norm = (1e-4 + 0.5 * (STEPS / 200) ** 2) * (1 + np.abs(noise(1, 0.1)))
    return _searched(folder, {"loss": falling(), "adapter/grad_norm": norm})


def _scaled(folder: Path, growth: float) -> Question:
    """Write a norm of scaled gradients, whose scale doubles each twenty steps and which grows by itself."""
    scale = 2.0 ** (STEPS // 20)
    norm = 20 * scale * np.exp(growth * STEPS) * (1 + np.abs(noise(1, 0.1)))
    return _searched(folder, {"loss": falling(), "grad_norm": norm, "loss_scale": scale})


@situation(
    makes=["claim.explain.growth_scaled", "claim.explain.nothing"],
    never=["claim.explain.growth"],
    exit_code=0,
)
def norm_that_grows_with_the_loss_scale(folder: Path) -> Question:
    return _scaled(folder, 0.0)


@situation(makes=["claim.explain.growth"], never=["claim.explain.growth_scaled"], exit_code=1)
def norm_that_grows_faster_than_the_loss_scale(folder: Path) -> Question:
    return _scaled(folder, 0.04)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.growth"], exit_code=0)
def norms_that_grow_tenfold_or_spread_by_factors(folder: Path) -> Question:
    scalars = {"grad_norm": np.geomspace(1, 20, len(STEPS)), "norm/fc": np.exp(noise(2))}
    return _searched(folder, {"loss": falling(), **scalars})


@situation(
    makes=["claim.explain.constant", "claim.explain.found"],
    never=["claim.explain.rises", "claim.explain.jump"],
)
def loss_that_stands_still(folder: Path) -> Question:
    record(folder / "run", {"loss": [2.302585] * len(STEPS)})
    return ask(folder, "run")


def _stopping(folder: Path, step: int, again: int = 1) -> Question:
    """Write a loss that does not change from a step on, and has each value ``again`` times before."""
    losses = np.repeat(falling()[::again], again)[: len(STEPS)]
    return _searched(folder, {"loss": np.where(step <= STEPS, losses[step], losses)})


@situation(
    makes=["claim.explain.stops"], never=["claim.explain.constant", "claim.explain.nothing"], exit_code=1
)
def loss_that_stops_changing(folder: Path) -> Question:
    return _stopping(folder, 120)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.stops"], exit_code=0)
def validation_loss_that_is_recorded_until_the_next_one(folder: Path) -> Question:
    return _stopping(folder, 120, again=10)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.stops"], exit_code=0)
def loss_that_reaches_zero(folder: Path) -> Question:
    return _searched(folder, {"loss": np.where(STEPS < 120, falling(), 0.0)})


def _with_norms(folder: Path, loss: float, **norms: int) -> Question:
    """Losses end at a number, and norms of gradients are zero from a step on."""
    curves = {"loss": np.where(STEPS < 100, falling(), loss * (1 + noise(2, 0.01)))}
    curves |= {tag: np.where(step > STEPS, 1 + noise(3, 0.1), 0.0) for tag, step in norms.items()}
    return _searched(folder, curves)


@situation(makes=["claim.explain.zero_gradients"], never=["claim.explain.nothing"], exit_code=1)
def gradients_that_are_zero_from_a_step_on(folder: Path) -> Question:
    return _with_norms(folder, 0.9, grad_norm=100)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.zero_gradients"], exit_code=0)
def gradients_of_a_loss_that_reached_zero(folder: Path) -> Question:
    return _with_norms(folder, 0.0, grad_norm=100)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.zero_gradients"], exit_code=0)
def gradients_of_a_module_that_may_be_frozen(folder: Path) -> Question:
    return _with_norms(folder, 0.9, backbone_grad_norm=100)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.zero_gradients"], exit_code=0)
def gradients_of_which_one_norm_is_not_zero(folder: Path) -> Question:
    return _with_norms(folder, 0.9, grad_norm=100, total_gradient_norm=200)


def _ending(folder: Path, every: int, end: int) -> Question:
    with SummaryRecord(str(folder / "run")) as summary:
        for step in range(200):
            summary.add_value("scalar", "loss", float(falling()[step]))
            if step % every == 0 and step < end:
                summary.add_value("scalar", "val/accuracy", 0.5 + step / 1000)
            summary.record(step)
    return ask(folder, "run")


@situation(
    makes=["claim.explain.scalar_ended", "claim.explain.nothing"],
    never=["claim.explain.stopped"],
    exit_code=0,
)
def a_metric_that_is_recorded_no_longer(folder: Path) -> Question:
    return _ending(folder, 5, 100)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.scalar_ended"], exit_code=0)
def a_metric_that_comes_seldom(folder: Path) -> Question:
    return _ending(folder, 15, 200)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.constant"])
def loss_of_few_steps(folder: Path) -> Question:
    record(folder / "run", {"loss": [2.302585] * 5})
    return ask(folder, "run")


@situation(makes=["claim.explain.nothing"], never=["claim.explain.jump"], exit_code=0)
def learning_rate_that_jumps(folder: Path) -> Question:
    """A schedule, which is no loss, and a loss that falls at a step."""
    rate = np.where(STEPS < 100, 1e-4 + 1e-7 * STEPS, 1e-2)
    loss = np.where(STEPS < 100, 5.0, 1.0) + 0.01 * np.random.default_rng(1).standard_normal(len(STEPS))
    record(folder / "run", {"learning_rate": rate.tolist(), "loss": loss.tolist()})
    return ask(folder, "run")


@situation(
    makes=[
        *(
            "claim.explain.found",
            "claim.explain.non_finite",
            "claim.explain.baseline",
            "claim.explain.settings",
        ),
        *("claim.explain.no_code", "claim.explain.no_tensors_of_nan"),
    ],
    never=[
        *("claim.explain.jump", "claim.explain.no_baseline", "claim.explain.same_settings"),
        *("claim.explain.no_settings", "claim.explain.in_ranks", "claim.explain.failed"),
        *("claim.explain.non_finite_once", "claim.explain.non_finite_passing", "claim.explain.no_tensors"),
    ],
    exit_code=1,
)
def loss_that_is_nan_with_another_setting(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01, "batch": 32})
    wait_for_the_next_second()
    record(folder / "b", {"loss": [*falling()[:150], *[np.nan] * 50]}, {"lr": 1.0, "batch": 32})
    return ask(folder, "b")


@situation(
    makes=["claim.explain.same_settings", "claim.code.packages_differ", "claim.explain.baseline"],
    never=[
        *("claim.explain.settings", "claim.explain.settings_alone"),
        *("claim.explain.no_code", "claim.explain.no_settings"),
    ],
    exit_code=1,
)
def same_settings_and_another_package(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01}, code="1.26.4")
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)}, {"lr": 0.01}, code="2.1.0")
    return ask(folder, "b")


@situation(
    makes=["claim.explain.settings_naming", "claim.explain.same_settings"],
    never=["claim.explain.settings", "claim.explain.settings_alone"],
)
def only_names_of_the_runs_differ(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01, "run_name": "a", "output_dir": "/out/a"})
    wait_for_the_next_second()
    settings = {"lr": 0.01, "run_name": "b", "output_dir": "/out/b"}
    record(folder / "b", {"loss": changed(150, np.nan)}, settings)
    return ask(folder, "b")


@situation(
    makes=["claim.explain.settings", "claim.explain.settings_alone", "claim.explain.baseline"],
    never=["claim.explain.same_settings", "claim.explain.none_healthy", "claim.explain.settings_naming"],
)
def a_setting_that_one_of_two_recorded(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01, "warmup": 10})
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)}, {"lr": 0.1})
    return ask(folder, "b")


RENAMED = ["claim.explain.settings_renamed", "claim.part.explain.renamed"]


@situation(
    makes=[*RENAMED, "claim.explain.same_settings"],
    never=["claim.explain.settings", "claim.explain.settings_alone"],
)
def settings_of_other_names_one_of_which_is_a_text(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01, "batch_size": 32})
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)}, {"learning_rate": "0.01", "batch": 32})
    return ask(folder, "b")


@situation(makes=["claim.explain.settings", "claim.explain.settings_alone"], never=RENAMED)
def settings_of_names_that_mean_something_else(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01, "batch_size": 32})
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)}, {"lr": "0.02", "batch_norm": 1})
    return ask(folder, "b")


@situation(
    makes=["claim.explain.none_healthy"],
    never=["claim.explain.baseline", "claim.explain.settings", "claim.code.scripts_differ"],
)
def an_earlier_run_of_another_script(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, {"lr": 0.01}, code="1.26.4", script="tune.py")
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)}, {"lr": 0.1}, code="1.26.4")
    return ask(folder, "b")


@situation(
    makes=["claim.explain.no_settings", "claim.explain.baseline"],
    never=["claim.explain.settings", "claim.explain.same_settings"],
)
def baseline_without_settings(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()}, code="1.26.4")
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)}, {"lr": 0.01}, code="1.26.4")
    return ask(folder, "b")


@situation(
    makes=["claim.explain.none_healthy"],
    never=["claim.explain.baseline", "claim.explain.no_baseline", "claim.explain.settings"],
)
def earlier_runs_that_are_no_baseline(folder: Path) -> Question:
    """One is faulty, one has nothing in common, one lies elsewhere, and one began later."""
    record(folder / "spiky", {"loss": changed(150, 40.0)}, {"lr": 0.1})
    record(folder / "other", {"reward": falling()}, {"lr": 0.2})
    record(folder / "elsewhere" / "run", {"loss": falling()}, {"lr": 0.3})
    wait_for_the_next_second()
    record(folder / "run", {"loss": changed(150, np.nan)}, {"lr": 0.4})
    wait_for_the_next_second()
    record(folder / "later", {"loss": falling()}, {"lr": 0.5})
    return ask(folder, "run")


def after_another_training(folder: Path, *shared: str) -> Question:
    """A run with four scalars after one that has some of them and three of its own."""
    record(folder / "a", {tag: falling() for tag in (*shared, "fid", "loss_d", "loss_g")})
    wait_for_the_next_second()
    curves = {tag: falling() for tag in ("accuracy", "lr", "rouge")}
    record(folder / "b", {"loss": changed(150, np.nan), **curves})
    return ask(folder, "b")


@situation(
    makes=["claim.explain.no_baseline"],
    never=["claim.explain.baseline", "claim.explain.none_healthy", "claim.explain.settings"],
)
def an_earlier_training_of_another_kind(folder: Path) -> Question:
    """A GAN in the directory shares the name of one scalar."""
    return after_another_training(folder, "loss")


@situation(makes=["claim.explain.baseline"], never=["claim.explain.no_baseline"])
def an_earlier_training_with_half_of_the_scalars(folder: Path) -> Question:
    return after_another_training(folder, "loss", "lr")


@situation(makes=["claim.explain.none_healthy"], never=["claim.explain.baseline"])
def an_earlier_run_of_three_points(folder: Path) -> Question:
    record(folder / "a", {"loss": [1.0, 2.0, 0.5]})
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)})
    return ask(folder, "b")


@situation(makes=["claim.explain.none_healthy"], never=["claim.explain.baseline"])
def an_earlier_job_with_a_slow_rank(folder: Path) -> Question:
    _ranks(folder, slow=2)
    wait_for_the_next_second()
    for rank in range(4):
        record(folder / "next" / f"rank_{rank}", {"step_time": changed(150, np.nan, rank)})
    return ask(folder, "next/rank_0")


@situation(
    makes=["claim.explain.in_ranks", "claim.explain.non_finite_once", "claim.explain.found"],
    never=["claim.explain.non_finite", "claim.explain.nothing"],
)
def nan_on_one_of_two_ranks(folder: Path) -> Question:
    for rank in range(2):
        loss = changed(90, np.nan, rank) if rank else falling(rank)
        record(folder / "job" / f"rank_{rank}", {"loss": loss})
    return ask(folder, "job/rank_0")


def _ranks(folder: Path, slow: int) -> Question:
    for rank in range(4):
        times = 100 + np.random.default_rng(rank).standard_normal(len(STEPS))
        times[100:] += 40 * (rank == slow)
        record(folder / "job" / f"rank_{rank}", {"step_time": times.tolist()})
    return ask(folder, "job/rank_0")


@situation(
    makes=["claim.explain.rank", "claim.health.slower", "claim.explain.found"],
    never=["claim.explain.nothing", "claim.health.alike"],
    exit_code=1,
)
def one_slow_rank(folder: Path) -> Question:
    return _ranks(folder, slow=2)


@situation(
    makes=["claim.health.alike", "claim.explain.nothing"],
    never=["claim.explain.rank", *FAULTY],
    exit_code=0,
)
def ranks_that_are_alike(folder: Path) -> Question:
    return _ranks(folder, slow=-1)


@situation(
    makes=["claim.explain.failed", "claim.explain.found"],
    never=[
        "claim.explain.stopped",
        "claim.explain.nothing",
        "claim.explain.errors",
        "claim.explain.failed_ranks",
        "claim.explain.failed_before",
    ],
    exit_code=1,
)
def training_that_raised(folder: Path) -> Question:
    _raise_in(folder / "run")
    return ask(folder, "run")


def _raise_in(run: Path) -> None:
    with suppress(MemoryError), SummaryRecord(str(run)) as summary:
        for step, value in enumerate(falling()):
            summary.add_value("scalar", "loss", value)
            summary.record(step)
        raise MemoryError("out of memory")


@situation(
    makes=["claim.explain.failed_before", "claim.explain.found"],
    never=["claim.explain.failed", "claim.explain.nothing"],
    exit_code=1,
)
def training_that_raised_and_was_started_again(folder: Path) -> Question:
    _raise_in(folder / "run")
    wait_for_the_next_second()
    record(folder / "run", {"loss": falling()})
    return ask(folder, "run")


@situation(makes=["claim.explain.failed_ranks"], never=["claim.explain.failed"], exit_code=1)
def one_of_two_ranks_that_raised(folder: Path) -> Question:
    record(folder / "job" / "rank_0", {"loss": falling()})
    _raise_in(folder / "job" / "rank_1")
    return ask(folder, "job/rank_0")


@situation(
    makes=["claim.explain.more", "claim.explain.non_finite_once"], never=["claim.explain.jump"], exit_code=1
)
def scalars_that_are_nan_at_five_steps(folder: Path) -> Question:
    record(folder / "run", {f"metric{n}": changed(90 + n, np.nan, n) for n in range(5)})
    return ask(folder, "run")


@situation(makes=["claim.explain.non_finite_once"], never=["claim.explain.more"], exit_code=1)
def five_scalars_that_are_nan_at_one_step(folder: Path) -> Question:
    record(folder / "run", {f"metric{n}": changed(90, np.nan, n) for n in range(5)})
    return ask(folder, "run")


def _left_open(folder: Path) -> None:
    summary = SummaryRecord(str(folder / "open"))
    for step, value in enumerate(falling()):
        summary.add_value("scalar", "loss", value)
        summary.record(step)
    summary.flush()
    shutil.copytree(folder / "open", folder / "run")
    summary.close()


@situation(
    makes=["claim.explain.stopped", "claim.explain.nothing"],
    never=["claim.explain.failed", "claim.explain.quiet"],
)
def run_without_an_end_for_two_hours(folder: Path) -> Question:
    _left_open(folder)
    return Question(direct=lambda: claims_of(folder, "./run", later=7200))


@situation(makes=["claim.explain.quiet", "claim.explain.nothing"], never=["claim.explain.stopped"])
def run_without_an_end_for_half_an_hour(folder: Path) -> Question:
    _left_open(folder)
    return Question(direct=lambda: claims_of(folder, "./run", later=1800))


@situation(makes=["claim.explain.nothing"], never=["claim.explain.stopped", "claim.explain.quiet"])
def run_without_an_end_for_a_minute(folder: Path) -> Question:
    _left_open(folder)
    return Question(direct=lambda: claims_of(folder, "./run", later=60))


@situation(
    makes=["claim.explain.file", "claim.file.damaged", "claim.explain.found"], never=["claim.explain.nothing"]
)
def file_with_a_damaged_record(folder: Path) -> Question:
    events = Path(__file__).parents[2] / "data" / "events"
    shutil.copytree(events / "damaged" / "flip_body_crc", folder / "run")
    return ask(folder, "run")


def _with_alerts(folder: Path, level: str, at: Sequence[int] = (50, 60)) -> Question:
    with SummaryRecord(str(folder / "run")) as summary:
        for step, value in enumerate(falling()):
            summary.add_value("scalar", "loss", value)
            for number in range(at.count(step)):
                summary.alert(f"Disk {number} is filling", "less than 1 GB", level=level)  # type: ignore[arg-type]
            summary.record(step)
    return ask(folder, "run")


@situation(
    makes=["claim.explain.errors", "claim.explain.found"],
    never=["claim.explain.warnings", "claim.explain.file"],
    exit_code=1,
)
def training_with_errors(folder: Path) -> Question:
    return _with_alerts(folder, "error")


@situation(
    makes=["claim.explain.warnings", "claim.explain.nothing"], never=["claim.explain.errors"], exit_code=0
)
def training_with_warnings(folder: Path) -> Question:
    return _with_alerts(folder, "warning")


@situation(makes=["claim.explain.alerts_unread", "claim.explain.warnings"], never=["claim.explain.errors"])
def training_with_more_warnings_than_are_read(folder: Path) -> Question:
    return _with_alerts(folder, "warning", [50] * (MOST + 1))


@situation(makes=["claim.explain.warnings"], never=["claim.explain.alerts_unread"])
def training_with_as_many_warnings_as_are_read(folder: Path) -> Question:
    return _with_alerts(folder, "warning", [50] * MOST)


@situation(
    makes=[
        *("claim.explain.place", "claim.explain.spread", "claim.cause.log_negative", "claim.explain.errors"),
        *("claim.explain.no_condition", "claim.explain.first_at_line", "claim.explain.after"),
    ],
    never=[
        *("claim.explain.no_tensors", "claim.explain.unreadable", "claim.explain.more_dumps"),
        *("claim.check.none", "claim.explain.first", "claim.fault.elements"),
    ],
    exit_code=1,
)
def logarithm_of_a_negative_number(folder: Path) -> Question:
    unpack("logarithm", folder)
    return ask(folder, "logarithm")


@situation(
    makes=["claim.check.dead", "claim.fault.none", "claim.explain.warnings", "claim.explain.found"],
    never=[
        *("claim.explain.spread", "claim.explain.place", "claim.explain.no_tensors"),
        *("claim.explain.no_condition", "claim.explain.first", "claim.explain.first_at_line"),
        *("claim.explain.after", "claim.explain.more_as"),
    ],
    exit_code=1,
)
def dead_activation(folder: Path) -> Question:
    unpack("dead_relu", folder)
    return ask(folder, "dead_relu")


@situation(makes=["claim.check.more", "claim.explain.more_as"], never=["claim.explain.nothing"], exit_code=1)
def dead_activation_in_two_dumps(folder: Path) -> Question:
    run = unpack("dead_relu", folder)
    shutil.copytree(run / "flight_dump", run / "second_dump")
    return ask(folder, "dead_relu")


def _with_a_faulty_dump(folder: Path, dump: str = "") -> Question:
    """Write a run of a healthy dump "a" and of "b", in which a NaN is."""
    record(folder / "run", {"loss": falling()})
    for name, value in (("a", 1.0), ("b", np.nan)):
        step = Dump(folder / "run" / name).iteration(7)
        step.output("Default/log-op0", np.array([1.0, value], np.float32))
    return ask(folder, "run", dump)


@situation(
    makes=["claim.explain.in_dump", "claim.explain.first"],
    never=["claim.explain.only_dump", "claim.explain.nothing"],
    exit_code=1,
)
def a_nan_in_one_of_two_dumps(folder: Path) -> Question:
    return _with_a_faulty_dump(folder)


@situation(makes=["claim.explain.only_dump", "claim.explain.in_dump"], never=["claim.explain.nothing"])
def the_faulty_one_of_two_dumps(folder: Path) -> Question:
    return _with_a_faulty_dump(folder, "b")


@situation(
    makes=["claim.explain.only_dump", "claim.explain.nothing"],
    never=["claim.explain.in_dump", "claim.explain.place", *FAULTY],
)
def the_healthy_one_of_two_dumps(folder: Path) -> Question:
    return _with_a_faulty_dump(folder, "a")


def _with_dumps(folder: Path, count: int) -> None:
    record(folder / "run", {"loss": falling()})
    for number in range(count):
        write(folder / "run" / f"dump{number}", [("Functional.relu.0.forward", [floats(1, 2)], floats(1, 2))])


@situation(makes=["claim.explain.more_dumps", "claim.explain.nothing"], never=["claim.explain.unreadable"])
def run_with_more_dumps_than_are_searched(folder: Path) -> Question:
    _with_dumps(folder, MOST_DUMPS + 1)
    return Question(direct=lambda: claims_of(folder, "./run"))


@situation(
    makes=["claim.explain.nothing"],
    never=["claim.explain.more_dumps", "claim.explain.unreadable", "claim.explain.unrecorded", *FAULTY],
)
def run_with_as_many_dumps_as_are_searched(folder: Path) -> Question:
    _with_dumps(folder, MOST_DUMPS)
    return Question(direct=lambda: claims_of(folder, "./run"))


@situation(
    makes=["claim.explain.unreadable"], never=["claim.explain.place", "claim.explain.unrecorded", *FAULTY]
)
def dump_that_has_vanished(folder: Path) -> Question:
    def path_of(dump: str) -> Path:
        raise FileNotFoundError(dump)

    _with_dumps(folder, 1)
    return Question(direct=lambda: claims_of(folder, "./run", path_of=path_of))


@situation(makes=["claim.explain.earlier", "claim.explain.place"], never=["claim.explain.nothing"])
def a_fault_of_a_training_that_was_started_again(folder: Path) -> Question:
    unpack("nan_in_data", folder)
    record(folder / "nan_in_data", {"loss": falling()})
    return ask(folder, "nan_in_data")


@situation(makes=["claim.explain.place"], never=["claim.explain.earlier"])
def a_fault_of_the_only_start(folder: Path) -> Question:
    unpack("nan_in_data", folder)
    return ask(folder, "nan_in_data")


@situation(
    makes=["claim.explain.first", "claim.explain.found"],
    never=["claim.explain.first_at_line", "claim.explain.after"],
    exit_code=1,
)
def a_fault_without_a_line_and_a_jump_before_it(folder: Path) -> Question:
    """The loss jumps at step 120, and the dump of step 150 holds a NaN: the jump does not follow from it."""
    record(folder / "run", {"loss": changed(120, 40.0)})
    step = Dump(folder / "run" / "dump").iteration(150)
    step.output("Default/log-op0", np.array([1.0, np.nan], np.float32))
    return ask(folder, "run")


def _with_checkpoints(folder: Path, norms: Sequence[float]) -> Question:
    """Write a healthy run with a checkpoint for each norm of its weight. Its bias grows by any factor."""
    record(folder / "run", {"loss": falling()})
    for number, norm in enumerate(norms, 1):
        weights = {"fc.weight": np.full((2, 2), norm / 2), "fc.bias": np.full(2, 1e-6 * 10.0**number)}
        np.savez(folder / "run" / f"net-{number}.npz", **weights)  # type: ignore[arg-type]
    return ask(folder, "run")


_KNOWN = [f"claim.checkpoint.{name}" for name in ("some_non_finite", "none_non_finite", "unsearched")]


def _facts(folder: Path, last: float, timeline: bool = True) -> Question:
    """Ask for the facts of a run with three checkpoints, after their timeline was computed."""
    _with_checkpoints(folder, [1.0, 1.0, last])

    def request(client: TestClient) -> Any:
        files = [f"./run/net-{number}.npz" for number in range(1, 4)]
        query, deadline = {"file": files}, time.monotonic() + 60
        while timeline and not client.get("/v2/dump/checkpoint/timeline", params=query).json()["done"]:
            assert time.monotonic() < deadline
        return client.get("/v2/runs/facts", params={"run": "./run"}).json()

    return Question(base=folder, request=request)


@situation(makes=["claim.checkpoint.some_non_finite"], never=_KNOWN[1:])
def a_searched_checkpoint_with_nan(folder: Path) -> Question:
    return _facts(folder, np.nan)


@situation(makes=["claim.checkpoint.none_non_finite"], never=[_KNOWN[0], _KNOWN[2]])
def searched_checkpoints_that_are_finite(folder: Path) -> Question:
    return _facts(folder, 2.0)


@situation(makes=["claim.checkpoint.unsearched"], never=_KNOWN[:2])
def a_checkpoint_with_nan_that_nobody_searched(folder: Path) -> Question:
    return _facts(folder, np.nan, timeline=False)


_CHECKPOINT = [
    f"claim.explain.checkpoint{name}"
    for name in ("_non_finite", "_grown", "_frozen", "_unreadable", "s_left")
]


def _but(*names: str) -> list[str]:
    return [key for key in _CHECKPOINT if not key.endswith(names)]


@situation(
    makes=["claim.explain.checkpoint_non_finite", "claim.explain.found"],
    never=[*_but("_non_finite"), "claim.explain.nothing"],
    exit_code=1,
)
def a_nan_in_the_last_checkpoint_alone(folder: Path) -> Question:
    return _with_checkpoints(folder, [1.0, 2.0, np.nan])


@situation(
    makes=["claim.explain.checkpoint_grown", "claim.explain.found"],
    never=[*_but("_grown"), "claim.explain.nothing"],
    exit_code=1,
)
def a_weight_that_explodes_between_checkpoints(folder: Path) -> Question:
    return _with_checkpoints(folder, [1.0, 2.0, 500.0])


@situation(makes=["claim.explain.nothing"], never=[*_CHECKPOINT, *FAULTY], exit_code=0)
def checkpoints_whose_weight_grows_tenfold(folder: Path) -> Question:
    return _with_checkpoints(folder, [1.0, 3.0, 10.0])


@situation(
    makes=["claim.explain.checkpoint_unreadable", "claim.explain.nothing"],
    never=[*_but("_unreadable"), *FAULTY],
    exit_code=2,
)
def a_checkpoint_that_is_cut(folder: Path) -> Question:
    question = _with_checkpoints(folder, [1.0, 2.0, 3.0])
    last = folder / "run" / "net-3.npz"
    last.write_bytes(last.read_bytes()[:100])
    return question


@situation(makes=["claim.explain.checkpoints_left"], never=[*_but("s_left"), *FAULTY], exit_code=0)
def more_checkpoints_than_are_read(folder: Path) -> Question:
    return _with_checkpoints(folder, np.linspace(1, 2, MOST_CHECKPOINTS + 1).tolist())


@situation(makes=["claim.explain.nothing"], never=[*_CHECKPOINT, *FAULTY], exit_code=0)
def as_many_checkpoints_as_are_read(folder: Path) -> Question:
    return _with_checkpoints(folder, np.linspace(1, 2, MOST_CHECKPOINTS).tolist())


@situation(
    makes=["claim.explain.checkpoint_frozen", "claim.explain.nothing"],
    never=[*_but("_frozen"), "claim.explain.found"],
    exit_code=2,
)
def a_weight_that_is_the_same_in_all_checkpoints(folder: Path) -> Question:
    """Its bias is trained."""
    return _with_checkpoints(folder, [1.0, 1.0, 1.0])


@situation(
    makes=["claim.explain.checkpoint_frozen", "claim.explain.found"],
    never=[*_but("_frozen"), "claim.explain.nothing"],
    exit_code=1,
)
def weights_that_are_all_the_same_in_all_checkpoints(folder: Path) -> Question:
    question = _with_checkpoints(folder, [])
    for number in (1, 2):
        np.savez(folder / "run" / f"net-{number}.npz", **{"a.weight": np.ones((2, 2)), "a.bias": np.ones(2)})  # type: ignore[arg-type]
    return question


@situation(
    makes=["claim.explain.checkpoint_frozen", "claim.explain.nothing"],
    never=[*_but("_frozen"), "claim.explain.found"],
    exit_code=2,
)
def a_weight_beside_an_adapter_that_is_trained(folder: Path) -> Question:
    question = _with_checkpoints(folder, [1.0, 1.0])
    for number in (1, 2):
        weights = {"fc.weight": np.full((2, 2), 1.0), "fc.lora_B": np.full((2, 2), float(number))}
        np.savez(folder / "run" / f"net-{number}.npz", **weights)  # type: ignore[arg-type]
    return question


def _changing(folder: Path, changes: Mapping[tuple[int, str], float]) -> Question:
    """Write twelve checkpoints of four weights, which change by a hundredth or as ``changes`` says."""
    random = np.random.default_rng(1)
    question = _with_checkpoints(folder, [])
    weights = {f"{name}.weight": random.standard_normal((8, 8)) for name in "abcd"}
    for number in range(12):
        for name, values in weights.items():
            share = changes.get((number, name[0]), 0.01)
            weights[name] = values * (1 + share * random.standard_normal(values.shape))
        np.savez(folder / "run" / f"net-{number}.npz", **weights)  # type: ignore[arg-type]
    return question


@situation(
    makes=["claim.checkpoint.stands_out", "claim.explain.nothing"],
    never=["claim.checkpoint.all_stand_out", *FAULTY],
    exit_code=0,
)
def a_layer_that_was_reset(folder: Path) -> Question:
    return _changing(folder, {(8, "b"): 0.5})


@situation(
    makes=["claim.checkpoint.stands_out", "claim.explain.checkpoint_frozen"],
    never=["claim.checkpoint.all_stand_out", *FAULTY],
    exit_code=2,
)
def a_layer_that_was_reset_beside_one_that_is_frozen(folder: Path) -> Question:
    return _changing(folder, {(8, "b"): 0.5, **{(number, "d"): 0.0 for number in range(12)}})


@situation(
    makes=["claim.checkpoint.all_stand_out", "claim.explain.nothing"],
    never=["claim.checkpoint.stands_out", *FAULTY],
    exit_code=0,
)
def weights_that_all_moved_far_at_a_step(folder: Path) -> Question:
    return _changing(folder, {(6, name): 0.5 for name in "abcd"})


@situation(
    makes=["claim.checkpoint.stopped", "claim.explain.nothing"],
    never=["claim.checkpoint.stopped_all", "claim.explain.checkpoint_frozen", *FAULTY],
    exit_code=0,
)
def a_layer_that_stands_still_from_a_checkpoint_on(folder: Path) -> Question:
    return _changing(folder, {(number, "d"): 0.0 for number in range(6, 12)})


@situation(
    makes=["claim.checkpoint.stopped_all", "claim.explain.nothing"],
    never=["claim.checkpoint.stopped", "claim.explain.checkpoint_frozen", *FAULTY],
    exit_code=0,
)
def weights_that_all_stand_still_from_a_checkpoint_on(folder: Path) -> Question:
    return _changing(folder, {(number, name): 0.0 for number in range(6, 12) for name in "abcd"})


@situation(
    makes=["claim.explain.nothing"],
    never=[
        "claim.checkpoint.stands_out",
        "claim.checkpoint.all_stand_out",
        "claim.checkpoint.stopped_all",
        *FAULTY,
    ],
    exit_code=0,
)
def weights_that_change_evenly(folder: Path) -> Question:
    return _changing(folder, {(8, "b"): 0.03})


@situation(makes=["claim.explain.nothing"], never=[*_CHECKPOINT, *FAULTY], exit_code=0)
def a_buffer_and_an_optimizer_that_are_the_same_in_all_checkpoints(folder: Path) -> Question:
    question = _with_checkpoints(folder, [1.0, 2.0])
    for number, norm in enumerate((1.0, 2.0), 1):
        same = {"positions": np.arange(4.0), "moments.fc.weight": np.ones((2, 2))}
        np.savez(folder / "run" / f"net-{number}.npz", **{"fc.weight": np.full((2, 2), norm)}, **same)  # type: ignore[arg-type]
    return question


@situation(
    makes=["claim.explain.none_healthy"],
    never=["claim.explain.baseline"],
)
def an_earlier_run_with_a_broken_checkpoint(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()})
    np.savez(folder / "a" / "net-1.npz", **{"fc.weight": np.full((2, 2), np.nan)})  # type: ignore[arg-type]
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)})
    return ask(folder, "b")


@situation(
    makes=["claim.explain.baseline", "claim.explain.no_settings_or_code"],
    never=["claim.explain.none_healthy", "claim.explain.no_settings", "claim.explain.no_code"],
)
def an_earlier_run_with_a_sound_checkpoint(folder: Path) -> Question:
    record(folder / "a", {"loss": falling()})
    np.savez(folder / "a" / "net-1.npz", **{"fc.weight": np.ones((2, 2))})  # type: ignore[arg-type]
    wait_for_the_next_second()
    record(folder / "b", {"loss": changed(150, np.nan)})
    return ask(folder, "b")


def _replaced(folder: Path, last: float) -> Question:
    """A NaN that a program replaces, and the value of its last output."""
    record(folder / "run", {"loss": falling()})
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        lost = graph.node("log", [graph.parameter("x", (2,))], (2,))
        graph.node("mul", [graph.node("nan_to_num", [lost], (2,))], (2,))
    step = Dump(folder / "run" / "dump", graph=graph).iteration(0)
    for name, values in (("log", [np.nan, 1]), ("nan_to_num", [0, last]), ("mul", [0, last])):
        step.output(f"Default/{name}-op0", np.asarray(values, np.float32))
    return ask(folder, "run")


@situation(makes=["claim.explain.nothing"], never=FAULTY, exit_code=0)
def nan_that_the_program_replaces(folder: Path) -> Question:
    return _replaced(folder, 1.0)


@situation(
    makes=["claim.explain.found"], never=["claim.fault.contained", "claim.explain.nothing"], exit_code=1
)
def nan_that_the_program_does_not_replace(folder: Path) -> Question:
    return _replaced(folder, np.nan)


def _dump_with_gap(folder: Path, gap: Gap) -> Question:
    record(folder / "run", {"loss": falling()})
    dump = Dump(folder / "run" / "dump")
    dump.iteration(0).output("Default/add-op0", np.ones((2, 2), np.float32))
    dump.not_recorded([gap])
    return ask(folder, "run")


@situation(
    makes=["claim.explain.ended", "claim.fault.not_recorded"],
    never=["claim.explain.nothing", *FAULTY],
    exit_code=2,
)
def a_dump_that_an_error_ended(folder: Path) -> Question:
    return _dump_with_gap(folder, Gap("ended", detail="RuntimeError: full"))


@situation(makes=["claim.explain.nothing"], never=["claim.explain.ended", *FAULTY])
def a_dump_beyond_its_limit(folder: Path) -> Question:
    return _dump_with_gap(folder, Gap("limit", count=3))


LONG = np.arange(1000)


def _long_loss(folder: Path, factors: Any) -> Question:
    drawn = np.random.default_rng(0).standard_normal(len(LONG))
    return _searched(folder, {"loss": (0.3 + 2 * np.exp(-LONG / 150)) * np.exp(0.05 * drawn) * factors})


@situation(
    makes=["claim.explain.rises_late", "claim.explain.found"], never=["claim.explain.nothing"], exit_code=1
)
def loss_that_rises_smoothly_in_its_last_twentieth(folder: Path) -> Question:
    """Its levels are medians of a hundred values, and no value is a jump."""
    return _long_loss(folder, np.where(LONG < 950, 1, np.exp((LONG - 950) / 12)))


@situation(makes=["claim.explain.nothing"], never=["claim.explain.rises_late", "claim.explain.rises"])
def loss_that_rises_by_half_in_its_last_twentieth(folder: Path) -> Question:
    return _long_loss(folder, np.where(LONG < 950, 1, np.linspace(-17.5, 1.5, 1000)))


def _exploding_at_once(folder: Path, end: float) -> Question:
    """Write a loss that begins at 1.8, is a million at its fourth value, and falls to ``end``."""
    values = (
        end * (1 + 3 * np.exp(-LONG / 200)) * np.exp(0.02 * np.random.default_rng(1).standard_normal(1000))
    )
    values[:6] = 1.8, 40.0, 9e3, 1e6, 1e5, 2e3
    return _searched(folder, {"train/loss": values})


@situation(
    makes=["claim.explain.rises_early", "claim.explain.found"], never=["claim.explain.nothing"], exit_code=1
)
def loss_that_explodes_at_once_and_settles_high(folder: Path) -> Question:
    return _exploding_at_once(folder, 20.0)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.rises_early", "claim.explain.level"])
def loss_that_explodes_at_once_and_falls_below_its_begin(folder: Path) -> Question:
    return _exploding_at_once(folder, 0.5)


def _below_zero(folder: Path, values: Any) -> Question:
    drawn = 0.05 * np.random.default_rng(2).standard_normal(len(LONG))
    return _searched(folder, {"nll": values + drawn})


@situation(
    makes=["claim.explain.escapes", "claim.explain.found"], never=["claim.explain.nothing"], exit_code=1
)
def loss_of_the_wrong_sign(folder: Path) -> Question:
    return _below_zero(folder, 2 - np.exp(LONG / 80))


@situation(makes=["claim.explain.nothing"], never=["claim.explain.escapes"])
def likelihood_of_a_density_in_many_dimensions(folder: Path) -> Question:
    return _below_zero(folder, 3 - 90 * (1 - np.exp(-LONG / 300)))


def _paced_run(folder: Path, factor: float) -> Question:
    """Write a run whose steps take ``factor`` times as long from the middle on."""
    rate = (
        10 * np.exp(0.03 * np.random.default_rng(3).standard_normal(1000)) / np.where(LONG < 500, 1, factor)
    )
    loss = 0.3 + 2 * np.exp(-LONG / 150) + 0.01 * np.random.default_rng(4).standard_normal(1000)
    return _searched(folder, {"loss": loss, "perf/iterations_per_second": rate})


@situation(makes=["claim.explain.slower", "claim.explain.nothing"], never=["claim.explain.found"])
def throughput_that_falls_to_two_fifths(folder: Path) -> Question:
    return _paced_run(folder, 2.5)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.slower"])
def throughput_that_falls_by_a_fifth(folder: Path) -> Question:
    return _paced_run(folder, 1.25)


def _continued(folder: Path, fall: float) -> Question:
    values = (2.85 - fall * LONG / 1000) * np.exp(0.02 * np.random.default_rng(5).standard_normal(1000))
    return _searched(folder, {"train/loss": values})


@situation(
    makes=["claim.explain.level_slight", "claim.explain.nothing"], never=["claim.explain.level"], exit_code=2
)
def loss_of_a_training_that_continues_and_falls_by_a_hundredth(folder: Path) -> Question:
    return _continued(folder, 0.035)


@situation(makes=["claim.explain.level"], never=["claim.explain.level_slight", "claim.explain.nothing"])
def loss_that_falls_by_less_than_noise_explains(folder: Path) -> Question:
    return _continued(folder, 0.002)


def _of_epochs(folder: Path, validation: Sequence[float]) -> Question:
    train = [2 * float(np.exp(-epoch / 2)) + 0.02 for epoch in range(len(validation))]
    return _searched(folder, {"train_loss": np.array(train), "val_loss": np.array(validation)})


@situation(
    makes=["claim.explain.overfit_epochs", "claim.explain.found"],
    never=["claim.explain.nothing"],
    exit_code=1,
)
def validation_loss_of_eight_epochs_that_more_than_doubles(folder: Path) -> Question:
    return _of_epochs(folder, [1.4, 1.2, 1.1, 1.3, 1.6, 1.9, 2.2, 2.6])


@situation(makes=["claim.explain.nothing"], never=["claim.explain.overfit_epochs"])
def validation_loss_of_eight_epochs_that_goes_up_and_down(folder: Path) -> Question:
    return _of_epochs(folder, [1.4, 1.2, 1.1, 1.6, 1.3, 1.9, 1.5, 2.0])


def _surer(folder: Path, accuracy: Any) -> Question:
    """Write a validation loss that rises beside the accuracy of the same data."""
    train = 2 * np.exp(-STEPS / 60) + 0.05 + noise(1, 0.01)
    validation = 0.5 + np.exp(-STEPS / 30) + np.maximum(0, STEPS - 60) * 0.004 + noise(2, 0.01)
    return _searched(folder, {"train/loss": train, "val/loss": validation, "val/accuracy": accuracy})


@situation(makes=["claim.part.explain.at_highest", "claim.explain.nothing"], never=["claim.explain.found"])
def validation_loss_that_rises_while_the_accuracy_rises_on(folder: Path) -> Question:
    """The network gets surer of its errors, but makes no more of them."""
    return _surer(folder, 0.9 - 0.3 * np.exp(-STEPS / 80) + noise(3, 0.005))


@situation(makes=["claim.explain.overfit"], never=["claim.part.explain.at_highest"])
def validation_loss_that_rises_while_the_accuracy_falls(folder: Path) -> Question:
    fall = 0.001 * np.maximum(0, STEPS - 80)
    return _surer(folder, 0.9 - 0.3 * np.exp(-STEPS / 30) - fall + noise(3, 0.005))


@situation(makes=["claim.part.explain.jump_stays"], never=["claim.explain.nothing"])
def loss_that_jumps_and_stays_two_and_a_half_times_as_high(folder: Path) -> Question:
    return _long_loss(folder, np.where(LONG < 600, 1, 2.6))


@situation(makes=["claim.explain.jump"], never=["claim.part.explain.jump_stays"])
def loss_that_jumps_and_comes_back(folder: Path) -> Question:
    return _long_loss(folder, np.where((LONG < 600) | (LONG > 604), 1, 4.0))


def _of_one_rate(folder: Path, rate: Any) -> Question:
    loss = 2 * np.exp(-STEPS / 60) + 0.3 + noise(1, 0.01)
    return _searched(folder, {"loss": loss, "lr": rate})


@situation(
    makes=["claim.explain.negative_rate", "claim.explain.found"], never=["claim.explain.nothing"], exit_code=1
)
def learning_rate_below_zero_at_its_end(folder: Path) -> Question:
    return _of_one_rate(folder, 0.1 - STEPS / 1500)


@situation(makes=["claim.explain.nothing"], never=["claim.explain.negative_rate"])
def learning_rate_that_falls_to_zero(folder: Path) -> Question:
    return _of_one_rate(folder, 0.1 * (1 - STEPS / 199))
