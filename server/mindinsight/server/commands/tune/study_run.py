"""One call of ``mindinsight tune``: from the tuning file to the last trial."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from mindinsight.server.commands.terminal import as_json, cell, printable, say
from mindinsight.server.commands.tune.progress_display import ProgressDisplay
from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.config import Config, load_config
from mindinsight.server.tuning.facts import study_facts
from mindinsight.server.tuning.journal import journal_path, open_journal, tuning
from mindinsight.server.tuning.lineage_import import import_lineage
from mindinsight.server.tuning.samplers import make_sampler
from mindinsight.server.tuning.space import HYPER_CONFIG, grid_size, suggest
from mindinsight.server.tuning.study import finished, open_study, quiet_optuna
from mindinsight.server.tuning.suggestions import copied
from mindinsight.server.tuning.trial_process import run_folder, trial_command
from mindinsight.server.tuning.tuner import End, Plan, Tuner

if TYPE_CHECKING:
    from optuna import Study

_ENDS: Final = {
    "done": "",
    "exhausted": "every combination was tried",
    "stopped": "stopped from the page",
    "interrupted": "interrupted; the same command goes on",
    "time": "the time for the study is over; the same command goes on",
    "gave_up": "too many trials failed in a row; --give-up-after 0 goes on regardless",
}
_SHOWN: Final = 3  # commands of --dry-run


def run_study(options: argparse.Namespace) -> int:
    """0: there are complete trials. 1: there are none, or too many failed. 130: interrupted."""
    config = config_of(options)
    for warning in config.warnings:
        say(f"{options.config}: {warning}")
    workspace = options.workspace.expanduser().absolute()
    journal = journal_path(workspace, config.summary_base_dir, config.study)
    _need_optuna()
    with quiet_optuna():
        if options.dry_run:
            return _show_commands(journal, config, options)
        with tuning(journal):
            return _run(journal, config, options)


def config_of(options: argparse.Namespace) -> Config:
    """The tuning file with what the options say otherwise."""
    config = load_config(options.config)
    limits = replace(
        config.limits,
        trial=options.trial_timeout or config.limits.trial,
        study=options.timeout or config.limits.study,
    )
    seed = config.tuner.seed if options.seed is None else options.seed
    name = options.study or config.study
    if Path(name).name != name or name.startswith("."):
        raise BadSettings(f"--study {name!r}: a name has no slashes and begins with no dot.")
    return replace(config, study=name, tuner=replace(config.tuner, seed=seed), limits=limits)


def _run(journal: Path, config: Config, options: argparse.Namespace) -> int:
    study = open_study(journal, config)
    if options.from_lineage:
        _import(study, config)
    trials = study.get_trials(deepcopy=False)
    study.sampler = make_sampler(config.tuner, config.parameters, options.jobs, len(trials))
    done = len(finished(trials))
    wanted = options.trials if options.iter is None else done + options.iter
    if config.tuner.name == "grid":
        wanted = min(wanted, grid_size(config.parameters))
    plan = Plan(wanted, options.jobs, options.give_up_after)
    say(f"study {config.study}: {journal}")
    display = ProgressDisplay()
    tuner = Tuner(study, open_journal(journal), config, plan, display)
    with _signals(tuner):
        end = tuner.run()
    display.end()
    _tell_end(study, config, end, done >= wanted)
    if options.json:
        print(as_json({**study_facts(study), "end": end, "journal": str(journal)}))
    complete = any(trial.state.name == "COMPLETE" for trial in finished(study.get_trials(deepcopy=False)))
    return 130 if end == "interrupted" else 0 if complete and end != "gave_up" else 1


def _tell_end(study: Study, config: Config, end: End, nothing_to_do: bool) -> None:
    if nothing_to_do:
        say("There are as many trials already; --trials N takes a larger number.")
    if _ENDS[end]:
        say(f"{_ENDS[end]}.")
    best = study.best_trials if len(config.targets) > 1 else study.best_trials[:1]
    for trial in best[:10]:
        values = ", ".join(
            f"{target.name} {cell(value)}" for target, value in zip(config.targets, trial.values, strict=True)
        )
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
    """Print the first commands; neither the journal nor a directory is touched."""
    import optuna

    stored = (
        open_study(journal, config)
        if journal.exists()
        else optuna.create_study(directions=[target.goal for target in config.targets])
    )
    study = copied(stored, config.tuner, config.parameters, options.jobs)
    wanted = min(_SHOWN, options.trials or options.iter)
    if config.tuner.name == "grid":
        wanted = min(wanted, grid_size(config.parameters))
    for _ in range(wanted):
        trial = study.ask()
        folder = run_folder(config, trial.number)
        command, variables = trial_command(config, trial.number, suggest(trial, config.parameters), folder)
        print(printable(f"{HYPER_CONFIG}={_quoted([variables])} {_quoted(command)}"))
    return 0


def _quoted(words: list[str]) -> str:
    import shlex

    return shlex.join(words)


def _need_optuna() -> None:
    try:
        import optuna  # noqa: F401
    except ModuleNotFoundError as error:
        raise BadSettings(f"Tuning needs {error.name}: pip install 'mindinsight[tune]'.") from error


@contextmanager
def _signals(tuner: Tuner) -> Iterator[None]:
    """Context in which Ctrl-C, SIGTERM and SIGHUP end the trials and the study; a second one, at once."""
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
