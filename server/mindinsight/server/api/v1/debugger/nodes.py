"""JSON encoder of the nodes of a dump's graph, with call stacks and watch state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.api.v1.debugger.dump_graph import DumpGraph
from mindinsight.server.api.v1.debugger.session import Session, SessionWatchpoint
from mindinsight.server.debug.conditions import conditions
from mindinsight.server.debug.targets import targets
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.graph.encoders import v1
from mindinsight.server.graph.model.graph import Flags
from mindinsight.server.graph.scopes.tree import ROOT

_NONE: Final = 0
_SOME: Final = 1
_ALL: Final = 2


@dataclass(frozen=True, eq=False)
class WatchedLeaves:
    """Leaves of a graph that a watchpoint covers."""

    graph: DumpGraph
    watched: Flags  # [t] whether the leaf is covered; False for scopes
    leaves: Flags  # [t] whether it is a leaf

    def state(self, index: int) -> int:
        """Watch state of a subtree: 2 if all leaves are covered, 1 if some, 0 if none."""
        inside = slice(index, int(self.graph.tree.ends[index]))
        count = int(np.count_nonzero(self.watched[inside]))
        if not count:
            return _NONE
        return _ALL if count == int(np.count_nonzero(self.leaves[inside])) else _SOME


def classes_of(session: Session, rank: int) -> dict[str, frozenset[str]]:
    """Classes of the outputs of each operator (tensor, weight, gradient, activation), by full name."""
    classes: dict[str, frozenset[str]] = {}
    for step in session.dump.steps(rank)[:1]:
        for entries in session.tensors(rank, step + 1).values():
            for entry in entries:
                classes[entry.operator] = classes.get(entry.operator, frozenset()) | targets(entry)
    return classes


def watched_operators(session: Session, rank: int, watchpoint: SessionWatchpoint) -> frozenset[str]:
    """Full names of the operators that a watchpoint covers."""
    if watchpoint.names is not None:
        return watchpoint.names
    target = conditions()[watchpoint.condition].target
    return frozenset(name for name, classes in classes_of(session, rank).items() if target in classes)


def watched_leaves(
    session: Session, rank: int, graph: DumpGraph, watchpoint: SessionWatchpoint
) -> WatchedLeaves:
    """Leaves of a graph that a watchpoint covers."""
    names = watched_operators(session, rank, watchpoint)
    operators = [graph.operator(index) for index in range(len(graph.tree.paths))]
    flags = np.array(
        [operator is not None and operator.name in names for operator in operators], dtype=np.bool_
    )
    return WatchedLeaves(graph, flags, np.asarray(graph.tree.nodes >= 0))


def node_json(graph: DumpGraph, index: int, watched: WatchedLeaves | None = None) -> dict[str, Any]:
    """A node as JSON, as for recorded graphs, with full name, call stack and watch state."""
    operator = graph.operator(index)
    node = v1.node_json(graph.tree, index)
    node["full_name"] = operator.name if operator else graph.tree.paths[index]
    node["stack_info"] = stack_json(operator)
    if watched is not None:
        node["watched"] = watched.state(index)
    return node


def stack_json(operator: Operator | None) -> list[dict[str, Any]]:
    """Call stack of an operator as JSON, innermost frame first; empty for a scope."""
    return [frame_json(frame) for frame in (operator.stack if operator else ())]


def frame_json(frame: Frame) -> dict[str, Any]:
    """A stack frame as JSON."""
    return {"file_path": frame.file, "line_no": frame.line, "code_line": frame.code}


def nodes_json(
    graph: DumpGraph, indices: Sequence[int], watched: WatchedLeaves | None = None
) -> list[dict[str, Any]]:
    """Several nodes as JSON, as ``node_json``."""
    return [node_json(graph, index, watched) for index in indices]


def levels_json(graph: DumpGraph, index: int, watched: WatchedLeaves | None = None) -> dict[str, Any]:
    """Nodes of each level from the root to the one that holds a node, nested in ``children``."""
    levels: dict[str, Any] = {}
    for scope in [*graph.tree.ancestors(index)[::-1], ROOT]:
        nodes = nodes_json(graph, graph.tree.children(scope), watched)
        levels = {"scope_name": graph.tree.paths[scope], "nodes": nodes, "children": levels}
    return levels
