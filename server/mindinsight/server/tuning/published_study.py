"""Published studies: a file beside the runs of a study that any server of these runs can show, without
Optuna and without the workspace of the tuner.

The file is `<base>/<study>/study.json`. It has the facts of the study without its command, which may hold
secrets. It is not trusted: it is as long as `MAX_BYTES` at most, and its name and place come from the file
system.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.files.opener import open_stream
from mindinsight.server.ingest.trial_settings import TRIAL
from mindinsight.server.store.file_names import STUDY
from mindinsight.server.tuning.study_facts import study_facts
from mindinsight.server.tuning.tuning_parameters import Parameter, Value

if TYPE_CHECKING:
    from optuna import Study

MAX_BYTES: Final = 32 << 20  # about 60,000 trials
_VERSION: Final = 1  # of the file: readers reject another one
# Failed trials that keep their last lines, newest first, which bounds the file. The others have their
# trial.log.
_LOGS: Final = 100
_TIMES: Final = 20  # writing a large study takes a twentieth of the time at most
_QUICK: Final = 0.05  # seconds; what is written faster is written after each change
COMPLETE: Final = ("complete", "imported")  # states of trials with values

Whole = Field(ge=0, le=2**53)


class _Part(BaseModel):
    """Base of the models of `study.json`. Its numbers are finite."""

    model_config = ConfigDict(allow_inf_nan=False)


class Trial(_Part):
    """Trial in the file of a published study: state, values, parameters, times and run.

    Times are Unix seconds. `run` is a path below the base directory. `again` is the number of the
    interrupted trial that this one repeats.
    """

    number: int = Whole
    state: Literal["running", "complete", "pruned", "failed", "interrupted", "imported"]
    values: list[float] | None = None
    params: dict[str, Value] = {}
    begun: float | None = None
    ended: float | None = None
    run: str | None = None
    failure: dict[str, Value | list[str] | None] | None = None
    log: list[str] = []
    again: int | None = None
    last_step: int | None = None


class Target(_Part):
    """Objective of a study, and whether it is minimized or maximized."""

    name: str
    goal: Literal["minimize", "maximize"]
    group: str | None = None


class Sampler(_Part):
    """Sampler of a study: its name and arguments."""

    name: str | None = None
    args: dict[str, Value | None] = {}


class Pruner(_Part):
    """Pruner of a study, by name."""

    name: str


class Progress(_Part):
    """Numbers of trials by state, of the number `wanted`, and the seconds `left`, both None if unknown."""

    wanted: int | None = None
    jobs: int = 1
    done: int = Whole
    complete: int = Whole
    pruned: int = Whole
    failed: int = Whole
    running: int = Whole
    interrupted: int = Whole
    imported: int = Whole
    left: float | None = None


class Best(_Part):
    """Trial that was the best when it ended."""

    number: int
    value: float
    ended: float | None = None


class PublishedStudy(_Part):
    """Content of `study.json`: targets, parameters, settings, progress, trials, and the best ones.

    `ended` is true if its tuner has ended, `updated` the time of writing.
    """

    version: Literal[1]
    updated: float
    ended: bool
    targets: list[Target] = Field(min_length=1)
    parameters: list[Parameter] = []
    tuner: Sampler = Sampler()
    pruner: Pruner | None = None
    progress: Progress
    trials: list[Trial]
    best: list[Best] = []
    front: list[int] = []

    @model_validator(mode="after")
    def _check_values(self) -> PublishedStudy:
        """Return the study, or raise ValueError if a complete trial has not one value for each target."""
        for trial in self.trials:
            if trial.state in COMPLETE and len(trial.values or ()) != len(self.targets):
                raise ValueError(f"trial {trial.number} has not one value for each target")
        return self


class Publisher:
    """Writer of the published study of one tuner. An error is stored in `error`, and tuning continues."""

    def __init__(self, base: Path, study: str) -> None:
        self._base = base
        self._folder = base / study
        self._next = 0.0  # monotonic time before which no further change is written
        self.error: OSError | None = None

    def write(self, study: Study, ended: bool) -> None:
        """Write the study, unless the last write was slow and recent and the study has not `ended`. An
        OSError is stored in `error`, not raised. After a slow write, further ones are skipped for some
        time, unless the study has `ended`."""
        begun = time.monotonic()
        if not ended and begun < self._next:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(self._folder / STUDY, _content(study_facts(study), self._base, ended))
            self.error = None
        except OSError as error:
            self.error = error
        spent = time.monotonic() - begun
        self._next = begun + spent + (_TIMES * spent if spent > _QUICK else 0)


def _content(facts: Mapping[str, Any], base: Path, ended: bool) -> bytes:
    """Return the content of the file, with runs relative to the base directory."""
    failed = [trial["number"] for trial in facts["trials"] if trial["log"]]
    logged = frozenset(failed[-_LOGS:])
    trials = [
        {
            **trial,
            "run": _relative(trial["run"], base),
            "log": trial["log"] if trial["number"] in logged else [],
        }
        for trial in facts["trials"]
    ]
    content = {name: facts[name] for name in PublishedStudy.model_fields if name in facts}
    stamp = {"version": _VERSION, "updated": time.time(), "ended": ended}
    return json.dumps(
        non_finite_as_text({**stamp, **content, "trials": trials}), separators=(",", ":")
    ).encode()


def _relative(run: str | None, base: Path) -> str | None:
    """Return the path of a run below the base directory, or None without a run or for one elsewhere."""
    if run is None or not Path(run).is_relative_to(base):
        return None
    return Path(run).relative_to(base).as_posix()


def _replace(path: Path, content: bytes) -> None:
    """Replace a file in one step. Others may write to its folder, so that no link there is followed."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        new.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(new, flags, 0o666), "wb") as file:
            file.write(content)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise


def published_files(runs: Iterable[str], mounts: Iterable[Path]) -> Iterator[Path]:
    """Yield the paths at which studies with these runs among their trials are published, each path once,
    whether a file is there or not. Paths outside of `mounts` are left out. `runs` are the absolute paths
    of the runs, `mounts` those of the base directories."""
    bases = tuple(mounts)
    folders = dict.fromkeys(
        parent.parent
        for run in runs
        for parent in (Path(run), *Path(run).parents)
        if TRIAL.fullmatch(parent.name)
    )
    yield from (folder / STUDY for folder in folders if any(folder.is_relative_to(base) for base in bases))


def read_published(path: Path) -> PublishedStudy:
    """Read a published study. Raises OSError if it cannot be read or is longer than MAX_BYTES, ValueError if
    it is damaged or of another version."""
    with open_stream(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"longer than {MAX_BYTES:,} bytes", str(path))
    try:
        return PublishedStudy.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error
