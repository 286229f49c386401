"""Asks MindInsight 2.3.1 and our server the same and compares answer by answer.

    python tests/interop/v1_difference.py [--all] [--run ./lenet]

Differences that are meant are listed with their reasons in ``v1/intended.json``, some only for certain
values on either side; any other makes the exit code 1. ``--all`` prints the meant ones too, ``--run`` asks
about one run alone.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "v1"))

from faults import whole, wrong_calls
from questions import Question, about_run, load
from servers import Answer, Server, ours, peer, sample_base

INTENDED = Path(__file__).parent / "v1" / "intended.json"
EXACT = 1e-6  # relative distance of computed numbers
SHOWN = 300  # characters of a value

Difference = tuple[str, Any, Any]  # where, theirs, ours


def differences(theirs: Any, own: Any, where: str = "") -> Iterator[Difference]:
    """Where two JSON values differ; numbers only when they are farther apart than rounding."""
    if isinstance(theirs, dict) and isinstance(own, dict):
        if theirs.keys() == own.keys() and list(theirs) != list(own):
            yield f"{where}.keys()", list(theirs), list(own)
        for key in sorted({*theirs, *own}):
            yield from differences(theirs.get(key, "absent"), own.get(key, "absent"), f"{where}.{key}")
    elif isinstance(theirs, list) and isinstance(own, list) and len(theirs) == len(own):
        for index, pair in enumerate(zip(theirs, own, strict=True)):
            yield from differences(*pair, f"{where}[{index}]")
    elif _is_number(theirs) and _is_number(own):
        if not math.isclose(theirs, own, rel_tol=EXACT, abs_tol=1e-9):
            yield where, theirs, own
    elif type(theirs) is not type(own) or theirs != own:
        yield where, theirs, own


def compare(theirs: Answer, own: Answer) -> list[Difference]:
    """Status, content type, code and value; the wording of errors is free."""
    lines = list(differences(theirs.status, own.status, "status"))
    lines += differences(theirs.kind, own.kind, "type")
    pair = [_in_order(_without_wording(answer.content)) for answer in (theirs, own)]
    return [*lines, *differences(*pair)]


class Report:
    """Counts answers, and prints the differences nobody meant."""

    def __init__(self, everything: bool) -> None:
        self.rules = json.loads(INTENDED.read_text())
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self._everything = everything

    def take(self, label: str, lines: list[Difference]) -> None:
        reasons = [self._reason(label, *line) for line in lines]
        self.reasons.update({reason for reason in reasons if reason})
        self.counts["equal" if not lines else "intended" if all(reasons) else "DIFFERENT"] += 1
        for (where, theirs, own), reason in zip(lines, reasons, strict=True):
            if self._everything or not reason:
                print(f"{label}\n  {where}: {_short(theirs)} -> {_short(own)}   {reason or ''}", flush=True)

    def _reason(self, label: str, where: str, theirs: Any, own: Any) -> str:
        seen = {"call": label, "where": where, "theirs": str(theirs), "ours": str(own)}
        for rule in self.rules:
            if all(fnmatch.fnmatchcase(value, rule.get(name, "*")) for name, value in seen.items()):
                return str(rule["reason"])
        return ""


def ask_both(question: Question, theirs: Server, own: Server, report: Report) -> None:
    report.take(question.label, compare(question.ask(theirs), question.ask(own)))


def ask_landscapes(run: str, theirs: Server, own: Server, report: Report) -> None:
    """Ids of intervals are each server's own: asked for by the interval's value."""
    pairs = [
        server.ask("GET", "datavisual/landscape/intervals", {"train_id": run}).content.get("intervals", [])
        for server in (theirs, own)
    ]
    for first, second in zip(*pairs, strict=True):
        path = "datavisual/landscape/landscapes"
        answers = [
            server.ask("GET", path, {"train_id": run, "interval_id": interval["id"]})
            for server, interval in ((theirs, first), (own, second))
        ]
        report.take(f"landscapes {run} {first['value']}", compare(*answers))


def run_all(theirs: Server, own: Server, report: Report, everything: bool, runs: list[str]) -> None:
    """Those runs, or all, and with ``everything`` also the calls about no run in particular."""
    jobs = theirs.ask("GET", "datavisual/train-jobs", {"limit": 999}).content["train_jobs"]
    for run in sorted(job["train_id"] for job in jobs if not runs or job["train_id"] in runs):
        tags = load(theirs, run)
        for question in about_run(run, tags, theirs):
            ask_both(question, theirs, own, report)
        ask_landscapes(run, theirs, own, report)
    if everything:
        load(theirs, "./lenet")
        load(theirs, "./graphs")
        for question in (*whole(), *wrong_calls()):
            ask_both(question, theirs, own, report)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="print the differences that are meant too")
    parser.add_argument("--run", action="append", default=[], help="ask about this run alone")
    options = parser.parse_args()
    report = Report(options.all)
    for damaged in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            room = Path(folder)
            base = sample_base(room / "base", damaged)
            with peer(base, room / "theirs") as theirs, ours(base, room / "ours") as own:
                run_all(theirs, own, report, not damaged and not options.run, options.run)
    print(f"{sum(report.counts.values())} answers: {dict(report.counts)}")
    for reason, count in report.reasons.most_common():
        print(f"  {count:4d}  {reason}")
    return 1 if report.counts["DIFFERENT"] else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _without_wording(content: Any) -> Any:
    if isinstance(content, dict) and "error_msg" in content:
        return {**content, "error_msg": ""}
    return content


def _in_order(content: Any) -> Any:
    """Search results without the order in which siblings were found."""
    if isinstance(content, dict) and isinstance(content.get("nodes"), list):
        nodes = [_in_order(node) for node in content["nodes"]]
        return {**content, "nodes": sorted(nodes, key=lambda node: str(node["name"]))}
    return content


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


if __name__ == "__main__":
    sys.exit(main())
