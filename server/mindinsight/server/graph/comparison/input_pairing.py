"""Inputs of a pair of operators side by side, also where one of them has an input more."""

from difflib import SequenceMatcher
from itertools import zip_longest

from mindinsight.server.graph.comparison.tree_matching import Matching
from mindinsight.server.graph.model.graph import OPERATOR, Offsets


def paired_inputs(
    matching: Matching, input_ids: tuple[Offsets, Offsets], nodes: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return the inputs of a node of each graph side by side, -1 where one has none.

    Equal numbers of inputs are paired in order. Otherwise equal inputs are paired, and what lies between.
    """
    trees = matching.left, matching.right
    left, right = (tree.graph.inputs_of(node) for tree, node in zip(trees, nodes, strict=True))
    if len(left) == len(right):
        return list(zip(left, right, strict=True))
    ids = [own[inputs].tolist() for own, inputs in zip(input_ids, (left, right), strict=True)]
    pairs: list[tuple[int, int]] = []
    for _, i, j, k, m in SequenceMatcher(None, *ids, autojunk=False).get_opcodes():
        pairs += zip_longest(left[i:j], right[k:m], fillvalue=-1)
    return pairs


def is_lost(matching: Matching, pair: tuple[int, int]) -> bool:
    """Return True if one operator alone has an input that its graph did not gain or lose.

    An operator that only one graph has is an edit of its own, from which the input follows.
    """
    if min(pair) >= 0:
        return False
    graph = (matching.right if pair[0] < 0 else matching.left).graph
    node = max(pair)
    own = node + matching.columns.left_count * (pair[0] < 0)
    if graph.types[node] == "UpdateState":  # orders effects, carries no value
        return False
    parameter = graph.kinds[node] != OPERATOR or graph.types[node] == "Load"
    return bool(parameter or matching.node_partners[own] >= 0)
