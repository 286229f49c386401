"""JSON encoding of a graph comparison: state of each box, list of differences, details of one pair."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, Final

import numpy as np

from mindinsight.server.graph.comparison.compare import (
    LEFT,
    ONLY,
    RIGHT,
    Comparison,
    Side,
    inputs_of,
    list_topmost_differences,
)
from mindinsight.server.graph.encoders.nodes import entry
from mindinsight.server.graph.model.graph import OPERATOR, Graph
from mindinsight.server.graph.model.node_details import attribute_summaries, output_of
from mindinsight.server.graph.scopes.tree import ROOT, Tree

STATES: Final = ("same", "changed", "only")


def box_state(comparison: Comparison, side: Side, place: int) -> dict[str, Any]:
    """Comparison state of a box as JSON: its partner, and how many operators within differ."""
    partner = int(comparison.partners[side][place])
    within = comparison.within(side, place)
    return {
        "partner": partner if partner >= 0 else None,
        "state": STATES[comparison.state(side, place)],
        "changed": within.changed,
        "only": within.only,
        "missing": within.missing,
    }


def summary(comparison: Comparison) -> dict[str, int]:
    """How many operators of both graphs are the same, differ, or are in one only."""
    left, right = comparison.within(LEFT, ROOT), comparison.within(RIGHT, ROOT)
    same = left.operators - left.changed - left.only
    return {"same": same, "changed": left.changed, "left": left.only, "right": right.only}


def list_differences(comparison: Comparison, most: int) -> dict[str, Any]:
    """Every difference in the order of the left file, those of the right graph only behind what is before
    them there; ``most`` are shown."""
    left, right = comparison.trees
    differing: list[tuple[tuple[int, int], Side, int]] = [
        ((_first(left, place), -1), LEFT, place) for place in list_topmost_differences(comparison, LEFT)
    ]
    before = _before(comparison)
    for place in list_topmost_differences(comparison, RIGHT):
        if comparison.state(RIGHT, place) == ONLY:
            first = _first(right, place)
            differing.append(((int(before[first]), first), RIGHT, place))
    shown = [_difference(comparison, side, place) for _, side, place in sorted(differing)[:most]]
    return {"total": len(differing), "shown": shown}


def _first(tree: Tree, place: int) -> int:
    """The first operator at or in a place, by the order of the file."""
    nodes = tree.nodes[place : tree.ends[place]]
    return int(nodes[nodes >= 0].min())


def _before(comparison: Comparison) -> Any:
    """[right nodes] the left partner of the nearest operator before each that has one; -1 for none."""
    left, right = comparison.trees
    to_left = comparison.partners[RIGHT]
    leaves = np.flatnonzero((right.nodes >= 0) & (to_left >= 0))
    partners = np.full(len(right.graph) + 1, -1, dtype=np.int64)
    partners[right.nodes[leaves]] = left.nodes[to_left[leaves]]
    known = np.where(partners >= 0, np.arange(len(partners)), -1)
    return partners[np.maximum.accumulate(known)]


def _difference(comparison: Comparison, side: Side, place: int) -> dict[str, Any]:
    partner = int(comparison.partners[side][place])
    places = (place, partner) if side == LEFT else (partner, place)
    return {
        "state": STATES[comparison.state(side, place)],
        "operators": comparison.within(side, place).operators,
        **sides(comparison, places),
    }


def sides(comparison: Comparison, places: tuple[int, int]) -> dict[str, Any]:
    """Both of a pair as entries of a list; null for the one that is not there (-1)."""
    names = ("left", "right")
    trees = comparison.trees
    return {
        name: entry(tree, place) if place >= 0 else None
        for name, tree, place in zip(names, trees, places, strict=True)
    }


def pair_json(comparison: Comparison, places: tuple[int, int]) -> dict[str, Any]:
    """Details of a pair as JSON: how many operators in it differ, and how two operators differ."""
    side: Side = LEFT if places[LEFT] >= 0 else RIGHT
    nodes = [
        int(tree.nodes[place]) if place >= 0 else -1
        for tree, place in zip(comparison.trees, places, strict=True)
    ]
    rows = _rows(comparison, nodes[LEFT], nodes[RIGHT]) if min(nodes) >= 0 else []
    around = [
        tree.ancestors(place) if place >= 0 else []
        for tree, place in zip(comparison.trees, places, strict=True)
    ]
    return {
        **sides(comparison, places),
        **box_state(comparison, side, places[side]),
        "around": {"left": around[LEFT], "right": around[RIGHT]},
        "differences": rows,
    }


def _rows(comparison: Comparison, here: int, there: int) -> list[dict[str, str]]:
    """Differences of two operators in output, attributes and inputs; "" for what an operator lacks."""
    left, right = (tree.graph for tree in comparison.trees)
    texts = output_of(left, here).text, output_of(right, there).text
    rows = [_row("output", "", *texts)] if texts[0] != texts[1] else []
    mine, its = dict(attribute_summaries(left, here)), dict(attribute_summaries(right, there))
    for name in sorted(mine | its):
        if mine.get(name) != its.get(name):
            rows.append(_row("attribute", name, mine.get(name, ""), its.get(name, "")))
    inputs = zip_longest(
        _inputs(comparison, LEFT, here), _inputs(comparison, RIGHT, there), fillvalue=(-1, "")
    )
    for number, ((source, name), (its_source, its_name)) in enumerate(inputs):
        if source != its_source or source < 0:
            rows.append(_row("input", str(number), name, its_name))
    return rows


def _row(what: str, name: str, left: str, right: str) -> dict[str, str]:
    return {"what": what, "name": name, "left": left, "right": right}


def _inputs(comparison: Comparison, side: Side, node: int) -> list[tuple[int, str]]:
    """Inputs of an operator: a number that means the same in both graphs, and a label."""
    graph = comparison.trees[side].graph
    begin, end = inputs_of(graph, np.array([node], dtype=np.int32))
    sources = graph.edges.sources[int(begin[0]) : int(end[0])].tolist()
    return [(int(comparison.feeding[side][source]), _words(graph, source)) for source in sources]


def _words(graph: Graph, source: int) -> str:
    text = output_of(graph, source).text
    name = graph.names[source].rpartition("/")[2] if graph.kinds[source] == OPERATOR else graph.names[source]
    return f"{name} {text}".strip()
