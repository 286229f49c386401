"""Networks as computational graphs."""

from mindinsight.writer.graph.builder import GraphBuilder
from mindinsight.writer.graph.network import graph_of, no_graph_reason, observed_graph

__all__ = ["GraphBuilder", "graph_of", "no_graph_reason", "observed_graph"]
