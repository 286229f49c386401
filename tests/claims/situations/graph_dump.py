"""Graphs coloured by a dump: what is said of operators that ran otherwise than the graph says."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.overlay.graph_overlay import SYMPTOMS, Overlay
from mindinsight.server.debug.overlay.overlay_claims import outside_of
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.writer import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, situation

NAN, INF = float("nan"), float("inf")


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


WEIGHTS = ("claim.graph.weight_cause", "claim.graph.weight_before", "claim.graph.weight_after")
OUTSIDE = ("claim.graph.fault_outside", "claim.graph.lost_outside")


def network(operators: Mapping[str, str]) -> GraphBuilder:
    """Return a graph of operators in a row, each with a weight, by name."""
    builder = GraphBuilder("Net")
    value = builder.parameter("x", (2,), role="input")
    for operator, weight in operators.items():
        inputs = [value, builder.parameter(weight, (2,))] if weight else [value]
        with builder.scope("/Default"):
            value = builder.node(operator, inputs, shape=(2,), number=0)
    return builder


def judged(
    folder: Path,
    results: Mapping[str, float],
    drawn: Sequence[str],
    weights: Mapping[str, tuple[float, float]] | None = None,
    norms: tuple[float, float] | None = None,
) -> Question:
    """Ask for claims about a step in which operators put out ``results``, in a graph of the operators
    ``drawn``.

    ``weights`` are the values of the weight of each operator before and after the step. ``norms`` are
    those that a flight recorder measured of a weight, at the last healthy step and at the fault.
    """
    names = {operator: f"{operator}.weight" if operator in (weights or {}) else "" for operator in results}

    def ask() -> Sequence[Claim]:
        step = Dump(folder / "dump", graph=network(names)).iteration(1)
        value = 1.0
        for operator, result in results.items():
            step.input(f"Default/{operator}-op0", np.array([value, 1], np.float32))
            if weights and operator in weights:
                step.input(f"Default/{operator}-op0", np.array([weights[operator][0], 2], np.float32), 1)
            step.output(f"Default/{operator}-op0", np.array([result, 1], np.float32))
            value = result
        for operator, (_, after) in (weights or {}).items():
            step.parameter(names[operator], np.array([after, 2], np.float32))
        recorded = network({operator: names[operator] for operator in drawn})
        if norms:
            fields = {"weights": {"b.weight": norms[0]}, "weights_now": {"b.weight": norms[1]}}
            health = folder / "dump" / "rank_0" / "health_1.json"
            health.write_text(json.dumps({"step": 1, "healthy_step": 0, **fields}))
        with ThreadPoolExecutor(1) as executor:
            listing = Listing(open_dump(folder / "dump"), 0, 1, executor, None, Threads(2, "job"))
            assert listing.wait(60)
            tree = folded_tree(read_graph(recorded.model().graph.SerializeToString()))
            overlay = Overlay(tree, listing)
            overlay.column(SYMPTOMS)
            return outside_of(overlay, done=True).claims

    return Question(direct=ask)


@situation([*OUTSIDE], [*WEIGHTS])
def a_loss_outside_the_graph_that_makes_nan(folder: Path) -> Question:
    return judged(folder, {"mul": 3, "log": NAN}, ["mul"])


@situation(["claim.fault.made"], [*OUTSIDE, *WEIGHTS])
def a_loss_in_the_graph_that_makes_nan(folder: Path) -> Question:
    return judged(folder, {"mul": 3, "log": NAN}, ["mul", "log"])


@situation(["claim.graph.lost_outside"], ["claim.graph.fault_outside", *WEIGHTS])
def an_operator_outside_the_graph_after_the_first_fault(folder: Path) -> Question:
    return judged(folder, {"mul": NAN, "log": NAN}, ["mul"])


@situation(["claim.graph.weight_cause"], ["claim.graph.weight_before", "claim.graph.weight_after", *OUTSIDE])
def a_weight_that_was_infinite_before_the_step(folder: Path) -> Question:
    return judged(folder, {"mul": INF, "log": INF}, ["mul", "log"], {"mul": (INF, INF)})


@situation(["claim.graph.weight_cause", "claim.graph.weight_before"], ["claim.graph.weight_after", *OUTSIDE])
def two_weights_that_were_infinite_before_the_step(folder: Path) -> Question:
    weights = {"mul": (INF, INF), "log": (INF, INF)}
    return judged(folder, {"mul": INF, "log": INF}, ["mul", "log"], weights)


@situation(["claim.graph.weight_after"], ["claim.graph.weight_cause", "claim.graph.weight_before", *OUTSIDE])
def a_weight_that_is_nan_only_after_the_step(folder: Path) -> Question:
    return judged(folder, {"mul": 3, "log": 1}, ["mul", "log"], {"mul": (3, NAN)})


@situation(never=["claim.fault.made", *WEIGHTS, *OUTSIDE])
def a_weight_that_is_finite_before_and_after_the_step(folder: Path) -> Question:
    return judged(folder, {"mul": 3, "log": 1}, ["mul", "log"], {"mul": (3, 4)})


GROWN = ["claim.growth.weight", "claim.growth.place"]


@situation(GROWN, [*WEIGHTS, *OUTSIDE, "claim.growth.weights_same"])
def a_weight_whose_norm_grew_a_million_times(folder: Path) -> Question:
    """Its values are finite, so that no box shows why the recorder wrote the dump."""
    return judged(folder, {"mul": 3, "log": 1}, ["mul", "log"], norms=(3.0, 3e6))


@situation(never=[*GROWN, "claim.growth.weights_same", *WEIGHTS, *OUTSIDE])
def a_weight_whose_norm_hardly_changed(folder: Path) -> Question:
    return judged(folder, {"mul": 3, "log": 1}, ["mul", "log"], norms=(3.0, 3.1))
