"""JSON encoder of a graph comparison: state of each box, list of differences, details of a pair."""

from itertools import zip_longest
from typing import Any, Final

import numpy as np

from mindinsight.server.graph.comparison.graph_comparison import (
    LEFT,
    ONLY,
    RIGHT,
    Comparison,
    Side,
    list_edits,
    list_topmost_differences,
)
from mindinsight.server.graph.encoders.node_json import entry
from mindinsight.server.graph.model.graph import OPERATOR, Graph
from mindinsight.server.graph.model.node_details import different_attributes, output_of
from mindinsight.server.graph.scopes.scope_tree import ROOT

STATES: Final = ("same", "changed", "only", "follows")


def box_state(comparison: Comparison, side: Side, index: int) -> dict[str, Any]:
    """Return the state of a box as JSON: its partner, and counts of the operators in it that differ."""
    partner = int(comparison.partners[side][index])
    box_counts = comparison.box_counts(side, index)
    return {
        "partner": partner if partner >= 0 else None,
        "state": STATES[comparison.state(side, index)],
        "changed": box_counts.changed,
        "only": box_counts.only,
        "follows": box_counts.follows,
        "missing": box_counts.missing,
    }


def summary(comparison: Comparison) -> dict[str, int]:
    """Return counts of operators: same, changed, equal with different inputs (`follows`), only in the left or
    right graph."""
    left, right = comparison.box_counts(LEFT, ROOT), comparison.box_counts(RIGHT, ROOT)
    return {
        "same": left.operators - left.changed - left.only - left.follows,
        "changed": left.changed,
        "follows": left.follows,
        "left": left.only,
        "right": right.only,
    }


def list_differences(comparison: Comparison, limit: int) -> dict[str, Any]:
    """Return the differences in the order of the left file, at most ``limit``, and their total. An
    operator only in the right graph follows the left partner of the operator that precedes it there."""
    left, right = comparison.trees
    differing: list[tuple[tuple[int, int], Side, int]] = [
        ((int(left.first_nodes[index]), -1), LEFT, index)
        for index in list_topmost_differences(comparison, LEFT)
    ]
    before = _preceding_partners(comparison)
    for index in list_topmost_differences(comparison, RIGHT):
        if comparison.state(RIGHT, index) == ONLY:
            right_operator = int(right.first_nodes[index])
            differing.append(((int(before[right_operator]), right_operator), RIGHT, index))
    rows = [_difference(comparison, side, index) for _, side, index in sorted(differing)[:limit]]
    return {"total": len(differing), "shown": rows}


def _preceding_partners(comparison: Comparison) -> Any:
    """Return [right nodes] the left partner of the nearest preceding operator that has one, or -1."""
    left, right = comparison.trees
    to_left = comparison.partners[RIGHT]
    leaves = np.flatnonzero((right.nodes >= 0) & (to_left >= 0))
    partners = np.full(len(right.graph) + 1, -1, dtype=np.int64)
    partners[right.nodes[leaves]] = left.nodes[to_left[leaves]]
    known = np.where(partners >= 0, np.arange(len(partners)), -1)
    return partners[np.maximum.accumulate(known)]


def edits_json(comparison: Comparison, limit: int) -> dict[str, Any]:
    """Return grouped edits as JSON, at most ``limit``, and their total. Each has its first position."""
    edits = list_edits(comparison)
    rows = [
        {
            "kind": edit.kind,
            "subject": edit.subject,
            "before": edit.left,
            "after": edit.right,
            "count": edit.count,
            "consequence": edit.consequence,
            **pair_entries(comparison, edit.position),
        }
        for edit in edits[:limit]
    ]
    return {"total": len(edits), "shown": rows}


def _difference(comparison: Comparison, side: Side, index: int) -> dict[str, Any]:
    partner = int(comparison.partners[side][index])
    indices = (index, partner) if side == LEFT else (partner, index)
    return {
        "state": STATES[comparison.state(side, index)],
        "operators": comparison.box_counts(side, index).operators,
        **pair_entries(comparison, indices),
    }


def pair_entries(comparison: Comparison, indices: tuple[int, int]) -> dict[str, Any]:
    """Return the list entries of a pair as JSON, null for an index of -1."""
    names = ("left", "right")
    trees = comparison.trees
    return {
        name: entry(tree, index) if index >= 0 else None
        for name, tree, index in zip(names, trees, indices, strict=True)
    }


def pair_json(comparison: Comparison, indices: tuple[int, int]) -> dict[str, Any]:
    """Return the details of a pair as JSON: counts for boxes, a list of differences for two operators. One
    of ``indices`` may be -1, for a box or an operator without a partner."""
    side: Side = LEFT if indices[LEFT] >= 0 else RIGHT
    nodes = [
        int(tree.nodes[index]) if index >= 0 else -1
        for tree, index in zip(comparison.trees, indices, strict=True)
    ]
    rows = _rows(comparison, nodes[LEFT], nodes[RIGHT]) if min(nodes) >= 0 else []
    ancestors = [
        tree.ancestors(index) if index >= 0 else []
        for tree, index in zip(comparison.trees, indices, strict=True)
    ]
    return {
        **pair_entries(comparison, indices),
        **box_state(comparison, side, indices[side]),
        "around": {"left": ancestors[LEFT], "right": ancestors[RIGHT]},
        "differences": rows,
    }


def _rows(comparison: Comparison, left_node: int, right_node: int) -> list[dict[str, str]]:
    """Return the differences of two operators in type, output, attributes and inputs. Missing ones are ""."""
    left, right = (tree.graph for tree in comparison.trees)
    texts = output_of(left, left_node).text, output_of(right, right_node).text
    types = left.types[left_node], right.types[right_node]
    rows = [_row("type", "", *types)] if types[0] != types[1] else []
    rows += [_row("output", "", *texts)] if texts[0] != texts[1] else []
    attributes = different_attributes((left, left_node), (right, right_node))
    rows += [_row("attribute", name, *texts) for name, texts in attributes]
    inputs = zip_longest(
        _inputs(comparison, LEFT, left_node), _inputs(comparison, RIGHT, right_node), fillvalue=(-1, "")
    )
    for number, ((source, name), (its_source, its_name)) in enumerate(inputs):
        if source != its_source or source < 0:
            rows.append(_row("input", str(number), name, its_name))
    return rows


def _row(kind: str, name: str, left: str, right: str) -> dict[str, str]:
    return {"what": kind, "name": name, "left": left, "right": right}


def _inputs(comparison: Comparison, side: Side, node: int) -> list[tuple[int, str]]:
    """Return the identity of each input of an operator, which is equal in both graphs, and a label."""
    graph, ids = comparison.trees[side].graph, comparison.input_ids[side]
    return [(int(ids[source]), _input_label(graph, source)) for source in graph.inputs_of(node)]


def _input_label(graph: Graph, source: int) -> str:
    text = output_of(graph, source).text
    name = graph.names[source].rpartition("/")[2] if graph.kinds[source] == OPERATOR else graph.names[source]
    return f"{name} {text}".strip()
