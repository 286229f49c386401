"""Tuner: the loop that starts trials, looks after them, and tells Optuna how they came out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from mindinsight.server.tuning.samplers import make_pruner
from mindinsight.server.tuning.study import (
    EVERY,
    FAILURE,
    LOG,
    STOP,
    fail_half_finished,
    finished,
    interrupt_trial,
    note_plan,
)
from mindinsight.server.tuning.trial_process import Outcome, TrialProcess, spacing
from mindinsight.server.tuning.tuning_file import Config

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage

End: TypeAlias = Literal["done", "exhausted", "stopped", "interrupted", "time", "gave_up"]

_POLL: Final = 0.05  # seconds
_ASK: Final = 1.0  # seconds between two looks at whether somebody wants the study to stop


@dataclass(frozen=True, slots=True)
class Plan:
    """How far a study is to go."""

    trials: int  # that shall have been run to an end, those of earlier tuners included
    jobs: int = 1
    give_up: int = 5  # failures in a row after which there is no use in going on; 0 for never


class Tuner:
    """Runs the trials of one study. ``watch`` is called after every change, in the same thread."""

    def __init__(
        self,
        study: Study,
        storage: BaseStorage,
        config: Config,
        plan: Plan,
        watch: Callable[[Tuner], None] = lambda _: None,
    ) -> None:
        self.study = study
        self.config = config
        self.plan = plan
        self.running: dict[int, TrialProcess] = {}
        self.resumed: list[int] = []
        self._storage = storage
        self._watch = watch
        self._wake = threading.Event()
        self._end: End | None = None
        self._every: int | None = None  # steps between two looks
        self._failures = 0  # in a row
        self._asked = 0.0  # monotonic time
        self._begun = time.monotonic()
        # A sampler of finite spaces says so at the last point, outside of ``optimize`` to nobody else.
        setattr(study, "stop", self._exhaust)  # noqa: B010

    def run(self) -> End:
        """Go on until there are as many trials as planned, or somebody stops it; why it ended."""
        self.resumed = fail_half_finished(self.study, self._storage)
        note_plan(self.study, self.config, self.plan.trials, self.plan.jobs)
        self._space_looks(self.study.user_attrs.get(EVERY) or self._given_spacing())
        done = len(finished(self.study.get_trials(deepcopy=False)))
        self._watch(self)
        try:
            while True:
                while self._end is None and len(self.running) < self.plan.jobs:
                    if done + len(self.running) >= self.plan.trials:
                        break
                    self._start()
                if not self.running:
                    return self._end or "done"
                done += self._look()
                self._wake.wait(_POLL)
                self._wake.clear()
        finally:
            self._abandon()

    def stop(self, end: End = "interrupted") -> None:
        """End the running trials and start no others; for any thread and for signal handlers."""
        self._finish(end)
        for process in list(self.running.values()):
            process.end(Outcome("interrupted"))
        self._wake.set()

    def kill(self) -> None:
        """End the running trials at once."""
        self.stop()
        for process in list(self.running.values()):
            process.kill()

    def _exhaust(self) -> None:
        """Believe the sampler that nothing is left, unless interrupted trials wait for their turn."""
        from optuna.trial import TrialState

        if not self.study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
            self._finish("exhausted")

    def _finish(self, end: End) -> None:
        self._end = self._end or end

    def _start(self) -> None:
        process = TrialProcess(self.study.ask(), self.config)
        process.every = self._every
        self.running[process.trial.number] = process
        self._watch(self)

    def _look(self) -> int:
        """One look at every running trial; how many came to an end of their own."""
        ended = 0
        for number, process in list(self.running.items()):
            if self._end not in (None, "exhausted"):  # also one that began while a signal came
                process.end(Outcome("interrupted"))
            outcome = process.step()
            if outcome is None:
                continue
            ended += self._tell(process, outcome)
            del self.running[number]
            self._watch(self)
        limit = self.config.limits.study
        if limit is not None and self._end is None and time.monotonic() - self._begun > limit:
            self.stop("time")
        self._look_for_stop()
        return ended

    def _tell(self, process: TrialProcess, outcome: Outcome) -> int:
        """Tell Optuna how a trial came out; 1 when it counts."""
        from optuna.trial import TrialState

        trial = process.trial
        if outcome.state == "interrupted":
            frozen = self.study.get_trials(deepcopy=False)[trial.number]
            interrupt_trial(self.study, self._storage, frozen)
            return 0
        if outcome.state == "complete":
            if self._every is None:
                self._space_looks(self._spacing_after(process))
            if process.every is None and self._every is not None:
                process.every = self._every
                process.report_all()
            self.study.tell(trial, list(outcome.values))
        elif outcome.state == "pruned":
            self.study.tell(trial, state=TrialState.PRUNED)
        else:
            trial.set_user_attr(FAILURE, dict(outcome.failure))
            if outcome.log:
                trial.set_user_attr(LOG, list(outcome.log))
            self.study.tell(trial, state=TrialState.FAIL)
        self._failures = self._failures + 1 if outcome.state == "failed" else 0
        if self.plan.give_up and self._failures >= self.plan.give_up:
            self.stop("gave_up")
        return 1

    def _look_for_stop(self) -> None:
        """Whether a page, or anybody with Optuna's API, asked for the end."""
        now = time.monotonic()
        if now - self._asked < _ASK:
            return
        self._asked = now
        if self._end is None and self.study.user_attrs.get(STOP) is not None:
            self.stop("stopped")

    def _given_spacing(self) -> int | None:
        return self.config.pruner.every if self.config.pruner is not None else None

    def _spacing_after(self, process: TrialProcess) -> int | None:
        last = process.last_step()
        return spacing(last) if last else None

    def _space_looks(self, every: int | None) -> None:
        """Set how many steps apart the pruner looks at trials: once, for all trials of the study.

        Its pruner is made once as well: Hyperband fixes its brackets by the first complete trials, and one
        made later would know longer trials and sort all of them anew.
        """
        if every is None:
            return
        self._every = every
        if self.config.pruner is None:
            return
        if self.study.user_attrs.get(EVERY) != every:
            self.study.set_user_attr(EVERY, every)
            for process in self.running.values():
                process.every = every
        self.study.pruner = make_pruner(self.config.pruner, every)

    def _abandon(self) -> None:
        """After an error of our own: leave no process behind."""
        for process in self.running.values():
            process.kill()
