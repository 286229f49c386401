"""Command ``mindinsight ls``: lists runs with their states and last values."""

import argparse
import time
from collections.abc import Container, Iterable, Iterator
from typing import Any, Final

from mindinsight.server.client.reader import Summary
from mindinsight.server.commands import terminal
from mindinsight.server.commands.options import add_command, add_json, add_runs
from mindinsight.server.report.run_report import recorded_alerts
from mindinsight.server.store.mounts import dump_id
from mindinsight.server.store.run import Run, last_step, state_of, torn_files

_HEADS: Final = ("run", "state", "step", "last")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "ls", ls)
    add_runs(parser)
    add_json(parser)


def ls(options: argparse.Namespace) -> int:
    """Print the matching runs, and return 0, or 1 if there is none or a directory or file is damaged. A file
    is also damaged if it ends in an unfinished record (printed on standard error)."""
    summary, now = Summary(options.summary_base_dir), time.time()
    runs = [summary.run(name) for name in summary.matching(options.runs)]
    if not runs:
        terminal.say(terminal.describe_no_runs(summary, options.summary_base_dir, options.runs))
    dumps = {dump for run in summary.by_id().values() for dump in run.dumps}
    if options.json:
        print(terminal.as_json(list(_run_json(runs, dumps, now, summary.by_id().values()))))
    elif runs:
        heads = terminal.heads(*_HEADS)
        print(
            terminal.table(
                heads, (_row(run, now, summary.by_id().values()) for run in runs), terminal.terminal_width()
            )
        )
    for run in () if options.json else runs:
        for line in _alert_lines(run, dumps):
            print(terminal.printable(line))
    for run in runs:
        for line in terminal.damage_lines(run, now):
            terminal.say(line)
    for line in terminal.directory_lines(summary):
        terminal.say(line)
    whole = not summary.problems and not any(
        terminal.damage_count(run) or torn_files(run, now) for run in runs
    )
    return 0 if runs and whole else 1


def _row(run: Run, now: float, every: Iterable[Run]) -> tuple[object, ...]:
    last = (f"{tag}={terminal.cell(series.last_value)}" for tag, series in sorted(run.scalars.items()))
    return run.id, _state_text(run, now, every), last_step(run), " ".join(last) or None


def _state_text(run: Run, now: float, every: Iterable[Run]) -> str:
    state = state_of(run, now, every)
    text = terminal.localize(f"runs.state.{state}", {"n": int((now - run.last_event) // 60)})
    if state == "failed":
        text = terminal.localize("cli.ls.failed", {"state": text, "why": run.failure})
    if damage := terminal.damage_count(run):
        text = terminal.localize("cli.ls.damaged", {"state": text, "n": damage})
    return terminal.localize("cli.ls.torn", {"state": text}) if torn_files(run, now) else text


def _alert_lines(run: Run, dumps: Container[str]) -> Iterator[str]:
    """Yield a line for each alert that has a dump: its location, and the step to examine."""
    for alert in recorded_alerts(run):
        dump = dump_id(run, alert.content.dump, dumps)
        if dump is not None:
            words = {"run": run.id, "step": alert.step, "title": alert.content.title, "dump": dump}
            yield terminal.localize("cli.ls.alert", words)


def _run_json(
    runs: Iterable[Run], dumps: Container[str], now: float, every: Iterable[Run]
) -> Iterator[dict[str, Any]]:
    for run in runs:
        yield {
            "run": run.id,
            "state": state_of(run, now, every),
            **{name: getattr(run, name) for name in ("failure", "updated", "first_event", "last_event")},
            "step": last_step(run),
            "scalars": {
                tag: {"count": len(series.line().steps), "step": series.last_step, "value": series.last_value}
                for tag, series in sorted(run.scalars.items())
            },
            "others": {kind: sorted(tags) for kind, tags in run.references.items()},
            "alerts": [
                {
                    "step": alert.step,
                    "level": alert.content.level,
                    "title": alert.content.title,
                    "dump": dump_id(run, alert.content.dump, dumps),
                }
                for alert in recorded_alerts(run)
            ],
            "damage": terminal.damage_count(run),
            "unfinished": [file.name for file in torn_files(run, now)],
        }
