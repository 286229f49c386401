"""Which trees are kept in memory, and where they are built."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.errors import ApiError
from mindinsight.server.plugins.graph.tree_cache import TreeCache, node_index, node_indices, scopes_of
from mindinsight.server.store.run import Run
from mindinsight.server.types import Reference


class Graphs:
    """A series of graph payloads that counts how often it is read."""

    def __init__(self, *payloads: Any, version: Any = 1) -> None:
        self.payloads = payloads
        self.count = len(payloads)
        self.version = version
        self.reads = 0

    def reference(self, row: Any) -> Any:
        return Reference("/base/run/events", row, len(self.payloads[row]))

    def read(self, row: Any) -> Any:
        self.reads += 1
        return self.payloads[row]


class Counting(ThreadPoolExecutor):
    submitted = 0

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        self.submitted += 1
        return super().submit(*args, **kwargs)


def payload(operators: Any, padding: Any = 0) -> Any:
    proto = GraphProto(name="x" * padding)
    for number in range(operators):
        proto.node.add(name=str(number), op_type="Add", full_name=f"Default/Add-op{number}")
    return proto.SerializeToString()


def run_with(**tags: Any) -> Any:
    return replace(Run("./run", "run", "/base/run", "./run", None, 0.0, 0.0, 0), references={"graph": tags})


@pytest.fixture
def executor() -> Iterator[Any]:
    with Counting(1) as executor:
        yield executor


def test_a_tree_is_built_once_for_each_view(executor: Any) -> None:
    series = Graphs(payload(3))
    trees, run = TreeCache(), run_with(a=series)
    first = trees.tree(run, "a", "recorded", executor)
    assert trees.tree(run, "a", "recorded", executor) is first
    assert trees.tree(run, "a", "simplified", executor) is not first
    assert series.reads == 2 and executor.submitted == 0


def test_the_newest_graph_counts_and_a_changed_file_is_read_again(executor: Any) -> None:
    trees = TreeCache()
    run = run_with(a=Graphs(payload(3), payload(5)))
    assert len(trees.tree(run, "a", "recorded", executor).graph) == 5
    run = run_with(a=Graphs(payload(3), payload(6), version=2))
    assert len(trees.tree(run, "a", "recorded", executor).graph) == 6


def test_large_graphs_are_read_elsewhere(executor: Any) -> None:
    large = payload(2, padding=8 << 20)
    assert len(TreeCache().tree(run_with(a=Graphs(large)), "a", "recorded", executor).graph) == 2
    assert executor.submitted == 1


def test_only_the_last_trees_are_kept(executor: Any) -> None:
    trees = TreeCache()
    every = {f"t{number}": Graphs(payload(number + 1)) for number in range(9)}
    run = run_with(**every)
    for tag in every:
        trees.tree(run, tag, "recorded", executor)
    trees.tree(run, "t8", "recorded", executor)
    trees.tree(run, "t0", "recorded", executor)
    assert every["t8"].reads == 1 and every["t0"].reads == 2


@pytest.mark.parametrize(
    ("tag", "view", "code"),
    [
        ("b", "recorded", "unknown_tag"),
        ("bad", "recorded", "graph_unreadable"),
        ("", "dataset", "no_pipeline"),
    ],
)
def test_what_cannot_be_shown_is_said(executor: Any, tag: Any, view: Any, code: Any) -> None:
    with pytest.raises(ApiError) as error:
        TreeCache().tree(run_with(bad=Graphs(b"none")), tag, view, executor)
    assert error.value.code == code


def test_indices_by_path_and_by_number(executor: Any) -> None:
    tree = TreeCache().tree(run_with(a=Graphs(payload(2))), "a", "recorded", executor)
    assert node_index(tree, "Default/Add-op1") == node_index(tree, "3") == 3
    assert node_indices(tree, "1,x,999,-2,3,") == [1, 3]
    assert node_indices(tree, None) == []
    assert node_indices(tree, "all") == list(range(1, len(tree.paths)))
    scopes = [index for index in range(1, len(tree.paths)) if tree.nodes[index] < 0]
    assert scopes_of(tree, "all") == scopes == [1]
    assert scopes_of(tree, "all,-1") == scopes_of(tree, "3") == []
    assert scopes_of(tree, "1,3,x") == [1]
    for wrong in ("Default/none", "99", "-1"):
        with pytest.raises(ApiError):
            node_index(tree, wrong)
