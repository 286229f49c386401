"""Nodes of a dump's graph as JSON: names, stacks, levels down to a node, and what a watchpoint covers."""

import json
from typing import Any

import pytest

from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.graph.scopes.scope_tree import ROOT
from mindinsight.server.v1.debugger.debugger_json import (
    classes_of,
    frame_json,
    levels_json,
    node_json,
    nodes_json,
    stack_json,
    watched_leaves,
    watched_operators,
)
from mindinsight.server.v1.debugger.debugger_session import DumpGraph, Session, SessionWatchpoint
from mindinsight.server.v1.debugger.session_lookup import graph_of
from tests.narrowing import require
from tests.server.v1.conftest import code_of
from tests.server.v1.debugger.conftest import CONV, RELU


def test_conditions_with_their_defaults(dumps: Any, session: Any) -> None:
    collections = dumps.ok(f"{session}/condition-collections")
    known = {
        condition["id"]: condition for collection in collections for condition in collection["conditions"]
    }
    defaults = {
        (name, parameter["name"]): parameter["default_value"]
        for name, condition in known.items()
        for parameter in condition["parameters"]
        if parameter["default_value"] is not None
    }
    assert defaults == {
        ("weight_initialization", "zero_percentage_ge"): 100,
        ("weight_not_changed", "rtol"): 1e-5,
        ("weight_change_too_large", "abs_mean_update_ratio_gt"): 0.1,
        ("weight_change_too_small", "abs_mean_update_ratio_lt"): 1e-4,
        ("tensor_all_zero", "zero_percentage_ge"): 100,
    }
    assert {condition["abbr"] for condition in known.values()} == {
        "WI",
        "WO",
        "WL",
        "WS",
        "WNC",
        "WCL",
        "WCS",
        "GV",
        "GL",
        "GE",
        "TO",
        "OO",
        "TL",
        "TS",
        "TZ",
        "TR",
        "AR",
    }


def test_a_condition_of_the_start_is_not_offered_later(dumps: Any, session: Any) -> None:
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    listed = json.dumps(dumps.ok(f"{session}/condition-collections"))
    assert "weight_initialization" not in listed
    answer = dumps.post(f"{session}/create-watchpoint", {"condition": {"id": "weight_initialization"}})
    assert code_of(answer) == (400, "5054B083")


WEIGHT = "conv1.weight"  # as the dump names it


@pytest.fixture
def graph(open_session: Session) -> DumpGraph:
    return graph_of(open_session, 0)


def index_of(graph: DumpGraph, name: str) -> int:
    return require(graph.find(name))


def test_outputs_are_tensors_and_parameters_are_weights(open_session: Session) -> None:
    classes = classes_of(open_session, 0)
    assert "tensor" in classes[CONV]
    assert "activation" in classes[RELU]
    assert "weight" in classes[WEIGHT]
    assert "weight" not in classes[RELU]


def test_a_watchpoint_covers_its_names_or_the_target_of_its_condition(open_session: Session) -> None:
    named = SessionWatchpoint(1, "tensor_overflow", names=frozenset({RELU}))
    assert watched_operators(open_session, 0, named) == {RELU}
    weights = watched_operators(open_session, 0, SessionWatchpoint(1, "weight_change_too_large"))
    assert WEIGHT in weights
    assert RELU not in weights


def test_a_subtree_is_watched_wholly_partly_or_not(open_session: Session, graph: DumpGraph) -> None:
    named = SessionWatchpoint(1, "tensor_overflow", names=frozenset({RELU}))
    watched = watched_leaves(open_session, 0, graph, named)
    scope = RELU.rpartition("/")[0].rpartition("/")[0]
    states = [watched.state(index_of(graph, name)) for name in (RELU, scope, CONV)]
    assert states == [2, 1, 0]


def test_a_node_has_its_full_name_and_its_watch_state(open_session: Session, graph: DumpGraph) -> None:
    node = node_json(graph, index_of(graph, RELU))
    assert node["full_name"] == RELU
    assert "watched" not in node
    named = SessionWatchpoint(1, "tensor_overflow", names=frozenset({RELU}))
    watched = watched_leaves(open_session, 0, graph, named)
    relu, conv = nodes_json(graph, [index_of(graph, RELU), index_of(graph, CONV)], watched)
    assert (relu["watched"], conv["watched"]) == (2, 0)


def test_a_scope_has_its_path_and_no_stack(graph: DumpGraph) -> None:
    node = node_json(graph, index_of(graph, "Default"))
    assert (node["full_name"], node["stack_info"]) == ("Default", [])


def test_a_stack_is_that_of_the_operator(graph: DumpGraph) -> None:
    operator = require(graph.operator(index_of(graph, RELU)))
    assert stack_json(operator) == [frame_json(frame) for frame in operator.stack]
    assert stack_json(None) == []


def test_a_frame_has_file_line_and_code() -> None:
    frame = frame_json(Frame("net.py", 7, code="y = relu(x)"))
    assert frame == {"file_path": "net.py", "line_no": 7, "code_line": "y = relu(x)"}


def test_levels_lead_from_the_root_to_the_node(graph: DumpGraph) -> None:
    levels = levels_json(graph, index_of(graph, RELU))
    scopes, names = [], []
    while levels:
        scopes.append(levels["scope_name"])
        names.append({node["name"] for node in levels["nodes"]})
        levels = levels["children"]
    assert scopes[0] == graph.tree.paths[ROOT]
    assert scopes[-1] == RELU.rpartition("/")[0]
    assert RELU in names[-1]
    for scope, above in zip(scopes[1:], names, strict=False):
        assert scope in above
