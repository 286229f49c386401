"""Networks as computational graphs."""

from mindinsight.writer.graph.builder import GraphBuilder
from mindinsight.writer.graph.network import graph_of, observed_graph

__all__ = ["GraphBuilder", "graph_of", "observed_graph"]
