"""Studies: opened or made in their journal, and put in order after a tuner was killed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.config import Config
from mindinsight.server.tuning.journal import open_journal, study_name
from mindinsight.server.tuning.process_group import kill_marked

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

# User attributes of a study, beside what Optuna keeps.
CONFIG: Final = "config"
PLAN: Final = "plan"  # trials, jobs, begun (Unix seconds)
STOP: Final = "stop"  # Unix seconds at which somebody asked the tuner to stop
EVERY: Final = "every"  # steps between two intermediate values

# User attributes of a trial.
RUN: Final = "run"  # directory of the run
MARK: Final = "mark"  # in the environment of its processes
FAILURE: Final = "failure"  # reason, and what belongs to it
LOG: Final = "log"  # last lines of a failed trial
INTERRUPTED: Final = "interrupted"  # it was ended with the tuner, and its values are tried again
AGAIN: Final = "again"  # number of the interrupted trial whose values it has
IMPORTED: Final = "imported"  # it was trained before, by whomever


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Context in which Optuna neither logs what is shown otherwise nor warns of what is meant."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=UserWarning, module="optuna")
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


def open_study(path: Path, config: Config, sampler: BaseSampler | None = None) -> Study:
    """The study of a tuning file in its journal, made when it is not there.

    Raises BadSettings when the study there has other targets, or other choices of a parameter.
    """
    import optuna

    storage = open_journal(path)
    if config.study in (known.study_name for known in storage.get_all_studies()):
        study = optuna.load_study(study_name=config.study, storage=storage, sampler=sampler)
        _check_same(study.user_attrs.get(CONFIG, {}), config)
    else:
        directions = [target.goal for target in config.targets]
        study = optuna.create_study(
            study_name=config.study, storage=storage, directions=directions, sampler=sampler
        )
    return study


def _check_same(before: Mapping[str, Any], config: Config) -> None:
    now = config.as_json()
    if before and _plain(before["targets"]) != _plain(now["targets"]):
        raise BadSettings(
            f"The study {config.study} has other targets than the file. Take another name: --study NAME."
        )
    known = {parameter["name"]: _plain(parameter["choices"]) for parameter in before.get("parameters", ())}
    for parameter in now["parameters"]:
        choices = _plain(parameter["choices"])
        if known.get(parameter["name"], choices) != choices:
            raise BadSettings(
                f"The study {config.study} has other choices of {parameter['name']} than the file, which "
                "Optuna cannot mix. Take another name: --study NAME."
            )


def _plain(value: Any) -> Any:
    """Tuples as the lists that they are in JSON."""
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def note_plan(study: Study, config: Config, trials: int, jobs: int) -> None:
    """Keep with the study what it is for and how far it is to go."""
    study.set_user_attr(CONFIG, config.as_json())
    study.set_user_attr(PLAN, {"trials": trials, "jobs": jobs, "begun": time.time()})
    if study.user_attrs.get(STOP) is not None:
        study.set_user_attr(STOP, None)


def fail_half_finished(study: Study, storage: BaseStorage) -> list[int]:
    """Mark trials that a killed tuner left running as failed, end their processes, and queue their values.

    Returns their numbers. Finished trials are left as they are, so that none is run again.
    """
    from optuna.trial import TrialState

    numbers = []
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if MARK in trial.user_attrs:
            kill_marked(trial.user_attrs[MARK])
        interrupt_trial(study, storage, trial)
        numbers.append(trial.number)
    return numbers


def interrupt_trial(study: Study, storage: BaseStorage, trial: FrozenTrial) -> None:
    """Mark a running trial as failed because the tuner ended, and queue its values for another one."""
    from optuna.trial import TrialState

    set_attribute(storage, trial, INTERRUPTED, True)
    set_attribute(storage, trial, FAILURE, {"reason": "interrupted"})
    study.tell(trial.number, state=TrialState.FAIL)
    if trial.params:
        study.enqueue_trial(trial.params, user_attrs={AGAIN: trial.number})


def set_attribute(storage: BaseStorage, trial: FrozenTrial, key: str, value: Any) -> None:
    """Set a user attribute of a trial that is not finished."""
    storage.set_trial_user_attr(trial._trial_id, key, value)


def finished(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """The trials that were run to an end of their own: those that count towards the number asked for."""
    return [
        trial
        for trial in trials
        if trial.state.is_finished()
        and not trial.user_attrs.get(INTERRUPTED)
        and not trial.user_attrs.get(IMPORTED)
    ]


def read_study(path: Path) -> Study:
    """The study in a journal, for reading. Raises BadSettings when Optuna is not installed."""
    storage = open_journal(path)
    import optuna

    with quiet_optuna():
        return optuna.load_study(study_name=study_name(path), storage=storage)


def ask_to_stop(path: Path) -> None:
    """Ask the tuner of a study to end; it looks about once a second."""
    read_study(path).set_user_attr(STOP, time.time())
