"""Next suggestions of a study: from a copy in memory, what is queued first, and a grid's points once."""

from pathlib import Path
from typing import Any

import optuna

from mindinsight.server.tuning.samplers import next_suggestions
from mindinsight.server.tuning.study import SUFFIX, open_study, quiet_optuna, store_plan
from mindinsight.server.tuning.tuning_file import parse_config

FILE = """\
command: python train.py
study: probe
summary_base_dir: {base}
target: {{name: loss}}
tuner: {tuner}
parameters:
  depth: {{choice: [1, 2, 3]}}
  kind: {{choice: [sgd, adam]}}
"""


def journal(folder: Path, tuner: str, trials: int = 0, queued: Any = None) -> Path:
    """The journal of a study with so many complete trials, and one that waits with ``queued``."""
    config = parse_config(FILE.format(base=folder, tuner=tuner), "t")
    path = folder / f"probe{SUFFIX}"
    with quiet_optuna():
        study = open_study(path, config, optuna.samplers.RandomSampler(seed=0))
        store_plan(study, config, 20, 1)
        for number in range(trials):
            trial = study.ask()
            trial.suggest_categorical("depth", (1, 2, 3))
            trial.suggest_categorical("kind", ("sgd", "adam"))
            study.tell(trial, float(number))
        if queued:
            study.enqueue_trial(queued)
    return path


def test_as_many_as_asked_for_and_the_journal_stays(tmp_path: Path) -> None:
    path = journal(tmp_path, "{name: tpe, seed: 3}", trials=12)
    before = path.read_bytes()
    suggestions = next_suggestions(str(path), 3)
    assert len(suggestions) == 3
    assert all(values["depth"] in (1, 2, 3) and values["kind"] in ("sgd", "adam") for values in suggestions)
    assert next_suggestions(str(path), 3) == suggestions
    assert path.read_bytes() == before


def test_what_is_queued_comes_first(tmp_path: Path) -> None:
    wanted = {"depth": 2, "kind": "adam"}
    assert next_suggestions(str(journal(tmp_path, "{seed: 1}", 2, wanted)), 2)[0] == wanted


def test_a_grid_ends_when_each_of_its_points_is_named_once(tmp_path: Path) -> None:
    suggestions = next_suggestions(str(journal(tmp_path, "{name: grid}")), 20)
    assert len(suggestions) == 6
    assert {(values["depth"], values["kind"]) for values in suggestions} == {
        (depth, kind) for depth in (1, 2, 3) for kind in ("sgd", "adam")
    }


def test_a_study_of_another_program_has_no_plan_to_follow(tmp_path: Path) -> None:
    config = parse_config(FILE.format(base=tmp_path, tuner="{seed: 1}"), "t")
    path = tmp_path / f"probe{SUFFIX}"
    with quiet_optuna():
        open_study(path, config, optuna.samplers.RandomSampler(seed=0))
    assert next_suggestions(str(path), 2) == []
