"""Situations of tuning: studies published beside their runs, some with pruned trials."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from mindinsight.server.tuning.published_study import PublishedStudy, Trial
from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, situation

MATTERS, PRUNED = "claim.lineage.matters", "claim.lineage.pruned"
FEW_TRIALS = "claim.lineage.few_trials"
LIMITS = ["claim.tuning.failed_above", "claim.tuning.failed_below"]
FAILED, ALIKE, FEW_FAILED = "claim.tuning.failed", "claim.tuning.failed_alike", "claim.tuning.few_failed"
_COUNTED = ("complete", "pruned", "failed", "running", "interrupted", "imported")


def study(folder: Path, states: Sequence[str]) -> Question:
    """Publish a study whose loss is its rate; ask what matters."""
    chance = np.random.default_rng(3)
    trials = []
    for number, state in enumerate(states):
        run = folder / "probe" / f"trial_{number:04}"
        rate = float(chance.uniform(0, 1))
        with SummaryRecord(str(run)) as record:
            record.add_value("scalar", "loss", rate)
            record.record(1)
        about: dict[str, Any] = {"state": state, "values": [rate], "params": {"rate": rate}}
        trials.append(Trial(number=number, run=f"probe/trial_{number:04}", **about))
    publish(folder, states, trials)

    def ask(client: TestClient) -> Any:
        (entry,) = client.get("/v2/tuning/studies").json()["studies"]
        params = {"study": entry["id"], "method": "correlation"}
        return client.get("/v2/tuning/importance", params=params).json()

    return Question(base=folder, request=ask, page="lineage?importance=correlation")


def publish(folder: Path, states: Sequence[str], trials: Sequence[Trial]) -> None:
    """Write the file of a study beside its trials."""
    content = PublishedStudy.model_validate(
        {
            "version": 1,
            "updated": 1.0,
            "ended": True,
            "targets": [{"name": "loss", "goal": "minimize"}],
            "progress": {"done": len(states), **{state: states.count(state) for state in _COUNTED}},
            "trials": trials,
        }
    )
    (folder / "probe" / "study.json").write_text(content.model_dump_json())


@situation(makes=[FEW_TRIALS, PRUNED], never=[MATTERS])  # its runs are counted without the pruned ones, too
def eleven_complete_trials_and_thirteen_pruned(folder: Path) -> Question:
    """Each of the 24 trials has a value, but the pruned ones have that of an earlier step."""
    return study(folder, ["complete", "pruned"] * 11 + ["pruned"] * 2)


@situation(makes=[MATTERS, PRUNED], never=[FEW_TRIALS])
def pruned_trials_of_which_enough_are_complete(folder: Path) -> Question:
    return study(folder, ["complete"] * 30 + ["pruned"] * 13)


@situation(makes=[MATTERS], never=[PRUNED, FEW_TRIALS])
def trials_that_are_all_complete(folder: Path) -> Question:
    return study(folder, ["complete"] * 30)


def failing(folder: Path, *kinds: tuple[str, str, int]) -> Question:
    """Publish a study of so many trials of each state and optimizer; ask for its facts."""
    states = [state for state, _, count in kinds for _ in range(count)]
    optimizers = [optimizer for _, optimizer, count in kinds for _ in range(count)]
    params = [{"rate": 0.01 * (number % 7), "opt": name} for number, name in enumerate(optimizers)]
    return failed_study(folder, states, params)


def failed_study(
    folder: Path,
    states: Sequence[str],
    params: Sequence[dict[str, Any]],
    failures: Mapping[int, dict[str, Any]] | None = None,
) -> Question:
    """Publish a study of trials of these states, parameters and failures; ask for its facts."""
    trials: list[Trial] = []
    for number, (state, chosen) in enumerate(zip(states, params, strict=True)):
        about: dict[str, Any] = {"state": state, "values": None if state == "failed" else [0.1 * number]}
        about["failure"] = (failures or {}).get(number)
        trials.append(Trial(number=number, run=f"probe/trial_{number:04}", params=chosen, **about))
    with SummaryRecord(str(folder / "probe" / "trial_0000")) as record:
        record.add_value("scalar", "loss", 0.1)
        record.record(1)
    publish(folder, states, trials)

    def ask(client: TestClient) -> Any:
        (entry,) = client.get("/v2/tuning/studies").json()["studies"]
        return client.get("/v2/tuning/study", params={"study": entry["id"]}).json()

    return Question(base=folder, request=ask, page="lineage")


@situation(makes=[FAILED], never=[ALIKE, FEW_FAILED])
def eight_failed_trials_with_an_optimizer_that_no_other_has(folder: Path) -> Question:
    return failing(folder, ("complete", "adam", 20), ("failed", "broken", 8), ("pruned", "sgd", 12))


@situation(makes=[ALIKE], never=[FAILED, FEW_FAILED])
def a_successful_trial_has_the_optimizer_of_the_failed_ones_too(folder: Path) -> Question:
    return failing(folder, ("complete", "adam", 31), ("failed", "broken", 8), ("complete", "broken", 1))


@situation(makes=[FEW_FAILED], never=[FAILED, ALIKE])
def one_failed_trial_of_four_with_an_optimizer_of_its_own(folder: Path) -> Question:
    return failing(folder, ("complete", "adam", 3), ("failed", "broken", 1))


def failing_by_rate(folder: Path, *failed: int, sign: int = 1, count: int = 24) -> Question:
    """Publish a study whose trials have rates in order, some of which failed."""
    states = ["failed" if number in failed else "complete" for number in range(count)]
    params = [
        {"rate": sign * number / 100, "opt": "adam" if number % 3 else "sgd"} for number in range(count)
    ]
    return failed_study(folder, states, params)


@situation(makes=[LIMITS[0]], never=[FAILED, ALIKE, FEW_FAILED, LIMITS[1]])
def two_failed_trials_with_the_highest_rates(folder: Path) -> Question:
    return failing_by_rate(folder, 22, 23)


@situation(makes=[LIMITS[1]], never=[FAILED, ALIKE, FEW_FAILED, LIMITS[0]])
def two_failed_trials_with_the_lowest_rates(folder: Path) -> Question:
    return failing_by_rate(folder, 22, 23, sign=-1)


@situation(makes=[ALIKE], never=[FAILED, FEW_FAILED, *LIMITS])
def a_complete_trial_has_a_rate_between_those_of_the_failed(folder: Path) -> Question:
    return failing_by_rate(folder, 21, 23)


@situation(makes=[FEW_FAILED], never=[FAILED, ALIKE, *LIMITS])
def one_failed_trial_of_24_with_the_highest_rate(folder: Path) -> Question:
    return failing_by_rate(folder, 23)


NAN: dict[str, Any] = {"reason": "not_finite", "target": "loss", "value": "nan"}
EXIT: dict[str, Any] = {"reason": "exit", "code": 3}
KINDS = [f"claim.tuning.failed_kind{ending}" for ending in ("", "_above", "_below")]


def failing_in_two_ways(
    folder: Path, exits: Sequence[int], nans: Sequence[int], sign: int = 1, settings: int = 1, opt: str = ""
) -> Question:
    """Publish a study of 40 trials of ascending widths, of which some exit and some end in NaN."""
    failures = {**dict.fromkeys(exits, EXIT), **dict.fromkeys(nans, NAN)}
    states = ["failed" if number in failures else "complete" for number in range(40)]
    chance = np.random.default_rng(7)
    params = [
        {"width": sign * number, **{f"s{i}": float(chance.uniform()) for i in range(settings)}}
        | ({"opt": "broken" if number in exits else "adam"} if opt else {})
        for number in range(40)
    ]
    return failed_study(folder, states, params, failures)


@situation(makes=[KINDS[1]], never=[FAILED, ALIKE, FEW_FAILED, *LIMITS, KINDS[0], KINDS[2]])
def the_widest_trials_exit_and_a_narrow_one_is_nan(folder: Path) -> Question:
    return failing_in_two_ways(folder, [36, 37, 38, 39], [17])


@situation(makes=[KINDS[2]], never=[FAILED, ALIKE, FEW_FAILED, *LIMITS, KINDS[0], KINDS[1]])
def the_narrowest_trials_exit_and_a_wide_one_is_nan(folder: Path) -> Question:
    return failing_in_two_ways(folder, [36, 37, 38, 39], [17], -1)


@situation(makes=[KINDS[0]], never=[FAILED, ALIKE, FEW_FAILED, *LIMITS, *KINDS[1:]])
def all_trials_of_one_optimizer_exit_and_another_is_nan(folder: Path) -> Question:
    return failing_in_two_ways(folder, [3, 11, 25, 30], [17], opt="broken")


@situation(makes=[ALIKE], never=[FAILED, FEW_FAILED, *LIMITS, *KINDS])
def a_complete_trial_is_as_wide_as_those_that_exit(folder: Path) -> Question:
    return failing_in_two_ways(folder, [35, 37, 38, 39], [17])


@situation(makes=[ALIKE], never=[FAILED, FEW_FAILED, *LIMITS, *KINDS])
def the_widest_trial_alone_exits(folder: Path) -> Question:
    return failing_in_two_ways(folder, [39], [5, 17])


@situation(makes=[ALIKE], never=[FAILED, FEW_FAILED, *LIMITS, *KINDS])
def one_of_sixty_settings_separates_the_two_trials_that_exit(folder: Path) -> Question:
    """Of so many settings, one does by chance."""
    return failing_in_two_ways(folder, [38, 39], [17], settings=60)


@situation(makes=[MATTERS], never=[FAILED, ALIKE, FEW_FAILED, *LIMITS])
def a_study_without_failed_trials(folder: Path) -> Question:
    return study(folder, ["complete"] * 30)
