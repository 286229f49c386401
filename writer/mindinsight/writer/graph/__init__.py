"""Computational graphs of networks."""

from mindinsight.writer.graph.builder import GraphBuilder

__all__ = ["GraphBuilder"]
