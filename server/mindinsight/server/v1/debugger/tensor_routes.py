"""Routes for tensors of a dump: values, comparison, neighbourhood and download."""

import math
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

import numpy as np
from fastapi import Depends, Response

from mindinsight.server.compute.tensor_statistics import Array, measure
from mindinsight.server.formats.arrays.lazy_array import write_npy
from mindinsight.server.formats.dumps import describe_tensor, read_tensor, tensor_values
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry, TensorRef
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.encoders import v1_graph
from mindinsight.server.http.bulkhead_routes import DumpRoute, stream
from mindinsight.server.types import Doubles
from mindinsight.server.v1.debugger import session_lookup
from mindinsight.server.v1.debugger.debugger_json import stack_json
from mindinsight.server.v1.debugger.debugger_session import Session
from mindinsight.server.v1.debugger.session_lookup import CurrentSession, JsonBody, Slot, entry_of, outputs_of
from mindinsight.server.v1.debugger.watchpoint_routes import hits_of, slot_hits
from mindinsight.server.v1.payload_routes import MOST_VALUES, index_of, plain_values, statistics_json
from mindinsight.server.v1.v1_parameters import optional_text, required
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=DumpRoute)
T = TypeVar("T")

CACHED: Final = "cached"
EMPTY: Final = "empty"
TOO_LARGE: Final = "Too large to show."
_CLICK_TO_VIEW: Final = "click to view"  # MindInsight's pages expect this text for a value

_SHAPE: Final = "one integer or slice for each dimension: [0, :]; all values without it"
Shape = Annotated[str | None, optional_text("shape", _SHAPE)]
Name = Annotated[str | None, optional_text("name", needed=True)]


def requested_slot(
    session: CurrentSession,
    rank: session_lookup.RequestedRank,
    name: Name,
    detail: Annotated[str | None, optional_text("detail", "data")],
    graph_name: session_lookup.GraphName,
) -> Slot:
    """Return the tensor that a request names. FastAPI dependency. Raises V1Error if its name is missing or
    unknown, or `detail` is not `data`."""
    if detail not in (None, "data"):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter detail must be data.")
    return session_lookup.slot_of(session, required(name, "name"), rank, graph_name)


RequestedSlot = Annotated[Slot, Depends(requested_slot)]


@router.post_json("/{session_id}/tensor-history", "name of a node, graph_name, rank_id")
def tensor_history(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Return the outputs and inputs of a node as `tensor_history`, without their values, [] for a scope.
    Returns an error for an unknown node."""
    rank = session_lookup.known_rank(session, body.get("rank_id", 0))
    name, graph_name = body.get("name"), body.get("graph_name")
    graph = session_lookup.graph_of(session, rank, graph_name)
    index = session_lookup.node_index(graph, name, graph_name)
    operator = graph.operator(index)
    rows = _rows(session, rank, operator, str(name), "output") if operator else []
    if operator is not None:
        inputs, _ = graph.tree.boundary_edges(index)
        for source in dict.fromkeys(inputs.sources.tolist()):
            feeding = graph.operator(source)
            assert feeding is not None  # edges join leaves
            rows += _rows(session, rank, feeding, graph.tree.paths[source], "input")
    history = [{**row, "graph_name": graph_name or ""} for row in rows]
    return {"tensor_history": history, "metadata": session.status("state", "step")}


@router.get("/{session_id}/tensors")
def tensor_value(
    session: CurrentSession,
    slot: RequestedSlot,
    name: Name,
    shape: Shape,
    prev: Annotated[str | None, optional_text("prev", "true: of the previous step")],
) -> dict[str, Any]:
    """Return the values of a tensor or a slice as `tensor_value`, with statistics: null and {} if they were
    not dumped, a text in place of too many values. Returns an error for an unknown tensor or an invalid
    slice."""
    step = session.step - (prev == "true")
    entry = entry_of(session, slot, step)
    values = dumped(entry, read_tensor)
    facts = tensor_facts(session, slot.rank, slot.operator, slot.slot, step)
    response: dict[str, Any] = {**facts, "name": name, "value": None, "statistics": {}}
    if values is not None:
        part = _part(values, shape)
        shown = TOO_LARGE if part.size > MOST_VALUES else plain_values(_floats(part))
        response |= {"value": shown, "statistics": statistics_json(measure(part), measure(values))}
    return {"tensor_value": response}


@router.get("/{session_id}/tensor-comparisons")
def tensor_comparisons(
    session: CurrentSession,
    slot: RequestedSlot,
    shape: Shape,
    tolerance: Annotated[str | None, optional_text("tolerance", "from 0 to 1")],
) -> dict[str, Any]:
    """Compare a parameter with the previous step: [before, now, difference] for each element, as
    `tensor_value.diff`. Returns an error if the tensor is no parameter, or was not dumped at both steps, and
    for an invalid slice or `tolerance`.

    Differences up to `tolerance` times the earlier value become 0.
    """
    within = _tolerance(tolerance)
    entry = entry_of(session, slot, session.step)
    if entry is None or entry.direction != "parameter":
        raise V1Error(Fault.DEBUGGER_VALUE, "Only parameters can be compared with the previous step.")
    earlier = entry_of(session, slot, session.step - 1)
    now, before = dumped(entry, read_tensor), dumped(earlier, read_tensor)
    if now is None or before is None or now.shape != before.shape:
        raise V1Error(Fault.DEBUGGER_VALUE, "The parameter was not dumped at this and the previous step.")
    return {"tensor_status": CACHED, "tensor_value": _comparison_json(now, before, shape, within)}


def tensor_facts(session: Session, rank: int, operator: Operator, slot: str, step: int) -> dict[str, Any]:
    """Return the metadata of a tensor at a step, as JSON. If it was not dumped, `dtype` is DT_UNDEFINED,
    `shape` [], `bytes` 0 and `tensor_status` empty."""
    entries = {entry.slot: entry for entry in outputs_of(session, rank, operator, step)}
    earlier = {entry.slot for entry in outputs_of(session, rank, operator, step - 1)}
    header = dumped(entries.get(slot), describe_tensor)
    return {
        "full_name": f"{operator.name}:{slot}",
        "step": step,
        "dtype": f"DT_{header.dtype.upper()}" if header else "DT_UNDEFINED",
        "shape": list(header.shape) if header else [],
        "bytes": header.size if header else 0,
        "tensor_status": CACHED if header else EMPTY,
        "has_prev_step": slot in earlier,
    }


def dumped(entry: TensorEntry | None, read: Callable[[TensorRef], T]) -> T | None:
    """Return the result of ``read``, or None if the values were not dumped or cannot be read."""
    try:
        return read(entry.ref) if entry is not None and entry.ref is not None else None
    except UnreadableError:
        return None


def _rows(session: Session, rank: int, operator: Operator, name: str, direction: str) -> list[dict[str, Any]]:
    hit_tensors = {(hit.entry.graph, hit.entry.operator, hit.entry.slot) for hit in hits_of(session, rank)}
    slots = [output.slot for output in outputs_of(session, rank, operator, session.step)]
    rows = []
    for slot in slots or list(operator.outputs) or ["0"]:
        facts = tensor_facts(session, rank, operator, slot, session.step)
        value = _CLICK_TO_VIEW if facts["tensor_status"] == CACHED else None
        row: dict[str, Any] = {"name": f"{name}:{slot}", "node_type": operator.type, "type": direction}
        if (operator.graph, operator.name, slot) in hit_tensors:
            row["is_hit"] = True
        rows.append({**facts, **row, "value": value})
    return rows


def _part(values: Array, shape: str | None) -> Array:
    return values if shape is None else np.asarray(values[index_of(shape, values.shape, "shape")])


def _floats(values: Array) -> Doubles:
    """Convert values to float64. Complex numbers become their magnitude."""
    return np.asarray(np.abs(values) if values.dtype.kind == "c" else values, np.float64)


def _tolerance(text: str | None) -> float:
    try:
        number = float(text or "0")
    except ValueError:
        raise V1Error(Fault.TYPE, "Parameter tolerance must be a number.") from None
    if not math.isfinite(number) or not 0 <= number <= 1:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter tolerance must be from 0 to 1.")
    return number


def _comparison_json(now: Array, before: Array, shape: str | None, tolerance: float) -> dict[str, Any]:
    """Return the comparison of two steps as JSON. Differences up to `tolerance` times the earlier value
    become 0."""
    parts = [_floats(_part(values, shape)) for values in (before, now)]
    with np.errstate(all="ignore"):
        difference = parts[1] - parts[0]
        difference = np.where(np.abs(difference) <= tolerance * np.abs(parts[0]), 0.0, difference)
    triples = np.stack([*parts, difference], axis=-1)
    return {
        "diff": TOO_LARGE if difference.size > MOST_VALUES else plain_values(triples),
        "shape": list(now.shape),
        "statistics": statistics_json(measure(difference), measure(difference)),
        "curr_step_statistics": statistics_json(measure(parts[1]), measure(now)),
        "prev_step_statistics": statistics_json(measure(parts[0]), measure(before)),
    }


@router.get("/{session_id}/tensor-graphs")
def tensor_graphs(
    session: CurrentSession,
    rank: session_lookup.RequestedRank,
    name: session_lookup.TensorName,
    graph_name: session_lookup.GraphName,
) -> dict[str, Any]:
    """Return the node of a tensor and its neighbours as `graph.nodes`, with statistics of their outputs.
    Returns an error before the first step, and for an unknown tensor."""
    if session.step < 1:
        raise V1Error(Fault.DEBUGGER_TENSOR_GRAPH, "Nothing has run yet; go to a step first.")
    slot = session_lookup.slot_of(session, name, rank, graph_name)
    inputs, outputs = slot.graph.tree.boundary_edges(slot.node_index)
    indices = dict.fromkeys([slot.node_index, *inputs.sources.tolist(), *outputs.targets.tolist()])
    return {"graph": {"nodes": [_node(session, slot, index, graph_name or "") for index in indices]}}


def _node(session: Session, slot: Slot, index: int, graph_name: str) -> dict[str, Any]:
    operator = slot.graph.operator(index)
    assert operator is not None  # edges join leaves
    node = v1_graph.node_json(slot.graph.tree, index)
    return {
        "name": node["name"],
        "full_name": operator.name,
        "type": node["type"],
        "input": _with_slots(node["input"]),
        "output": _with_slots(node["output"]),
        "slots": _slots(session, slot.rank, operator),
        "stack_info": stack_json(operator),
        "graph_name": graph_name,
    }


def _with_slots(ends: dict[str, Any]) -> dict[str, Any]:
    return {name: {**edge, "slot_mapping": [["0", ""]]} for name, edge in ends.items()}


def _slots(session: Session, rank: int, operator: Operator) -> list[dict[str, Any]]:
    """Return the outputs of an operator with their statistics, and the watchpoints that they hit, if any."""
    entries = outputs_of(session, rank, operator, session.step)
    slots = [_slot(entry.slot, dumped(entry, read_tensor)) for entry in entries] or [{"slot": "0"}]
    for slot in slots:
        if hits := slot_hits(session, rank, operator, slot["slot"]):
            slot["watch_points"] = hits
    return slots


def _slot(slot: str, values: Any) -> dict[str, Any]:
    if values is None:
        return {"slot": slot}
    measured = measure(values)
    return {"slot": slot, "statistics": statistics_json(measured, measured)}


@router.post_json("/{session_id}/tensor-files/load", "name of a tensor, graph_name, prev, rank_id")
def load(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Prepare a tensor of the current or the previous step for download, in place of an earlier one, add an
    event, and return `in_memory` and its `step`. Returns an error if its values were not dumped."""
    rank = session_lookup.known_rank(session, body.get("rank_id", 0))
    slot = session_lookup.slot_of(session, body.get("name"), rank, body.get("graph_name"))
    previous = body.get("prev") in (True, "true")
    entry = entry_of(session, slot, session.step - previous)
    if entry is None or entry.ref is None or dumped(entry, describe_tensor) is None:
        raise V1Error(Fault.DEBUGGER_VALUE, "The values of this tensor were not dumped at this step.")
    session.download = (session_lookup.file_name(entry), entry.ref)
    session.events.add({"tensor_file": True, "node_name": body["name"]})
    return {"in_memory": True, "step": session.step - previous}


@router.get(
    "/{session_id}/tensor-files/download",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "the tensor as .npy"}},
)
def download(session: CurrentSession) -> Response:
    """Stream the prepared tensor as it is read. It can be downloaded only once. Returns an error if none is
    prepared, or if it cannot be read."""
    prepared, session.download = session.download, None
    if prepared is None:
        raise V1Error(Fault.DEBUGGER_DOWNLOAD, "No tensor has been prepared for download.")
    name, ref = prepared
    return stream(write_npy(tensor_values(ref)), {"Content-Disposition": f'attachment; filename="{name}"'})
