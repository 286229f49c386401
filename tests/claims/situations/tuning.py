"""Situations of tuning: studies published beside their runs, some with pruned trials."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from mindinsight.server.tuning.published_study import PublishedStudy, Trial
from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, situation

MATTERS, PRUNED = "claim.lineage.matters", "claim.lineage.pruned"
FEW_TRIALS, FEW_RUNS = "claim.lineage.few_trials", "claim.lineage.too_few"
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

    def ask(client: TestClient) -> Any:
        (entry,) = client.get("/v2/tuning/studies").json()["studies"]
        params = {"study": entry["id"], "method": "correlation"}
        return client.get("/v2/tuning/importance", params=params).json()

    return Question(base=folder, request=ask, page="lineage?importance=correlation")


@situation(makes=[FEW_TRIALS, PRUNED], never=[FEW_RUNS, MATTERS])
def eleven_complete_trials_and_thirteen_pruned(folder: Path) -> Question:
    """Each of the 24 trials has a value, but the pruned ones have that of an earlier step."""
    return study(folder, ["complete", "pruned"] * 11 + ["pruned"] * 2)


@situation(makes=[MATTERS, PRUNED], never=[FEW_TRIALS])
def pruned_trials_of_which_enough_are_complete(folder: Path) -> Question:
    return study(folder, ["complete"] * 30 + ["pruned"] * 13)


@situation(makes=[MATTERS], never=[PRUNED, FEW_TRIALS])
def trials_that_are_all_complete(folder: Path) -> Question:
    return study(folder, ["complete"] * 30)
