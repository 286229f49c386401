"""``mindinsight dump check``: where it went wrong first, and what watchpoints catch."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mindinsight.server.commands.dump.selection import add_json, cache, open_one, selected, workers
from mindinsight.server.commands.messages import complain, sentence, telling
from mindinsight.server.commands.options import resolve_path
from mindinsight.server.commands.terminal import as_json, progress, room, say, table
from mindinsight.server.debug.conditions import NO_PREVIOUS, conditions
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.debug.fault import Fault, Report, faulty_operator, find_faults, source_frame
from mindinsight.server.debug.limits import checked_limits
from mindinsight.server.debug.preset import common_faults
from mindinsight.server.debug.watchpoints import Hit, Watchpoint, check
from mindinsight.server.formats.dumps.types import Dump


def register(actions: Any) -> None:
    text = "find the first operator that made something not finite, and check conditions"
    ids = ", ".join(sorted(conditions()))
    parser = actions.add_parser("check", help=text, description=f"{text}: {ids}.", allow_abbrev=False)
    parser.add_argument("path", metavar="DUMP", type=resolve_path, help="directory of the dump")
    parser.add_argument("--rank", type=int, action="append", help="only this rank; may be repeated")
    parser.add_argument("--step", type=int, action="append", help="only this step; may be repeated")
    parser.add_argument(
        "--operator", action="append", help="only operators of this name; * and ? stand for others"
    )
    parser.add_argument(
        "--condition",
        action="append",
        metavar="ID[:NAME=NUMBER,...]",
        help="check this instead of the common faults, such as tensor_too_large:max_gt=1000; may be repeated",
    )
    add_json(parser)
    parser.set_defaults(run=run)


@telling
def run(options: argparse.Namespace) -> int:
    """0: all tensors are finite and no condition is met. 1: something found, or not everything readable.

    2: no dump, a condition that cannot be, or nothing that could be judged.
    """
    dump = open_one(options.path)
    watchpoints = _watchpoints(options)
    entries, damage = selected(dump, argparse.Namespace(**vars(options) | {"type": None}))
    with workers() as executor:
        measured = measure_all(entries, executor, cache())  # and remembered for the two searches below
        answers = list(progress(measured, len(entries), "tensors measured"))
        report = find_faults(dump, options.rank, options.step, executor, cache())
        hits = list(check(dump, watchpoints, executor, cache()))
    damage += [answer.damage for answer in answers if answer.damage is not None]
    caught = [hit for hit in hits if hit.verdict.hit]
    if options.json:
        print(as_json({**_first_fault(dump, report), "hits": [_hit(hit) for hit in caught]}))
    else:
        print(_text(dump, report))
        print(_table(caught) if caught else "No condition is met.")
        unjudged = sum(hit.verdict.error not in (0, NO_PREVIOUS) for hit in hits)
        if unjudged:
            say(f"{unjudged} times a tensor could not be judged: not finite, or without values.")
    complain(damage)
    if not (report.faults or caught or report.coverage.judged):
        return 2
    missed = report.coverage.tensors - report.coverage.judged
    return 1 if caught or report.faults or damage or missed else 0


def _watchpoints(options: argparse.Namespace) -> list[Watchpoint]:
    where = {
        "operators": tuple(options.operator or ()),
        "ranks": tuple(options.rank or ()),
        "steps": tuple(options.step or ()),
    }
    chosen = [_parsed(text) for text in options.condition or ()]
    if not chosen:
        return [
            Watchpoint(each.id, each.condition, each.limits, types=each.types, **where)
            for each in common_faults()
        ]
    return [Watchpoint(number, name, limits, **where) for number, (name, limits) in enumerate(chosen, 1)]


def _parsed(text: str) -> tuple[str, Any]:
    name, _, rest = text.partition(":")
    given = {}
    for part in filter(None, rest.split(",")):
        key, _, number = part.partition("=")
        try:
            given[key.strip()] = float(number)
        except ValueError:
            raise ValueError(f"{part!r} is not a name, '=' and a number") from None
    return name, checked_limits(name, given)


def _text(dump: Dump, report: Report) -> str:
    if not report.faults:
        return " ".join(sentence(key, words) for key, words in report.coverage.sentences)
    fault = report.faults[0]
    known = _fault(dump, fault)
    lines = [f"Rank {fault.rank}, step {fault.step}: {known['verdict']}"]
    lines += [
        f"  {fault.entry.direction} {fault.entry.slot}: {_count(known['nans'])} NaN,"
        f" {_count(known['infs'])} infinities"
    ]
    if known["file"]:
        lines.append(f"  {known['file']}:{known['line']}  {known['code']}")
    return "\n".join(lines)


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)


def _first_fault(dump: Dump, report: Report) -> dict[str, Any]:
    coverage = {**asdict(report.coverage), "judged": report.coverage.judged}
    return {"first_fault": _fault(dump, report.faults[0]) if report.faults else None, "coverage": coverage}


def _fault(dump: Dump, fault: Fault) -> dict[str, Any]:
    frame = source_frame(faulty_operator(dump, fault))
    measured = fault.answers[0].measured
    found = measured.statistics if measured else None
    return {
        "kind": fault.kind,
        "verdict": sentence(fault.key, fault.words),
        "carrier": fault.origin.carrier or None,
        "gap": fault.origin.gap or None,
        "source": fault.origin.source or None,
        "rank": fault.rank,
        "step": fault.step,
        "graph": fault.entry.graph,
        "operator": fault.origin.operator,
        "type": fault.entry.type,
        "direction": fault.entry.direction,
        "slot": fault.entry.slot,
        "nans": found.nans if found else None,
        "infs": found.infinities if found else None,
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
        "code": frame.code if frame else None,
    }


def _table(hits: Sequence[Hit]) -> str:
    heads = ("CONDITION", "RANK", "STEP", "OPERATOR", "IO", "SLOT", "BECAUSE")
    return table(heads, [(*_place(hit), _because(hit)) for hit in hits], room())


def _place(hit: Hit) -> tuple[object, ...]:
    entry = hit.entry
    return hit.watchpoint.condition, entry.rank, entry.step, entry.operator, entry.direction, entry.slot


def _because(hit: Hit) -> str:
    return ", ".join(
        f"{f.name} {hit.watchpoint.limits[f.name]:g}: {f.actual:.6g}" for f in hit.verdict.findings if f.hit
    )


def _hit(hit: Hit) -> dict[str, Any]:
    names = ("condition", "rank", "step", "operator", "direction", "slot")
    findings = [finding._asdict() for finding in hit.verdict.findings]
    return {**dict(zip(names, _place(hit), strict=True)), "graph": hit.entry.graph, "findings": findings}
