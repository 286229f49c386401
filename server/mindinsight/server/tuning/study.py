"""Studies of trials: their journal on disk, and the process groups that an earlier tuner left."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.errors import BadSettings
from mindinsight.server.files.own_files import NotOursError, check_file, check_folder, locked, own_folder
from mindinsight.server.tuning.space import MARK as PROCESS_GROUP_MARK
from mindinsight.server.tuning.tuning_file import Config

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage, JournalStorage
    from optuna.trial import FrozenTrial


FOLDER: Final = "studies"
SUFFIX: Final = ".journal"
_BRIEF: Final = 1.0  # seconds for which a page may hold the lock to see whether a tuner does


def journal_path(workspace: Path, base: Path, study: str) -> Path:
    """The journal of the study of that name over a base directory."""
    mark = hashlib.sha256(os.path.realpath(base).encode(errors="surrogateescape")).hexdigest()[:8]
    return workspace / FOLDER / f"{study}-{mark}{SUFFIX}"


def journals(workspace: Path) -> list[Path]:
    """Return the journals of a workspace by name; none that another user owns or could have put there."""
    return sorted(path for path in (workspace / FOLDER).glob(f"*{SUFFIX}") if _is_ours(path))


def open_journal(path: Path) -> JournalStorage:
    """The journal as a storage of Optuna. Raises BadSettings when Optuna is not installed."""
    try:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ModuleNotFoundError as error:
        raise BadSettings(f"Tuning needs {error.name}: pip install 'mindinsight[tune]'.") from error
    return JournalStorage(JournalFileBackend(str(path)))


@contextmanager
def tuning(path: Path) -> Iterator[None]:
    """Hold the journal for one tuner; what a killed one wrote by half is cut off. Raises BadSettings."""
    try:
        own_folder(path.parent)
        with locked(_tuner_file(path), _BRIEF):
            _cut_half_line(path)
            yield
    except TimeoutError:
        raise BadSettings(
            f"Another process is tuning this study ({path}). Wait for it, or take another --study."
        ) from None
    except NotOursError as error:
        raise BadSettings(f"{error.filename}: {error.strerror}. Name another --workspace.") from None


def is_tuned(path: Path) -> bool:
    """Whether a tuner is at work on the study."""
    try:
        with locked(_tuner_file(path), 0):
            return False
    except TimeoutError:
        return True
    except OSError:  # a workspace that may only be read
        return False


def study_name(path: Path) -> str:
    """The name of the study in a journal, from the file's name."""
    return re.sub(r"-[0-9a-f]{8}$", "", path.name.removesuffix(SUFFIX))


def _is_ours(path: Path) -> bool:
    try:
        check_folder(path.parent)
        check_file(path, writable=0)  # Optuna makes it with the mode of the umask, in a folder with mode 0700
    except OSError:
        return False
    return True


def _tuner_file(path: Path) -> Path:
    return path.with_suffix(".tuner")  # its lock is not that of Optuna, which ends in .journal.lock


def _cut_half_line(path: Path) -> None:
    """Optuna takes a journal whose last line has no end for damaged as soon as another line follows."""
    if not path.exists():
        return
    check_file(path, writable=0)
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 4096)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)


_PROCESSES: Final = Path("/proc")


def begin(command: Sequence[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, output into ``log``. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)  # others may write there
    with os.fdopen(os.open(log, flags, 0o666), "ab") as output:
        return subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def signal_group(group: int, number: int) -> bool:
    """Send a signal to all processes of a group; whether there were any."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # some of them are others' by now, or have ended and are not yet reaped
        return True
    return True


def marked_processes(mark: str) -> list[int]:
    """Ids of this user's processes that were begun for the trial with this mark, on Linux.

    The mark is in the environment they started with: neither a new process group nor the end of the tuner
    takes it away, and a process id that another program has by now is not mistaken for theirs.
    """
    wanted = f"{PROCESS_GROUP_MARK}={mark}".encode()
    numbers = []
    for process in _PROCESSES.glob("[0-9]*") if _PROCESSES.is_dir() else ():
        with contextlib.suppress(OSError):  # ended, or another user's
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                numbers.append(int(process.name))
    return numbers


def kill_marked(mark: str) -> int:
    """Kill what is left of a trial; how many processes that were."""
    killed = 0
    for process in marked_processes(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
            killed += 1
    return killed


def last_lines(log: Path, lines: int = 40, size: int = 8000) -> list[str]:
    """The last lines of an output, of at most ``size`` bytes altogether."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return (
        [line.rsplit("\r", 1)[-1] for line in text.rstrip("\r\n").split("\n")[-lines:]]
        if text.strip()
        else []
    )


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
