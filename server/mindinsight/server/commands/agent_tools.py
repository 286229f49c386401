"""Tools of ``mindinsight mcp``: questions about runs, answered in short text with what was left out.

They ask the same interface as the pages, `v2`, and add no statement of their own.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from mindinsight.server.api.run_answers import hyper_of, metrics_of
from mindinsight.server.curves.sampling import sample_rows
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.graphs.call_stacks import Frame, own_frame
from mindinsight.server.store.recording_gaps import recording_claims
from mindinsight.server.store.run import Run, Snapshot, file_claims, last_step, state_of, torn_files
from mindinsight.server.store.store import Store

Ask = Callable[..., Awaitable[Any]]  # ask(path, name=value, ...) -> JSON; raises ApiError

LONGEST: Final = 10_000  # bytes of an answer: about 4,000 tokens, of 2.5 letters or one Chinese character
_CONTROL: Final = re.compile(r"\x1b\[[\d;:]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")  # colours of a terminal
_MOST_POINTS: Final = 200  # of a curve: lines of some 25 bytes, half of LONGEST
_PATIENCE: Final = 60.0  # s, for an explanation: agents give up on a tool after a minute or two
_POLL: Final = 0.2  # s between two looks at it
_MOST_LINES: Final = 200  # of a console


class Tools:
    """Tools of an agent over one server, each an asynchronous method that returns text. Each returns text of
    LONGEST bytes at most, and raises ApiError."""

    def __init__(self, ask: Ask, store: Store) -> None:
        """Ask a server by `ask`, and read runs in its `store`."""
        self._ask = ask
        self._store = store

    async def list_runs(self, search: str = "", skip: int = 0) -> str:
        """List runs, newest first: state, last step, settings, results and the last values of metrics.
        `search` keeps runs whose name, state, settings or metrics contain it. `skip` leaves out the first."""
        now = time.time()
        snapshot = self._store.snapshot()
        runs = [_run_line(run, now, snapshot) for run in snapshot.runs.values()]
        unread = sum(run.read < run.total for run in snapshot.runs.values())
        chosen = [line for line in runs if search.lower() in line.lower()]
        head = f"{len(chosen)} of {len(runs)} runs" + (f", from number {skip + 1} on" if skip else "")
        notes = [f"(unknown) {unread} runs are still being read; ask again for all of them"] if unread else []
        notes += [] if snapshot.scanned else ["(unknown) the directory is still being listed; ask again"]
        return _text([head, *notes, *chosen[skip:]], "ask with a search, or skip the first")

    async def describe_run(self, run: str) -> str:
        """Describe one run: files and damage, tags by kind, settings, results, dumps, and its program. An
        unknown run is an error."""
        record = self._run(run)
        now = time.time()
        torn = {file.name for file in torn_files(record, now)}
        lines = [_run_line(record, now, self._store.snapshot())]
        claims = [claim for file in record.files for claim in file_claims(file, file.name in torn)]
        lines += [claim.as_json()["text"] for claim in (*claims, *recording_claims(record))]
        for kind in ("scalar", "system", *record.references):
            names = sorted(record.tags(kind))
            lines += [f"{kind}, {len(names)} tags: {', '.join(names[:100])}"] if names else []
        lines += [f"dump: {dump}" for dump in record.dumps]
        lines += ["its console is recorded"] if record.console else []
        if "code" in record.references:
            program = await self._ask("v2/code/program", run=record.id)
            git = program["git"] or {}
            lines.append(f"command: {' '.join(program['command'])}")
            lines.append(f"Python {program['python']}, {len(program['packages'])} packages")
            lines += [f"commit {git['commit']} of {git['branch']}"] if git else []
        return _text(lines, "ask for a series by its tag")

    async def explain(self, run: str) -> str:
        """Explain a run: its faults, from its tensors to its end, and everything that is unknown. Begin with
        this. An unknown run is an error.

        The search covers dumps, ranks, curves, alerts and files, and compares with the last run without a
        fault. After a minute without a result, the answer says so: ask again.
        """
        record = self._run(run)
        number = (await self._ask("v2/explanation", method="POST", run=record.id))["explanation"]
        end = time.monotonic() + _PATIENCE
        while not (answer := await self._ask(f"v2/explanation/{number}"))["done"]:
            if time.monotonic() > end:
                return "(unknown) The search takes longer than a minute. Ask again, or ask for the dump."
            await asyncio.sleep(_POLL)
        lines = [f"(unknown) The search ended early: {answer['error']}"] if answer["error"] else []
        for part in answer["parts"]:
            lines.append(f"{part['topic']} {part['dump']}:".replace(" :", ":"))
            lines += _sentences(part["claims"])
            frame = part["frame"]
            lines += [f"{frame['file']}:{frame['line']} {frame['code']}"] if frame else []
        return _text(lines, "ask for the first fault of one dump")

    async def series(self, run: str, tag: str, points: int = 40) -> str:
        """Summarise one scalar of a run, or of its machine (`system/...`), with `points` points (at most
        200). An unknown run or scalar is an error."""
        record = self._run(run)
        series = record.curve(tag)
        if series is None:
            known = ", ".join(sorted({**record.scalars, **record.system})[:50])
            raise ApiError(404, "unknown_tag", f"The run {run} has no scalar {tag!r}. It has: {known}")
        (row,) = (await self._ask("v2/scalar/statistics", run=record.id, tag=tag))["rows"]
        facts = (f"{name} {value}" for name, value in row.items() if name != "run" and value is not None)
        line = series.line()
        per_bucket = 2 if np.isfinite(line.values).all() else 3
        buckets = (min(max(points, 5), _MOST_POINTS) - 2) // per_bucket
        rows = sample_rows(line.steps.astype(np.float64), line.values, buckets)
        shown = zip(line.steps[rows].tolist(), line.values[rows].tolist(), strict=True)
        head = f"{tag} of {record.id}: {', '.join(facts)}"
        listed = [f"step {step}: {value:.6g}" for step, value in shown]
        return _text([head, f"{len(listed)} of {len(line.steps)} points:", *listed], "ask for fewer points")

    async def compare_runs(self, run: str, baseline: str, tolerance: float = 0.001) -> str:
        """Say at which step each scalar of a run diverges from a baseline, by more than `tolerance` of it. An
        unknown run is an error."""
        first, second = self._run(run).id, self._run(baseline).id
        answer = await self._ask("v2/answers/alignment", run=first, baseline=second, tolerance=tolerance)
        rows = [f"{row['tag']}: {row['claim']['text']}" for row in answer["tags"]]
        return _text([*_sentences(answer["claims"]), "Each scalar:", *rows], "ask for a larger tolerance")

    async def why(self, good: list[str], bad: list[str]) -> str:
        """Say which settings separate good runs from bad ones, and where their metrics diverge. An unknown
        run is an error."""
        groups = {name: [self._run(run).id for run in runs] for name, runs in (("good", good), ("bad", bad))}
        answer = await self._ask("v2/answers/why", **groups)
        return _text(_sentences(answer["claims"]), "ask for smaller groups")

    async def job_health(self, job: str) -> str:
        """Say which ranks of a distributed job diverge from the others, stopped, or are missing, or that
        there is no such job with several ranks."""
        answer = await self._ask("v2/answers/health", job=_id(job))
        lines = [text for health in answer["jobs"].values() for text in _sentences(health["claims"])]
        return _text(lines or [f"There is no job {job} with several ranks."], "ask for one job")

    async def alerts(self, run: str = "") -> str:
        """List the newest 100 alerts that trainings recorded or rules raised, of all runs or one, after the
        number of all. An unknown run is an error."""
        answer = await self._ask("v2/alert/list", **({"run": self._run(run).id} if run else {}))
        lines = [
            f"{alert['level']} | {alert['run']} | step {alert['step']} | "
            + (alert["title"] or (alert["claim"] or {}).get("text", ""))  # of a rule
            + (f": {alert['text']}" if alert["text"] else "")
            + (f" | dump {alert['dump']}" if alert["dump"] else "")
            for alert in answer["alerts"]
        ]
        older = answer["total"] - len(lines)
        lines += [f"({older} older alerts are left out: ask for one run.)"] if older else []
        return _text([f"{answer['total']} alerts", *lines], "ask for one run")

    async def console(
        self, run: str, search: str = "", unix_time: float | None = None, lines: int = 40
    ) -> str:
        """Show the console of a training: the last lines, those from `unix_time` on, or the first that
        contain `search`, at most 200. An unknown run, or a run that recorded no console, is an error."""
        record = self._run(run)
        count = max(1, min(lines, _MOST_LINES))
        if search:
            answer = await self._ask("v2/console/search", run=record.id, query=search, n=count)
        else:
            when = {} if unix_time is None else {"time": unix_time}
            answer = await self._ask("v2/console/lines", run=record.id, n=count, **when)
        shown = [f"{row[0]:.3f} {row[1]} {_CONTROL.sub('', row[2])}" for row in answer["lines"]]
        head = [f"{len(shown)} lines: Unix time, mark (o output, e error, b both), text"]
        more = ["There are more with this text."] if answer.get("next") else []
        return _text([*head, *shown, *more], "ask for fewer lines, or from a time on")

    async def first_fault(self, dump: str = "", step: int | None = None) -> str:
        """Find the first operator of a tensor dump that made or received NaN or infinity, why, and where.
        Without `dump`, list the dumps. An unknown dump or step is an error. Without `step`, the first step
        with a fault is shown."""
        if not dump:
            dumps = (await self._ask("v2/dump/list"))["dumps"]
            lines = [f"{entry['id']}, of the run {entry['run']}" for entry in dumps]
            return _text([f"{len(lines)} dumps", *lines], "ask for one of them")
        when = {} if step is None else {"step": step}
        answer = await self._ask("v2/dump/fault", dump=_id(dump), **when)
        lines = _sentences(answer["claims"])
        for fault in answer["faults"]:
            lines.append(f"rank {fault['rank']}, step {fault['step']}:")
            lines += [text for text in _sentences(fault["claims"]) if text not in lines]
            lines += [_source(fault["operator"])] if fault["operator"] else []
        return _text(lines, "ask for one step")

    async def code_difference(self, run: str, other: str) -> str:
        """Say whether two runs had the same commit, uncommitted changes, packages and arguments. An unknown
        run, or a run that recorded no program, is an error."""
        first, second = self._run(run).id, self._run(other).id
        answer = await self._ask("v2/code/difference", run=first, other_run=second)
        lines = _sentences(answer["claims"])
        for name in ("packages", "environment", "facts"):
            lines += [
                f"{name}: {row[0]} is {row[1]} in {first}, {row[2]} in {second}" for row in answer[name]
            ]
        for name in ("command", "changes"):
            lines += [f"{name}, from {second} to {first}:"] if answer[name] else []
            lines += [sign + text for sign, text in answer[name]]
        return _text(lines, "look at the page Overview")

    async def reports(self) -> str:
        """List the reports that people wrote on this server, with their texts."""
        answer = await self._ask("v2/reports")
        lines = []
        for entry in answer["reports"]:
            report = await self._ask(f"v2/reports/{entry['id']}")
            lines.append(f"# {report.get('title', entry['id'])}")
            lines += [block["text"] for block in report.get("blocks", ()) if block.get("text")]
        return _text(lines or ["There are no reports."], "open the page Reports")

    def all(self) -> Sequence[Callable[..., Awaitable[str]]]:
        """Return every tool."""
        return (
            *(
                self.list_runs,
                self.describe_run,
                self.explain,
                self.series,
                self.compare_runs,
                self.why,
                self.job_health,
            ),
            *(self.alerts, self.console, self.first_fault, self.code_difference, self.reports),
        )

    def _run(self, name: str) -> Run:
        return self._store.snapshot().run(_id(name))


def _id(name: str) -> str:
    """Return the id of a run, job or dump, given with or without the leading `./`."""
    return name if name.startswith("./") else f"./{name.strip('/')}" if name != "." else "./"


def _run_line(run: Run, now: float, snapshot: Snapshot) -> str:
    step = last_step(run)
    values = {tag: f"{run.scalars[tag].last_value:.6g}" for tag in sorted(run.scalars)[:8]}
    parts = [
        run.id,
        state_of(run, now, snapshot.runs.values()),
        f"step {'unknown' if step is None else step}",
    ]
    parts += [f"failed with {run.failure}"] if run.failure else []
    facts_by_title = {"settings": hyper_of(run.lineage), "results": metrics_of(run.lineage), "last": values}
    for title, facts in facts_by_title.items():
        text = ", ".join(f"{name}={value}" for name, value in list(facts.items())[:12])
        parts += [f"{title} {text}"] if text else []
    return " | ".join(parts)


def _sentences(claims: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the texts of claims. What is unknown is marked, so that it is not taken for an answer."""
    marks = {"unknown": "(unknown) "}
    return [marks.get(claim["verdict"], "") + claim["text"] for claim in claims]


def _source(operator: Mapping[str, Any]) -> str:
    """Return an operator with file, number and text of the line that called it, outside installed
    packages. If the dump has no such line, say that none was recorded."""
    frames = [
        Frame(**{name: frame[name] for name in ("file", "line", "code")}) for frame in operator["stack"]
    ]
    frame = own_frame(frames)
    if frame is None:
        return f"{operator['operator']}: no source line was recorded"
    return f"{operator['operator']}: {frame.file}:{frame.line} {frame.code}"


def _text(lines: Sequence[str], advice: str) -> str:
    """Return lines as text of LONGEST bytes at most, and state how many lines are left out."""
    shown: list[str] = []
    left = LONGEST - 200  # for the last line
    for line in lines:
        cut = line.encode("utf-8", "replace")[: max(left, 0)].decode("utf-8", "ignore")
        if len(cut) < len(line) and shown:
            break
        shown.append(cut)
        left -= len(cut.encode()) + 1
    missing = len(lines) - len(shown)
    if missing:
        shown.append(f"({missing} lines are left out: {advice}.)")
    elif len(shown[-1]) < len(lines[-1]):
        shown.append(f"(the end of the line is left out: {advice}.)")
    return "\n".join(shown)
