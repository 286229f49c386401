"""Studies of trials: journals on disk, trials of a killed tuner, and processes of trials."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.errors import BadSettings, bad_settings, os_reason
from mindinsight.server.files.own_files import NotOursError, check_file, check_folder, locked, own_folder
from mindinsight.server.tuning.tuning_file import Config
from mindinsight.server.tuning.tuning_parameters import MARK as PROCESS_GROUP_MARK

if TYPE_CHECKING:
    from optuna import Study
    from optuna.samplers import BaseSampler
    from optuna.storages import BaseStorage, JournalStorage
    from optuna.trial import FrozenTrial


FOLDER: Final = "studies"
SUFFIX: Final = ".journal"
_LOCK_WAIT: Final = 1.0  # seconds; a page holds the lock for an instant to check for a tuner


def journal_path(workspace: Path, base: Path, study: str) -> Path:
    """Return the path of a study's journal. The name includes a hash of the base directory."""
    mark = hashlib.sha256(os.path.realpath(base).encode(errors="surrogateescape")).hexdigest()[:8]
    return workspace / FOLDER / f"{study}-{mark}{SUFFIX}"


def list_journals(workspace: Path) -> list[Path]:
    """Return the journals of a workspace by name, without files that another user owns or could replace."""
    return sorted(path for path in (workspace / FOLDER).glob(f"*{SUFFIX}") if _is_ours(path))


def has_optuna() -> bool:
    """Return True if Optuna can be imported."""
    try:
        require_optuna()
    except BadSettings:
        return False
    return True


def require_optuna() -> None:
    """Raise BadSettings if Optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ModuleNotFoundError as error:
        raise bad_settings("tune_package", name=error.name) from error


def open_journal(path: Path) -> JournalStorage:
    """Open a journal, created if it is missing, and return it as Optuna storage. Raises BadSettings if Optuna
    is not installed."""
    require_optuna()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


@contextmanager
def lock_journal(path: Path) -> Iterator[None]:
    """Lock a journal for one tuner during the block, after removing an incomplete last line. Raises
    BadSettings if another tuner holds the lock, or the folder or a file belongs to another user."""
    with ExitStack() as lock:
        try:
            own_folder(path.parent)
            lock.enter_context(locked(_tuner_file(path), _LOCK_WAIT))
            _truncate_half_line(path)
        except TimeoutError:
            raise bad_settings("study_busy", path=path) from None
        except NotOursError as error:
            raise bad_settings("study_workspace", path=error.filename, why=os_reason(error)) from None
        yield  # outside of the try, as a tuning may have errors of these types for other reasons


def is_tuned(path: Path) -> bool:
    """Return True if a tuner is running on the study, False if none is or its lock cannot be tried, as in a
    read-only workspace."""
    try:
        with locked(_tuner_file(path), 0):
            return False
    except TimeoutError:
        return True
    except OSError:  # a read-only workspace
        return False


def study_name(path: Path) -> str:
    """Return the name of the study from the file name of its journal."""
    return re.sub(r"-[0-9a-f]{8}$", "", path.name.removesuffix(SUFFIX))


def _is_ours(path: Path) -> bool:
    """Return True if only this user can write to a journal and its folder."""
    try:
        check_folder(path.parent)
        check_file(path, writable=0)  # Optuna creates it with the umask's mode, in a folder of mode 0700
    except OSError:
        return False
    return True


def _tuner_file(path: Path) -> Path:
    """Return the path of the file that a running tuner locks."""
    return path.with_suffix(".tuner")  # Optuna's own lock is .journal.lock


def _truncate_half_line(path: Path) -> None:
    """Remove an incomplete last line. Optuna rejects a journal in which a line follows one."""
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


def start_process(
    command: Sequence[str], environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    """Start a command in a new process group, with output appended to `log`, and return the process. Raises
    OSError."""
    # Others may write to the folder.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(log, flags, 0o666), "ab") as output:
        return subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def signal_group(group: int, number: int) -> None:
    """Send a signal to all processes of a group, if any is left."""
    # PermissionError: some ids belong to other users by now, or to processes that are not yet reaped.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def marked_processes(mark: str) -> list[int]:
    """Return the ids of this user's processes that were started for the trial with this mark. [] unless on
    Linux. The mark is in the environment that a process started with. It survives a new process group and
    the end of the tuner, and a reused process id does not have it."""
    wanted = f"{PROCESS_GROUP_MARK}={mark}".encode()
    numbers = []
    for process in _PROCESSES.glob("[0-9]*") if _PROCESSES.is_dir() else ():
        with contextlib.suppress(OSError):  # ended, or another user's
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                numbers.append(int(process.name))
    return numbers


def kill_marked(mark: str) -> None:
    """Kill the remaining processes of the trial with this mark. Do nothing unless on Linux."""
    for process in marked_processes(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def last_lines(log: Path, lines: int = 40, size: int = 8000) -> list[str]:
    """Return up to `lines` last lines of a log, from its last `size` bytes. Return [] if the log is empty or
    cannot be read."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    if not text.strip():
        return []
    return [line.rsplit("\r", 1)[-1] for line in text.rstrip("\r\n").split("\n")[-lines:]]


# User attributes of a study, in addition to Optuna's own.
CONFIG: Final = "config"
PLAN: Final = "plan"  # trials, jobs, begun (Unix seconds)
STOP: Final = "stop"  # Unix seconds of the request to stop
EVERY: Final = "every"  # steps between two reported values

# User attributes of a trial.
RUN: Final = "run"  # directory of the run
MARK: Final = "mark"  # value of MINDINSIGHT_TRIAL in the environment of its processes
FAILURE: Final = "failure"  # reason and its details
LOG: Final = "log"  # last lines of a failed trial
INTERRUPTED: Final = "interrupted"  # ended with the tuner; its values are queued again
AGAIN: Final = "again"  # number of the interrupted trial that this one repeats
IMPORTED: Final = "imported"  # created from the lineage of a past run


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Silence Optuna's log below errors and its warnings about experimental features. Raises BadSettings if
    Optuna is not installed."""
    require_optuna()
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
    """Open the study of a tuning file in its journal, created if it is missing, and return it. Raises
    BadSettings if the stored study has other targets, or other choices of a parameter."""
    storage = open_journal(path)
    import optuna

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
    """Raise BadSettings if the stored study differs from the file in targets or choices."""
    now = json.loads(json.dumps(config.as_json()))  # with lists for tuples, as in the journal
    if before and before["targets"] != now["targets"]:
        raise bad_settings("study_targets", study=config.study)
    known = {parameter["name"]: parameter["choices"] for parameter in before.get("parameters", ())}
    for parameter in now["parameters"]:
        if known.get(parameter["name"], parameter["choices"]) != parameter["choices"]:
            raise bad_settings("study_choices", study=config.study, name=parameter["name"])


def store_plan(study: Study, config: Config, trials: int, jobs: int) -> None:
    """Store the tuning file and the plan with the study, and clear an earlier request to stop. The plan is
    the number of `trials` to finish, and of those to run at a time (`jobs`)."""
    study.set_user_attr(CONFIG, config.as_json())
    study.set_user_attr(PLAN, {"trials": trials, "jobs": jobs, "begun": time.time()})
    if study.user_attrs.get(STOP) is not None:
        study.set_user_attr(STOP, None)


def fail_half_finished(study: Study, storage: BaseStorage) -> list[int]:
    """Fail trials that a killed tuner left running, kill their processes, queue their values again, and
    return their numbers. Finished trials are unchanged."""
    from optuna.trial import TrialState

    numbers = []
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if MARK in trial.user_attrs:
            kill_marked(trial.user_attrs[MARK])
        interrupt_trial(study, storage, trial)
        numbers.append(trial.number)
    return numbers


def interrupt_trial(study: Study, storage: BaseStorage, trial: FrozenTrial) -> None:
    """Mark a running trial as failed because the tuner ended, and queue its values again."""
    from optuna.trial import TrialState

    storage.set_trial_user_attr(trial._trial_id, INTERRUPTED, True)
    storage.set_trial_user_attr(trial._trial_id, FAILURE, {"reason": "interrupted"})
    study.tell(trial.number, state=TrialState.FAIL)
    if trial.params:
        study.enqueue_trial(trial.params, user_attrs={AGAIN: trial.number})


def finished_trials(trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Return the trials that count towards the planned number: finished, neither interrupted nor imported."""
    return [
        trial
        for trial in trials
        if trial.state.is_finished()
        and not trial.user_attrs.get(INTERRUPTED)
        and not trial.user_attrs.get(IMPORTED)
    ]


def read_study(path: Path) -> Study:
    """Open the study in a journal for reading, and return it. Raises BadSettings if Optuna is not installed,
    KeyError if the journal lacks the study."""
    storage = open_journal(path)
    import optuna

    with quiet_optuna():
        return optuna.load_study(study_name=study_name(path), storage=storage)


def request_stop(path: Path) -> None:
    """Store a request to stop in a journal, which the tuner of the study checks once a second. Raises
    BadSettings if Optuna is not installed, KeyError if the journal lacks the study."""
    read_study(path).set_user_attr(STOP, time.time())
