"""Recognition of LoRA: products of low rank that only one of two graphs has beside a layer."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.graph.comparison.graph_comparison import Comparison, Side
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Flags, Graph
from mindinsight.server.graph.model.node_details import shapes_at

ADDS: Final = frozenset({"Add", "AddExt", "add", "TensorAdd", "aten.add.Tensor"})
_PRODUCTS: Final = frozenset(
    {"MatMul", "MatMulExt", "Dense", "matmul", "mm", "linear", "aten.linear.default"}
)
_BIASES: Final = ADDS | {"BiasAdd"}
_SCALES: Final = frozenset({"Mul", "Dropout", "TupleGetItem", "Reshape", "Cast", "mul", "dropout"})
_MOST_SCALES: Final = 8  # operators between B and the addition: a scale, a dropout, casts, with room


class Adapter(NamedTuple):
    """LoRA adapter: two products of low rank next to a layer, added to its output."""

    layer: str
    block: str
    rank: int
    position: int  # index of the Add in the tree
    nodes: tuple[int, ...]
    side: Side


def _parameter_of(graph: Graph, node: int) -> int:
    """Return the only parameter that an operator uses, directly or through a Load, or -1."""
    parameters = []
    for source in graph.inputs_of(node):
        loaded = graph.inputs_of(source) if graph.types[source] == "Load" else []
        origin = loaded[0] if loaded else source
        if graph.kinds[origin] == PARAMETER:
            parameters.append(origin)
    return parameters[0] if len(parameters) == 1 else -1


def _data_inputs(graph: Graph, node: int) -> set[int]:
    """Return the inputs of an operator before they were scaled, cast or reshaped, without parameters."""
    return {_unscaled(graph, source) for source in graph.inputs_of(node)}


def _unscaled(graph: Graph, node: int) -> int:
    for _ in range(_MOST_SCALES):
        if graph.types[node] not in _SCALES or not (sources := graph.inputs_of(node)):
            break
        node = next(iter(_operators_into(graph, node)), sources[0])
    return node


def _operators_into(graph: Graph, node: int) -> list[int]:
    """Return the operators that feed an operator, except those that read a parameter."""
    sources = graph.inputs_of(node)
    return [s for s in sources if graph.kinds[s] == OPERATOR and graph.types[s] != "Load"]


def _layer_behind(graph: Graph, node: int) -> int:
    """Return the operator that produced the value of ``node`` before a bias was added and it was scaled."""
    for _ in range(_MOST_SCALES):
        node = _unscaled(graph, node)
        operators = _operators_into(graph, node)
        if graph.types[node] not in _BIASES or len(operators) != 1:
            break
        node = operators[0]
    return node


def find_adapters(comparison: Comparison, side: Side, forward: Flags) -> Iterator[Adapter]:
    """Yield the LoRA adapters that only the graph on ``side`` has: out = base(x) + scale · B(A(x)).
    ``forward`` [n] flags the operators of its forward pass."""
    tree = comparison.trees[side]
    graph, count = tree.graph, comparison.matching.columns.left_count
    partners = (
        comparison.matching.node_partners[count:] if side else comparison.matching.node_partners[:count]
    )
    alone = (partners < 0) & forward
    for node in np.flatnonzero(alone).tolist():
        terms = graph.inputs_of(node)[:2] if graph.types[node] in ADDS else []
        branch = [term for term in terms if partners[term] < 0 and graph.kinds[term] == OPERATOR]
        if len(terms) < 2 or len(branch) != 1:
            continue
        path, step = [node], branch[0]
        while graph.types[step] in _SCALES and partners[step] < 0 and len(path) < _MOST_SCALES:
            path.append(step)
            operators = [source for source in graph.inputs_of(step) if graph.kinds[source] == OPERATOR]
            step = operators[0] if operators else step
        downs = graph.inputs_of(step)[:1] if graph.types[step] in _PRODUCTS and partners[step] < 0 else []
        if not downs or graph.types[downs[0]] not in _PRODUCTS or partners[downs[0]] >= 0:
            continue
        up, down = _parameter_of(graph, step), _parameter_of(graph, downs[0])
        if min(up, down) < 0 or partners[up] >= 0 or partners[down] >= 0:
            continue
        base = next(term for term in terms if term != branch[0])
        if not _data_inputs(graph, downs[0]) & _data_inputs(graph, _layer_behind(graph, base)):
            continue  # it takes something else than the layer, as its output: another kind of adapter
        shapes = [(shapes_at(graph, parameter) or [[]])[0] for parameter in (down, up)]
        common = set(shapes[0]) & set(shapes[1])
        if any(len(shape) != 2 for shape in shapes) or not common or min(common) > min(map(max, shapes)) // 2:
            continue
        *scopes, layer = _shared_scopes(graph.names[down], graph.names[up]) or [graph.names[node]]
        block = next((part for part in scopes if part.isdigit()), "")
        position = int(tree.leaf_indices[node])
        yield Adapter(layer, block, min(common), position, (*path, step, downs[0]), side)


def _shared_scopes(first: str, second: str) -> list[str]:
    """Return the common scopes of two parameters' names: the adapted layer and the scopes that contain the
    layer."""
    parts = list(zip(first.split(".")[:-1], second.split(".")[:-1], strict=False))
    differing = next((i for i, (left, right) in enumerate(parts) if left != right), len(parts))
    return [scope for scope, _ in parts[:differing]]


def lora_claims(adapters: list[list[Adapter]]) -> Iterator[Claim]:
    """Yield one claim for each LoRA rank of the adapters that only the left or only the right graph has.
    ``adapters`` are those of the left and those of the right graph."""
    keys = (
        ("claim.graph.lora_removed", "claim.graph.lora_removed_places"),
        ("claim.graph.lora", "claim.graph.lora_places"),
    )
    for (regular, irregular), side_adapters in zip(keys, adapters, strict=True):
        for rank in sorted({adapter.rank for adapter in side_adapters}):
            chosen = [adapter for adapter in side_adapters if adapter.rank == rank]
            layers = list(dict.fromkeys(adapter.layer for adapter in chosen))
            blocks = {adapter.block for adapter in chosen}
            evidence = tuple(
                {"side": ("left", "right")[adapter.side], "node": adapter.position} for adapter in chosen
            )
            if "" not in blocks and len(chosen) == len(layers) * len(blocks):
                values = {"layers": layers, "n": len(blocks), "rank": rank}
                yield Claim(regular, "found", values, evidence)
            else:
                yield Claim(irregular, "found", {"n": len(chosen), "rank": rank}, evidence)
