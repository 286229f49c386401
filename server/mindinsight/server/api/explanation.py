"""Explanation of one run, from its tensors to its end, by the claims of all analyses in one order."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from mindinsight.server.api.checkpoint_faults import checkpoints_of, has_broken_checkpoint
from mindinsight.server.api.curve_faults import (
    aims_of,
    curve_claims,
    first_claims,
    has_no_limit,
    is_passing,
    searched_claims,
    setting_claims,
)
from mindinsight.server.api.run_differences import differences, is_baseline, runs_before
from mindinsight.server.api.run_end import end_claims
from mindinsight.server.api.tag_aims import aim_of
from mindinsight.server.claims import Claim
from mindinsight.server.curves.levels import EARLY
from mindinsight.server.curves.rank_anomaly import outlier_claim
from mindinsight.server.debug.check_findings import EXPECTED
from mindinsight.server.debug.compare.norm_changes import UNLOCATED, norm_claims, tensor_of
from mindinsight.server.debug.fault import Fault, Report, faulty_operator, search_faults, source_frame
from mindinsight.server.debug.fault_explanation import explain, received_claims
from mindinsight.server.debug.fault_spread import spread_of
from mindinsight.server.debug.rank_divergence import find_divergence, reported_claims
from mindinsight.server.debug.watchpoints import Hit, Tally, check_and_count, check_claims, common_faults
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.dumps.recorder_files import health_steps, read_norms, read_watched
from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.plugins.answers.answers_routes import still_read
from mindinsight.server.plugins.answers.rank_health import job_health, telling_tags
from mindinsight.server.report.report_content import Curve, Progress, ReportSource, Texts, curve_of, moment
from mindinsight.server.report.run_report import Page, RecordedAlert, StoryPart, make_report, recorded_alerts
from mindinsight.server.store.file_names import created
from mindinsight.server.store.run import has_events

Topic: TypeAlias = Literal[
    "summary", "tensors", "growth", "checks", "checkpoints", "ranks", "curves", "end", "difference", "unknown"
]

_Links: TypeAlias = tuple[tuple[str, Mapping[str, Any]], ...]

MOST_DUMPS: Final = 5  # of a run, each of which is measured as a whole
_CURVES: Final = 6  # drawn around the first step of a fault: what a person takes in at a glance
_CANDIDATES: Final = 50  # earlier runs that are looked at for one without a fault; each is read as a whole
_LINKED: Final = 4  # operators of a part that have a link: what fits a line
_RANKS: Final = 8  # whose norms are compared until one of them names a module or a weight
_MILD: Final = (  # what a training survives, or was meant
    *(f"claim.check.frozen{part}" for part in ("", "_module", "_modules", "_network")),
    *("claim.check.vanishing", "claim.check.slow", "claim.check.initial", "claim.explain.checkpoint_frozen"),
    *(f"claim.explain.overfit{part}" for part in ("", "_few", "_epochs", "_steady", "_accuracy")),
    "claim.explain.stops",
)
_NON_FINITE: Final = ("tensor_overflow", "weight_overflow", "operator_overflow")  # what `tensors` tells


@dataclass(frozen=True)
class Part:
    """Part of an explanation: the claims of one source of evidence, and where a page shows it.

    Claims with the verdict "found" are faults, except those of `difference`.
    """

    topic: Topic
    claims: tuple[Claim, ...]
    dump: str = ""  # id, of `tensors` and `checks`
    links: _Links = ()  # pages with their query, and its "name" of what they show
    frame: Frame | None = None  # line of the user's code that called the operator at fault
    curves: tuple[Curve, ...] = ()
    after: bool = False  # all faults in it are at or after the first fault of the tensors

    @property
    def faults(self) -> tuple[Claim, ...]:
        """Return the claims about faults: those found, none for `difference`."""
        if self.topic == "difference":
            return ()
        return tuple(claim for claim in self.claims if claim.verdict == "found")

    def as_json(self) -> dict[str, Any]:
        """Return the part for JSON."""
        frame = self.frame and {"file": self.frame.file, "line": self.frame.line, "code": self.frame.code}
        return {
            "topic": self.topic,
            "claims": [claim.as_json() for claim in self.claims],
            "dump": self.dump,
            "after": self.after,
            "links": [
                {
                    "page": page,
                    "query": {key: value for key, value in query.items() if key != "name"},
                    "name": query.get("name", ""),
                }
                for page, query in self.links
            ],
            "frame": frame,
            "curves": [vars(curve) for curve in self.curves],
        }


@dataclass
class _Searched:
    """Number of searched dumps, and the steps with a fault, for the summary of an explanation."""

    dumps: int = 0
    checkpoints: int = 0
    first: tuple[Claim, ...] = ()  # the first fault of the tensors with its place, and its cause if known
    step: int | None = None  # of that fault
    at: str = ""  # its dump
    made: bool = False  # it was made by an operator of its rank
    begins: bool = False  # its step is the first that was dumped
    before: Claim | None = None  # about the first scalar, of those that are NaN or infinite up to their end
    steps: list[int] = field(default_factory=list)  # at which a tensor or a scalar is at fault
    non_finite: bool = False  # a loss or norm is NaN or infinite
    named: dict[str, str] = field(default_factory=dict)  # dumps that named tensors, by those tensors
    ended: int = 0  # tensors of dumps whose recording an error ended


def explain_run(source: ReportSource, now: float) -> Iterator[Progress | Part]:
    """Yield progress and parts as they are known, tensors first. The summary comes after the searches.
    `now` is the Unix time. Parts without a claim are left out. A dump that cannot be read is a claim."""
    searched = _Searched()
    faulty: dict[Topic, None] = {}
    following: dict[Topic, None] = {}
    left_open: dict[Topic, None] = {}
    faults: list[tuple[int, float, Claim]] = []
    for item in _searches(source, searched, now):
        if isinstance(item, Progress):
            yield item
        elif item.claims:
            part = replace(item, after=_follows(source, item, searched))
            yield part
            left_open |= dict.fromkeys(part.topic for claim in part.claims if claim.verdict == "unknown")
            if part.faults:
                (following if part.after else faulty)[part.topic] = None
                faults += _ranked(source, part)
            if searched.made and part.topic == "growth" and part.dump == searched.at:
                searched.first += () if searched.first[1:] else _grown_weight(part, searched.step)
    if searched.before and searched.begins and searched.step is not None:
        facts = {**searched.before.values, "dumped": searched.step}
        if facts["step"] < searched.step <= facts["last"]:  # scalars may count epochs
            searched.first = (searched.first[0], Claim("claim.explain.nan_before", "unknown", facts))
    summary = _summary(source, searched, list(faulty))
    only = {"n": len(source.dumps), "dump": source.dump.removeprefix("./")}
    dumped = any(run.dumps for run in source.ranks)
    scope = [Claim("claim.explain.unrecorded", "note")] * (summary.verdict == "clear" and not dumped)
    topics = [Claim(f"explain.topic.{topic}", "note") for topic in left_open]
    scope += [Claim("claim.explain.open", "note", {"topics": topics})] * bool(topics and not faulty)
    scope += [Claim("claim.explain.only_dump", "note", only)] * bool(source.dump and len(source.dumps) > 1)
    after = [Claim(f"explain.topic.{topic}", "note") for topic in following if topic not in faulty]
    scope += [Claim("claim.explain.after", "note", {"step": searched.step, "topics": after})] * bool(after)
    first = searched.first or tuple(claim for *_, claim in sorted(faults, key=lambda fault: fault[:2])[:1])
    yield Part("summary", (*first, summary, *scope, *still_read(source.ranks)))
    if faulty:
        difference, unknown = _difference(source)
        yield from (part for part in (difference, _unknown(source, searched, unknown)) if part.claims)


def _follows(source: ReportSource, part: Part, searched: _Searched) -> bool:
    """Return True if every fault of a part is known to be at or after the step of the first fault, of checks
    after it: zeros at the same step may be its cause. An exception ends a training, so it comes after any
    step. Dumps without event files may be of several trainings, so that no step of one comes after that of
    another."""
    step = searched.step
    if step is None or part.topic in ("tensors", "growth", "ranks"):
        return False
    if part.dump not in ("", searched.at) and not any(map(has_events, source.ranks)):
        return False
    least = step + (part.topic == "checks")
    return bool(part.faults) and all(
        claim.key in ("claim.explain.failed", "claim.explain.failed_ranks")
        or ((steps := list(_steps(claim))) and min(steps) >= least)
        for claim in part.faults
    )


def _ranked(source: ReportSource, part: Part) -> Iterator[tuple[int, float, Claim]]:
    """Yield the faults of a part with their sort keys for the headline: those of a known step first,
    accuracies after losses, whose consequence they are, and mild faults last; then by step."""
    at = min(_steps(part.claims[0]), default=math.inf) if part.topic == "growth" else math.inf
    dead = any(claim.key == "claim.check.dead" for claim in part.faults)  # by weights of zeros, if any
    for claim in part.faults:
        mild = claim.key in _MILD and not (dead and claim.key == "claim.check.initial")
        first = min(_steps(claim), default=claim.values.get("about", at))
        about = "about" in claim.values and not any(_steps(claim))
        after = bool(aims_of(claim) & {"accuracy", "error"})
        order = [mild or is_passing(claim), first == math.inf, after, about, True].index(True)
        yield -order, first, _in_dump(source, part.dump, claim)


def _steps(claim: Claim) -> Iterator[int]:
    if isinstance(step := claim.values.get("step"), int):
        yield step
    for entry in claim.evidence:
        yield from entry.get("steps", [entry["step"]] if "step" in entry else [])


def in_order(items: Iterable[Progress | Part]) -> list[Part]:
    """Return the parts among the items that `explain_run` yielded, the summary first."""
    parts = [item for item in items if isinstance(item, Part)]
    return sorted(parts, key=lambda part: part.topic != "summary")


def explained_report(source: ReportSource, language: str, now: float) -> Iterator[Progress | Page]:
    """Yield progress, and at the end the report of a run, which begins with its explanation."""
    items = []
    for item in explain_run(source, now):
        items.append(item)
        if isinstance(item, Progress):
            yield item
    t = Texts(language)
    story = []
    for part in in_order(items):
        if part.topic != "checks":  # which the report has in full
            title = "" if part.topic == "summary" else t(f"explain.topic.{part.topic}")
            frame = (f"{part.frame.file}:{part.frame.line}", part.frame.code) if part.frame else ()
            story.append(StoryPart(title, [t.claim(claim) for claim in part.claims], *frame))
    yield from make_report(source, language, story)


def _searches(source: ReportSource, searched: _Searched, now: float) -> Iterator[Progress | Part]:
    dumps = [source.dump] if source.dump else source.dumps
    for number, dump_id in enumerate(dumps[:MOST_DUMPS], 1):
        try:
            dump = open_dump(source.path_of(dump_id))
            yield from _of_dump(source, dump_id, dump, searched)
            searched.dumps += 1
        except (UnreadableError, OSError):
            yield Part("tensors", (Claim("claim.explain.unreadable", "unknown", {"dump": dump_id}),), dump_id)
        yield Progress("explain.dumps", number, min(len(dumps), MOST_DUMPS))
    if len(dumps) > MOST_DUMPS:
        values = {"n": len(dumps) - MOST_DUMPS, "most": MOST_DUMPS}
        yield Part("tensors", (Claim("claim.explain.more_dumps", "unknown", values),))
    yield from _of_checkpoints(source, searched)
    if len(source.ranks) > 1:
        ranks = sorted(source.ranks, key=lambda run: (run.rank is None, run.rank or 0, run.id))
        health = job_health(ranks, telling_tags(ranks), source.left_out)
        strays = [
            Claim(
                "claim.explain.rank", "found", {"rank": health.ranks[row], "tag": known.tag, "claim": claim}
            )
            for known in sorted(health.strays, key=lambda known: known.stray.step)
            if known.stray.other is None and health.ranks[row := known.stray.row] is not None
            if not known.is_regular
            if (claim := outlier_claim(known.stray, health.ranks)).verdict == "found"
        ]
        claims = (*health.claims, *first_claims(strays))
        yield Part("ranks", claims, links=(("job", {"job": source.run.job}),))
    yield _of_curves(source, searched)
    console = (("console", {"run": source.run.id}),) * source.run.console
    yield Part("end", tuple(end_claims(source, now)), links=console)


def _of_checkpoints(source: ReportSource, searched: _Searched) -> Iterator[Part]:
    """Yield the faults in the checkpoints in the folder of the run."""
    if (search := checkpoints_of(source, source.run)) is None:
        return
    searched.checkpoints = search.count
    links = (("checkpoint", {"file": search.file}),) if search.file else ()
    yield Part("checkpoints", search.claims, links=links)


def _of_dump(
    source: ReportSource, dump_id: str, dump: Dump, searched: _Searched
) -> Iterator[Progress | Part]:
    """Yield the first fault of a dump and how it spread, and the findings of the common checks. A dump of
    which nothing is at fault or unknown has no part, as the summary says that it was searched."""
    tensors = []
    for item in _of_tensors(source, dump_id, dump, searched):
        if isinstance(item, Progress):
            yield item
        else:
            tensors.append(item)
    shown = any(_tells(part) or part.topic == "growth" for part in tensors)  # a flight recorder stopped
    if shown:
        yield from tensors
    checks = _of_checks(source, dump_id, dump, searched)
    if shown or _tells(checks):
        yield from ([] if shown else tensors)
        yield checks


def _tells(part: Part) -> bool:
    return any(claim.verdict in ("found", "unknown") for claim in part.claims)


def _of_tensors(
    source: ReportSource, dump_id: str, dump: Dump, searched: _Searched
) -> Iterator[Progress | Part]:
    """Yield the first fault of a dump and how it spread, or where its ranks diverge."""
    executor, cache = source.executor, source.cache
    report = Report()
    for item in search_faults(dump, executor=executor, cache=cache):
        if isinstance(item, Report):
            report = item
        else:
            yield Progress("explain.steps", item.position, item.count)
    fault = report.faults[0] if report.faults else None
    if any(gap.kind == "ended" for gap in dump.not_recorded):
        searched.ended += report.coverage.tensors
    if fault is None:
        divergence = find_divergence(dump, None, executor, cache)
        claims = (*report.claims, *(divergence.claims if divergence else reported_claims(dump)))
        query: dict[str, Any] = {"dump": dump_id}
        query |= {"rank": divergence.entry.rank, "step": divergence.step} if divergence else {}
        frame = source_frame(divergence.operator) if divergence else None
        yield Part("tensors", claims, dump_id, (("dump", query),), frame)
        yield from _of_norms(source, dump_id, dump, None)
    else:
        searched.steps += [] if fault.later else [fault.step]
        explanation = explain(dump, fault)
        spread = [known.claim for known in spread_of(dump, fault, executor, cache)]
        where = Claim("claim.explain.place", "note", {"rank": fault.rank, "step": fault.step})
        causes = explanation.claims if explanation else ()
        claims = (where, *_earlier(source, dump_id), *fault.claims, *received_claims(fault))
        claims += (*causes, *spread, *report.gap_claims)
        if fault.later:  # without an effect
            claims = tuple(replace(own, verdict="note") if own.verdict == "found" else own for own in claims)
        operator = faulty_operator(fault) if fault.is_located else None
        if not fault.later and (searched.step is None or fault.step < searched.step):
            searched.step, searched.at = fault.step, dump_id
            searched.made = fault.kind == "made" and not fault.is_received
            searched.begins = fault.step == min(dump.steps(fault.rank))
            searched.first = _headline(source, dump_id, fault, source_frame(operator), causes)
        links = _fault_links(source, dump_id, fault, operator)
        named = [] if operator is None else [operator.name]
        links += _operator_links(source, dump_id, dump, causes, named, (fault.rank, fault.step))
        yield Part("tensors", claims, dump_id, links, source_frame(operator))
        yield from _of_norms(source, dump_id, dump, fault)


def _headline(
    source: ReportSource, dump_id: str, fault: Fault, frame: Frame | None, causes: Sequence[Claim]
) -> tuple[Claim, ...]:
    """Return the first sentences of an explanation: the fault with its place, and its cause if known."""
    values = {"rank": fault.rank, "step": fault.step, "claim": fault.headline}
    if frame:
        values |= {"file": PurePosixPath(frame.file).name, "line": frame.line}
    key = "claim.explain.first_at_line" if frame else "claim.explain.first"
    first = _in_dump(source, dump_id, Claim(key, "found", values))
    return (first, *[cause for cause in causes if cause.verdict == "found"][:2])


def _grown_weight(part: Part, step: int | None) -> tuple[Claim, ...]:
    """Return the claims about two steps up to that of the fault and the one finite weight that stands out
    there, () if there is none."""
    compared, *claims = part.claims
    grown = [claim for claim in claims if claim.key == "claim.growth.weight"]
    return (compared, *grown) if grown and compared.values["step"] <= step else ()


def _in_dump(source: ReportSource, dump_id: str, claim: Claim) -> Claim:
    """Return a claim with the name of its dump, if the run has several dumps."""
    if not dump_id or len(source.dumps) < 2:
        return claim
    facts = {"dump": dump_id.removeprefix("./"), "claim": claim}
    return Claim("claim.explain.in_dump", claim.verdict, facts, claim.evidence)


def _of_checks(source: ReportSource, dump_id: str, dump: Dump, searched: _Searched) -> Part:
    """Return the findings of the common checks, without notes about a healthy training. Tensors that an
    earlier dump named are not named again."""
    executor, cache = source.executor, source.cache
    watchpoints = [rule for rule in common_faults() if rule.condition not in _NON_FINITE]
    checked = list(check_and_count(dump, watchpoints, executor, cache))
    judged = [item for item in checked if isinstance(item, Hit)]
    (tally,) = (item for item in checked if isinstance(item, Tally))
    unsaid = ("claim.check.checked", *EXPECTED)
    checks = [claim for claim in check_claims(judged, tally) if claim.key not in unsaid]
    if checks[0].key == "claim.check.none":
        checks[0] = Claim("claim.explain.no_condition", "clear")  # which does not deny what `tensors` tells
    for position, claim in enumerate(checks):
        if claim.key == "claim.check.more":
            other = searched.named.setdefault(str(claim.values["tensors"]), dump_id)
            facts = {"n": claim.values["n"], "dump": other.removeprefix("./")}
            checks[position] = claim if other == dump_id else Claim("claim.explain.more_as", "note", facts)
    findings = [claim for claim in checks if claim.verdict == "found"]
    links = _operator_links(source, dump_id, dump, findings)
    check = {"dump": dump_id, "tab": "check", "check": "common"}
    return Part("checks", tuple(checks), dump_id, (("dump", check), *links))


def _of_norms(source: ReportSource, dump_id: str, dump: Dump, fault: Fault | None) -> Iterator[Part]:
    """Yield the changes of norms since the last healthy step: at the first step of a flight recorder, and at
    the step of the fault. Of several ranks, the first that names a module or a weight."""
    recorded = health_steps(dump)
    for alert in _alerts_of(source, dump_id):
        if alert.step in dump.steps():
            recorded.setdefault(alert.step, [alert.run.rank or 0])
    first = min(recorded, default=None)
    at = [] if first is None else [first]
    at += [fault.step] if fault is not None and first is not None and first < fault.step in recorded else []
    for step in at:
        own = fault.rank if fault is not None and fault.step == step else None
        ranks = sorted(recorded[step], key=lambda rank: (rank != own, rank))[:_RANKS]
        at_fault = own if fault is not None and fault.kind in ("made", "met") else None
        parts = [_norm_part(dump_id, dump, rank, step, rank == at_fault) for rank in ranks]
        changed = [part for part in parts if any(claim.verdict != "note" for claim in part.claims)]
        shown = min(
            changed or parts,
            key=lambda part: (all(claim.key in UNLOCATED for claim in part.faults), not part.faults),
        )
        if len(changed) == 1 < len(parts):
            facts = {"n": len(parts), "rank": ranks[parts.index(shown)]}
            shown = replace(shown, claims=(*shown.claims, Claim("claim.growth.alone", "note", facts)))
        yield shown


def _norm_part(dump_id: str, dump: Dump, rank: int, step: int, located: bool) -> Part:
    """Return the claims about the norms of a rank, with links to the tensors that they name. `located` is
    True if the first fault of the tensors is there and its operator is known."""
    norms = read_norms(dump, rank, step)
    facts: dict[str, Any] = {"step": step, "rank": rank}
    missing = ("claim.missing.every_step",)
    if norms is None:
        return Part("growth", (Claim("claim.growth.missing", "unknown", facts, (), missing),), dump_id)
    if isinstance(norms, FileDamage):
        facts["file"] = PurePosixPath(norms.path).name
        return Part("growth", (Claim("claim.growth.damaged", "unknown", facts, (), missing),), dump_id)
    claims = norm_claims(norms, step, rank, located)
    try:
        listing = list_tensors(dump, rank, step).items
    except (UnreadableError, OSError):
        listing = ()
    evidence = [named for claim in claims for named in claim.evidence]
    query = {"dump": dump_id, "rank": rank, "step": step}
    shown = [
        {**query, **_entry_query(entry), "name": named.get("weight") or named.get("module", "")}
        for named in evidence
        if (entry := tensor_of(listing, named)) is not None
    ]
    return Part("growth", tuple(claims), dump_id, tuple(("dump", link) for link in shown or [query]))


def _alerts_of(source: ReportSource, dump_id: str) -> list[RecordedAlert]:
    """Return the alerts about a dump."""
    return [
        alert
        for run in source.ranks
        for alert in recorded_alerts(run)
        if alert.content.dump and f"{run.id}/{alert.content.dump}" == dump_id
    ]


def _earlier(source: ReportSource, dump_id: str) -> list[Claim]:
    """Return the claim that an event file was begun after the alert about a dump, or an empty list."""
    walls = [alert.wall for alert in _alerts_of(source, dump_id)]
    begun = max((created(file.name) or 0.0 for run in source.ranks for file in run.files), default=0.0)
    if not walls or begun <= max(walls):
        return []
    facts = {"recorded": moment(max(walls)), "begun": moment(begun)}
    return [Claim("claim.explain.earlier", "note", facts)]


def _fault_links(source: ReportSource, dump_id: str, fault: Fault, operator: Operator | None) -> _Links:
    """Return the pages that show a fault: the tensors, and the graph of its rank if that is recorded."""
    recorded = operator.recorded if operator else fault.entry.recorded
    query = {"dump": dump_id, "rank": fault.rank, "step": fault.step}
    query |= {"graph": fault.entry.graph, "operator": recorded}
    return (("dump", query), *_graph_links(source, fault.rank, query))


def _entry_query(entry: TensorEntry) -> dict[str, Any]:
    """Return the query of a page that shows a tensor of a dump."""
    tensor = f"{entry.direction}/{entry.slot}"
    return {"graph": entry.graph, "operator": entry.recorded, "tensor": tensor}


def _operator_links(
    source: ReportSource,
    dump_id: str,
    dump: Dump,
    claims: Iterable[Claim],
    linked: Iterable[str] = (),
    default: tuple[int, int] = (0, 0),
) -> _Links:
    """Return the tensors of the operators that are the evidence of claims, and their places in the graph of
    their rank if that is recorded. Operators in `linked` have a link. `default` is the rank and step of
    evidence without them."""
    links: list[tuple[str, Mapping[str, Any]]] = []
    known = set(linked)
    for evidence in (entry for claim in claims for entry in claim.evidence):
        name, rank = evidence.get("operator"), evidence.get("rank", default[0])
        step = evidence.get("steps", [default[1]])[0]
        if not isinstance(name, str) or name in known or len(known) == _LINKED:
            continue
        known.add(name)
        with suppress(UnreadableError, OSError):
            listing = [entry for entry in list_tensors(dump, rank, step).items if entry.operator == name]
            for entry in sorted(listing, key=lambda entry: entry.direction != "output")[:1]:
                query = {"dump": dump_id, "rank": rank, "step": step, **_entry_query(entry), "name": name}
                links += [("dump", query), *_graph_links(source, rank, query)]
    return tuple(links)


def _graph_links(source: ReportSource, rank: int, query: Mapping[str, Any]) -> _Links:
    own = [run for run in source.ranks if (run.rank or 0) == rank and run.references.get("graph")]
    return tuple(("graph", {"run": run.id, **query}) for run in own[:1])


def _of_curves(source: ReportSource, searched: _Searched) -> Part:
    """Return the faults in the scalars of all ranks, with each curve at its first lasting one."""
    claims = curve_claims(source.ranks)
    faults = sorted((claim for claim in claims if claim.verdict == "found"), key=is_passing)
    named: dict[tuple[str, str], int | None] = {}
    for entry in (entry for claim in faults for entry in claim.evidence):
        key = str(entry["run"]), str(entry["tag"])
        named[key] = entry.get("step") if named.get(key) is None else named[key]
    lasting = [step for claim in faults if not is_passing(claim) for step in _steps(claim)]
    steps = lasting or [step for claim in faults for step in _steps(claim)]
    at = min([*steps, *searched.steps], default=None)
    searched.steps += steps
    about = [claim.values.get("claim", claim) for claim in faults if aims_of(claim) & {"loss", "norm"}]
    searched.non_finite = any(claim.key.startswith("claim.explain.non_finite") for claim in about)
    lost = (claim for claim in about if claim.key == "claim.explain.non_finite")
    searched.before = min(lost, key=lambda claim: int(claim.values["step"]), default=None)
    by_id = {run.id: run for run in source.ranks}
    run = by_id[next(iter(named))[0]] if named else source.run
    claims += [] if at is None else first_claims([*setting_claims(run, at)])
    main = sorted(run.scalars, key=lambda tag: (aim_of(tag) not in ("loss", "norm"), len(tag), tag))
    shown = list(dict.fromkeys([*named, *((run.id, tag) for tag in main)]))[:_CURVES]
    if any(not has_no_limit(claim) for claim in faults):
        claims.append(Claim("claim.explain.limits", "note", {"searched": searched_claims(source.ranks)}))
    known = []
    for run_id, tag in shown if faults or at is not None else []:
        if curve := curve_of(tag, by_id[run_id].scalars[tag].line(), named.get((run_id, tag), at)):
            known.append(replace(curve, run=run_id.removeprefix("./") if len(by_id) > 1 else ""))
    query: dict[str, Any] = {"run": list(dict.fromkeys(run_id for run_id, _ in shown)) or [run.id]}
    query |= {} if at is None else {"at": at}
    return Part("curves", tuple(claims), links=(("scalar", query),), curves=tuple(known))


def _summary(source: ReportSource, searched: _Searched, faulty: Sequence[Topic]) -> Claim:
    """Return the first sentence: where faults were found, or how much was searched without finding any."""
    if faulty:
        topics = [Claim(f"explain.topic.{topic}", "note") for topic in faulty]
        return Claim("claim.explain.found", "found", {"topics": topics})
    parts = searched_claims(source.ranks)
    if not parts and not searched.dumps and not searched.checkpoints:
        return Claim("claim.explain.nothing_recorded", "unknown")
    counts = {"ranks": len(source.ranks), "dumps": searched.dumps}
    counts |= {"checkpoints": searched.checkpoints, "watched": _watched_steps(source)}
    least = {"ranks": 2}  # that can be compared
    parts += [
        Claim(f"claim.part.explain.{name}", "note", {"n": count})
        for name, count in counts.items()
        if count >= least.get(name, 1)
    ]
    if searched.ended:
        return Claim("claim.explain.ended", "unknown", {"n": searched.ended, "searched": parts})
    return Claim("claim.explain.nothing", "clear", {"searched": parts})


def _watched_steps(source: ReportSource) -> int:
    """Return the number of steps in which flight recorders of all ranks reported nothing, 0 if unknown: a
    recorder was not closed, or an event file was begun since."""
    steps = []
    for run in source.ranks:
        with suppress(OSError):
            watched = read_watched(source.path_of(run.id), run.rank or 0)
            if watched and not watched.reported and watched.written >= run.created:
                steps.append(watched.steps)
    return min(steps) if len(steps) == len(source.ranks) else 0


def _difference(source: ReportSource) -> tuple[Part, list[Claim]]:
    """Return the differences from the last run without a fault, and the claims about data that cannot be
    compared."""
    run = source.run
    before = runs_before(run, source.runs.values())[:_CANDIDATES]
    unknown = still_read(before)
    sound = (other for other in before if is_baseline(other, run, source.runs.values()))
    other = next((other for other in sound if not has_broken_checkpoint(source, other)), None)
    if other is None:
        key = "claim.explain.none_healthy" if before else "claim.explain.no_baseline"
        return Part("difference", ()), [*unknown, Claim(key, "unknown", {"n": len(before)})]
    facts = {"run": other.id.removeprefix("./"), "least": EARLY + 1}
    differing, missing = differences(run, other)
    claims = [Claim("claim.explain.baseline", "note", facts, ({"run": other.id},)), *differing]
    pair = {"run": run.id, "baseline": other.id}
    links = (("align", pair), ("why", {"good": [other.id], "bad": [run.id]}))
    return Part("difference", tuple(claims), links=links), [*unknown, *missing]


def _unknown(source: ReportSource, searched: _Searched, unknown: Iterable[Claim]) -> Part:
    """Return the claims about data that were not recorded, each with the way to record them."""
    dumped = any(run.dumps for run in source.ranks)
    key = "claim.explain.no_tensors_of_nan" if searched.non_finite else "claim.explain.no_tensors"
    tensors = [] if dumped else [Claim(key, "unknown")]
    return Part("unknown", (*tensors, *unknown))
