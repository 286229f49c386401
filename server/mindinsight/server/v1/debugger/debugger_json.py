"""JSON encoders of the debugger: conditions, watchpoints, and the nodes of a dump's graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.debug.conditions import Condition, Finding, Limits, Parameter, conditions
from mindinsight.server.debug.tensor_targets import targets
from mindinsight.server.debug.watchpoints import checked_limits
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.graph.encoders import v1_graph
from mindinsight.server.graph.model.graph import Flags
from mindinsight.server.graph.scopes.scope_tree import ROOT
from mindinsight.server.v1.debugger.debugger_session import DumpGraph, Session, SessionWatchpoint
from mindinsight.server.v1.v1_responses import Fault, V1Error

_TARGETS: Final = ("activation", "gradient", "tensor", "weight")


def available_conditions(session: Session) -> list[Condition]:
    """Return the conditions that a watchpoint can have at the session's step."""
    return [
        condition
        for condition in conditions().values()
        if not (condition.needs_previous and condition.target == "tensor")
        and (session.step == 0 or not condition.first_step_only)
    ]


def collections_json(session: Session) -> list[dict[str, Any]]:
    """Return `id` and `conditions` of each target as JSON, with the conditions that are available at the
    session's step, [] if there are none."""
    available = available_conditions(session)
    return [
        {
            "id": f"{target}_condition_collection",
            "conditions": [_condition_json(known) for known in available if known.target == target],
        }
        for target in _TARGETS
    ]


def watchpoint_json(
    watchpoint: SessionWatchpoint, findings: tuple[Finding, ...] | None = None
) -> dict[str, Any]:
    """Return a watchpoint as JSON: `id`, and `watch_condition` with `id`, `abbr` and `params`. With the
    `findings` of a hit, each limit has the `actual_value` that was compared with it, None if there is none.
    """
    actual = {finding.name: finding.actual for finding in findings or ()}
    params: list[dict[str, Any]] = []
    for name, value in visible_limits(watchpoint).items():
        compared = {} if findings is None else {"actual_value": actual.get(name)}
        params.append({"name": name, "value": value, **compared})
    condition = conditions()[watchpoint.condition]
    about = {"id": condition.id, "abbr": condition.abbreviation, "params": params}
    return {"id": watchpoint.id, "watch_condition": about}


def visible_limits(watchpoint: SessionWatchpoint) -> Limits:
    """Return the limits that users set. Hidden parameters are omitted."""
    parameters = conditions()[watchpoint.condition].parameters
    hidden = {parameter.name for parameter in parameters if _is_hidden(parameter)}
    return {name: value for name, value in watchpoint.limits.items() if name not in hidden}


def condition_of(session: Session, body: object) -> tuple[str, Limits]:
    """Parse a condition and its limits: ``{"id", "params": [{"name", "value"}]}``. Raises V1Error if they are
    invalid, or the condition is not available at the session's step."""
    if not isinstance(body, dict) or not isinstance(body.get("params", []), list):
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition must be an object with id and params.")
    condition = body.get("id")
    if not isinstance(condition, str) or condition not in conditions():
        raise V1Error(Fault.DEBUGGER_VALUE, "Parameter condition has an unknown id.")
    if condition not in {entry.id for entry in available_conditions(session)}:
        raise V1Error(Fault.DEBUGGER_CONDITION, f"{condition} is not available at this step.")
    limits = dict(_param(entry) for entry in body.get("params", []))
    try:
        return condition, checked_limits(condition, limits)
    except (ValueError, OverflowError) as error:
        raise V1Error(Fault.DEBUGGER_VALUE, f"Parameter condition is wrong: {error}") from None


def _param(entry: object) -> tuple[str, float]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise V1Error(Fault.DEBUGGER_VALUE, "A parameter of a condition is an object with name and value.")
    value = entry.get("value")
    if not isinstance(value, int | float):
        raise V1Error(Fault.DEBUGGER_VALUE, f"{entry['name']} must be a number.")
    return entry["name"], value


def _condition_json(condition: Condition) -> dict[str, Any]:
    return {
        "id": condition.id,
        "abbr": condition.abbreviation,
        "supported_target_type": condition.target,
        "parameters": [_parameter_json(known) for known in condition.parameters if not _is_hidden(known)],
    }


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": "FLOAT64",
        "support_disable": parameter.checks,
        "default_value": parameter.default,
        "param_type": "CHECK_PARAM" if parameter.checks else "SUPPORT_PARAM",
        "required_params": list(parameter.requires),
    }


def _is_hidden(parameter: Parameter) -> bool:
    """Return True for a parameter that supports a rule and has a default: epsilon, atol, equal_nan."""
    return not parameter.checks and parameter.default is not None


@dataclass(frozen=True, eq=False)
class WatchedLeaves:
    """Leaves of a graph that a watchpoint covers."""

    graph: DumpGraph
    watched: Flags  # [t] True for covered leaves, False for scopes
    leaves: Flags  # [t] True for leaves

    def state(self, index: int) -> int:
        """Return the watch state of a subtree: 2 if all leaves are covered, 1 if some, 0 if none."""
        inside = slice(index, int(self.graph.tree.ends[index]))
        count = int(np.count_nonzero(self.watched[inside]))
        if not count:
            return 0
        return 2 if count == int(np.count_nonzero(self.leaves[inside])) else 1


def classes_of(session: Session, rank: int) -> dict[str, frozenset[str]]:
    """Return the classes (tensor, weight, gradient, activation) of each operator's outputs, by the operator's
    full name, at the rank's first step. Empty if the rank has no steps.
    """
    classes: dict[str, frozenset[str]] = {}
    for step in session.dump.steps(rank)[:1]:
        for entries in session.tensors(rank, step + 1).values():
            for entry in entries:
                classes[entry.operator] = classes.get(entry.operator, frozenset()) | targets(entry)
    return classes


def watched_operators(session: Session, rank: int, watchpoint: SessionWatchpoint) -> frozenset[str]:
    """Return the full names of the operators that a watchpoint covers."""
    if watchpoint.names is not None:
        return watchpoint.names
    target = conditions()[watchpoint.condition].target
    return frozenset(name for name, classes in classes_of(session, rank).items() if target in classes)


def watched_leaves(
    session: Session, rank: int, graph: DumpGraph, watchpoint: SessionWatchpoint
) -> WatchedLeaves:
    """Return the leaves of a graph that a watchpoint covers."""
    names = watched_operators(session, rank, watchpoint)
    operators = [graph.operator(index) for index in range(len(graph.tree.paths))]
    flags = np.array([operator is not None and operator.name in names for operator in operators], np.bool_)
    return WatchedLeaves(graph, flags, np.asarray(graph.tree.nodes >= 0))


def node_json(graph: DumpGraph, index: int, watched: WatchedLeaves | None = None) -> dict[str, Any]:
    """Return a node as JSON, as for recorded graphs, with full name, call stack and watch state."""
    operator = graph.operator(index)
    node = v1_graph.node_json(graph.tree, index)
    node["full_name"] = operator.name if operator else graph.tree.paths[index]
    node["stack_info"] = stack_json(operator)
    if watched is not None:
        node["watched"] = watched.state(index)
    return node


def stack_json(operator: Operator | None) -> list[dict[str, Any]]:
    """Return the call stack of an operator as JSON, innermost frame first, or an empty list for a scope."""
    return [frame_json(frame) for frame in (operator.stack if operator else ())]


def frame_json(frame: Frame) -> dict[str, Any]:
    """Return a stack frame as JSON: `file_path`, `line_no` and `code_line`."""
    return {"file_path": frame.file, "line_no": frame.line, "code_line": frame.code}


def nodes_json(
    graph: DumpGraph, indices: Sequence[int], watched: WatchedLeaves | None = None
) -> list[dict[str, Any]]:
    """Return several nodes as JSON, each like `node_json`."""
    return [node_json(graph, index, watched) for index in indices]


def levels_json(graph: DumpGraph, index: int, watched: WatchedLeaves | None = None) -> dict[str, Any]:
    """Return `scope_name` and `nodes` of each level from the root to the level of a node, nested in
    `children` of the level above. The last `children` is {}."""
    levels: dict[str, Any] = {}
    for scope in [*graph.tree.ancestors(index)[::-1], ROOT]:
        nodes = nodes_json(graph, graph.tree.children(scope), watched)
        levels = {"scope_name": graph.tree.paths[scope], "nodes": nodes, "children": levels}
    return levels
