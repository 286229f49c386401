"""One call of `mindinsight tune`: from the tuning file to the last trial, with progress shown."""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from mindinsight.server.commands.terminal import as_json, cell, printable, say
from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning import study as studies
from mindinsight.server.tuning.lineage_import import import_lineage
from mindinsight.server.tuning.samplers import copy_study, make_sampler
from mindinsight.server.tuning.study_facts import best_so_far, progress, state_of, study_facts
from mindinsight.server.tuning.trial_process import run_folder, trial_command
from mindinsight.server.tuning.tuner import End, Tuner
from mindinsight.server.tuning.tuning_file import Config, load_config
from mindinsight.server.tuning.tuning_parameters import HYPER_CONFIG, grid_size, suggest

if TYPE_CHECKING:
    from optuna import Study


_WIDTH: Final = 24  # characters of the bar
_ENDED: Final = ("complete", "pruned", "failed", "interrupted")


class ProgressDisplay:
    """Display of a tuner's progress on standard error, updated after every change."""

    def __init__(self, bar: bool | None = None) -> None:
        """Show a bar with `bar`, or by default if standard error is a terminal."""
        self._bar = sys.stderr.isatty() if bar is None else bar
        self._reported: set[int] | None = None  # numbers of trials that were reported as ended

    def __call__(self, tuner: Tuner) -> None:
        """Print trials that have ended, and the current progress."""
        trials = tuner.study.get_trials(deepcopy=False)
        if self._reported is None:  # trials of earlier tuners
            self._reported = {trial.number for trial in trials if trial.state.is_finished()}
            if tuner.resumed:
                numbers = ", ".join(map(str, tuner.resumed))
                self._say(f"unfinished trials are marked failed and their values tried again: {numbers}")
        for trial in trials:
            state = state_of(trial)
            if trial.number not in self._reported and state in _ENDED:
                self._reported.add(trial.number)
                if not self._bar or state == "failed":
                    self._say(trial_line(trial, state))
        counts = progress(trials, tuner.study.user_attrs.get(studies.PLAN, {}), time.time())
        line = progress_line(counts, best_text(tuner, trials))
        if self._bar:
            self._draw(line, counts)

    def end(self) -> None:
        """Move below the last bar."""
        if self._bar:
            print(file=sys.stderr, flush=True)

    def _say(self, text: str) -> None:
        clear = "\r\x1b[K" if self._bar else ""
        print(clear + printable(text), file=sys.stderr, flush=True)

    def _draw(self, line: str, counts: dict[str, Any]) -> None:
        room = max(20, shutil.get_terminal_size().columns - 1)
        share = counts["done"] / counts["wanted"] if counts["wanted"] else 0.0
        filled = round(min(1.0, share) * _WIDTH)
        text = f"{'█' * filled}{'░' * (_WIDTH - filled)} {line}"
        print(f"\r\x1b[K{text[:room]}", end="", file=sys.stderr, flush=True)


def trial_line(trial: Any, state: str) -> str:
    """Return one line about a trial that ended."""
    values = " ".join(f"{name}={cell(value)}" for name, value in trial.params.items())
    if state == "failed":
        failure = failure_text(trial.user_attrs.get(studies.FAILURE, {}))
        return f"trial {trial.number} failed: {failure}; {values}"
    if state != "complete":
        return f"trial {trial.number} {state}; {values}"
    return f"trial {trial.number}: {', '.join(map(cell, trial.values))}; {values}"


def failure_text(failure: dict[str, Any]) -> str:
    """Return the reason of a failed trial in English."""
    written = ", ".join(failure.get("there", ())) or "nothing"
    texts = {
        "exit": "the command ended with exit code {code}",
        "signal": "the command was ended by signal {signal}",
        "cannot_start": "the command cannot be started: {text}",
        "no_target": f"the run has no target {{target}}; it has {written}",
        "not_finite": "{target} is {value}",
        "timeout": "it took longer than {seconds:g} seconds",
        "interrupted": "the tuner ended",
    }
    return texts.get(failure.get("reason", ""), "unknown").format(**failure)


def best_text(tuner: Tuner, trials: list[Any]) -> str:
    """Return the best value so far, or the number of trials on the Pareto front."""
    targets = tuner.config.targets
    if len(targets) > 1:
        return f"{len(tuner.study.best_trials)} on the Pareto front"
    steps = best_so_far(trials, targets[0].goal == "maximize")
    return f"best {targets[0].name} {cell(steps[-1]['value'])} (trial {steps[-1]['number']})" if steps else ""


def progress_line(counts: dict[str, Any], best: str) -> str:
    """Return trials done of those planned, best value, failed, pruned, running and time left, as one line."""
    parts = [f"{counts['done']} of {counts['wanted']} trials", best]
    parts += [f"{counts[name]} {name}" for name in ("failed", "pruned", "running") if counts[name]]
    if counts["left"] is not None and counts["done"] < (counts["wanted"] or 0):
        parts.append(f"{duration(counts['left'])} left")
    return " · ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Format seconds: `50 s`, `3 min`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


_ENDS: Final = {
    "done": "",
    "exhausted": "every combination was tried",
    "stopped": "stopped from the page",
    "interrupted": "interrupted; the same command resumes it",
    "time": "the time limit of the study was reached; the same command resumes it",
    "gave_up": "too many trials failed in a row; --give-up-after 0 disables this limit",
}
_SHOWN: Final = 3  # commands printed by --dry-run


def run_study(options: argparse.Namespace) -> int:
    """Run a study.

    Return 0 if there are complete trials, 1 if there are none or too many failed, 130 if interrupted.
    """
    config = config_of(options)
    for warning in config.warnings:
        say(f"{options.config}: {warning}")
    workspace = options.workspace.expanduser().absolute()
    journal = studies.journal_path(workspace, config.summary_base_dir, config.study)
    studies.require_optuna()
    with studies.quiet_optuna():
        if options.dry_run:
            return _show_commands(journal, config, options)
        with studies.lock_journal(journal):
            return _run(journal, config, options)


def config_of(options: argparse.Namespace) -> Config:
    """Return the tuning file, overridden by the options."""
    config = load_config(options.config)
    trial, study = options.trial_timeout or config.limits.trial, options.timeout or config.limits.study
    limits = replace(config.limits, trial=trial, study=study)
    seed = config.tuner.seed if options.seed is None else options.seed
    name = options.study or config.study
    if Path(name).name != name or name.startswith("."):
        raise BadSettings(f"--study {name!r}: a name must not contain slashes or begin with a dot.")
    return replace(config, study=name, tuner=replace(config.tuner, seed=seed), limits=limits)


def _run(journal: Path, config: Config, options: argparse.Namespace) -> int:
    study = studies.open_study(journal, config)
    if options.from_lineage:
        _import(study, config)
    trials = study.get_trials(deepcopy=False)
    study.sampler = make_sampler(config.tuner, config.parameters, options.jobs, len(trials))
    done = len(studies.finished_trials(trials))
    wanted = options.trials if options.iter is None else done + options.iter
    if config.tuner.name == "grid":
        wanted = min(wanted, grid_size(config.parameters))
    say(f"study {config.study}: {journal}")
    display = ProgressDisplay()
    storage = studies.open_journal(journal)
    tuner = Tuner(study, storage, config, wanted, options.jobs, options.give_up_after, display)
    with _signals(tuner):
        end = tuner.run()
    display.end()
    _report_end(study, config, end, done >= wanted)
    if options.json:
        print(as_json({**study_facts(study), "end": end, "journal": str(journal)}))
    if end == "interrupted":
        return 130
    finished = studies.finished_trials(study.get_trials(deepcopy=False))
    complete = any(trial.state.name == "COMPLETE" for trial in finished)
    return 0 if complete and end != "gave_up" else 1


def _report_end(study: Study, config: Config, end: End, nothing_to_do: bool) -> None:
    if nothing_to_do:
        say("The planned number of trials is reached already; pass a larger --trials N.")
    if _ENDS[end]:
        say(f"{_ENDS[end]}.")
    best = study.best_trials if len(config.targets) > 1 else study.best_trials[:1]
    for trial in best[:10]:
        named = zip(config.targets, trial.values, strict=True)
        values = ", ".join(f"{target.name} {cell(value)}" for target, value in named)
        params = " ".join(f"{name}={cell(value)}" for name, value in trial.params.items())
        say(f"best: {values}; {params} (trial {trial.number})")
    if len(best) > 10:
        say(f"and {len(best) - 10} more on the Pareto front.")


def _import(study: Study, config: Config) -> None:
    count, reasons = import_lineage(study, config)
    if count or reasons:
        others = "".join(f"; {n} {reason}" for reason, n in reasons.most_common())
        say(f"{count} past runs became trials{others}.")


def _show_commands(journal: Path, config: Config, options: argparse.Namespace) -> int:
    """Print the first commands, without changing the journal or creating a directory."""
    import optuna

    if journal.exists():
        stored = studies.open_study(journal, config)
    else:
        stored = optuna.create_study(directions=[target.goal for target in config.targets])
    study = copy_study(stored, config.tuner, config.parameters, options.jobs)
    wanted = min(_SHOWN, options.trials or options.iter)
    if config.tuner.name == "grid":
        wanted = min(wanted, grid_size(config.parameters))
    for _ in range(wanted):
        trial = study.ask()
        folder = run_folder(config, trial.number)
        command, variables = trial_command(config, trial.number, suggest(trial, config.parameters), folder)
        print(printable(f"{HYPER_CONFIG}={shlex.quote(variables)} {shlex.join(command)}"))
    return 0


@contextmanager
def _signals(tuner: Tuner) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the trials and the study until the end of the block.

    A second signal kills them.
    """
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    interrupted = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            tuner.kill()
            return
        interrupted = True
        tuner.stop()

    before = {name: signal.signal(getattr(signal, name), end) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
