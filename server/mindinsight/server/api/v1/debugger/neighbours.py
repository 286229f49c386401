"""Route for the neighbourhood of a tensor: its node, and the inputs and users of that node."""

from __future__ import annotations

from typing import Any

from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph
from mindinsight.server.api.v1.debugger.hits import slot_hits
from mindinsight.server.api.v1.debugger.lookup import CurrentSession, Slot, known_rank, outputs_of, slot_of
from mindinsight.server.api.v1.debugger.nodes import stack_json
from mindinsight.server.api.v1.debugger.session import Session
from mindinsight.server.api.v1.debugger.tensors import values_of
from mindinsight.server.api.v1.errors import Fault, V1Error
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import Number, RequiredText, Text, first_value, integer
from mindinsight.server.api.v1.tensors import statistics_json
from mindinsight.server.compute.statistics import measure
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.graph.encoders import v1
from mindinsight.server.http.bulkhead_routes import DumpRoute

router = JsonRouter(route_class=DumpRoute)


@router.get("/{session_id}/tensor-graphs")
def tensor_graphs(
    session: CurrentSession, tensor_name: RequiredText = None, graph_name: Text = None, rank_id: Number = None
) -> dict[str, Any]:
    """Nodes around a tensor, with statistics of their outputs."""
    if session.step < 1:
        raise V1Error(Fault.DEBUGGER_TENSOR_GRAPH, "Nothing has run yet; go to a step first.")
    rank = known_rank(session, integer(rank_id, "rank_id", 0, 0, 2**31))
    slot = slot_of(session, first_value(tensor_name), rank, first_value(graph_name))
    indices = _around(slot.graph, slot)
    return {
        "graph": {"nodes": [_node(session, slot, index, first_value(graph_name) or "") for index in indices]}
    }


def _around(graph: DumpGraph, slot: Slot) -> list[int]:
    inputs, outputs = graph.tree.boundary_edges(slot.node_index)
    return list(dict.fromkeys([slot.node_index, *inputs.sources.tolist(), *outputs.targets.tolist()]))


def _node(session: Session, slot: Slot, index: int, graph_name: str) -> dict[str, Any]:
    operator = slot.graph.operator(index)
    assert operator is not None  # edges join leaves
    node = v1.node_json(slot.graph.tree, index)
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
    """Outputs of an operator with their statistics, and the watchpoints that they hit, if any."""
    entries = outputs_of(session, rank, operator, session.step)
    slots = [_slot(entry.slot, values_of(entry)) for entry in entries] or [{"slot": "0"}]
    hits_by_slot = [slot_hits(session, rank, operator, slot["slot"]) for slot in slots]
    return [
        {**slot, "watch_points": hits} if hits else slot
        for slot, hits in zip(slots, hits_by_slot, strict=True)
    ]


def _slot(slot: str, values: Any) -> dict[str, Any]:
    if values is None:
        return {"slot": slot}
    measured = measure(values)
    return {"slot": slot, "statistics": statistics_json(measured, measured)}
