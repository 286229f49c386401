"""One trial: a training process, its live scalars for pruning, and the target read from its run."""

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

from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line
from mindinsight.server.store.store import Store
from mindinsight.server.tuning.space import environment, fill_in, hyper_config, suggest
from mindinsight.server.tuning.study import MARK, RUN, begin, kill_marked, last_lines, signal_group
from mindinsight.server.tuning.tuning_file import Config, Target
from mindinsight.server.tuning.yaml_nodes import is_number
from mindinsight.server.types import Doubles

if TYPE_CHECKING:
    from optuna.trial import Trial


LOOKS: Final = 50  # intermediate values of the first trial, when the file does not say how many steps apart


def spacing(last_step: int) -> int:
    """Steps between two looks for trials as long as one that ended at ``last_step``: 1, 2 or 5 times 10^n."""
    wanted = max(1, last_step // LOOKS)
    power: int = 10 ** (len(str(wanted)) - 1)
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)


def looks(line: Line, every: int, after: int) -> Iterator[tuple[int, float]]:
    """Multiples of ``every`` above ``after`` that the curve has reached, each with the value it had there."""
    last = int(line.steps[-1]) if len(line.steps) else 0
    for step in range((after // every + 1) * every, last + 1, every):
        row = int(np.searchsorted(line.steps, step, side="right")) - 1
        if row >= 0:
            yield step, float(line.values[row])


@dataclass(frozen=True, slots=True)
class Missing:
    """A target that was not written, and what was written instead."""

    target: str
    there: tuple[str, ...]


def target_value(runs: Mapping[str, Run], target: Target) -> float | Missing:
    """The value of a target in the runs of a trial, of which each rank has one; the first has it.

    It may be NaN or infinite.
    """
    there: set[str] = set()
    for _, run in sorted(runs.items()):
        values = run.scalars if target.group == "scalar" else lineage_targets(run, target.group)
        if target.name in values:
            if target.group == "scalar":
                return _of_line(run.scalars[target.name].line(), target)
            return float(values[target.name])  # type: ignore[arg-type]
        there |= set(values)
    return Missing(target.name, tuple(sorted(there)))


def lineage_targets(run: Run, group: str) -> dict[str, float]:
    """The numbers of a run's lineage that a target may name."""
    lineage = run.lineage
    if lineage is None:
        return {}
    if group == "system_defined":
        loss = lineage.train.loss if lineage.train is not None else None
        return {} if loss is None else {"loss": loss}
    metric: Mapping[str, Any] = lineage.evaluation.metric if lineage.evaluation is not None else {}
    return {name: _number(value) for name, value in metric.items() if is_number(value) or _is_named(value)}


def _number(value: Any) -> float:
    return float(value)


def _is_named(value: object) -> bool:
    """Whether it is a number that JSON has no sign for."""
    return isinstance(value, str) and value.lower().lstrip("+-") in ("nan", "inf", "infinity")


def line_of(runs: Mapping[str, Run], tag: str) -> Line | None:
    """The line of a scalar in the runs of a trial; None while there is none."""
    for _, run in sorted(runs.items()):
        if tag in run.scalars:
            return run.scalars[tag].line()
    return None


def _of_line(line: Line, target: Target) -> float:
    values = smoothed(np.asarray(line.values, np.float64), target.smooth)
    if target.value == "last":
        return float(values[-1])
    finite = values[np.isfinite(values)]
    if not len(finite):
        return math.nan
    return float(finite.min() if target.goal == "minimize" else finite.max())


def smoothed(values: Doubles, window: int) -> Doubles:
    """The mean of each value and those before it, ``window`` of them, or as many as there are."""
    if window == 1:
        return values
    return np.array([values[max(0, i - window + 1) : i + 1].mean() for i in range(len(values))])


State: TypeAlias = Literal["complete", "pruned", "failed", "interrupted"]

LOG_FILE: Final = "trial.log"
GRACE: Final = 5.0  # seconds between SIGTERM and SIGKILL
_LOOK: Final = 0.3  # seconds between two looks at the scalars


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial came out."""

    state: State
    values: tuple[float, ...] = ()
    failure: Mapping[str, Any] = field(default_factory=dict)  # reason, and what belongs to it
    log: tuple[str, ...] = ()  # last lines of a failed one


class LiveRuns:
    """What a trial has written so far: the runs below its directory, one for each rank."""

    def __init__(self, folder: Path) -> None:
        self._store = Store()
        settings = Settings(folder, folder, cache=False, reload_interval=0)  # nothing is kept in a workspace
        self._loader = Loader(settings, self._store)

    def read(self) -> Mapping[str, Run]:
        self._loader.load()
        return self._store.snapshot().runs


class TrialProcess:
    """A trial of a study that runs. ``step`` moves it on; it returns the outcome when there is one."""

    def __init__(self, trial: Trial, config: Config) -> None:
        """Ask for values, make the run's directory, and begin the command."""
        self.trial = trial
        self.every: int | None = None
        self.values = suggest(trial, config.parameters)
        self.folder = _new_folder(config, trial.number)
        self._config = config
        self._mark = uuid.uuid4().hex
        trial.set_user_attr(RUN, str(self.folder))
        trial.set_user_attr(MARK, self._mark)
        self._live = LiveRuns(self.folder)
        self._looked = 0.0  # monotonic time
        self._reported = 0  # step
        self._begun = time.monotonic()
        self._ending: tuple[float, Outcome] | None = None  # when it was told to end, and why
        self._process, self._refusal = self._begin()

    def _begin(self) -> tuple[subprocess.Popen[bytes] | None, str]:
        command, variables = trial_command(self._config, self.trial.number, self.values, self.folder)
        mine = environment(self.values, variables, self._mark)
        try:
            everything = {"PYTHONUNBUFFERED": "1", **os.environ, **mine}
            return begin(command, everything, self.folder / LOG_FILE), ""
        except OSError as error:
            return None, f"{command[0]}: {error.strerror or error}"

    def step(self) -> Outcome | None:
        """Look after the trial; its outcome once all its processes have ended."""
        if self._process is None:
            return Outcome("failed", failure={"reason": "cannot_start", "text": self._refusal})
        code = self._process.poll()
        now = time.monotonic()
        if self._ending is not None:
            return self._ended(now, code)
        if code is not None:
            signal_group(self._process.pid, signal.SIGKILL)  # what it left behind
            return self._came_out(code)
        limit = self._config.limits.trial
        if limit is not None and now - self._begun > limit:
            self.end(Outcome("failed", failure={"reason": "timeout", "seconds": limit}))
        elif self._config.pruner is not None and now - self._looked > _LOOK:
            self._looked = now
            if self._report(self._live.read()):
                self.end(Outcome("pruned"))
        return None

    def end(self, outcome: Outcome) -> None:
        """Tell all processes of the trial to end; ``step`` returns ``outcome`` when they have."""
        if self._ending is None and self._process is not None:
            self._ending = time.monotonic() + GRACE, outcome
            signal_group(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End all processes of the trial at once."""
        if self._process is not None:
            signal_group(self._process.pid, signal.SIGKILL)
            kill_marked(self._mark)
            with suppress(subprocess.TimeoutExpired):  # it waits for a disk: whoever looks later sees its end
                self._process.wait(GRACE)

    def _ended(self, now: float, code: int | None) -> Outcome | None:
        assert self._ending is not None and self._process is not None
        until, outcome = self._ending
        if code is None and now < until:
            return None
        self.kill()
        return Outcome(outcome.state, failure=outcome.failure, log=self._log() if outcome.failure else ())

    def _came_out(self, code: int) -> Outcome:
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
                failure = {"reason": "no_target", "target": value.target, "there": list(value.there)[:50]}
                return Outcome("failed", failure=failure, log=self._log())
            if not math.isfinite(value):
                failure = {"reason": "not_finite", "target": target.name, "value": str(value)}
                return Outcome("failed", failure=failure, log=self._log())
            values.append(value)
        return Outcome("complete", tuple(values))

    def _report(self, runs: Mapping[str, Run], last: bool = False) -> bool:
        """Tell the pruner what is new; whether it wants the trial to end."""
        assert self._config.pruner is not None
        line = line_of(runs, self._config.pruner.tag)
        if line is None or self.every is None:
            return False
        for step, value in looks(line, self.every, self._reported):
            self.trial.report(value, step)
            self._reported = step
            pruned = self.trial.should_prune()  # asked in any case: Hyperband records its rungs when asked
            if pruned and not last:
                return True
        return False

    def last_step(self) -> int:
        """The last step of the watched scalar; 0 where there is none."""
        pruner = self._config.pruner
        line = line_of(self._live.read(), pruner.tag) if pruner is not None else None
        return int(line.steps[-1]) if line is not None else 0

    def report_all(self) -> None:
        """Tell the pruner what was written before it was known how many steps apart."""
        self._report(self._live.read(), last=True)

    def _log(self) -> tuple[str, ...]:
        return tuple(last_lines(self.folder / LOG_FILE))


def trial_command(
    config: Config, number: int, values: Mapping[str, Any], folder: Path
) -> tuple[list[str], str]:
    """The words of the command of a trial, and the content of its hyper config."""
    places = {**values, "summary_dir": str(folder), "trial": number, "study": config.study}
    return fill_in(config.command, places), hyper_config(dict(values), config.parameters, folder)


def run_folder(config: Config, number: int) -> Path:
    """The directory of a trial's run, when nothing is in its way."""
    return config.summary_base_dir / config.study / f"trial_{number:04d}"


def _new_folder(config: Config, number: int) -> Path:
    """A directory for a run, made anew: what an earlier study left there would be taken for the trial's."""
    wanted = run_folder(config, number)
    for again in range(1, 1000):
        folder = wanted if again == 1 else wanted.with_name(f"{wanted.name}_{again}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
    raise FileExistsError(f"{wanted} and 999 others are there already")
