"""Modules of other names are those of the graph only if both are one tree, of equal classes and shapes."""

from collections.abc import Sequence
from typing import Any

import pytest

from mindinsight.server.debug.overlay.graph_join import rename_scopes
from mindinsight.server.debug.overlay.scope_renaming import pair_scopes, renamed_operator, renamed_parameter
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import Graph
from mindinsight.writer import GraphBuilder

DRAWN = (
    "0-Block/fc1-Linear",
    "0-Block/fc2-Linear",
    "1-Block/fc1-Linear",
    "1-Block/fc2-Linear",
    "head-Linear",
)
RAN = ("0-Layer/up-Linear", "0-Layer/down-Linear", "1-Layer/up-Linear", "1-Layer/down-Linear", "out-Linear")


def drawn(scopes: Sequence[str] = DRAWN) -> Graph:
    graph = GraphBuilder("net")
    for width, scope in enumerate(scopes):
        with graph.scope(f"/Default/{scope}"):
            graph.node("linear", shape=(2, width))
    return read_graph(graph.model().graph.SerializeToString())


def ran(scopes: Sequence[str] = RAN) -> list[Operator]:
    names = [f"Default/{scope}/addmm-op{i}" for i, scope in enumerate(scopes)]
    return [Operator(name, name, "addmm", (), "Net/0", i, -1) for i, name in enumerate(names)]


def test_each_scope_is_that_at_its_position() -> None:
    scopes = rename_scopes(ran(), drawn(), {})
    assert scopes["Default/1-Layer"] == "Default/1-Block"
    assert scopes["Default/1-Layer/down-Linear"] == "Default/1-Block/fc2-Linear"
    assert scopes["Default/out-Linear"] == "Default/head-Linear"
    backward = "Gradients/Default/out-Linear/mm-op0"
    operator = Operator(
        backward, backward, "mm", (), "Net/0", 9, -1, sources=(RAN[0], "Default/out-Linear/x")
    )
    renamed = renamed_operator(operator, scopes)
    assert renamed.name == "Gradients/Default/head-Linear/mm-op0"
    assert renamed.sources == (RAN[0], "Default/head-Linear/x")


@pytest.mark.parametrize(
    "other",
    [
        RAN[:-1],
        (*RAN, "more-Linear"),
        (*RAN[:-1], "out-Conv2d"),
        (*RAN[:2], "1-Other/up-Linear", "1-Other/down-Linear", RAN[-1]),
        (RAN[-1], *RAN[:-1]),
        DRAWN,
        (*DRAWN[:3], "1-Block/second-Linear", "head-Linear"),
    ],
    ids=["a module less", "a module more", "another class", "a class that stands for two", "another order",
         "the same names", "one other name"],
)  # fmt: skip
def test_what_is_not_surely_the_same_is_not_renamed(other: Sequence[str]) -> None:
    assert rename_scopes(ran(other), drawn(), {}) == {}


@pytest.mark.parametrize(("width", "same"), [(4, True), (5, False)])
def test_another_batch_is_the_same_module_and_another_width_is_not(width: int, same: bool) -> None:
    operators = ran()
    shapes: dict[Any, tuple[int, ...]] = {(operators[-1].graph, operators[-1].recorded): (32, width)}
    assert bool(rename_scopes(operators, drawn(), shapes)) == same


@pytest.mark.parametrize(
    ("name", "renamed"),
    [
        ("1.down.weight", "1.fc2.weight"),
        ("out.bias", "head.bias"),
        ("other.bias", "other.bias"),
        ("bias", "bias"),
    ],
)
def test_a_parameter_takes_the_name_of_its_module(name: str, renamed: str) -> None:
    assert renamed_parameter(name, rename_scopes(ran(), drawn(), {})) == renamed


def test_a_wrapper_around_the_whole_network_is_left_out() -> None:
    """DistributedDataParallel holds a network as its ``module``, in which all its operators run."""
    inner = ["Default/0-Linear/addmm-op0", "Default/1-ReLU/relu-op0", "Default/mean-op0"]
    outer = [f"Default/module-Sequential/{name.partition('/')[2]}" for name in inner[:2]] + inner[2:]
    wrapped = pair_scopes(outer, inner, lambda _: None, lambda _: None)
    assert wrapped["Default/module-Sequential/0-Linear"] == "Default/0-Linear"
    assert renamed_parameter("module.0.weight", wrapped) == "0.weight"
    assert pair_scopes(inner, outer, lambda _: None, lambda _: None)["Default/0-Linear"] == (
        "Default/module-Sequential/0-Linear"
    )
    other = ["Default/head-Conv2d/convolution-op0", "Default/tail-Linear/addmm-op0"]
    assert pair_scopes(outer, other, lambda _: None, lambda _: None) == {}
