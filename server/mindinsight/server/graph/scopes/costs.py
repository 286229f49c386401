"""Costs of scopes: parameters, their bytes, and floating point operations."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import isqrt, prod
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.graph_pb2 import ParameterProto
from mindinsight.server.graph.model.graph import PARAMETER, Graph
from mindinsight.server.graph.model.node_details import output_of, recorded_role, shapes_at
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree

Shape = Sequence[int]

_PRODUCTS: Final = frozenset(
    {"MatMul", "BatchMatMul", "BatchMatMulV2", "MatMulV2", "MatMulExt", "BatchMatMulExt", "Dense", "Linear"}
    | {"Gemm", "FullyConnected", "matmul", "mm", "bmm", "addmm", "baddbmm", "linear", "dot_general", "einsum"}
)
_CONVOLUTIONS: Final = frozenset(
    {"Conv", "Conv1D", "Conv2D", "Conv3D", "Convolution", "DepthwiseConv2dNative"}
    | {"conv1d", "conv2d", "conv3d", "convolution", "conv_general_dilated"}
)
_TRANSPOSED: Final = frozenset({"ConvTranspose", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
_RECURRENT: Final = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
_ATTENTION: Final = frozenset({"FlashAttentionScore", "scaled_dot_product_attention"})
_INPUT_GRADIENTS: Final = frozenset({"Conv2DBackpropInput", "Conv3DBackpropInput"})
_FILTER_GRADIENTS: Final = frozenset({"Conv2DBackpropFilter", "Conv3DBackpropFilter"})
_OPAQUE: Final = frozenset(
    {
        "LSTM",
        "GRU",
        "RNN",
        "DynamicRNN",
        "DynamicGRUV2",
        "GRUV2",
        "scan",
        "while",
        "cond",
        "MultiheadAttention",
    }
    | {f"{name}{axes}d" for name in ("Conv", "ConvTranspose") for axes in (1, 2, 3)}
)  # types with products inside that their shapes do not tell: whole modules, loops
COUNTED: Final = (
    _PRODUCTS
    | _CONVOLUTIONS
    | _TRANSPOSED
    | _RECURRENT
    | _ATTENTION
    | _INPUT_GRADIENTS
    | _FILTER_GRADIENTS
    | _OPAQUE
)


def base_type(kind: str) -> str:
    """Return the type of an operator without PyTorch's additions: ``linear`` for ``aten.linear.default``."""
    parts = kind.replace("::", ".").split(".")
    return parts[1] if len(parts) > 1 and parts[0] in {"aten", "torch"} else parts[0]


def count_flops(kind: str, inputs: Sequence[Shape], output: Shape) -> int | None:
    """Return the number of floating point operations of an operator by its type and shapes, None if
    unknown. ``kind`` is a ``base_type`` in COUNTED."""
    tensors = [shape for shape in inputs if len(shape) >= 2]
    if len(tensors) < 2 or any(size < 0 for shape in (*tensors, output) for size in shape):
        return None
    first, second = tensors[:2]
    if kind in _PRODUCTS:
        return _product(first, second, output)
    if kind in _CONVOLUTIONS and len(output) > 1:
        channels = second[0] if second[0] == output[1] else second[-1]
        return 2 * prod(output) * prod(second) // max(1, channels)
    if kind in _ATTENTION:
        return 4 * prod(first) * second[-2 if len(second) == 4 else 1 if len(second) == 3 else 0]
    if kind in _INPUT_GRADIENTS or (kind in _TRANSPOSED and len(second) == len(first)):
        return 2 * prod(first) * prod(second) // max(1, second[0])
    if kind in _FILTER_GRADIENTS and output:
        return 2 * prod(first) * prod(output) // max(1, output[0])
    if kind in _RECURRENT and len(first) == 3:  # a product with each matrix for each item of the sequences
        return 2 * prod(first[:-1]) * sum(prod(shape) for shape in tensors if len(shape) == 2)
    return None


def _product(first: Shape, second: Shape, output: Shape) -> int | None:
    """Return the operations of a matrix product, for any transposition, or None if the shapes fit no
    product. With sizes b·m·k, b·k·n and b·m·n, the length k of the sums is the root of their quotient."""
    elements, batches = prod(output), prod(second[:-2])
    if not elements or not batches:
        return 0 if output else None
    square, rest = divmod(prod(first) * prod(second), elements * batches)
    length = isqrt(square)
    return 2 * elements * length if not rest and length * length == square else None


_INPUT: Final = re.compile(
    r"(inputs?|args?|kwargs|x|y|data|labels?|images?|imgs?|pixel_values|batch|src|tgt|tokens?|input_ids"
    r"|attention_mask|mask|targets?)"
    r"([_.]?\d+)*",
    re.IGNORECASE,
)
_BITS: Final = re.compile(r"(\d+)\D*$")
_UNITS: Final = (" ", " k", " M", " G", " T", " P")

Amounts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of the subtrees of a tree, as columns."""

    parameters: Amounts  # [t] elements of the parameters used in each subtree
    bytes: Amounts  # [t]
    flops: npt.NDArray[np.float64]  # [t] floating point operations of one pass, as far as they are known
    uncounted: Amounts  # [t] operators whose operations are unknown
    roles: dict[str, int]  # tensors of the whole graph: weights, buffers, inputs, and those that are guessed

    def text(self, index: int) -> str:
        """Return parameters and operations of a scope for its box: ``12.6 M · 25.8 GFLOP``, "" without
        any. The operations have "≥" if those of some operators are unknown."""
        parameters, flops = int(self.parameters[index]), int(self.flops[index])
        parts = [short_number(parameters).strip()] if parameters else []
        sign = "≥ " if self.uncounted[index] else ""
        return " · ".join([*parts, f"{sign}{short_number(flops)}FLOP"] if flops else parts)


def costs_of(tree: Tree) -> Costs:
    """Return the parameters, bytes and floating point operations of every subtree. A parameter that
    several operators of a subtree use counts once."""
    elements, sizes, roles = _parameter_sizes(tree.graph)
    users = _users(tree, elements)
    flops, uncounted = _flops(tree)
    return Costs(
        _distinct_sums(tree, users, elements),
        _distinct_sums(tree, users, sizes),
        tree.sums(flops),
        tree.sums(uncounted),
        roles,
    )


def short_number(value: int) -> str:
    """Return a number with three digits and its prefix, to be followed by a unit: ``12.6 M``, ``512 ``."""
    power = 0
    scaled = float(value)
    while scaled >= 999.5 and power < len(_UNITS) - 1:
        scaled /= 1000
        power += 1
    digits = 0 if power == 0 or scaled >= 99.95 else 1 if scaled >= 9.995 else 2
    return f"{scaled:.{digits}f}{_UNITS[power]}"


def role_of(graph: Graph, node: int) -> int:
    """Return the role of a parameter: WEIGHT, BUFFER or INPUT. A role not recorded is guessed by the name."""
    return recorded_role(graph, node) or _guess_role(graph.names[node])


def _guess_role(name: str) -> int:
    return ParameterProto.INPUT if _INPUT.fullmatch(name) else ParameterProto.WEIGHT


def is_input(graph: Graph, node: int) -> bool:
    """Return True if a parameter is an input of the network, as recorded or guessed by its name."""
    return role_of(graph, node) == ParameterProto.INPUT


def _parameter_sizes(graph: Graph) -> tuple[dict[int, int], dict[int, int], dict[str, int]]:
    """Return elements and bytes of each weight of the network, and the numbers of weights, buffers and inputs
    of a graph, and of those whose role is guessed."""
    elements, sizes = {}, {}
    known: dict[int, tuple[int, int]] = {}
    roles, guessed = Counter[int](), 0
    numbers = graph.content_numbers.tolist()
    for node in np.flatnonzero(graph.kinds == PARAMETER).tolist():
        recorded = recorded_role(graph, node)
        role = recorded or _guess_role(graph.names[node])
        guessed += not recorded
        roles[role] += 1
        if role != ParameterProto.WEIGHT:
            continue
        content = numbers[node]
        if content not in known:
            known[content] = _elements_and_bytes(graph, node)
        elements[node], sizes[node] = known[content]
    names = {
        "weights": ParameterProto.WEIGHT,
        "buffers": ParameterProto.BUFFER,
        "inputs": ParameterProto.INPUT,
    }
    return elements, sizes, {name: roles[role] for name, role in names.items()} | {"guessed": guessed}


def _elements_and_bytes(graph: Graph, node: int) -> tuple[int, int]:
    output = output_of(graph, node)
    elements = sum(prod(shape) for shape in output.shapes if min(shape, default=0) >= 0)
    bits = _BITS.search(output.type)
    return elements, elements * (int(bits[1]) if bits else 8 if "BOOL" in output.type else 32) // 8


def _users(tree: Tree, elements: dict[int, int]) -> dict[int, list[int]]:
    """Return the leaves that use each parameter, ascending."""
    users: dict[int, set[int]] = {}
    edges = tree.graph.edges
    feeding = np.flatnonzero(tree.graph.kinds[edges.sources] == PARAMETER)
    leaves = tree.leaf_indices[edges.targets[feeding]].tolist()
    for source, leaf in zip(edges.sources[feeding].tolist(), leaves, strict=True):
        if leaf >= 0 and source in elements:
            users.setdefault(source, set()).add(leaf)
    return {source: sorted(leaves) for source, leaves in users.items()}


def _distinct_sums(tree: Tree, users: dict[int, list[int]], amounts: dict[int, int]) -> Amounts:
    """Return [t] the sum over the nodes with a user in each subtree, each node once. A node shared by two
    neighbouring users is counted twice from their nearest common scope up, and subtracted there."""
    values = np.zeros(len(tree.paths), dtype=np.int64)
    for node, leaves in users.items():
        for number, leaf in enumerate(leaves):
            values[leaf] += amounts[node]
            if number:
                values[_common_scope(tree, leaves[number - 1], leaf)] -= amounts[node]
    return tree.sums(values)


def _common_scope(tree: Tree, first: int, second: int) -> int:
    scope = int(tree.parents[first])
    while scope > ROOT and tree.ends[scope] <= second:
        scope = int(tree.parents[scope])
    return max(scope, ROOT)


def _flops(tree: Tree) -> tuple[npt.NDArray[np.float64], Amounts]:
    """Return [t] the operations of each operator, and 1 for operators of which they are unknown."""
    graph, numbers = tree.graph, tree.graph.content_numbers.tolist()

    @cache
    def shape(node: int) -> Shape:
        shapes = shapes_at(graph, node)
        return shapes[0] if len(shapes) == 1 else ()

    values, unknown = np.zeros(len(tree.paths), dtype=np.float64), np.zeros(len(tree.paths), dtype=np.int64)
    kinds = {kind: base_type(kind) for kind in set(tree.types)}
    leaves = [leaf for leaf in np.flatnonzero(tree.nodes >= 0).tolist() if kinds[tree.types[leaf]] in COUNTED]
    nodes = tree.nodes[leaves]
    begins, ends = (np.searchsorted(graph.edges.targets, nodes, side) for side in ("left", "right"))
    sources = graph.edges.sources.tolist()
    counted: dict[tuple[str, tuple[int, ...]], int | None] = {}  # layers repeat
    for leaf, node, begin, end in zip(leaves, nodes.tolist(), begins.tolist(), ends.tolist(), strict=True):
        ends_of_edges = [node, *sources[begin:end]]
        key = kinds[tree.types[leaf]], tuple([numbers[end] for end in ends_of_edges])
        if key not in counted:
            output, *inputs = map(shape, ends_of_edges)
            counted[key] = count_flops(key[0], inputs, output)
        values[leaf], unknown[leaf] = counted[key] or 0, counted[key] is None
    return values, unknown
