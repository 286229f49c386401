"""One trial: a training process, its live scalars for pruning, and the target value read from its run."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.errors import problem
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line
from mindinsight.server.store.store import Store
from mindinsight.server.tuning.study import MARK, RUN, kill_marked, last_lines, signal_group, start_process
from mindinsight.server.tuning.tuning_file import Config, Target
from mindinsight.server.tuning.tuning_parameters import environment, fill_in, hyper_config, suggest
from mindinsight.server.tuning.yaml_nodes import is_number
from mindinsight.server.types import Doubles

if TYPE_CHECKING:
    from optuna.trial import Trial


REPORTS: Final = 50  # values reported by a trial with the length of the first, unless the file sets `every`


def report_spacing(last_step: int) -> int:
    """Return the steps between two reports for trials of `last_step` steps: 1, 2 or 5 times 10^n, at least
    1."""
    wanted = max(1, last_step // REPORTS)
    power: int = 10 ** (len(str(wanted)) - 1)
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)


def due_reports(line: Line, every: int, after: int) -> Iterator[tuple[int, float]]:
    """Yield (step, value) for each multiple of `every` above `after` that the curve has reached. Where the
    curve lacks the step, the value is that of the step before. Multiples before its first step are skipped.
    """
    last = int(line.steps[-1]) if len(line.steps) else 0
    for step in range((after // every + 1) * every, last + 1, every):
        row = int(np.searchsorted(line.steps, step, side="right")) - 1
        if row >= 0:
            yield step, float(line.values[row])


@dataclass(frozen=True, slots=True)
class Missing:
    """Target of which a trial recorded no value, with the names in the same group that it did record."""

    target: str
    written: tuple[str, ...]


def target_value(runs: Mapping[str, Run], target: Target) -> float | Missing:
    """Return a target's value from the first run of a trial, by id, that has it, else `Missing`. There is
    a run for each rank. The value may be non-finite."""
    written: set[str] = set()
    for _, run in sorted(runs.items()):
        values = run.scalars if target.group == "scalar" else _lineage_targets(run, target.group)
        if target.name in values:
            if target.group == "scalar":
                return _value_of_line(run.scalars[target.name].line(), target)
            return float(values[target.name])  # type: ignore[arg-type]
        written |= set(values)
    return Missing(target.name, tuple(sorted(written)))


def _lineage_targets(run: Run, group: str) -> dict[str, float]:
    """Return the numbers in a run's lineage that a target of this group can name."""
    lineage = run.lineage
    if lineage is None:
        return {}
    if group == "system_defined":
        loss = lineage.train.loss if lineage.train is not None else None
        return {} if loss is None else {"loss": loss}
    metric: Mapping[str, Any] = lineage.evaluation.metric if lineage.evaluation is not None else {}
    non_finite = ("nan", "inf", "infinity")  # lineage stores them as text, because JSON cannot
    return {
        name: float(value)
        for name, value in metric.items()
        if is_number(value) or (isinstance(value, str) and value.lower().lstrip("+-") in non_finite)
    }


def line_of(runs: Mapping[str, Run], tag: str) -> Line | None:
    """Return the line of a scalar from the first run that has it, or None."""
    for _, run in sorted(runs.items()):
        if tag in run.scalars:
            return run.scalars[tag].line()
    return None


def _value_of_line(line: Line, target: Target) -> float:
    """Return the last or best value of a smoothed line, or NaN if there is no finite one."""
    values = trailing_mean(np.asarray(line.values, np.float64), target.smooth)
    if target.value == "last":
        return float(values[-1])
    finite = values[np.isfinite(values)]
    if not len(finite):
        return math.nan
    return float(finite.min() if target.goal == "minimize" else finite.max())


def trailing_mean(values: Doubles, window: int) -> Doubles:
    """Return the mean of each value and the `window` - 1 values before it, fewer at the start."""
    if window == 1:
        return values
    return np.array([values[max(0, i - window + 1) : i + 1].mean() for i in range(len(values))])


State: TypeAlias = Literal["complete", "pruned", "failed", "interrupted"]

LOG_FILE: Final = "trial.log"
GRACE: Final = 5.0  # seconds between SIGTERM and SIGKILL, for the training to close its files
_READ_INTERVAL: Final = 0.3  # seconds between two reads of the scalars


@dataclass(frozen=True, slots=True)
class Outcome:
    """End of a trial: its state, target values, and the failure if it failed."""

    state: State
    values: tuple[float, ...] = ()
    failure: Mapping[str, Any] = field(default_factory=dict)  # reason and its details
    log: tuple[str, ...] = ()  # last lines, if it failed


class LiveRuns:
    """Reader of the runs below a trial's directory, one per rank."""

    def __init__(self, folder: Path) -> None:
        self._store = Store()
        # Without a cache in the workspace.
        self._loader = Loader(Settings(folder, folder, cache=False, reload_interval=0), self._store)

    def read(self) -> Mapping[str, Run]:
        """Load new records and return all runs by id."""
        self._loader.load()
        return self._store.snapshot().runs


class TrialProcess:
    """Running trial of a study. Call `step` repeatedly until it returns the outcome."""

    def __init__(self, trial: Trial, config: Config) -> None:
        """Ask Optuna for values, create the run's directory, and start the command."""
        self.trial = trial
        self.every: int | None = None
        self.values = suggest(trial, config.parameters)
        self.folder = _new_folder(config, trial.number)
        self._config = config
        self._mark = uuid.uuid4().hex
        trial.set_user_attr(RUN, str(self.folder))
        trial.set_user_attr(MARK, self._mark)
        self._live = LiveRuns(self.folder)
        self._last_read = 0.0  # monotonic time
        self._reported = 0  # last reported step
        self._begun = time.monotonic()
        self._ending: tuple[float, Outcome] | None = None  # deadline for SIGKILL, and the outcome to return
        self._process, self._start_error = self._start()

    def _start(self) -> tuple[subprocess.Popen[bytes] | None, str]:
        """Start the command, and return the process and "", or None and the error text."""
        command, variables = trial_command(self._config, self.trial.number, self.values, self.folder)
        mine = environment(self.values, variables, self._mark)
        try:
            everything = {"PYTHONUNBUFFERED": "1", **os.environ, **mine}
            return start_process(command, everything, self.folder / LOG_FILE), ""
        except OSError as error:
            return None, f"{command[0]}: {error.strerror or error}"

    def step(self) -> Outcome | None:
        """Check the process, and return the outcome, or None before the trial has ended. End the trial at its
        time limit or if the pruner asks for it, and kill the processes that an ended command left."""
        if self._process is None:
            return Outcome("failed", failure={"reason": "cannot_start", "text": self._start_error})
        code = self._process.poll()
        now = time.monotonic()
        if self._ending is not None:
            return self._enforce_end(now, code)
        if code is not None:
            signal_group(self._process.pid, signal.SIGKILL)  # processes that it left running
            return self._outcome(code)
        limit = self._config.limits.trial
        if limit is not None and now - self._begun > limit:
            self.end(Outcome("failed", failure={"reason": "timeout", "seconds": limit}))
        elif self._config.pruner is not None and now - self._last_read > _READ_INTERVAL:
            self._last_read = now
            if self._report(self._live.read()):
                self.end(Outcome("pruned"))
        return None

    def end(self, outcome: Outcome) -> None:
        """Send SIGTERM to all processes of the trial. `step` returns `outcome` once they have ended, and
        kills them after GRACE seconds. A second call has no effect."""
        if self._ending is None and self._process is not None:
            self._ending = time.monotonic() + GRACE, outcome
            signal_group(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill all processes of the trial, and wait up to GRACE seconds for the end of its command."""
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)
            kill_marked(self._mark)
            with suppress(subprocess.TimeoutExpired):  # in a disk wait the kernel ends the process later
                self._process.wait(GRACE)

    def _enforce_end(self, now: float, code: int | None) -> Outcome | None:
        """Kill remaining processes once the command has ended or its grace period is over, and return the
        outcome. Return None before that."""
        assert self._ending is not None and self._process is not None
        until, outcome = self._ending
        if code is None and now < until:
            return None
        self.kill()
        return Outcome(outcome.state, failure=outcome.failure, log=self._log() if outcome.failure else ())

    def _outcome(self, code: int) -> Outcome:
        """Return the outcome of a process that ended without being stopped."""
        if code != 0:
            reason = {"reason": "exit", "code": code} if code > 0 else {"reason": "signal", "signal": -code}
            return Outcome("failed", failure=reason, log=self._log())
        runs = self._live.read()
        if self._config.pruner is not None:
            self._report(runs, last=True)
        values: list[float] = []
        for target in self._config.targets:
            value = target_value(runs, target)
            if isinstance(value, Missing):
                failure = {"reason": "no_target", "target": value.target, "there": list(value.written)[:50]}
                return Outcome("failed", failure=failure, log=self._log())
            if not math.isfinite(value):
                failure = {"reason": "not_finite", "target": target.name, "value": str(value)}
                return Outcome("failed", failure=failure, log=self._log())
            values.append(value)
        return Outcome("complete", tuple(values))

    def _report(self, runs: Mapping[str, Run], last: bool = False) -> bool:
        """Report new values to the pruner, and return True if the pruner asks to end the trial."""
        assert self._config.pruner is not None
        line = line_of(runs, self._config.pruner.tag)
        if line is None or self.every is None:
            return False
        for step, value in due_reports(line, self.every, self._reported):
            self.trial.report(value, step)
            self._reported = step
            # Also called for the last report, because Hyperband records its rungs in it.
            if self.trial.should_prune() and not last:
                return True
        return False

    def last_step(self) -> int:
        """Return the last step of the watched scalar, or 0 without one."""
        pruner = self._config.pruner
        line = line_of(self._live.read(), pruner.tag) if pruner is not None else None
        return int(line.steps[-1]) if line is not None else 0

    def report_all(self) -> None:
        """Report all values recorded so far to the pruner, without ending the trial. Do nothing before the
        spacing of reports is known, or without the watched scalar."""
        self._report(self._live.read(), last=True)

    def _log(self) -> tuple[str, ...]:
        """Return the last lines of the trial's output."""
        return tuple(last_lines(self.folder / LOG_FILE))


def trial_command(
    config: Config, number: int, values: Mapping[str, Any], folder: Path
) -> tuple[list[str], str]:
    """Return the words of a trial's command, and the content of its hyper config. Raises BadSettings if the
    content is too long."""
    places = {**values, "summary_dir": str(folder), "trial": number, "study": config.study}
    return fill_in(config.command, places), hyper_config(dict(values), config.parameters, folder)


def run_folder(config: Config, number: int) -> Path:
    """Return the directory of a trial's run, if no other directory has that name."""
    return config.summary_base_dir / config.study / f"trial_{number:04d}"


def _new_folder(config: Config, number: int) -> Path:
    """Create and return a new directory for a run. An existing one could hold the run of an earlier study."""
    wanted = run_folder(config, number)
    for again in range(1, 1000):
        folder = wanted if again == 1 else wanted.with_name(f"{wanted.name}_{again}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
    raise FileExistsError(problem("trial_folders", path=wanted))
