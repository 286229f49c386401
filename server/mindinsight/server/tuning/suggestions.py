"""Next suggestions of a study: what its sampler would try now, asked of a copy in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mindinsight.server.tuning.config import Tuner
from mindinsight.server.tuning.config_parameters import Parameter
from mindinsight.server.tuning.journal import open_journal, study_name
from mindinsight.server.tuning.samplers import make_sampler
from mindinsight.server.tuning.space import Values, suggest
from mindinsight.server.tuning.study import CONFIG, quiet_optuna


def next_suggestions(journal: str, count: int) -> list[Values]:
    """Values of the next ``count`` trials; what is queued comes first. Nothing is written to the journal.

    A tuner at work may draw others, as its random numbers are further on. Pure function of its arguments and
    the journal, for a process of its own.
    """
    import optuna

    with quiet_optuna():
        path = Path(journal)
        stored = optuna.load_study(study_name=study_name(path), storage=open_journal(path))
        config = stored.user_attrs.get(CONFIG)
        if not config:
            return []
        parameters, tuner = parameters_of(config), tuner_of(config)
        trials = stored.get_trials(deepcopy=False)
        study = copied(stored, tuner, parameters, count)
        if tuner.name == "grid" and not any(trial.state.name == "WAITING" for trial in trials):
            return _left_of_grid(study, parameters, count)
        return [suggest(study.ask(), parameters) for _ in range(count)]


def copied(stored: Any, tuner: Tuner, parameters: tuple[Parameter, ...], jobs: int) -> Any:
    """A copy in memory of a study, with the sampler of its tuning file."""
    import optuna

    trials = stored.get_trials(deepcopy=False)
    seed = tuner.seed if tuner.seed is not None else 0
    sampler = make_sampler(Tuner(tuner.name, tuner.args, seed), parameters, jobs, len(trials))
    study = optuna.create_study(directions=stored.directions, sampler=sampler)
    setattr(study, "stop", lambda: None)  # noqa: B010
    for trial in trials:
        study.add_trial(trial)
    return study


def _left_of_grid(study: Any, parameters: tuple[Parameter, ...], count: int) -> list[Values]:
    """The points of a grid that were not tried: after the last one a sampler would repeat itself."""
    tried = [trial.params for trial in study.get_trials(deepcopy=False)]
    suggestions: list[Values] = []
    for _ in range(count):
        values = suggest(study.ask(), parameters)
        if values in tried:
            break
        tried.append(values)
        suggestions.append(values)
    return suggestions


def parameters_of(config: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of a tuning file as a study keeps them."""
    return tuple(
        Parameter(
            **{
                **entry,
                "choices": tuple(entry["choices"]),
                "when": {name: tuple(values) for name, values in entry["when"].items()},
            }
        )
        for entry in config["parameters"]
    )


def tuner_of(config: Mapping[str, Any]) -> Tuner:
    return Tuner(**config["tuner"])
