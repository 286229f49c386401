"""Graphs coloured by a dump: what is said of operators that ran otherwise than the graph says."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.overlay.graph_overlay import Overlay
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.writer import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, situation


def graph_of(before: Sequence[str], source: str) -> GraphBuilder:
    """Return a graph with the operators ``before``, of which ``source`` feeds ``log``."""
    builder = GraphBuilder("Net")
    with builder.scope("/Default"):
        nodes = {name: builder.node(name, shape=(3,), number=0) for name in before}
        builder.node("log", [nodes[source]], shape=(3,), number=0)
    return builder


def overlaid(folder: Path, ran: Sequence[str], source: str) -> Question:
    """The graph has ``add`` before ``log``. In the dump, ``ran`` ran, and ``log`` received ``source``."""

    def ask() -> Sequence[Claim]:
        step = Dump(folder / "dump", graph=graph_of(ran, source)).iteration(0)
        for name in (*ran, "log"):
            step.output(f"Default/{name}-op0", np.ones(3, np.float32))
        recorded = graph_of(["add"], "add").model().graph.SerializeToString()
        with ThreadPoolExecutor(1) as executor:
            listing = Listing(open_dump(folder / "dump"), 0, 0, executor, None, Threads(2, "job"))
            assert listing.wait(60)
            overlay = Overlay(folded_tree(read_graph(recorded)), listing)
            node = list(overlay.tree.graph.names).index("Default/log-op0")
            return list(overlay.other_inputs(node))

    return Question(direct=ask)


@situation(["claim.graph.other_input"])
def an_operator_between_that_the_graph_does_not_have(folder: Path) -> Question:
    return overlaid(folder, ["add", "sub"], "sub")


@situation(never=["claim.graph.other_input"])
def an_operator_with_the_inputs_of_the_graph(folder: Path) -> Question:
    return overlaid(folder, ["add", "sub"], "add")


@situation(never=["claim.graph.other_input"])
def an_operator_that_ran_in_place_of_that_of_the_graph(folder: Path) -> Question:
    """The dump has no ``add``: ``addmm`` may be what the graph names so."""
    return overlaid(folder, ["addmm"], "addmm")
