"""Progress of a study at the terminal: a bar that is drawn again, or plain lines where nobody looks."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, Final

from mindinsight.server.commands.terminal import cell, printable
from mindinsight.server.tuning.facts import best_so_far, pareto_front, progress, state_of
from mindinsight.server.tuning.study import FAILURE, PLAN
from mindinsight.server.tuning.tuner import Tuner

_AGAIN: Final = 0.2  # seconds between two bars
_WIDEST: Final = 24  # characters of the bar
_ENDED: Final = ("complete", "pruned", "failed", "interrupted")


class ProgressDisplay:
    """Shows the progress of a tuner on standard error after every change."""

    def __init__(self, bar: bool | None = None) -> None:
        """With ``bar`` None there is one when standard error is a terminal."""
        self._bar = sys.stderr.isatty() if bar is None else bar
        self._told: set[int] | None = None  # numbers of trials whose end was told
        self._drawn = 0.0

    def __call__(self, tuner: Tuner) -> None:
        trials = tuner.study.get_trials(deepcopy=False)
        if self._told is None:  # those of earlier tuners
            self._told = {trial.number for trial in trials if trial.state.is_finished()}
            if tuner.resumed:
                numbers = ", ".join(map(str, tuner.resumed))
                self._say(f"half-finished trials are marked failed and their values tried again: {numbers}")
        for trial in trials:
            state = state_of(trial)
            if trial.number not in self._told and state in _ENDED:
                self._told.add(trial.number)
                if not self._bar or state == "failed":
                    self._say(trial_line(trial, state))
        counts = progress(trials, tuner.study.user_attrs.get(PLAN, {}), time.time())
        line = progress_line(counts, best_text(tuner, trials))
        if self._bar:
            self._draw(line, counts)

    def end(self) -> None:
        """Leave the last bar where it is."""
        if self._bar:
            print(file=sys.stderr, flush=True)

    def _say(self, text: str) -> None:
        clear = "\r\x1b[K" if self._bar else ""
        print(clear + printable(text), file=sys.stderr, flush=True)

    def _draw(self, line: str, counts: dict[str, Any]) -> None:
        self._drawn = time.monotonic()
        room = max(20, shutil.get_terminal_size().columns - 1)
        share = counts["done"] / counts["wanted"] if counts["wanted"] else 0.0
        filled = round(min(1.0, share) * _WIDEST)
        text = f"{'█' * filled}{'░' * (_WIDEST - filled)} {line}"
        print(f"\r\x1b[K{text[:room]}", end="", file=sys.stderr, flush=True)


def trial_line(trial: Any, state: str) -> str:
    """One line about a trial that ended."""
    values = " ".join(f"{name}={cell(value)}" for name, value in trial.params.items())
    if state == "failed":
        return f"trial {trial.number} failed: {failure_text(trial.user_attrs.get(FAILURE, {}))}; {values}"
    if state != "complete":
        return f"trial {trial.number} {state}; {values}"
    return f"trial {trial.number}: {', '.join(map(cell, trial.values))}; {values}"


def failure_text(failure: dict[str, Any]) -> str:
    """The reason of a failed trial in English."""
    there = ", ".join(failure.get("there", ())) or "nothing"
    texts = {
        "exit": "the command ended with exit code {code}",
        "signal": "the command was ended by signal {signal}",
        "cannot_start": "the command cannot be started: {text}",
        "no_target": f"the run has no target {{target}}; it has {there}",
        "not_finite": "{target} is {value}",
        "timeout": "it took longer than {seconds:g} seconds",
        "interrupted": "the tuner ended",
    }
    return texts.get(failure.get("reason", ""), "unknown").format(**failure)


def best_text(tuner: Tuner, trials: list[Any]) -> str:
    """The best value so far, or how many trials are on the Pareto front."""
    targets = tuner.config.targets
    if len(targets) > 1:
        front = pareto_front(trials, [target.goal == "maximize" for target in targets])
        return f"{len(front)} on the Pareto front"
    steps = best_so_far(trials, targets[0].goal == "maximize")
    return f"best {targets[0].name} {cell(steps[-1]['value'])} (trial {steps[-1]['number']})" if steps else ""


def progress_line(counts: dict[str, Any], best: str) -> str:
    """Trials done of those wanted, best, failed, pruned, running and time left."""
    parts = [f"{counts['done']} of {counts['wanted']} trials", best]
    parts += [f"{counts[name]} {name}" for name in ("failed", "pruned", "running") if counts[name]]
    if counts["left"] is not None and counts["done"] < (counts["wanted"] or 0):
        parts.append(f"{duration(counts['left'])} left")
    return " · ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """``50 s``, ``3 min``, ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
