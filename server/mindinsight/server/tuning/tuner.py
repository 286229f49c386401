"""Tuner: the loop that starts trials, watches them, and reports their outcomes to Optuna."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from mindinsight.server.tuning import study as studies
from mindinsight.server.tuning.samplers import make_pruner
from mindinsight.server.tuning.trial_process import Outcome, TrialProcess, report_spacing
from mindinsight.server.tuning.tuning_file import Config

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage

End: TypeAlias = Literal["done", "exhausted", "stopped", "interrupted", "time", "gave_up"]

_POLL: Final = 0.05  # seconds between two checks of the processes
_STOP_POLL: Final = 1.0  # seconds between two reads of the journal for a request to stop


class Tuner:
    """Tuner of one study: starts its trials, watches them and ends them."""

    def __init__(
        self,
        study: Study,
        storage: BaseStorage,
        config: Config,
        trials: int,
        jobs: int,
        give_up: int,
        watch: Callable[[Tuner], None] = lambda _: None,
    ) -> None:
        """Create a tuner, where `trials` is the number of finished trials to reach, with those of earlier
        tuners. After `give_up` consecutive failures the tuner stops, with 0 never. `watch` is called after
        every change."""
        self.study = study
        self.config = config
        self._trials = trials
        self._jobs = jobs
        self._give_up = give_up
        self.running: dict[int, TrialProcess] = {}
        self.resumed: list[int] = []
        self._storage = storage
        self._watch = watch
        self._wake = threading.Event()
        self._end: End | None = None
        self._every: int | None = None  # steps between two reports
        self._failures = 0  # consecutive
        self._asked = 0.0  # monotonic time
        self._begun = time.monotonic()
        # Samplers of finite spaces call study.stop at the last point. Outside of ``optimize`` it would raise.
        setattr(study, "stop", self._exhaust)  # noqa: B010

    def run(self) -> End:
        """Fail trials that a killed tuner left running, store the plan, and run trials until the planned
        number is reached or the tuner is stopped. Return the reason for the end: done, exhausted, stopped,
        interrupted, time or gave_up."""
        pruner = self.config.pruner
        self.resumed = studies.fail_half_finished(self.study, self._storage)
        studies.store_plan(self.study, self.config, self._trials, self._jobs)
        self._set_spacing(
            self.study.user_attrs.get(studies.EVERY) or (pruner.every if pruner is not None else None)
        )
        done = len(studies.finished_trials(self.study.get_trials(deepcopy=False)))
        self._watch(self)
        try:
            while True:
                while self._end is None and len(self.running) < self._jobs:
                    if done + len(self.running) >= self._trials:
                        break
                    self._start()
                if not self.running:
                    return self._end or "done"
                done += self._check_trials()
                self._wake.wait(_POLL)
                self._wake.clear()
        finally:  # after an error of the tuner itself: leave no process behind
            for process in self.running.values():
                process.kill()

    def stop(self, end: End = "interrupted") -> None:
        """End the running trials and start no more, without waiting. `run` then returns `end`, of several
        calls that of the first. Can be called from any thread and from signal handlers."""
        self._end = self._end or end
        for process in list(self.running.values()):
            process.end(Outcome("interrupted"))
        self._wake.set()

    def kill(self) -> None:
        """Kill the running trials and start no more. `run` then returns `interrupted`, unless stopped
        before."""
        self.stop()
        for process in list(self.running.values()):
            process.kill()

    def _exhaust(self) -> None:
        """Finish when the sampler has no values left, unless interrupted trials are queued."""
        from optuna.trial import TrialState

        if not self.study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
            self._end = self._end or "exhausted"

    def _start(self) -> None:
        """Start the next trial."""
        process = TrialProcess(self.study.ask(), self.config)
        process.every = self._every
        self.running[process.trial.number] = process
        self._watch(self)

    def _check_trials(self) -> int:
        """Check every running trial once, and return the number of finished trials."""
        ended = 0
        for number, process in list(self.running.items()):
            if self._end not in (None, "exhausted"):  # also a trial started while the signal arrived
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
        self._check_stop_request()
        return ended

    def _tell(self, process: TrialProcess, outcome: Outcome) -> int:
        """Report an outcome to Optuna, and return 1 if the trial counts towards the plan, otherwise 0."""
        from optuna.trial import TrialState

        trial = process.trial
        if outcome.state == "interrupted":
            frozen = self.study.get_trials(deepcopy=False)[trial.number]
            studies.interrupt_trial(self.study, self._storage, frozen)
            return 0
        if outcome.state == "complete":
            if self._every is None:
                last = process.last_step()
                self._set_spacing(report_spacing(last) if last else None)
            if process.every is None and self._every is not None:
                process.every = self._every
                process.report_all()
            self.study.tell(trial, list(outcome.values))
        elif outcome.state == "pruned":
            self.study.tell(trial, state=TrialState.PRUNED)
        else:
            trial.set_user_attr(studies.FAILURE, dict(outcome.failure))
            if outcome.log:
                trial.set_user_attr(studies.LOG, list(outcome.log))
            self.study.tell(trial, state=TrialState.FAIL)
        self._failures = self._failures + 1 if outcome.state == "failed" else 0
        if self._give_up and self._failures >= self._give_up:
            self.stop("gave_up")
        return 1

    def _check_stop_request(self) -> None:
        """Stop if a page or another client of the journal has requested it. Reads the journal once a
        second."""
        now = time.monotonic()
        if now - self._asked < _STOP_POLL:
            return
        self._asked = now
        if self._end is None and self.study.user_attrs.get(studies.STOP) is not None:
            self.stop("stopped")

    def _set_spacing(self, every: int | None) -> None:
        """Set the steps between two reports to the pruner, once for all trials of the study. The pruner is
        created once as well. Hyperband fixes its brackets by the first complete trials. A pruner created
        later would see longer trials and sort all of them into other brackets."""
        if every is None:
            return
        self._every = every
        if self.config.pruner is None:
            return
        if self.study.user_attrs.get(studies.EVERY) != every:
            self.study.set_user_attr(studies.EVERY, every)
            for process in self.running.values():
                process.every = every
        self.study.pruner = make_pruner(self.config.pruner, every)
