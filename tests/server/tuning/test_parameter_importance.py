"""Importance of parameters: Optuna's evaluators on a journal, and on a study published beside its runs."""

from pathlib import Path
from typing import Any, Literal

import optuna
import pytest

from mindinsight.server.tuning import parameter_importance
from mindinsight.server.tuning.parameter_importance import (
    FEWEST,
    missing_package,
    rebuilt_study,
    study_importance,
)
from mindinsight.server.tuning.published_study import PublishedStudy, Publisher, read_published
from mindinsight.server.tuning.study import (
    CONFIG,
    SUFFIX,
    open_journal,
    open_study,
    quiet_optuna,
    read_study,
    study_name,
)
from mindinsight.server.tuning.tuning_file import parse_config


def journal(folder: Path, trials: int, constant: bool = False) -> Path:
    """A journal of trials whose second target is ``x``; ``noise`` has nothing to do with it."""
    path = folder / f"probe{SUFFIX}"
    with quiet_optuna():
        study = optuna.create_study(
            study_name=study_name(path),
            storage=open_journal(path),
            directions=["minimize", "minimize"],
            sampler=optuna.samplers.RandomSampler(seed=4),
        )
        for number in range(trials):
            trial = study.ask()
            x = trial.suggest_float("x", 0, 1)
            trial.suggest_float("noise", 0, 1)
            if number:
                trial.suggest_float("late", 0, 1)
            study.tell(trial, [0.0, 1.0 if constant else x])
    return path


def test_the_parameter_that_makes_the_target_has_the_larger_share(tmp_path: Path) -> None:
    result = study_importance(str(journal(tmp_path, 40)), 1, "ped_anova")
    shares = result["importance"]
    assert (result["method"], result["trials"]) == ("ped_anova", 40)
    assert shares["x"] > 0.9
    assert sum(shares.values()) == pytest.approx(1)
    assert "late" not in shares  # the first trial has none


def test_the_best_of_a_target_to_maximize_are_the_highest(tmp_path: Path) -> None:
    """Shares are those of the negated target to minimize: only high values follow `x`."""

    def shares(goal: Literal["minimize", "maximize"], sign: int) -> dict[str, float]:
        path = tmp_path / f"{goal}{SUFFIX}"
        with quiet_optuna():
            storage = open_journal(path)
            study = optuna.create_study(study_name=study_name(path), storage=storage, direction=goal)
            space: Any = dict.fromkeys(("x", "noise"), optuna.distributions.FloatDistribution(0, 1))
            for number in range(100):
                x, noise = number / 100, number * 61 % 100 / 100
                value = sign * (1 + x if x > 0.8 else noise)
                params = {"x": x, "noise": noise}
                study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=value))
        return dict(study_importance(str(path), 0, "ped_anova")["importance"])

    assert shares("maximize", 1) == pytest.approx(shares("minimize", -1))


def test_too_few_trials_say_nothing(tmp_path: Path) -> None:
    assert study_importance(str(journal(tmp_path, FEWEST - 1)), 1, "fanova") == {
        "method": "fanova",
        "importance": {},
        "trials": FEWEST - 1,
    }


def test_a_target_that_never_varies_has_no_causes(tmp_path: Path) -> None:
    result = study_importance(str(journal(tmp_path, 12, constant=True)), 1, "ped_anova")
    assert (result["importance"], result["trials"]) == ({}, 12)


@pytest.mark.parametrize(
    ("absent", "missing"),
    [("optuna", ["optuna", "optuna", None, None]), ("sklearn", ["scikit-learn", None, None, None])],
)
def test_the_package_that_a_method_lacks_is_named(
    absent: str, missing: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> object:
        return None if name == absent else object()

    monkeypatch.setattr(parameter_importance, "find_spec", find)
    monkeypatch.setattr(parameter_importance, "has_optuna", lambda: absent != "optuna")
    methods = ("fanova", "ped_anova", "forest", "correlation")
    assert [missing_package(method) for method in methods] == missing


FILE = """\
summary_base_dir: {base}
command: python train.py --password hunter2
study: probe
target: {{name: loss}}
parameters:
  x: {{bounds: [0.001, 1], type: float, log: true}}
  kind: {{choice: [sgd, adam]}}
"""


def published(base: Path) -> tuple[Path, Path]:
    """A journal of 12 trials, and the same study beside its runs."""
    config = parse_config(FILE.format(base=base), "t")
    journal = base / f"probe-00000000{SUFFIX}"
    with quiet_optuna():
        study = open_study(journal, config, optuna.samplers.RandomSampler(seed=0))
        study.set_user_attr(CONFIG, config.as_json())
        for _ in range(12):
            trial = study.ask()
            x = trial.suggest_float("x", 0.001, 1, log=True)
            trial.suggest_categorical("kind", ("sgd", "adam"))
            study.tell(trial, x)
        Publisher(base, "probe").write(study, ended=True)
    return journal, base / "probe" / "study.json"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fanova", "ped_anova"])
def test_a_published_study_has_the_importance_of_its_journal(tmp_path: Path, method: str) -> None:
    journal, file = published(tmp_path)
    expected = study_importance(str(journal), 0, method)
    assert expected["importance"]["x"] > 0.5
    assert study_importance(str(file), 0, method) == expected


def test_the_rebuilt_study_has_the_trials_of_the_journal(tmp_path: Path) -> None:
    journal, file = published(tmp_path)
    with quiet_optuna():
        before, after = read_study(journal), rebuilt_study(read_published(file))
    assert [(t.params, t.values, t.distributions) for t in after.trials] == [
        (t.params, t.values, t.distributions) for t in before.trials
    ]


def test_values_outside_of_their_range_say_nothing(tmp_path: Path) -> None:
    _, file = published(tmp_path)
    content: Any = PublishedStudy.model_validate_json(file.read_text()).model_dump()
    content["trials"][3]["params"]["x"] = 7.0
    file.write_text(PublishedStudy(**content).model_dump_json())
    assert study_importance(str(file), 0, "fanova") == {"method": "fanova", "importance": {}, "trials": 0}
