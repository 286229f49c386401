"""Claims about two graphs: identical, renamed, unrelated, and the edits that are fully evidenced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.graph.comparison.graph_comparison import (
    CHANGED,
    FOLLOWS,
    LEFT,
    ONLY,
    RIGHT,
    Comparison,
    Side,
    input_name,
    is_retyped,
)
from mindinsight.server.graph.model.graph import BACKWARD, OPERATOR, PARAMETER, Flags, Graph
from mindinsight.server.graph.model.node_details import output_of, shapes_at
from mindinsight.server.graph.scopes.folding import number_pattern
from mindinsight.server.graph.scopes.scope_tree import PLUMBING, SCOPE

_ADDS: Final = frozenset({"Add", "AddExt", "add", "TensorAdd", "aten.add.Tensor"})
_PRODUCTS: Final = frozenset(
    {"MatMul", "MatMulExt", "Dense", "matmul", "mm", "linear", "aten.linear.default"}
)
_SCALES: Final = frozenset({"Mul", "Dropout", "TupleGetItem", "Reshape", "Cast", "mul", "dropout"})
_NUMBER: Final = re.compile(r"\d+")
_NUMBERED_OPERATOR: Final = re.compile(r"-op\d+$")
_EFFECTS: Final = frozenset({"UpdateState"})  # states that only order side effects
_UNORDERED: Final = frozenset({"UpdateState", "Depend", "AddN"})  # users to whom the order is nothing
_MOST_UPSTREAM: Final = 3000  # operators that are searched for the begin of a skip connection
_MOST_REWIRED: Final = 20  # operators named one by one; more are counted


def comparison_claims(comparison: Comparison) -> list[Claim]:
    """Decide what can be said of two graphs: one verdict, then the edits that led from left to right."""
    left, right = (tree.graph for tree in comparison.trees)
    operators = [int(np.count_nonzero(graph.kinds == OPERATOR)) for graph in (left, right)]
    if not min(operators):
        return [
            Claim("claim.graph.nothing_compared", "unknown", {"left": operators[0], "right": operators[1]})
        ]
    partners = comparison.matching.node_partners
    if not (partners[: len(left)][left.kinds == OPERATOR] >= 0).any():
        return [Claim("claim.graph.unrelated", "found", {"left": operators[0], "right": operators[1]})]
    if not _differ(comparison):
        return [_agreement(comparison, operators[0])]
    if _only_reordered(comparison):
        return [Claim("claim.graph.reordered", "clear", {"n": operators[0]})]
    return [*_edits(comparison)]


def _differ(comparison: Comparison) -> bool:
    """Whether anything differs but names: operators, parameters, wiring, what the graphs return."""
    if any((states > 0).any() for states in comparison.states):
        return True
    return not _surroundings_agree(comparison)


def _surroundings_agree(comparison: Comparison) -> bool:
    """Whether parameters and what the graphs return agree."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    parameters = np.flatnonzero(columns.kinds == PARAMETER)
    if (partners[parameters] < 0).any():
        return False
    if (columns.outputs[parameters] != columns.outputs[partners[parameters]]).any():
        return False
    left, right = (graph.outputs.tolist() for graph in columns.graphs)
    agree: bool = [int(partners[node]) - columns.left_count for node in left] == right
    return agree


def _only_reordered(comparison: Comparison) -> bool:
    """Whether nothing differs but the order of side effects and of what is added or packed for them."""
    if any(((states == CHANGED) | (states == ONLY)).any() for states in comparison.states):
        return False
    if not _surroundings_agree(comparison):
        return False
    columns = comparison.matching.columns
    left, right = comparison.trees
    inputs = _Inputs(left.graph), _Inputs(right.graph)
    users: dict[int, set[str]] = {}
    edges = left.graph.edges
    for source, target in zip(edges.sources.tolist(), edges.targets.tolist(), strict=True):
        users.setdefault(source, set()).add(left.graph.types[target])
    for index in np.flatnonzero(comparison.states[LEFT] == FOLLOWS).tolist():
        node, other = int(left.nodes[index]), int(right.nodes[comparison.partners[LEFT][index]])
        if columns.outputs[node] != columns.outputs[other + columns.left_count]:
            return False
        sources = inputs[LEFT].of(node), inputs[RIGHT].of(other)
        ids = [comparison.input_ids[side][of_side].tolist() for side, of_side in enumerate(sources)]
        kind = left.graph.types[node]
        packed = kind == "MakeTuple" and users.get(node, set()) <= _UNORDERED
        if kind in _EFFECTS or ((packed or kind == "AddN") and sorted(ids[LEFT]) == sorted(ids[RIGHT])):
            continue
        if len(ids[LEFT]) != len(ids[RIGHT]) or any(
            before != after and not {left.graph.types[source], right.graph.types[taken]} <= _EFFECTS
            for before, after, source, taken in zip(*ids, *sources, strict=True)
        ):
            return False
    return True


def _agreement(comparison: Comparison, operators: int) -> Claim:
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    unread = sum(
        graph.losses.unreadable + graph.losses.dangling + graph.losses.nameless for graph in columns.graphs
    )
    if unread:
        return Claim("claim.graph.incomplete", "unknown", {"n": unread, "operators": operators})
    left, right = columns.graphs
    names = sum(
        _bare(name) != _bare(right.names[int(partners[node]) - columns.left_count])
        for node, name in enumerate(left.names)
        if partners[node] >= 0
    )
    if names:
        return Claim("claim.graph.renamed", "clear", {"n": names, "operators": operators})
    return Claim("claim.graph.identical", "clear", {"n": operators})


def _bare(name: str) -> str:
    return _NUMBERED_OPERATOR.sub("", name)


def _edits(comparison: Comparison) -> Iterator[Claim]:
    """Yield the edits whose whole pattern is there, then how many changes none of them explains."""
    forward = [_forward(tree.graph) for tree in comparison.trees]
    adapters = list(_adapters(comparison, forward[RIGHT]))
    named = [
        *_lora(adapters),
        *_replaced(comparison),
        *_rewired(comparison, forward[LEFT]),
        *_layers(comparison),
        *_backward(comparison),
        *_returned(comparison),
        *_retyped(comparison),
    ]
    yield from named
    explained = {node for adapter in adapters for node in adapter.nodes}
    working, others, lonely = _unexplained(comparison, forward, explained)
    if working and len(lonely) == 1 and working == sum(map(len, lonely.values())):
        ((side, op_type), places) = lonely.popitem()
        evidence = tuple({("left", "right")[side]: index} for index in places)
        key = "claim.graph.added" if side == RIGHT else "claim.graph.removed"
        yield Claim(key, "found", {"type": op_type, "n": working}, evidence)
    elif working or not named:
        yield Claim("claim.graph.changed", "found", {"n": working or max(others, 1)})


def _forward(graph: Graph) -> Flags:
    """[n] flag of operators that belong to no backward pass, optimizer or bookkeeping."""
    return np.array(
        [
            kind == OPERATOR
            and op_type not in PLUMBING
            and not name.startswith(BACKWARD)
            and "optimizer" not in name
            for name, kind, op_type in zip(graph.names, graph.kinds.tolist(), graph.types, strict=True)
        ],
        dtype=np.bool_,
    )


class _Adapter(NamedTuple):
    """Two products of low rank beside a layer, added to its output."""

    layer: str
    block: str
    rank: int
    position: int  # index of the Add in the right tree
    nodes: tuple[int, ...]


class _Inputs:
    """Inputs of the nodes of a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._begins = np.searchsorted(graph.edges.targets, np.arange(len(graph) + 1))

    def of(self, node: int) -> list[int]:
        sources: list[int] = self.graph.edges.sources[self._begins[node] : self._begins[node + 1]].tolist()
        return sources

    def parameter(self, node: int) -> int:
        """Return the one parameter that an operator uses, through a Load too; -1 if there is not one."""
        parameters = []
        for source in self.of(node):
            origin = self.of(source)[0] if self.graph.types[source] == "Load" and self.of(source) else source
            if self.graph.kinds[origin] == PARAMETER:
                parameters.append(origin)
        return parameters[0] if len(parameters) == 1 else -1


def _adapters(comparison: Comparison, forward: Flags) -> Iterator[_Adapter]:
    """Yield LoRA's pattern: out = base(x) + scale · B(A(x)), with A and B only in the right graph."""
    tree = comparison.trees[RIGHT]
    graph, count = tree.graph, comparison.matching.columns.left_count
    partners = comparison.matching.node_partners[count:]
    inputs = _Inputs(graph)
    alone = (partners < 0) & forward
    for node in np.flatnonzero(alone).tolist():
        if graph.types[node] not in _ADDS or len(inputs.of(node)) < 2:
            continue
        branch = [
            source
            for source in inputs.of(node)[:2]
            if partners[source] < 0 and graph.kinds[source] == OPERATOR
        ]
        if len(branch) != 1:
            continue
        path, step = [node], branch[0]
        while graph.types[step] in _SCALES and partners[step] < 0 and len(path) < 8:
            path.append(step)
            operators = [source for source in inputs.of(step) if graph.kinds[source] == OPERATOR]
            step = operators[0] if operators else step
        downs = inputs.of(step)[:1] if graph.types[step] in _PRODUCTS and partners[step] < 0 else []
        if not downs or graph.types[downs[0]] not in _PRODUCTS or partners[downs[0]] >= 0:
            continue
        up, down = inputs.parameter(step), inputs.parameter(downs[0])
        if min(up, down) < 0 or partners[up] >= 0 or partners[down] >= 0:
            continue
        shapes = [(shapes_at(graph, parameter) or [[]])[0] for parameter in (down, up)]
        common = set(shapes[0]) & set(shapes[1])
        if any(len(shape) != 2 for shape in shapes) or not common or min(common) > min(map(max, shapes)) // 2:
            continue
        *scopes, layer, _ = (
            graph.names[down].split(".") if "." in graph.names[down] else ["", graph.names[node], ""]
        )
        block = next((part for part in scopes if part.isdigit()), "")
        position = int(tree.leaf_indices[node])
        yield _Adapter(layer, block, min(common), position, (*path, step, downs[0]))


def _lora(adapters: list[_Adapter]) -> Iterator[Claim]:
    for rank in sorted({adapter.rank for adapter in adapters}):
        chosen = [adapter for adapter in adapters if adapter.rank == rank]
        layers = list(dict.fromkeys(adapter.layer for adapter in chosen))
        blocks = {adapter.block for adapter in chosen}
        evidence = tuple({"side": "right", "node": adapter.position} for adapter in chosen)
        if "" not in blocks and len(chosen) == len(layers) * len(blocks):
            values = {"layers": layers, "n": len(blocks), "rank": rank}
            yield Claim("claim.graph.lora", "found", values, evidence)
        else:
            yield Claim("claim.graph.lora_places", "found", {"n": len(chosen), "rank": rank}, evidence)


def _replaced(comparison: Comparison) -> Iterator[Claim]:
    """Yield which types of operators were replaced by which, outside of the backward pass."""
    left, right = comparison.trees
    changed = np.flatnonzero((comparison.states[LEFT] == CHANGED) & (left.nodes >= 0)).tolist()
    places: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for index in changed:
        other = int(comparison.partners[LEFT][index])
        if left.types[index] != right.types[other] and not left.paths[index].startswith(BACKWARD):
            places.setdefault((left.types[index], right.types[other]), []).append((index, other))
    for (before, after), pairs in sorted(places.items(), key=lambda item: -len(item[1])):
        evidence = tuple({"left": index, "right": other} for index, other in pairs)
        yield Claim(
            "claim.graph.replaced", "found", {"before": before, "after": after, "n": len(pairs)}, evidence
        )


def _rewired(comparison: Comparison, forward: Flags) -> Iterator[Claim]:
    """Yield each operator of the forward pass that takes another value than before; both have partners."""
    left, right = comparison.trees
    nodes = [node for node in comparison.rewired.tolist() if forward[node]]
    rows = []
    for node in nodes:
        index = int(left.leaf_indices[node])
        other = int(comparison.partners[LEFT][index])
        if sources := comparison.sources_of(node, int(right.nodes[other])):
            rows.append((node, index, other, *sources))
    streams = Counter((before, after) for *_, before, after in rows)
    for node, index, other, before, after in rows[:_MOST_REWIRED]:
        alone = streams[before, after] == 1  # else the stream was rewired, of which the residual is a part
        skip = alone and left.types[index] in _ADDS and _is_skip(left.graph, node, before)
        skip = skip and _is_skip(right.graph, int(right.nodes[other]), after)
        values: dict[str, Any] = {
            "operator": left.paths[index].rpartition("/")[2],
            "scope": left.paths[index].rpartition("/")[0].rpartition("/")[2],
            "before": input_name(left.graph, before),
            "after": input_name(right.graph, after),
        }
        key = "claim.graph.residual_rewired" if skip else "claim.graph.rewired"
        if operands := comparison.operands_of(node, int(right.nodes[other])):
            key = "claim.graph.operands_swapped"
            values |= {"before": operands[LEFT], "after": operands[RIGHT]}
        yield Claim(key, "found", values, ({"left": index, "right": other},))
    if len(rows) > _MOST_REWIRED:
        yield Claim("claim.graph.rewired_more", "found", {"n": len(rows) - _MOST_REWIRED})


def _is_skip(graph: Graph, node: int, value: int) -> bool:
    """Whether ``value`` reaches an operator twice: directly, and through another input of it."""
    inputs = _Inputs(graph)
    waiting = [source for source in inputs.of(node) if source != value]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_UPSTREAM:
        source = waiting.pop()
        if source == value:
            return True
        if source not in seen:
            seen.add(source)
            waiting += inputs.of(source)
    return False


def _layers(comparison: Comparison) -> Iterator[Claim]:
    """Yield numbered scopes that only one graph has, outside of the backward pass."""
    side: Side
    for side, key in ((LEFT, "claim.graph.layers_removed"), (RIGHT, "claim.graph.layers_added")):
        tree = comparison.trees[side]
        layers: list[int] = []
        end = 0
        for index in range(1, len(tree.paths)):
            name = tree.paths[index].rpartition("/")[2]
            if index < end or tree.is_leaf(index) or tree.paths[index].startswith(BACKWARD) or "[" in name:
                continue
            if comparison.state(side, index) == ONLY:
                end = int(tree.ends[index])
                if _is_layer(comparison, side, index):
                    layers.append(index)
        if layers:
            names = [tree.paths[index].rpartition("/")[2] for index in layers]
            evidence = tuple({("left", "right")[side]: index} for index in layers)
            yield Claim(key, "found", {"n": len(layers), "layers": names[:10]}, evidence)


def _backward(comparison: Comparison) -> Iterator[Claim]:
    """Say that only one graph has a backward pass."""
    counts = [sum(name.startswith(BACKWARD) for name in tree.graph.names) for tree in comparison.trees]
    if counts[LEFT] and not counts[RIGHT]:
        yield Claim("claim.graph.backward_removed", "found", {"n": counts[LEFT]})
    elif counts[RIGHT] and not counts[LEFT]:
        yield Claim("claim.graph.backward_added", "found", {"n": counts[RIGHT]})


def _returned(comparison: Comparison) -> Iterator[Claim]:
    """Say that the graphs return other values, of which both have all."""
    if returned := comparison.returned():
        values = {"before": returned[LEFT], "after": returned[RIGHT]}
        yield Claim("claim.graph.other_output", "found", values)


def _retyped(comparison: Comparison) -> Iterator[Claim]:
    """Yield how many parameters have elements of another type, and the same shape."""
    left, right = comparison.matching.columns.graphs
    counts: Counter[tuple[str, str]] = Counter()
    for node, other in _resized(comparison):
        if is_retyped(left, node, right, other):
            counts[output_of(left, node).compact.split()[0], output_of(right, other).compact.split()[0]] += 1
    for (before, after), count in counts.most_common():
        yield Claim("claim.graph.retyped", "found", {"before": before, "after": after, "n": count})


def _resized(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield the parameters of both graphs, as nodes of each, whose type or shape differs."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    parameters = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    different = columns.outputs[parameters] != columns.outputs[partners[parameters]]
    for node in parameters[different].tolist():
        yield node, int(partners[node]) - columns.left_count


def _unexplained(
    comparison: Comparison, forward: list[Flags], explained: set[int]
) -> tuple[int, int, dict[tuple[Side, str], list[int]]]:
    """Count the operators that differ and that no edit names: of the forward pass, and others.

    Of the former, those of one graph alone are returned by side and type.

    Parameters of another type count as operators of the forward pass if no operator differs.
    """
    rewired = set(comparison.rewired.tolist())
    graphs = comparison.matching.columns.graphs
    retyped = {
        node for node, other in _resized(comparison) if is_retyped(graphs[LEFT], node, graphs[RIGHT], other)
    }
    counts = [0, 0]
    lonely: dict[tuple[Side, str], list[int]] = {}
    side: Side
    for side in (LEFT, RIGHT):
        tree, states = comparison.trees[side], comparison.states[side]
        for index in np.flatnonzero((states == ONLY) | ((states == CHANGED) & (side == LEFT))).tolist():
            node = int(tree.nodes[index])
            if states[index] == CHANGED:
                other = int(comparison.partners[LEFT][index])
                named = node in rewired or tree.types[index] != comparison.trees[RIGHT].types[other]
                named = named or (bool(retyped) and _only_retyped(comparison, index, other, retyped))
            else:
                named = (side == RIGHT and node in explained) or _in_lonely_layer(comparison, side, index)
            if not named:
                counts[not forward[side][node]] += 1
                if forward[side][node] and states[index] == ONLY:
                    lonely.setdefault((side, tree.types[index]), []).append(index)
    resized = sum(1 for _ in _resized(comparison)) - len(retyped)
    return counts[0] or resized, counts[1], lonely


def _only_retyped(comparison: Comparison, index: int, other: int, retyped: set[int]) -> bool:
    """Whether an operator differs in nothing but the type of elements of parameters that it takes."""
    left, right = comparison.trees
    columns, node, its = comparison.matching.columns, int(left.nodes[index]), int(right.nodes[other])
    inputs = _Inputs(left.graph).of(node), _Inputs(right.graph).of(its)
    if columns.attributes[node] != columns.attributes[its + columns.left_count]:
        return False
    differing = [
        (before, after)
        for before, after in zip(*inputs, strict=False)
        if comparison.input_ids[LEFT][before] != comparison.input_ids[RIGHT][after]
    ]
    return (
        len(inputs[LEFT]) == len(inputs[RIGHT])
        and bool(differing)
        and all(
            before in retyped and comparison.matching.node_partners[before] == after + columns.left_count
            for before, after in differing
            if OPERATOR not in (left.graph.kinds[before], right.graph.kinds[after])
        )
    )


def _in_lonely_layer(comparison: Comparison, side: Side, index: int) -> bool:
    tree = comparison.trees[side]
    return any(
        "[" not in tree.paths[scope].rpartition("/")[2]
        and comparison.state(side, scope) == ONLY
        and _is_layer(comparison, side, scope)
        for scope in tree.ancestors(index)
    )


def _is_layer(comparison: Comparison, side: Side, scope: int) -> bool:
    """Whether a scope is numbered: first in its name, or as another beside it in either graph is."""
    tree = comparison.trees[side]
    outer, _, name = tree.paths[scope].rpartition("/")
    if _NUMBER.match(name):
        return True
    pattern = number_pattern(name)
    if "*" not in pattern or tree.types[scope] != SCOPE:
        return False
    return any(
        path.startswith(f"{outer}/")
        and path != tree.paths[scope]
        and number_pattern(path) == pattern
        and path.rpartition("/")[0] == outer
        for either in comparison.trees
        for path, kind in zip(either.paths, either.types, strict=True)
        if kind == SCOPE
    )
