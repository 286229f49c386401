"""Routes for watchpoints, and for their hits at the current step."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from mindinsight.server.debug.conditions import HOLDS_INF, HOLDS_NAN, NO_PREVIOUS, NO_VALUES
from mindinsight.server.debug.watchpoints import Hit, common_faults
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.v1.debugger import debugger_json, debugger_session, session_lookup
from mindinsight.server.v1.debugger.debugger_session import Session, SessionWatchpoint
from mindinsight.server.v1.debugger.session_lookup import CurrentSession, JsonBody, graph_of, known_rank
from mindinsight.server.v1.debugger.session_routes import search_nodes
from mindinsight.server.v1.v1_responses import Fault, JsonRouter, V1Error

router = JsonRouter(route_class=DumpRoute)


@router.get("/{session_id}/condition-collections")
def condition_collections(session: CurrentSession) -> list[dict[str, Any]]:
    """Return the conditions that are available at this step, with their parameters and defaults."""
    return debugger_json.collections_json(session)


@router.post_json(
    "/{session_id}/create-watchpoint",
    "condition (id, params); watch_nodes: names of nodes, all of the target without it",
)
def create(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Create a watchpoint, and return its `id` and the session's state as `metadata`. Returns an error for an
    invalid condition or an unknown node, and while a job is running."""
    _check_waiting(session, Fault.DEBUGGER_CREATE)
    if "condition" not in body:
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition is missing.")
    condition, limits = debugger_json.condition_of(session, body["condition"])
    names = _operators_named(session, body) if body.get("watch_nodes") else None
    number = session.add_watchpoint(SessionWatchpoint(0, condition, limits, names))
    return {"id": number, "metadata": session.status("state", "enable_recheck")}


@router.post_json(
    "/{session_id}/update-watchpoint",
    "watch_point_id, watch_nodes, mode (1 adds, 0 removes), graph_name, search_pattern",
)
def update(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Add nodes to a watchpoint or remove them, and return the session's state as `metadata`. Without
    nodes nothing changes. Returns an error for an unknown watchpoint or node, and while a job is running.
    A scope stands for all operators in it."""
    _check_waiting(session, Fault.DEBUGGER_UPDATE)
    watchpoint = session_lookup.watchpoint_of(session, body.get("watch_point_id"))
    if body.get("mode") not in (0, 1):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter mode must be 0 or 1.")
    names = _operators_named(session, body)
    before = debugger_json.watched_operators(session, known_rank(session, body.get("rank_id", 0)), watchpoint)
    if names:
        session.set_watchpoint(replace(watchpoint, names=before | names if body["mode"] else before - names))
    return {"metadata": session.status("state", "enable_recheck")}


@router.post_json("/{session_id}/delete-watchpoint", "watch_point_id; without it all are removed")
def delete(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Delete a watchpoint, or all of them, and return the session's state as `metadata`. Returns an error for
    an unknown watchpoint, and while a job is running."""
    _check_waiting(session, Fault.DEBUGGER_DELETE)
    only = body.get("watch_point_id")
    watchpoints = session.watchpoints
    for number in watchpoints if only is None else [session_lookup.watchpoint_of(session, only).id]:
        session.remove_watchpoint(number)
    return {"metadata": session.status("state", "enable_recheck")}


@router.post_json("/{session_id}/set-recommended-watch-points", "requestBody: {set_recommended: true}")
def set_recommended(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Create watchpoints for the common faults and return their ids as `id`, or decline them with
    `set_recommended: false`. Returns an error if the session has done either before."""
    if "requestBody" not in body:
        raise V1Error(Fault.MISSING, "Parameter requestBody is missing.")
    request = body["requestBody"]
    confirmed = request.get("set_recommended") if isinstance(request, dict) else None
    if not isinstance(confirmed, bool):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter set_recommended must be true or false.")
    if session.recommended:
        raise V1Error(Fault.DEBUGGER_RECOMMENDED, "The recommended watchpoints have already been set.")
    session.recommended = True
    if not confirmed:
        return {"metadata": session.status("state", "enable_recheck")}
    faults = [SessionWatchpoint(0, rule.condition, rule.limits, types=rule.types) for rule in common_faults()]
    numbers = [session.add_watchpoint(watchpoint) for watchpoint in faults]
    return {"id": numbers, "metadata": session.status("state", "enable_recheck")}


def _check_waiting(session: Session, fault: Fault) -> None:
    if session.state != debugger_session.WAITING:
        raise V1Error(fault, debugger_session.BUSY)


def _operators_named(session: Session, body: dict[str, Any]) -> frozenset[str]:
    """Return the full names of the operators that a body selects by nodes, scopes or a search. Raises
    V1Error."""
    rank = known_rank(session, body.get("rank_id", 0))
    graph = graph_of(session, rank, body.get("graph_name"))
    nodes, pattern = body.get("watch_nodes") or [], body.get("search_pattern")
    if not isinstance(nodes, list) or not isinstance(pattern, dict | None):
        raise V1Error(Fault.DEBUGGER_TYPE, "watch_nodes must be a list, search_pattern an object.")
    indices = [session_lookup.node_index(graph, node, body.get("graph_name")) for node in nodes]
    if pattern and not indices:
        indices = search_nodes(session, rank, graph, *(_text(pattern, key) for key in _PATTERN))
    leaves = (graph.operator(leaf) for index in indices for leaf in graph.tree.leaves(index))
    return frozenset(operator.name for operator in leaves if operator is not None)


_PATTERN = ("name", "node_category", "stack_info_key_word")


def _text(pattern: dict[str, Any], key: str) -> str | None:
    value = pattern.get(key)
    if not isinstance(value, str | None):
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter {key} must be a string.")
    return value


# Errors of conditions: our bit, and MindInsight's bit and key, by which clients choose a text.
_ERRORS: Final = (
    (HOLDS_NAN, 1, "nan"),
    (HOLDS_INF, 2, "inf"),
    (NO_PREVIOUS, 4, "no_prev_tensor"),
    (NO_VALUES, 16, "no_history"),  # 8 is out_of_mem, which does not happen here
)


@router.post_json(
    "/{session_id}/search-watchpoint-hits",
    "group_condition: limit, offset, rank_id, graph_id, watchpoint_id, focused_node",
)
def search_hits(session: CurrentSession, body: JsonBody) -> dict[str, Any]:
    """Return a page of the nodes with hits as `watch_point_hits`, in execution order, or only `outdated` if
    there are none. Returns an error for an invalid `group_condition`, and for a page past the last."""
    group = body.get("group_condition")
    if not isinstance(group, dict):
        raise V1Error(Fault.DEBUGGER_TYPE, "Parameter group_condition must be an object.")
    rank = known_rank(session, group.get("rank_id", 0))
    limit, page = _integer(group, "limit", None, 1), _integer(group, "offset", 0, 0)
    nodes = _nodes([hit for hit in hits_of(session, rank) if _is_requested(hit, group)], session)
    outdated = {"outdated": session.can_recheck}
    if not nodes:
        return outdated
    page = _focused_page(nodes, group.get("focused_node"), limit, page)
    if page * limit >= len(nodes):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter offset is past the last page.")
    shown = nodes[page * limit : (page + 1) * limit]
    return {"watch_point_hits": shown, "total": len(nodes), "offset": page, **outdated}


@router.get("/{session_id}/tensor-hits")
def tensor_hits(
    session: CurrentSession,
    rank: session_lookup.RequestedRank,
    name: session_lookup.TensorName,
    graph_name: session_lookup.GraphName,
) -> dict[str, Any]:
    """Return the watchpoints that a tensor hit as `watch_points`, [] if it hit none. Returns an error for an
    unknown tensor, and while a job is running."""
    _check_waiting(session, Fault.DEBUGGER_HITS)
    slot = session_lookup.slot_of(session, name, rank, graph_name)
    return {"watch_points": slot_hits(session, rank, slot.operator, slot.slot)}


def slot_hits(session: Session, rank: int, operator: Operator, slot: str) -> list[dict[str, Any]]:
    """Return the watchpoints that an output of an operator hit, as JSON, by id."""
    tensor = (operator.graph, operator.name, slot)
    hits = [hit for hit in hits_of(session, rank) if (*_key(hit), hit.entry.slot) == tensor]
    return [_watchpoint_of_hit(session, hit) for hit in sorted(hits, key=lambda hit: hit.watchpoint.id)]


def hits_of(session: Session, rank: int) -> list[Hit]:
    """Return the hits of a rank at the current step, including unevaluated ones, without those of deleted
    watchpoints."""
    known = session.watchpoints
    return [hit for hit in session.hits if hit.entry.rank == rank and hit.watchpoint.id in known]


def _key(hit: Hit) -> tuple[str, str]:
    return (hit.entry.graph, hit.entry.operator)


def _is_requested(hit: Hit, group: dict[str, Any]) -> bool:
    graph, watchpoint = group.get("graph_id"), group.get("watchpoint_id")
    if watchpoint not in (None, 0, hit.watchpoint.id):
        return False
    return graph in (None, "", debugger_session.display_name(hit.entry.graph))


def _nodes(hits: Sequence[Hit], session: Session) -> list[dict[str, Any]]:
    """Return hits as JSON, grouped by node and slot."""
    nodes: dict[tuple[str, str], dict[str, Any]] = {}
    for hit in hits:
        node = nodes.setdefault(_key(hit), _node(session, hit))
        if hit.watchpoint.id not in node["watchpoint_id"]:
            node["watchpoint_id"].append(hit.watchpoint.id)
        slot = next((slot for slot in node["tensors"] if slot["slot"] == hit.entry.slot), None)
        if slot is None:
            slot = {"slot": hit.entry.slot, "watch_points": []}
            node["tensors"].append(slot)
        slot["watch_points"].append(_watchpoint_of_hit(session, hit))
    return list(nodes.values())


def _node(session: Session, hit: Hit) -> dict[str, Any]:
    graph_name = debugger_session.display_name(hit.entry.graph)
    graph = session.graph(hit.entry.rank, hit.entry.graph)
    index = graph.find(hit.entry.operator) if graph else None
    name = graph.tree.paths[index] if graph and index is not None else hit.entry.operator
    names = {"node_name": name, "graph_name": graph_name, "graph_id": graph_name}
    return {**names, "watchpoint_id": [], "tensors": []}


def _watchpoint_of_hit(session: Session, hit: Hit) -> dict[str, Any]:
    watchpoint = session.watchpoints[hit.watchpoint.id]
    errors = [(code, key) for bit, code, key in _ERRORS if hit.verdict.error & bit]
    codes = {"error_code": sum(code for code, _ in errors), "error_list": [key for _, key in errors]}
    return {**debugger_json.watchpoint_json(watchpoint, hit.verdict.findings), **codes}


def _focused_page(nodes: Sequence[dict[str, Any]], focus: object, limit: int, page: int) -> int:
    """Return the number of the page with the node in focus, otherwise the requested page."""
    if not isinstance(focus, dict):
        return page
    focused = (focus.get("node_name"), focus.get("graph_name"))
    names = [(node["node_name"], node["graph_name"]) for node in nodes]
    return names.index(focused) // limit if focused in names else page


def _integer(group: dict[str, Any], name: str, default: int | None, low: int) -> int:
    value = group.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < low:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter {name} must be an integer of at least {low}.")
    return value
