"""Claims about two graphs: identical, renamed, unrelated, and the edits that are fully evidenced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.graph.comparison.graph_comparison import (
    CHANGED,
    COMMUTATIVE,
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
_UNORDERED: Final = frozenset({"UpdateState", "Depend", "AddN"})  # users that ignore the order of inputs
_MOST_UPSTREAM: Final = 3000  # limit of operators searched for the start of a skip connection
_NAMED: Final = 3  # operators that one sentence names
_SCOPES: Final = 4  # last parts of a name that a sentence shows
_MOST_REWIRED: Final = 20  # limit of operators named one by one, more are counted


def comparison_claims(comparison: Comparison) -> list[Claim]:
    """Return the claims about two graphs: one verdict, then the edits that lead from left to right."""
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
    """Return True if anything except names differs: operators, parameters, wiring, outputs of the graphs."""
    differ = any((states > 0).any() for states in comparison.states)
    return differ or not _surroundings_agree(comparison)


def _surroundings_agree(comparison: Comparison) -> bool:
    """Return True if parameters and the outputs of the graphs agree."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    parameters = np.flatnonzero(columns.kinds == PARAMETER)
    others = partners[parameters]
    if (others < 0).any() or (columns.outputs[parameters] != columns.outputs[others]).any():
        return False
    left, right = (graph.outputs.tolist() for graph in columns.graphs)
    agree: bool = [int(partners[node]) - columns.left_count for node in left] == right
    return agree


def _only_reordered(comparison: Comparison) -> bool:
    """Return True if only the order of side effects differs, and of values added or packed for them."""
    if any(((states == CHANGED) | (states == ONLY)).any() for states in comparison.states):
        return False
    if not _surroundings_agree(comparison):
        return False
    columns = comparison.matching.columns
    left, right = comparison.trees
    users: dict[int, set[str]] = {}
    edges = left.graph.edges
    for source, target in zip(edges.sources.tolist(), edges.targets.tolist(), strict=True):
        users.setdefault(source, set()).add(left.graph.types[target])
    for index in np.flatnonzero(comparison.states[LEFT] == FOLLOWS).tolist():
        node, other = int(left.nodes[index]), int(right.nodes[comparison.partners[LEFT][index]])
        if columns.outputs[node] != columns.outputs[other + columns.left_count]:
            return False
        sources = left.graph.inputs_of(node), right.graph.inputs_of(other)
        ids = [comparison.input_ids[side][of_side].tolist() for side, of_side in enumerate(sources)]
        kind = left.graph.types[node]
        packed = kind == "MakeTuple" and users.get(node, set()) <= _UNORDERED
        unordered = packed or kind == "AddN" or kind in COMMUTATIVE
        if kind in _EFFECTS or (unordered and sorted(ids[LEFT]) == sorted(ids[RIGHT])):
            continue
        if len(ids[LEFT]) != len(ids[RIGHT]) or any(
            before != after and not {left.graph.types[source], right.graph.types[taken]} <= _EFFECTS
            for before, after, source, taken in zip(*ids, *sources, strict=True)
        ):
            return False
    return True


def _agreement(comparison: Comparison, operators: int) -> Claim:
    """Return the claim about graphs without a difference: incomplete, renamed or identical."""
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
    """Yield the edits that are fully evidenced, then the number of changes that none of them explains."""
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
    working, others, lonely, names = _unexplained(comparison, forward, explained)
    if working and len(lonely) == 1 and working == sum(map(len, lonely.values())):
        ((side, op_type), places) = lonely.popitem()
        evidence = tuple({("left", "right")[side]: index} for index in places)
        key = "claim.graph.added" if side == RIGHT else "claim.graph.removed"
        yield Claim(key, "found", {"type": op_type, "n": working}, evidence)
    elif working or not named:
        key = "claim.graph.changed" if named else "claim.graph.only_changed"
        names = names or _first_that_follows(comparison)
        shown = few([_ending(name) for name in names], _NAMED)
        yield Claim(key, "found", {"n": working or max(others, 1), "names": shown})


def _first_that_follows(comparison: Comparison) -> list[str]:
    """Return the name of the first operator that takes other inputs than its partner."""
    rows = np.flatnonzero(comparison.states[LEFT] == FOLLOWS)
    tree = comparison.trees[LEFT]
    return [tree.graph.names[int(tree.nodes[index])] for index in rows[:1].tolist()]


def _ending(name: str) -> str:
    """Return the last scopes and the operator of a name, without its number."""
    return "/".join(_bare(name).split("/")[-_SCOPES:])


def _forward(graph: Graph) -> Flags:
    """Return [n] True for operators except those of a backward pass, optimizer or bookkeeping."""
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
    """Two products of low rank next to a layer, added to its output."""

    layer: str
    block: str
    rank: int
    position: int  # index of the Add in the right tree
    nodes: tuple[int, ...]


def _parameter_of(graph: Graph, node: int) -> int:
    """Return the only parameter that an operator uses, directly or through a Load, or -1."""
    parameters = []
    for source in graph.inputs_of(node):
        loaded = graph.inputs_of(source) if graph.types[source] == "Load" else []
        origin = loaded[0] if loaded else source
        if graph.kinds[origin] == PARAMETER:
            parameters.append(origin)
    return parameters[0] if len(parameters) == 1 else -1


def _adapters(comparison: Comparison, forward: Flags) -> Iterator[_Adapter]:
    """Yield the matches of LoRA's pattern: out = base(x) + scale · B(A(x)), with A and B only in the right
    graph."""
    tree = comparison.trees[RIGHT]
    graph, count = tree.graph, comparison.matching.columns.left_count
    partners = comparison.matching.node_partners[count:]
    alone = (partners < 0) & forward
    for node in np.flatnonzero(alone).tolist():
        terms = graph.inputs_of(node)[:2] if graph.types[node] in _ADDS else []
        branch = [term for term in terms if partners[term] < 0 and graph.kinds[term] == OPERATOR]
        if len(terms) < 2 or len(branch) != 1:
            continue
        path, step = [node], branch[0]
        while graph.types[step] in _SCALES and partners[step] < 0 and len(path) < 8:
            path.append(step)
            operators = [source for source in graph.inputs_of(step) if graph.kinds[source] == OPERATOR]
            step = operators[0] if operators else step
        downs = graph.inputs_of(step)[:1] if graph.types[step] in _PRODUCTS and partners[step] < 0 else []
        if not downs or graph.types[downs[0]] not in _PRODUCTS or partners[downs[0]] >= 0:
            continue
        up, down = _parameter_of(graph, step), _parameter_of(graph, downs[0])
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
    """Yield one claim for each rank of adapters."""
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
    """Yield the types of operators that were replaced, with the new types, outside the backward pass."""
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
    """Yield each operator of the forward pass with another input than before, if both inputs have
    partners."""
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
        alone = streams[before, after] == 1  # else the whole stream was rewired, not only the residual
        skip = alone and left.types[index] in _ADDS and _is_skip(left.graph, node, before)
        skip = skip and _is_skip(right.graph, int(right.nodes[other]), after)
        values: dict[str, Any] = {
            "operator": left.paths[index].rpartition("/")[2],
            "scope": left.paths[index].rpartition("/")[0].rpartition("/")[2],
            "before": input_name(left.graph, before, node),
            "after": input_name(right.graph, after, int(right.nodes[other])),
        }
        key = "claim.graph.residual_rewired" if skip else "claim.graph.rewired"
        if operands := comparison.operands_of(node, int(right.nodes[other])):
            key = "claim.graph.operands_swapped"
            values |= {"before": operands[LEFT], "after": operands[RIGHT]}
        yield Claim(key, "found", values, ({"left": index, "right": other},))
    if len(rows) > _MOST_REWIRED:
        yield Claim("claim.graph.rewired_more", "found", {"n": len(rows) - _MOST_REWIRED})


def _is_skip(graph: Graph, node: int, value: int) -> bool:
    """Return True if ``value`` reaches an operator twice: directly, and through another input."""
    waiting = [source for source in graph.inputs_of(node) if source != value]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_UPSTREAM:
        source = waiting.pop()
        if source == value:
            return True
        if source not in seen:
            seen.add(source)
            waiting += graph.inputs_of(source)
    return False


def _layers(comparison: Comparison) -> Iterator[Claim]:
    """Yield the numbered scopes that only one graph has, outside the backward pass."""
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
    """Yield a claim if only one graph has a backward pass."""
    counts = [sum(name.startswith(BACKWARD) for name in tree.graph.names) for tree in comparison.trees]
    if counts[LEFT] and not counts[RIGHT]:
        yield Claim("claim.graph.backward_removed", "found", {"n": counts[LEFT]})
    elif counts[RIGHT] and not counts[LEFT]:
        yield Claim("claim.graph.backward_added", "found", {"n": counts[RIGHT]})


def _returned(comparison: Comparison) -> Iterator[Claim]:
    """Yield a claim if the graphs return different values and both have all of them."""
    if returned := comparison.returned():
        values = {"before": returned[LEFT], "after": returned[RIGHT]}
        yield Claim("claim.graph.other_output", "found", values)


def _retyped(comparison: Comparison) -> Iterator[Claim]:
    """Yield the number of parameters with another element type and the same shape."""
    left, right = comparison.matching.columns.graphs
    counts: Counter[tuple[str, str]] = Counter()
    for node, other in _resized(comparison):
        if is_retyped(left, node, right, other):
            counts[output_of(left, node).compact.split()[0], output_of(right, other).compact.split()[0]] += 1
    for (before, after), count in counts.most_common():
        yield Claim("claim.graph.retyped", "found", {"before": before, "after": after, "n": count})


def _resized(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield the parameters of both graphs, as nodes of each, that differ in type or shape."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    parameters = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    different = columns.outputs[parameters] != columns.outputs[partners[parameters]]
    for node in parameters[different].tolist():
        yield node, int(partners[node]) - columns.left_count


def _unexplained(
    comparison: Comparison, forward: list[Flags], explained: set[int]
) -> tuple[int, int, dict[tuple[Side, str], list[int]], list[str]]:
    """Return the numbers of operators that differ without a named edit: in the forward pass, and others.

    Those in the forward pass of only one graph are also returned by side and type. Parameters of another type
    count as operators of the forward pass if no operator differs. The last are the names of what is counted.
    """
    rewired = set(comparison.rewired.tolist())
    graphs = comparison.matching.columns.graphs
    retyped = {
        node for node, other in _resized(comparison) if is_retyped(graphs[LEFT], node, graphs[RIGHT], other)
    }
    names: tuple[list[str], list[str]] = ([], [])  # of the forward pass, and others
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
                names[not forward[side][node]].append(tree.graph.names[node])
                if forward[side][node] and states[index] == ONLY:
                    lonely.setdefault((side, tree.types[index]), []).append(index)
    resized = [graphs[LEFT].names[node] for node, _ in _resized(comparison) if node not in retyped]
    working = names[0] or resized
    return len(working), len(names[1]), lonely, working or names[1]


def _only_retyped(comparison: Comparison, index: int, other: int, retyped: set[int]) -> bool:
    """Return True if an operator differs only in the element type of its parameters."""
    left, right = comparison.trees
    columns, node, its = comparison.matching.columns, int(left.nodes[index]), int(right.nodes[other])
    inputs = left.graph.inputs_of(node), right.graph.inputs_of(its)
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
    """Return True if an operator is in a layer that only this graph has."""
    tree = comparison.trees[side]
    return any(
        "[" not in tree.paths[scope].rpartition("/")[2]
        and comparison.state(side, scope) == ONLY
        and _is_layer(comparison, side, scope)
        for scope in tree.ancestors(index)
    )


def _is_layer(comparison: Comparison, side: Side, scope: int) -> bool:
    """Return True if a scope is numbered: at the start of its name, or like another scope next to it."""
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
