"""The graph of a network is looked for with the first steps, and taken once."""

import pytest

from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.network_graph import NetworkGraph


class Network:
    """Of no framework that shows a graph."""


@pytest.fixture
def builder() -> GraphBuilder:
    return GraphBuilder("Net")


def test_a_graph_is_taken_once(builder: GraphBuilder) -> None:
    graph = NetworkGraph(builder)
    assert graph.is_wanted()
    assert graph.take() == builder.serialised()
    assert not graph.is_wanted()


def test_without_a_network_none_is_wanted_until_a_step_names_one(builder: GraphBuilder) -> None:
    graph = NetworkGraph()
    assert not graph.is_wanted()
    assert graph.is_wanted(builder)
    assert graph.take(builder) == builder.serialised()


def test_a_network_that_shows_none_is_asked_three_times_and_the_steps_network_instead(
    builder: GraphBuilder,
) -> None:
    graph = NetworkGraph(Network())
    assert [graph.take(), graph.take()] == [None, None]
    assert graph.is_wanted()
    assert graph.take(builder) == builder.serialised()
    empty = NetworkGraph(Network())
    assert [empty.take() for _ in range(3)] == [None, None, None]
    assert not empty.is_wanted()
    assert empty.reason() == "the network shows none"
