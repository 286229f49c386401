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

from mindinsight.server.commands.terminal import as_json, cell, localize, printable, say
from mindinsight.server.errors import BadSettings, os_reason
from mindinsight.server.tuning import study as studies
from mindinsight.server.tuning.lineage_import import import_lineage
from mindinsight.server.tuning.published_study import Publisher
from mindinsight.server.tuning.samplers import copy_study, make_sampler
from mindinsight.server.tuning.study_facts import best_so_far, progress, state_of, study_facts
from mindinsight.server.tuning.trial_process import run_folder, trial_command
from mindinsight.server.tuning.tuner import End, Tuner
from mindinsight.server.tuning.tuning_file import Config, Target, load_config
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
                self._say(localize("cli.tune.resumed", {"numbers": numbers}))
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
        """Move the cursor below the last bar, if bars are shown."""
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
    what = localize(f"tuning.state.{state}")
    if state == "failed":
        what = failure_text(trial.user_attrs.get(studies.FAILURE, {}))
    elif state == "complete":
        what = ", ".join(map(cell, trial.values))
    name = localize("tuning.failed" if state == "failed" else "tuning.trial", {"number": trial.number})
    return localize("cli.tune.trial", {"trial": name, "what": what, "params": params_text(trial)})


def params_text(trial: Any) -> str:
    """Return the parameters of a trial as text: ``lr=0.1 depth=3``, "" without any."""
    return " ".join(f"{name}={cell(value)}" for name, value in trial.params.items())


def failure_text(failure: dict[str, Any]) -> str:
    """Return the reason of a failed trial as a sentence in the language of the terminal."""
    there = failure.get("there", ())
    text = localize(f"tuning.failure.{failure_name(failure)}", failure)
    if not there:
        return text
    return localize(
        "cli.both", {"first": text, "second": localize("tuning.there", {"names": ", ".join(there)})}
    )


def failure_name(failure: dict[str, Any]) -> str:
    """Return the key below ``tuning.failure`` of the text for the reason of a failed trial: the reason
    itself, `nothing` if no value of the target's group was recorded, and `unknown` without a reason."""
    reason: str = failure.get("reason", "unknown")
    return "nothing" if reason == "no_target" and not failure.get("there") else reason


def best_text(tuner: Tuner, trials: list[Any]) -> str:
    """Return the best value so far of complete trials, "" without one, or for several targets the number of
    trials on the Pareto front."""
    targets = tuner.config.targets
    if len(targets) > 1:
        return localize("tuning.front_of", {"n": len(tuner.study.best_trials)})
    steps = best_so_far(trials, targets[0].goal == "maximize")
    return best_value(targets[0], steps[-1]["value"], steps[-1]["number"]) if steps else ""


def best_value(target: Target, value: float, number: int) -> str:
    """Return the lowest or highest value of a target, and its trial."""
    what = localize(f"tuning.best.{target.goal}", {"target": target.name})
    trial = localize("tuning.trial", {"number": number})
    return localize("cli.tune.best", {"what": what, "value": value, "trial": trial})


def progress_line(counts: dict[str, Any], best: str) -> str:
    """Return a line: trials done and planned, ``best``, counts that are not 0, and the time left if it is
    known. The counts are those of failed, pruned, interrupted and running trials."""
    parts = [localize("tuning.done", {"n": counts["done"], "all": counts["wanted"]}), best]
    for name in ("failed", "pruned", "interrupted", "running"):
        parts += [localize(f"tuning.count.{name}", {"n": counts[name]})] if counts[name] else []
    if counts["left"] is not None and counts["done"] < (counts["wanted"] or 0):
        parts.append(localize("tuning.left", {"time": duration(counts["left"])}))
    return " · ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    """Format seconds: `50 s`, `3 min`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 90:
        return localize("cli.seconds", {"seconds": whole})
    minutes = round(whole / 60)
    if minutes < 90:
        return localize("cli.minutes", {"minutes": minutes})
    return localize("cli.hours", {"hours": minutes // 60, "minutes": f"{minutes % 60:02d}"})


_SHOWN: Final = 3  # commands printed by --dry-run
_FRONT: Final = 10  # trials of the Pareto front printed at the end


def run_study(options: argparse.Namespace) -> int:
    """Run the trials of a study, or print their commands for a dry run, and return 0, 1 on failure, 130 if
    interrupted. Without a complete trial, or with too many failed ones, the study has failed."""
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
    """Return the tuning file, overridden by the options. Raises BadSettings for an invalid file, or an
    invalid name of a study."""
    config = load_config(options.config)
    trial, study = options.trial_timeout or config.limits.trial, options.timeout or config.limits.study
    limits = replace(config.limits, trial=trial, study=study)
    seed = config.tuner.seed if options.seed is None else options.seed
    name = options.study or config.study
    if Path(name).name != name or name.startswith("."):
        raise BadSettings(localize("cli.tune.bad_name", {"name": name}))
    return replace(config, study=name, tuner=replace(config.tuner, seed=seed), limits=limits)


def _run(journal: Path, config: Config, options: argparse.Namespace) -> int:
    study = studies.open_study(journal, config)
    if options.from_lineage:
        _import(study, config)
    trials = study.get_trials(deepcopy=False)
    study.sampler = make_sampler(config.tuner, config.parameters, options.jobs, len(trials))
    done = len(studies.finished_trials(trials))
    wanted = options.trials if options.iter is None else done + options.iter
    full = config.tuner.name == "grid" and wanted >= grid_size(config.parameters)
    wanted = grid_size(config.parameters) if full else wanted
    say(localize("cli.tune.study_at", {"study": config.study, "path": journal}))
    display = ProgressDisplay()
    storage = studies.open_journal(journal)
    publisher = Publisher(config.summary_base_dir, config.study)

    def watch(tuner: Tuner) -> None:
        display(tuner)
        publisher.write(tuner.study, ended=False)

    tuner = Tuner(study, storage, config, wanted, options.jobs, options.give_up_after, watch)
    with _signals(tuner):
        end = tuner.run()
    publisher.write(study, ended=True)
    display.end()
    if publisher.error is not None:
        say(localize("cli.tune.not_published", {"why": os_reason(publisher.error)}))
    reached = done >= wanted
    _report_end(study, config, "exhausted" if full and reached else end, reached and not full)
    if options.json:
        print(as_json({**study_facts(study), "end": end, "journal": str(journal)}))
    if end == "interrupted":
        return 130
    finished = studies.finished_trials(study.get_trials(deepcopy=False))
    complete = any(trial.state.name == "COMPLETE" for trial in finished)
    return 0 if complete and end != "gave_up" else 1


def _report_end(study: Study, config: Config, end: End, nothing_to_do: bool) -> None:
    if nothing_to_do:
        say(localize("cli.tune.planned"))
    if end != "done":
        say(localize(f"cli.tune.end.{end}"))
    if len(config.targets) == 1:
        trials = study.get_trials(deepcopy=False)
        for best in best_so_far(trials, config.targets[0].goal == "maximize")[-1:]:
            text = best_value(config.targets[0], best["value"], best["number"])
            say(localize("cli.both", {"first": text, "second": params_text(trials[best["number"]])}))
        return
    for trial in study.best_trials[:_FRONT]:
        named = zip(config.targets, trial.values, strict=True)
        values = ", ".join(f"{target.name} {cell(value)}" for target, value in named)
        name = localize("tuning.trial", {"number": trial.number})
        say(localize("cli.tune.trial", {"trial": name, "what": values, "params": params_text(trial)}))
    if (more := len(study.best_trials) - _FRONT) > 0:
        say(localize("cli.tune.more", {"n": more}))


def _import(study: Study, config: Config) -> None:
    count, reasons = import_lineage(study, config)
    if count or reasons:
        others = "".join(localize(key, {"n": n, "name": name}) for (key, name), n in reasons.most_common())
        say(localize("cli.tune.imported", {"n": count, "others": others}))


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
    """Let Ctrl-C, SIGTERM and SIGHUP end the trials and the study until the end of the block. A second
    signal kills them."""
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
