"""Inputs of a pair of operators side by side, also where one of them has an input more."""

from difflib import SequenceMatcher
from itertools import zip_longest

from mindinsight.server.graph.comparison.tree_matching import Matching
from mindinsight.server.graph.model.graph import OPERATOR, Offsets


def paired_inputs(
    matching: Matching, input_ids: tuple[Offsets, Offsets], nodes: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the inputs of two nodes, one of each graph, in pairs and in order. -1 is a missing
    counterpart. If both nodes have equally many inputs, these are paired by position. Otherwise equal
    inputs are paired, and the inputs between two pairs in order."""
    trees = matching.left, matching.right
    left, right = (tree.graph.inputs_of(node) for tree, node in zip(trees, nodes, strict=True))
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    before: list[int] = input_ids[0][left].tolist()
    after: list[int] = input_ids[1][right].tolist()
    pairs: list[tuple[int, int]] = []
    for _, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        pairs += zip_longest(left[i:j], right[k:m], fillvalue=-1)
    return pairs


def is_lost(matching: Matching, pair: tuple[int, int]) -> bool:
    """Return True if only one of two operators has the input in ``pair``, although both graphs have that
    input. The output of an operator that only one graph has is not lost: that operator is an edit of its
    own."""
    if min(pair) >= 0:
        return False
    graph = (matching.right if pair[0] < 0 else matching.left).graph
    node = max(pair)
    own = node + matching.columns.left_count * (pair[0] < 0)
    if graph.types[node] == "UpdateState":  # orders effects, carries no value
        return False
    parameter = graph.kinds[node] != OPERATOR or graph.types[node] == "Load"
    return bool(parameter or matching.node_partners[own] >= 0)
