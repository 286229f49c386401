"""Routes that list dumps: ranks, steps, graphs and log files, and the operators of a step."""

from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug import operator_links
from mindinsight.server.debug.examine import TensorResult, is_non_finite, operator_key
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.overlay.graph_overlay import step_masks
from mindinsight.server.debug.recorded_statistics import find_disagreements
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.plugins.dump import dump_requests
from mindinsight.server.plugins.dump.dump_requests import DumpId, Rank, Step, damage_json, open_known_dump

router = APIRouter(route_class=DumpRoute)


@router.get("/list")
def dumps(service: CurrentService) -> dict[str, Any]:
    """List the dumps below the base directories with their runs."""
    snapshot = service.store.snapshot()
    rows = [{"id": dump, "run": run.id} for run in snapshot.runs.values() for dump in run.dumps]
    return {"version": snapshot.version, "dumps": sorted(rows, key=lambda row: row["id"])}


@router.get("/summary")
def summary(service: CurrentService, dump: DumpId) -> dict[str, Any]:
    """Return the summary of a dump: the tool that wrote it, its ranks, steps and graphs. No tensor is
    listed."""
    opened = open_known_dump(service, dump)
    names = ("layout", "framework", "version", "device", "level", "task", "config")
    return {
        "id": dump,
        **{name: getattr(opened, name) for name in names},
        "ranks": [
            {"rank": rank, "name": name, "steps": opened.steps(rank)} for rank, name in opened.rank_names
        ],
        "graphs": opened.graphs(),
        "logs": len(opened.logs),
        "damage": [damage_json(damage) for damage in opened.damage],
    }


@router.get("/overflows")
def overflows(service: CurrentService, dump: DumpId, rank: Rank = 0, step: Step = 0) -> dict[str, Any]:
    """Return the overflows that the device reported at a rank and step, with their operators. Returns 404 for
    an unknown dump, rank or step."""
    opened = open_known_dump(service, dump)
    dump_requests.require_place(opened, [rank], [step])
    listing = list_overflows(opened, rank, step)
    names = ("graph", "unit", "status", "task", "stream", "operator")
    rows = [{name: getattr(overflow, name) for name in names} for overflow in listing.items]
    return {"overflows": rows, "damage": [damage_json(damage) for damage in listing.damage]}


_SECTION: Final = 256_000  # bytes of text in one response
_MAX_OFFSET: Final = 1 << 53  # bytes; beyond the limits of file systems


@router.get("/logs")
def logs(service: CurrentService, dump: DumpId) -> dict[str, Any]:
    """Return the log files of a dump."""
    files = open_known_dump(service, dump).logs
    names = ("rank", "module", "name", "graph", "time", "sequence", "kind", "size")
    rows = [{"file": Path(log.path).name, **{name: getattr(log, name) for name in names}} for log in files]
    return {"logs": rows}


@router.get("/log")
def log(
    service: CurrentService,
    dump: DumpId,
    file: Annotated[str, Query(description="name as listed")],
    rank: Rank = 0,
    offset: Annotated[int, Query(ge=0, le=_MAX_OFFSET, description="bytes")] = 0,
) -> dict[str, Any]:
    """Return a section of a log file as text. `next` is the offset of the next section, null at the end.
    Returns 404 for an unknown or binary file."""
    logs = (entry for entry in open_known_dump(service, dump).logs if entry.rank == rank)
    match = next((entry for entry in logs if Path(entry.path).name == file), None)
    if match is None or match.kind == "pb":
        raise ApiError(404, "unknown_log", f"There is no text {file!r}.", file=file)
    try:
        with opened(Path(match.path)) as stream:
            stream.seek(offset)
            content = stream.read(_SECTION)
    except UnreadableError as error:
        raise dump_requests.unreadable_error(error) from None
    end = offset + len(content)
    return {"text": content.decode("utf-8", "replace"), "next": end if len(content) == _SECTION else None}


Scope = Annotated[list[str] | None, Query()]
_MAX_CHILDREN = 2000  # of one scope in a response
_MAX_DAMAGE = 20  # damaged files listed above the tree


@router.get("/tree")
def tree(listing: dump_requests.StepListing, scope: Scope = None) -> dict[str, Any]:
    """Return up to 2000 children of a scope, or of the root, in execution order, and how many were left
    out. `lost` counts the operators below each child that are known to put out non-finite values, and
    parameters that hold some. Masks are no such values."""
    done = listing.done  # read first, so that everything read after it is complete
    path = tuple(scope or ())
    results = list(listing.results)
    masks = step_masks(listing, results, done)
    not_finite_keys = {
        operator_key(result.entry)
        for result in filter(is_non_finite, results)
        if result.entry.direction in ("output", "parameter") and result.entry.sequence not in masks
    }
    children: dict[tuple[bool, str], dict[str, Any]] = {}
    for key, operator in listing.operators.items():
        if operator.scope[: len(path)] != path:
            continue
        relative = operator.scope[len(path) :]
        name = relative[0] if relative else f"{operator.graph}:{operator.recorded}"
        child = children.setdefault((bool(relative), name), _child_json(operator, relative))
        child["operators"] += operator.type != "Parameter"
        child["parameters"] += operator.type == "Parameter"
        child["lost"] += key in not_finite_keys
    rows = list(children.values())
    return {
        "scope": path,
        "done": done,
        "children": rows[:_MAX_CHILDREN],
        "left_out": max(0, len(rows) - _MAX_CHILDREN),
        "damage": [] if path else [damage_json(damage) for damage in listing.operator_damage[:_MAX_DAMAGE]],
    }


@router.get("/operator")
def operator(
    listing: dump_requests.StepListing,
    recorded: Annotated[str, Query(description="name as recorded")],
    graph: str = "",
) -> dict[str, Any]:
    """Return one operator: its call stacks, its tensors, and the operators before and after it. Returns
    404 for an unknown operator. `certain` links come from the graph, others are inferred from tensors with
    equal contents."""
    operator_record = listing.operators.get((graph, recorded))
    entries = [entry for entry in listing.entries if (entry.graph, entry.recorded) == (graph, recorded)]
    if operator_record is None and not entries:
        raise ApiError(404, "unknown_operator", f"There is no operator {recorded!r}.", operator=recorded)
    done = listing.done  # read before the results, so that none is added after it
    operators = (listed for listed in listing.operators.values() if listed.graph == graph)
    links = operator_links.graph_links(operators)
    if not any(recorded in (link.source, link.target) for link in links):
        links = operator_links.content_links(listing.results)
    if operator_record is None:
        facts: dict[str, Any] = {"graph": graph, "operator": entries[0].operator, "recorded": recorded}
    else:
        facts = dump_requests.operator_json(operator_record)
    return {
        **facts,
        "inputs": [
            _link_json(listing, graph, link, link.source)
            for link in operator_links.inputs_of(recorded, links)
        ],
        "outputs": [
            _link_json(listing, graph, link, link.target)
            for link in operator_links.outputs_of(recorded, links)
        ],
        "tensors": [_tensor_json(entry, listing.result(entry)) for entry in entries],
        "done": done,
    }


def _child_json(operator: Operator, relative: tuple[str, ...]) -> dict[str, Any]:
    leaf = {} if relative else {"recorded": operator.recorded, "graph": operator.graph, "type": operator.type}
    name = relative[0] if relative else operator.name.rpartition("/")[2]
    return {"name": name, "scope": bool(relative), "operators": 0, "parameters": 0, "lost": 0, **leaf}


def _tensor_json(entry: TensorEntry, result: TensorResult | None) -> dict[str, Any]:
    """Return a tensor with its recorded statistics. `disagrees` lists the statistics that its data
    contradicts."""
    disagreements: tuple[str, ...] = ()
    statistics = result.measurement.statistics if result and result.measurement else None
    if isinstance(statistics, Statistics) and entry.statistics:
        disagreements = find_disagreements(statistics, entry.statistics)
    recorded = {"said": dump_requests.recorded_json(entry.statistics), "disagrees": disagreements}
    return {**dump_requests.entry_json(entry, result), **recorded}


def _link_json(listing: Listing, graph: str, link: operator_links.Link, other: str) -> dict[str, Any]:
    operator = listing.operators.get((graph, other))
    return {
        "recorded": other,
        "operator": operator.name if operator else other,
        "type": operator.type if operator else "",
        "known": operator is not None,
        **{name: getattr(link, name) for name in ("certain", "source_slot", "target_slot")},
    }
