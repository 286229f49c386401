"""Sections of a report about dumped steps: first fault, tensors, chain of operators, graph, checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.fault import Report, faulty_operator, report_of, search_faults, source_frame
from mindinsight.server.debug.fault_explanation import explain
from mindinsight.server.debug.rank_divergence import find_divergence, reported_claims
from mindinsight.server.debug.watchpoints import Hit, Tally, check_and_count, check_claims, common_faults
from mindinsight.server.formats.dumps import list_operators, list_tensors
from mindinsight.server.formats.dumps.dump_types import Dump, Operator, TensorEntry
from mindinsight.server.report import report_content
from mindinsight.server.report.report_content import FaultSection, Progress, ReportSource, Table, Texts

_CHECKS: Final = 30  # hits in a section
_TENSORS: Final = 40  # of the operator in a section
_EVERY: Final = 50  # tensors measured between two updates of the progress
_COLUMNS: Final = ("shape", "dtype", "minimum", "maximum", "mean", "norm", "nans", "infs", "zeros")


@dataclass(frozen=True)
class DumpedStep:
    """Step of a dump (with its id) to report, of one rank, or of all ranks (None)."""

    dump: Dump
    id: str
    step: int
    rank: int | None = None


def fault_section(source: ReportSource, dump_step: DumpedStep, t: Texts) -> Iterator[Progress | FaultSection]:
    """Yield progress while tensors are measured, then the section of a step. Raises UnreadableError or
    OSError if tensors cannot be read."""
    dump, ranks = dump_step.dump, (dump_step.dump.ranks if dump_step.rank is None else (dump_step.rank,))
    entries = [entry for rank in ranks for entry in list_tensors(dump, rank, dump_step.step)]
    for done, _ in enumerate(measure_all(entries, source.executor, source.cache), 1):
        if done % _EVERY == 0 or done == len(entries):
            yield Progress("report.measuring", done, len(entries))
    report = report_of(search_faults(dump, ranks, (dump_step.step,), source.executor, source.cache))
    describe = _fault if report.faults else _without_fault
    section = describe(source, dump_step, report, t)
    checks, claims = _checks(source, dump_step, ranks, t)
    yield replace(section, checks=checks, checked=claims)


def _fault(source: ReportSource, dump_step: DumpedStep, report: Report, t: Texts) -> FaultSection:
    fault = report.faults[0]
    operator = faulty_operator(fault)
    explanation = explain(dump_step.dump, fault)
    measured = fault.results[0].measurement if fault.results else None
    statistics = measured.statistics if measured else None
    counts = ""
    if statistics:
        numbers = {"nans": statistics.nans, "infs": statistics.infinities, "count": statistics.count}
        counts = t("dump.fault.counts", **numbers)
    title = t("report.fault_at", rank=fault.rank, step=fault.step)
    claims = (*fault.claims[1:], *(explanation.claims if explanation else ()), *report.gap_claims)
    reason = " ".join(map(t.claim, claims))
    section = FaultSection(title, dump_step.id, t.claim(fault.headline), reason, counts)
    return _with_operator(source, dump_step, section, fault.entry, operator, t)


def _without_fault(source: ReportSource, dump_step: DumpedStep, report: Report, t: Texts) -> FaultSection:
    """Return the section of a step with finite tensors: ranks that differ, or no finding."""
    title = t("report.step", step=dump_step.step)
    divergence = find_divergence(dump_step.dump, (dump_step.step,), source.executor, source.cache)
    reported = [] if divergence else reported_claims(dump_step.dump, (dump_step.step,))
    sentences = " ".join(map(t.claim, (*reported, *report.claims)))
    if divergence is None:
        return FaultSection(title, dump_step.id, sentences)
    verdict = " ".join(map(t.claim, divergence.claims))
    section = FaultSection(title, dump_step.id, verdict, counts=sentences)
    return _with_operator(source, dump_step, section, divergence.entry, divergence.operator, t)


def _with_operator(
    source: ReportSource,
    dump_step: DumpedStep,
    section: FaultSection,
    entry: TensorEntry,
    operator: Operator | None,
    t: Texts,
) -> FaultSection:
    """Return the section with code, tensors, chain and graph of an operator."""
    rank, step = entry.rank, entry.step
    operators = list_operators(dump_step.dump, rank, step, entry.graph).items
    tensors = list_tensors(dump_step.dump, rank, step, entry.graph)
    recorded = (operator or entry).recorded
    own = [other for other in tensors if other.recorded == recorded]
    results = list(measure_all(own[:_TENSORS], source.executor, source.cache))
    rows = [(_slot(result.entry, t), *_numbers(result)) for result in results]
    section = replace(section, tensors=_table(t, "slot", rows, len(own) - len(results)))
    if operator is None:
        return section
    frame = source_frame(operator)
    known = {other.name: other for other in operators}
    before = [*reversed(report_content.ancestors(known, operator.name)), operator]
    return replace(
        section,
        line=f"{frame.file}:{frame.line}" if frame else "",
        code=frame.code if frame else "",
        stack=[(f"{line.file}:{line.line}", line.code) for line in operator.stack],
        chain=_chain(source, dump_step, rank, entry.graph, before, t),
        graph=report_content.graph_piece(operators, operator.name),
    )


def _slot(entry: TensorEntry, t: Texts) -> str:
    return f"{t(f'dump.direction.{entry.direction}')} {entry.slot}"


def _chain(
    source: ReportSource,
    dump_step: DumpedStep,
    rank: int,
    graph: str,
    operators: Sequence[Operator],
    t: Texts,
) -> Table:
    """Return a table of the first output of each operator with its statistics, in execution order."""
    names = {operator.recorded for operator in operators}
    outputs: dict[str, TensorEntry] = {}
    for entry in list_tensors(dump_step.dump, rank, dump_step.step, graph):
        if entry.recorded in names and entry.direction == "output":
            outputs.setdefault(entry.recorded, entry)
    ordered = sorted(outputs.values(), key=lambda entry: entry.sequence)
    results = measure_all(ordered, source.executor, source.cache)
    return _table(t, "operator", [(result.entry.operator, *_numbers(result)) for result in results])


def _checks(
    source: ReportSource, dump_step: DumpedStep, ranks: Sequence[int], t: Texts
) -> tuple[Table, list[str]]:
    """Return the hits of the common checks on the step, and sentences about the coverage of the checks."""
    watchpoints = [replace(watch, ranks=tuple(ranks), steps=(dump_step.step,)) for watch in common_faults()]
    checked = list(check_and_count(dump_step.dump, watchpoints, source.executor, source.cache))
    judged = [item for item in checked if isinstance(item, Hit)]
    (tally,) = (item for item in checked if isinstance(item, Tally))
    hits = [hit for hit in judged if hit.verdict.hit]
    rows = [
        (
            t(f"dump.condition.{hit.watchpoint.condition}"),
            str(hit.entry.rank),
            hit.entry.operator,
            _slot(hit.entry, t),
            _reason(hit, t),
        )
        for hit in hits[:_CHECKS]
    ]
    heads = tuple(t(f"dump.column.{name}") for name in ("condition", "rank", "operator", "slot", "because"))
    shown = (
        claim for claim in check_claims(judged, tally) if claim.verdict != "found" or claim in tally.growth
    )
    claims = [t.claim(claim) for claim in shown]
    return Table(heads, rows, len(hits) - len(rows)), claims


def _reason(hit: Hit, t: Texts) -> str:
    """Return why a watchpoint hit: each measured value beside the limit that it exceeds."""
    limits, number = hit.watchpoint.limits, report_content.number
    reasons = [
        t(f"dump.reason.{finding.name}", value=number(finding.actual), limit=number(limits[finding.name]))
        for finding in hit.verdict.findings
        if finding.hit
    ]
    if reasons:
        return "; ".join(reasons)
    if "rtol" in limits:
        tolerances = {"limit": number(limits["rtol"]), "tolerance": number(limits.get("atol"))}
        return t("dump.reason.tolerances" if limits.get("atol") else "dump.reason.rtol", **tolerances)
    if hit.watchpoint.condition == "operator_overflow":
        return t("dump.reason.device")
    statistics = hit.result.measurement.statistics if hit.result.measurement else None
    if statistics is None:
        return t("dump.lost_not_counted")
    counts = {"nans": statistics.nans, "infs": statistics.infinities, "count": statistics.count}
    return t("dump.fault.counts", **counts)


def _table(t: Texts, first: str, rows: Sequence[tuple[str, ...]], left_out: int = 0) -> Table:
    return Table(tuple(t(f"dump.column.{name}") for name in (first, *_COLUMNS)), rows, left_out)


def _numbers(result: TensorResult) -> tuple[str, ...]:
    """Return shape, type and statistics of a tensor as texts, with dashes for unknown ones."""
    entry, measured = result.entry, result.measurement
    shape = measured.shape if measured else entry.shape
    statistics = measured.statistics if measured else None
    dtype = entry.dtype or (measured.dtype if measured else "")
    attributes = ("infinities" if name == "infs" else name for name in _COLUMNS[2:])
    numbers = (report_content.number(getattr(statistics, name, None)) for name in attributes)
    return (str(list(shape)) if shape is not None else "–", dtype or "–", *numbers)
