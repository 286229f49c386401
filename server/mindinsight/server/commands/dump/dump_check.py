"""Command ``mindinsight dump check``: finds the first fault or divergence of ranks, checks watchpoints."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from mindinsight.server.claims import exit_code, few
from mindinsight.server.commands import terminal
from mindinsight.server.commands.dump import dump_selection
from mindinsight.server.commands.options import add_command, add_executor
from mindinsight.server.debug import fault as faults
from mindinsight.server.debug.conditions import conditions
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.debug.rank_divergence import Divergence, find_divergence, reported_claims
from mindinsight.server.debug.watchpoints import (
    Hit,
    Tally,
    Watchpoint,
    check_and_count,
    check_claims,
    checked_limits,
    common_faults,
)
from mindinsight.server.formats.dumps.dump_types import Dump
from mindinsight.server.formats.graphs.call_stacks import Frame

_RANKS: Final = 8  # named beside a line of source code


def register(actions: Any) -> None:
    """Add `mindinsight dump check` to the actions."""
    parser = add_command(actions, "check", run)
    dump_selection.add_selection(parser, types=False)
    form = "ID[:NAME=NUMBER,...]"
    parser.add_argument("--condition", action="append", metavar=form)
    add_executor(parser)
    parser.set_defaults(type=None, conditions=", ".join(sorted(conditions())))


@terminal.report_errors
def run(options: argparse.Namespace) -> int:
    """Search faults and check watchpoints, and return 0 if nothing is found, 1 for a fault or hit, 2 if
    unknown. Ranks that differ count as a fault. It is unknown without a dump, for an invalid condition, for
    damage, or if tensors may be non-finite."""
    dump = dump_selection.open_single_dump(options.path, "check")
    watchpoints = _watchpoints(options)
    entries, damage = dump_selection.select_tensors(dump, options)
    with dump_selection.worker_pool(options.executor, options.path) as executor:
        # Cached for the two searches below.
        measured = measure_all(entries, executor, dump_selection.statistics_cache())
        results = list(terminal.progress(measured, len(entries), "cli.progress.tensors_measured"))
        cache = dump_selection.statistics_cache()
        search = faults.search_faults(dump, options.rank, options.step, executor, cache)
        report = faults.report_of(search)
        divergence = (
            None
            if report.faults
            else find_divergence(dump, options.step, executor, dump_selection.statistics_cache())
        )
        checked = list(check_and_count(dump, watchpoints, executor, dump_selection.statistics_cache()))
    hits = [item for item in checked if isinstance(item, Hit)]
    (tally,) = (item for item in checked if isinstance(item, Tally))
    findings = [] if report.no_overflow else check_claims(hits, tally)
    reported = [] if report.faults or divergence else reported_claims(dump, options.step)
    claims = [*report.claims, *(divergence.claims if divergence else reported), *findings]
    damage += [result.damage for result in results if result.damage is not None]
    confirmed = [hit for hit in hits if hit.verdict.hit]
    if options.json:
        print(
            terminal.as_json(
                {
                    **_report_json(dump, report),
                    "claims": [claim.as_json() for claim in claims],
                    "divergence": _divergence_json(divergence) if divergence else None,
                    "unread": tally.unread,
                    "hits": [_hit_json(hit) for hit in confirmed],
                    "damage": [asdict(entry) for entry in damage],
                }
            )
        )
    else:
        print(_text(dump, report))
        if divergence is not None:
            print(_divergence_text(divergence))
        for claim in (*reported, *findings):
            print(terminal.localize_claim(claim))
    terminal.report_damage(damage)
    return exit_code(claims, hidden=bool(damage))


def _watchpoints(options: argparse.Namespace) -> list[Watchpoint]:
    scope: dict[str, Any] = {
        "operators": tuple(options.operator or ()),
        "ranks": tuple(options.rank or ()),
        "steps": tuple(options.step or ()),
    }
    requested = [_parse_condition(text) for text in options.condition or ()]
    if not requested:
        return [replace(watchpoint, **scope) for watchpoint in common_faults()]
    return [Watchpoint(number, name, limits, **scope) for number, (name, limits) in enumerate(requested, 1)]


def _parse_condition(text: str) -> tuple[str, Any]:
    name, _, rest = text.partition(":")
    limits = {}
    for part in filter(None, rest.split(",")):
        key, _, number = part.partition("=")
        try:
            limits[key.strip()] = float(number)
        except ValueError:
            raise ValueError(terminal.localize("cli.dump.bad_limit", {"value": part})) from None
    return name, checked_limits(name, limits)


def _text(dump: Dump, report: faults.Report) -> str:
    if not report.faults:
        return " ".join(map(terminal.localize_claim, report.claims))
    fault = report.faults[0]
    fault_json = _fault_json(dump, fault)
    verdict = {"rank": fault.rank, "step": fault.step, "claim": fault_json["verdict"]}
    lines = [terminal.localize("claim.dump.at_step", verdict)]
    lines += [f"  {terminal.localize_claim(claim)}" for claim in fault.claims[1:]]
    counts = {name: _count(fault_json[name]) for name in ("nans", "infs")}
    lines += ["  " + terminal.localize("cli.dump.counts", {"tensor": _tensor_name(fault), **counts})]
    if fault_json["explanation"]:
        lines.append(f"  {fault_json['explanation']}")
    if fault_json["file"]:
        lines.append(f"  {fault_json['file']}:{fault_json['line']}  {fault_json['code']}")
    return "\n".join([*lines, *map(terminal.localize_claim, report.gap_claims)])


def _tensor_name(fault: faults.Fault) -> str:
    """Return the name of the first non-finite tensor, and of its operator if another operator is at fault."""
    entry = fault.entry
    name = f"{terminal.localize(f'dump.direction.{entry.direction}')} {entry.slot}"
    return name if fault.origin.operator in (entry.operator, entry.recorded) else f"{entry.operator} {name}"


def _divergence_text(divergence: Divergence) -> str:
    ranks_by_line: dict[str, list[int]] = {}
    for rank, operator in divergence.operators.items():
        if frame := faults.source_frame(operator):
            ranks_by_line.setdefault(f"{frame.file}:{frame.line}  {frame.code}", []).append(rank)
    lines = [
        "  " + terminal.localize("cli.dump.ranks", {"ranks": _listed(ranks), "line": line})
        for line, ranks in ranks_by_line.items()
    ]
    verdict, *notes = map(terminal.localize_claim, divergence.claims)
    first = terminal.localize("cli.dump.step", {"step": divergence.step, "text": verdict})
    return "\n".join([first, *lines, *notes])


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, few(ranks, _RANKS)))


def _divergence_json(divergence: Divergence) -> dict[str, Any]:
    return {
        "claims": [claim.as_json() for claim in divergence.claims],
        "verdict": terminal.localize_claim(divergence.claim),
        "step": divergence.step,
        "ranks": list(divergence.ranks),
        "rank": divergence.entry.rank,  # of the source line
        "operator": divergence.entry.operator,
        **_frame_json(faults.source_frame(divergence.operator)),
    }


def _frame_json(frame: Frame | None) -> dict[str, Any]:
    return {name: getattr(frame, name, None) for name in ("file", "line", "code")}


def _count(number: int | None) -> str:
    return terminal.localize("cli.dump.unknown_count") if number is None else str(number)


def _report_json(dump: Dump, report: faults.Report) -> dict[str, Any]:
    coverage = {**asdict(report.coverage), "judged": report.coverage.judged}
    return {
        "first_fault": _fault_json(dump, report.faults[0]) if report.faults else None,
        "coverage": coverage,
    }


def _fault_json(dump: Dump, fault: faults.Fault) -> dict[str, Any]:
    operator = faults.faulty_operator(fault)
    frame = faults.source_frame(operator) if fault.is_located else None
    measurement = fault.results[0].measurement
    statistics = measurement.statistics if measurement else None
    explanation = explain(dump, fault)
    return {
        "explanation": " ".join(map(terminal.localize_claim, explanation.claims)) if explanation else None,
        "kind": fault.kind,
        "verdict": terminal.localize_claim(fault.headline),
        "claims": [
            claim.as_json() for claim in (*fault.claims[1:], *(explanation.claims if explanation else ()))
        ],
        "carrier": fault.origin.carrier or None,
        "gap": fault.origin.gap or None,
        "source": fault.origin.source or None,
        "rank": fault.rank,
        "step": fault.step,
        "operator": fault.origin.operator,
        "type": operator.type if operator else fault.entry.type,
        "tensor_operator": fault.entry.operator,
        **{name: getattr(fault.entry, name) for name in ("graph", "direction", "slot")},
        "nans": statistics.nans if statistics else None,
        "infs": statistics.infinities if statistics else None,
        **_frame_json(frame),
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    names = ("rank", "step", "operator", "direction", "slot", "graph")
    return {
        "condition": hit.watchpoint.condition,
        **{name: getattr(hit.entry, name) for name in names},
        "findings": [finding._asdict() for finding in hit.verdict.findings],
    }
