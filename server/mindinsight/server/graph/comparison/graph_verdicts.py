"""Claims about two graphs: identical, renamed, unrelated, and the edits that are fully evidenced."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from mindinsight.proto.graph_pb2 import ParameterProto
from mindinsight.server.claims import Claim, few
from mindinsight.server.graph.comparison.graph_comparison import (
    CHANGED,
    COMMUTATIVE,
    FOLLOWS,
    LEFT,
    ONLY,
    RIGHT,
    SAME,
    Change,
    Comparison,
    Side,
    input_name,
    is_retyped,
    pair_changes,
    paired_types,
)
from mindinsight.server.graph.comparison.input_pairing import paired_inputs
from mindinsight.server.graph.comparison.low_rank_adapters import ADDS, find_adapters, lora_claims
from mindinsight.server.graph.comparison.module_edits import (
    find_module_edits,
    in_lonely_layer,
    layer_claims,
    module_claims,
    renames,
)
from mindinsight.server.graph.comparison.module_order import (
    find_reorderings,
    moved_operators,
    reordering_claims,
)
from mindinsight.server.graph.comparison.node_labels import spelling
from mindinsight.server.graph.comparison.parameter_edits import (
    borrowed_claims,
    find_borrowed,
    naming_claims,
    parameter_claims,
    shared_claims,
    users_of,
)
from mindinsight.server.graph.comparison.size_edits import Groups, size_claims
from mindinsight.server.graph.model.graph import BACKWARD, OPERATOR, PARAMETER, Flags, Graph
from mindinsight.server.graph.model.node_details import output_of, recorded_role
from mindinsight.server.graph.scopes.costs import is_input
from mindinsight.server.graph.scopes.folding import merged
from mindinsight.server.graph.scopes.scope_tree import PLUMBING

_NUMBER: Final = re.compile(r"\d+")
_NUMBERED_OPERATOR: Final = re.compile(r"-op\d+$")
_EFFECTS: Final = frozenset({"UpdateState"})  # states that only order side effects
_UNORDERED: Final = frozenset({"UpdateState", "Depend", "AddN"})  # users that ignore the order of inputs
_MOST_UPSTREAM: Final = 3000  # limit of operators searched for the start of a skip connection
_NAMED: Final = 3  # operators that one sentence names
_SCOPES: Final = 4  # last parts of a name that a sentence shows
_MOST_REWIRED: Final = 20  # limit of operators named one by one, more are counted
_MOST_DETAILS: Final = 6  # kinds of changed attributes and shapes: a headline of more is not read
_MOST_CHANGED: Final = 2000  # changed pairs whose attributes are decoded, 0.1 ms each


Explained: TypeAlias = tuple[set[int], ...]  # operators of each graph that claims name
Names: TypeAlias = dict[str, list[str]]  # of nodes, by state
Remaining: TypeAlias = tuple[Names, Names, dict[tuple[Side, str], list[int]]]


def comparison_claims(comparison: Comparison) -> list[Claim]:
    """Return the claims about two graphs: one verdict, then the edits that lead from left to right."""
    left, right = (tree.graph for tree in comparison.trees)
    operators = [int(np.count_nonzero(graph.kinds == OPERATOR)) for graph in (left, right)]
    if not min(operators):
        return [
            Claim("claim.graph.nothing_compared", "unknown", {"left": operators[0], "right": operators[1]})
        ]
    if _unrelated(comparison, min(operators)):
        return [Claim("claim.graph.unrelated", "found", {"left": operators[0], "right": operators[1]})]
    if not _differ(comparison):
        return [_agreement(comparison, operators[0]), *renames(comparison)]
    if _only_reordered(comparison):
        return [Claim("claim.graph.reordered", "clear", {"n": operators[0]})]
    return [*_edits(comparison)]


def _unrelated(comparison: Comparison, operators: int) -> bool:
    """Return True if no operator of the left graph agrees with its partner and most have none."""
    leaves = comparison.trees[LEFT].nodes >= 0
    states = comparison.states[LEFT][leaves]
    agreeing = np.count_nonzero((states == SAME) | (states == FOLLOWS))
    return bool(not agreeing and 2 * np.count_nonzero(states == CHANGED) < operators)


def _differ(comparison: Comparison) -> bool:
    """Return True if the graphs differ in anything except names: operators, parameters, wiring or outputs."""
    differ = any((states > 0).any() for states in comparison.states)
    return differ or not _surroundings_agree(comparison)


def _surroundings_agree(comparison: Comparison) -> bool:
    """Return True if the parameters and the outputs of both graphs agree."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    parameters = np.flatnonzero(columns.kinds == PARAMETER)
    others = partners[parameters]
    if (others < 0).any() or (columns.outputs[parameters] != columns.outputs[others]).any():
        return False
    if next(_other_roles(comparison), None):
        return False
    left, right = (graph.outputs.tolist() for graph in columns.graphs)
    agree: bool = [int(partners[node]) - columns.left_count for node in left] == right
    return agree


def _only_reordered(comparison: Comparison) -> bool:
    """Return True if the graphs differ only in the order of side effects and of inputs that are unordered.
    Unordered are the inputs of sums and of commutative operators, and the elements of tuples made for
    these."""
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
    names = [
        node
        for node, name in enumerate(left.names)
        if partners[node] >= 0 and _bare(name) != _bare(right.names[int(partners[node]) - columns.left_count])
    ]
    if names:
        values = {"n": len(names), "operators": operators}
        values["parameters"] = int(np.count_nonzero(left.kinds[names] == PARAMETER))
        return Claim("claim.graph.renamed", "clear", values)
    return Claim("claim.graph.identical", "clear", {"n": operators})


def _bare(name: str) -> str:
    return _NUMBERED_OPERATOR.sub("", name)


def _edits(comparison: Comparison) -> Iterator[Claim]:
    """Yield a claim for each proven edit, then one with the number of changes that no edit explains."""
    forward = [_forward(tree.graph) for tree in comparison.trees]
    adapters = [list(find_adapters(comparison, side, forward[side])) for side in (LEFT, RIGHT)]
    explained: Explained = tuple({node for adapter in some for node in adapter.nodes} for some in adapters)
    modules = find_module_edits(comparison, forward, explained)
    remaining = _unexplained(comparison, forward, explained, _details(comparison, forward, set()))
    if _one_type(remaining):
        modules = [edit for edit in modules if edit.kind not in ("added", "removed")]
    hidden = {node for edit in modules for node in edit.nodes[LEFT]}
    explained = tuple(
        own.union(*(edit.nodes[side] for edit in modules)) for side, own in enumerate(explained)
    )
    details = _details(comparison, forward, hidden)
    reorderings = list(find_reorderings(comparison))
    borrowed = find_borrowed(comparison)
    moved = moved_operators(comparison, reorderings).union(*(some.operators for some in borrowed))
    named = [
        *lora_claims(adapters),
        *module_claims(comparison, modules),
        *_replaced(comparison, hidden),
        *reordering_claims(comparison, reorderings),
        *borrowed_claims(comparison, borrowed),
        *_rewired(comparison, forward[LEFT], hidden | moved),
        *shared_claims(comparison, forward, borrowed),
        *layer_claims(comparison),
        *_backward(comparison),
        *_returned(comparison),
        *_retyped(comparison),
        *_roles(comparison),
        *details.claims,
        *parameter_claims(comparison, forward, adapters, borrowed),
    ]
    yield from named
    yield from naming_claims(comparison)
    yield from renames(comparison)
    working, others, lonely = _unexplained(comparison, forward, explained, details)
    count = _count(working)
    if _one_type((working, others, lonely)):
        ((side, op_type), places) = lonely.popitem()
        evidence = tuple({("left", "right")[side]: index} for index in places)
        key = "claim.graph.added" if side == RIGHT else "claim.graph.removed"
        where = _where([comparison.trees[side].paths[index] for index in places])
        yield Claim(key, "found", {"type": op_type, "n": count, "where": where}, evidence)
    elif count or not named:
        yield _unnamed(comparison, working if count else others, bool(named))


def _one_type(remaining: Remaining) -> bool:
    """Return True if all differences without an edit are operators of one type that only one graph has."""
    working, _, lonely = remaining
    return len(lonely) == 1 and _count(working) == sum(map(len, lonely.values()))


def _unnamed(comparison: Comparison, remaining: dict[str, list[str]], others: bool) -> Claim:
    """Return the claim that counts the differences without an edit, as the page counts operators.
    ``remaining`` are their names by state. ``others`` is True if there are claims about edits, too."""
    if not _count(remaining):
        lonely = _lonely_parameters(comparison)
        remaining = {"alone": lonely} if lonely else {"follows": _first_that_follows(comparison)}
    names = [name for members in remaining.values() for name in members]
    endings = [_ending(name) for name in names]
    if len(set(endings)) < len(endings):  # numbers alone tell operators of a scope apart
        endings = ["/".join(name.split("/")[-_SCOPES:]) for name in names]
    parts = [
        Claim(f"claim.part.graph.{state}", "note", {"n": len(members)})
        for state, members in remaining.items()
        if members
    ]
    key = "claim.graph.changed" if others else "claim.graph.only_changed"
    return Claim(key, "found", {"n": len(names), "parts": parts, "names": few(endings, _NAMED)})


def _count(names: dict[str, list[str]]) -> int:
    return sum(map(len, names.values()))


def _lonely_parameters(comparison: Comparison) -> list[str]:
    """Return the names of the parameters that only one graph has."""
    columns = comparison.matching.columns
    lonely = np.flatnonzero((columns.kinds == PARAMETER) & (comparison.matching.node_partners < 0)).tolist()
    names = [name for graph in columns.graphs for name in graph.names]
    return [names[node] for node in lonely]


def _first_that_follows(comparison: Comparison) -> list[str]:
    """Return, in a list, the first operator whose inputs differ from those of its partner."""
    rows = np.flatnonzero(comparison.states[LEFT] == FOLLOWS)
    tree = comparison.trees[LEFT]
    return [tree.graph.names[int(tree.nodes[index])] for index in rows[:1].tolist()]


def _ending(name: str) -> str:
    """Return the last scopes and the operator's part of a name, without the operator's number."""
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


def _replaced(comparison: Comparison, hidden: set[int]) -> Iterator[Claim]:
    """Yield the types of operators that were replaced, with the new types, outside the backward pass.
    ``hidden`` are operators of the left graph in replaced modules."""
    left, right = comparison.trees
    changed = np.flatnonzero((comparison.states[LEFT] == CHANGED) & (left.nodes >= 0)).tolist()
    places: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for index in changed:
        if int(left.nodes[index]) in hidden:
            continue
        other = int(comparison.partners[LEFT][index])
        if left.types[index] != right.types[other] and not left.paths[index].startswith(BACKWARD):
            places.setdefault((left.types[index], right.types[other]), []).append((index, other))
    respelled = [types for types in places if spelling(types[LEFT]) == spelling(types[RIGHT])]
    if len(respelled) > 1:
        names = few([f"{before} → {after}" for before, after in sorted(respelled)], _NAMED)
        count = sum(len(places.pop(types)) for types in respelled)
        yield Claim(
            "claim.graph.respelled", "found", {"n": len(respelled), "names": names, "operators": count}
        )
    for (before, after), pairs in sorted(places.items(), key=lambda item: -len(item[1])):
        evidence = tuple({"left": index, "right": other} for index, other in pairs)
        where = _where([left.paths[index] for index, _ in pairs])
        values = {"before": before, "after": after, "n": len(pairs), "where": where}
        yield Claim("claim.graph.replaced", "found", values, evidence)


def _where(paths: list[str]) -> str | Claim:
    """Return the module of a single operator, from the innermost numbered layer on, or else the number of
    paths."""
    scopes = paths[0].split("/")[:-1]
    if len(paths) > 1 or not scopes:
        return Claim("claim.part.graph.places", "note", {"n": len(paths)})
    layers = [i for i, scope in enumerate(scopes) if scope[:1].isdigit()]
    return "/".join(scopes[layers[-1] if layers else -1 :])


def _rewired(comparison: Comparison, forward: Flags, hidden: set[int]) -> Iterator[Claim]:
    """Yield claims about operators of the forward pass with another input than before. Both inputs must
    have partners. Operators of one scope with the same other input are one claim."""
    left, right = comparison.trees
    streams: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for node in comparison.rewired[forward[comparison.rewired]].tolist():
        if node in hidden:
            continue
        index = int(left.leaf_indices[node])
        other = int(comparison.partners[LEFT][index])
        if sources := comparison.sources_of(node, int(right.nodes[other])):
            streams.setdefault(sources, []).append((node, index, other))
    claims = []
    for (before, after), rows in streams.items():
        scope = _common_scope([left.paths[index] for _, index, _ in rows]) if len(rows) > 1 else ""
        if scope.count("/"):
            claims.append(_rewired_claim(comparison, scope, rows[0], before, after))
            continue
        for row in rows:
            claims.append(_rewired_claim(comparison, left.paths[row[1]], row, before, after, len(rows) == 1))
    yield from claims[:_MOST_REWIRED]
    if others := len(claims[_MOST_REWIRED:]):
        yield Claim("claim.graph.rewired_more", "found", {"n": others})


def _common_scope(paths: list[str]) -> str:
    """Return the innermost scope that holds all of the paths, "" for the root."""
    parts = [path.split("/")[:-1] for path in paths]
    shared = next((i for i, names in enumerate(zip(*parts, strict=False)) if len(set(names)) > 1), None)
    return "/".join(parts[0][: min(map(len, parts)) if shared is None else shared])


def _rewired_claim(
    comparison: Comparison, path: str, row: tuple[int, int, int], before: int, after: int, alone: bool = False
) -> Claim:
    """Return the claim that ``path`` has another input. ``alone``: no other operator changed in the same
    way."""
    left, right = comparison.trees
    node, index, other = row
    its = int(right.nodes[other])
    count = comparison.matching.columns.left_count
    taken = int(comparison.matching.node_partners[after + count])  # so that both names are of one graph
    skip = alone and left.types[index] in ADDS and _is_skip(left.graph, node, before)
    skip = skip and _is_skip(right.graph, its, after)
    values: dict[str, Any] = {
        "operator": path.rpartition("/")[2],
        "scope": path.rpartition("/")[0].rpartition("/")[2],
        "before": input_name(left.graph, before, node),
        "after": input_name(left.graph, taken, node) if taken >= 0 else input_name(right.graph, after, its),
    }
    key = "claim.graph.residual_rewired" if skip else "claim.graph.rewired"
    if alone and (operands := comparison.operands_of(node, its)):
        key = "claim.graph.operands_swapped"
        values |= {"before": operands[LEFT], "after": operands[RIGHT]}
    return Claim(key, "found", values, ({"left": index, "right": other},))


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
    """Yield claims with the number of parameters that changed their element type and kept their shape."""
    left, right = comparison.matching.columns.graphs
    counts: Counter[tuple[str, str]] = Counter()
    for node, other in _resized(comparison):
        if is_retyped(left, node, right, other) and not is_input(left, node):
            counts[output_of(left, node).compact.split()[0], output_of(right, other).compact.split()[0]] += 1
    for (before, after), count in counts.most_common():
        yield Claim("claim.graph.retyped", "found", {"before": before, "after": after, "n": count})


def _other_roles(comparison: Comparison) -> Iterator[str]:
    """Yield the names of the parameters whose recorded roles differ: weight, buffer, input."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    left, right = columns.graphs
    parameters = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    for node in parameters.tolist():
        roles = {recorded_role(left, node), recorded_role(right, int(partners[node]) - columns.left_count)}
        if len(roles) > 1 and ParameterProto.UNKNOWN not in roles:
            yield left.names[node]


def _roles(comparison: Comparison) -> Iterator[Claim]:
    if names := list(_other_roles(comparison)):
        yield Claim("claim.graph.roles", "found", {"n": len(names), "names": few(names, _NAMED)})


def _resized(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield the parameters of both graphs, as nodes of each, that differ in type or shape."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    parameters = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    different = columns.outputs[parameters] != columns.outputs[partners[parameters]]
    for node in parameters[different].tolist():
        yield node, int(partners[node]) - columns.left_count


class _Details(NamedTuple):
    """Claims about changed attributes, constants and shapes, with the pairs and parameters they explain."""

    claims: list[Claim]
    pairs: set[int]  # indices of the left tree
    parameters: set[int]  # nodes of the left graph; with the optimizer's moments of each weight


def _details(comparison: Comparison, forward: list[Flags], hidden: set[int]) -> _Details:
    """Return the changed attributes, constants and parameters of the forward pass, equal ones as one
    claim. If there are too many kinds of changes to be read in sentences, there is no claim."""
    graphs = comparison.matching.columns.graphs
    users = users_of(graphs[LEFT], forward[LEFT])
    groups: Groups = {}
    resized, retyped, unused = set(), set(), set()
    for node, other in _resized(comparison):
        if is_retyped(graphs[LEFT], node, graphs[RIGHT], other):
            retyped.add(node)
            continue
        if node not in users:
            unused.add(node)
            continue
        name = graphs[LEFT].names[node]
        texts = paired_types(output_of(graphs[LEFT], node).compact, output_of(graphs[RIGHT], other).compact)
        kind = "input_resized" if is_input(graphs[LEFT], node) else "resized"
        change = Change("resized", (_NUMBER.sub("*", name), texts), name, *texts, (node, other))
        groups.setdefault((kind, change.key), []).append(change)
        resized.add(node)
    pairs, quiet = set(), set()
    left, right = comparison.trees
    rewired = set(comparison.rewired.tolist())
    changed = np.flatnonzero((comparison.states[LEFT] == CHANGED) & (left.nodes >= 0))
    others = right.nodes[comparison.partners[LEFT][changed]] + np.int64(len(left.graph))
    attributes = comparison.matching.columns.attributes
    costly = attributes[left.nodes[changed]] != attributes[others]
    too_many = np.count_nonzero(costly) > _MOST_CHANGED
    for index in changed[~costly if too_many else slice(None)].tolist():
        node = left.nodes[index]
        if not forward[LEFT][node] or node in rewired or node in hidden:
            continue
        changes = _changes_of_pair(comparison, index, resized | retyped)
        if changes is not None:
            pairs.add(index)
            if not changes and resized.isdisjoint(left.graph.inputs_of(node)):
                quiet.add(index)
            for change in changes:
                groups.setdefault((change.kind, change.key), []).append(change)
    claims = size_claims(comparison, groups)
    too_many |= len(groups) > _MOST_DETAILS
    claims += () if too_many else _detail_claims(groups)
    if not claims:
        return _Details([], quiet, set())
    weights = tuple(f".{graphs[LEFT].names[node]}" for node in resized)
    moments = {node for node in unused if weights and graphs[LEFT].names[node].endswith(weights)}
    return _Details(claims, quiet if too_many else pairs, resized | moments)


def _detail_claims(groups: Groups) -> Iterator[Claim]:
    """Yield one claim for each group of equal changes."""
    for (kind, _), alike in groups.items():
        shown = [
            merged(texts)
            for texts in zip(*((row.subject, row.left, row.right) for row in alike), strict=True)
        ]
        values = dict(zip(("subject", "before", "after"), (text or "–" for text in shown), strict=True))
        places = dict.fromkeys(change.position for change in alike)
        evidence = tuple({"left": index, "right": other} for index, other in places)
        shown_at = evidence if kind not in ("resized", "input_resized") else ()  # those positions are nodes
        yield Claim(f"claim.graph.{kind}", "found", {**values, "n": len(places)}, shown_at)


def _changes_of_pair(comparison: Comparison, index: int, explained: set[int]) -> list[Change] | None:
    """Return the changed attributes, constants and inputs of a pair, or None if it differs in other ways,
    too."""
    left, right = comparison.trees
    other = int(comparison.partners[LEFT][index])
    nodes = int(left.nodes[index]), int(right.nodes[other])
    if left.types[index] != right.types[other]:
        return None
    inputs = paired_inputs(comparison.matching, comparison.input_ids, nodes)
    for before, after in inputs:
        if min(before, after) < 0:
            continue
        kinds = left.graph.kinds[before], right.graph.kinds[after]
        same = comparison.input_ids[LEFT][before] == comparison.input_ids[RIGHT][after]
        if not same and kinds[LEFT] == kinds[RIGHT] == PARAMETER and before not in explained:
            return None
        if not same and kinds[LEFT] != kinds[RIGHT]:
            return None
    position = index, other
    changes = pair_changes(comparison, nodes, position)
    return changes if changes or any(before in explained for before, _ in inputs) else None


def _unexplained(
    comparison: Comparison,
    forward: list[Flags],
    explained: Explained,
    details: _Details,
) -> Remaining:
    """Return the names of operators whose difference no edit explains: in the forward pass, and elsewhere.
    They are grouped by state. Those in the forward pass of only one graph are also returned by side and
    type. Parameters of another type count as operators of the forward pass if no operator differs."""
    rewired = set(comparison.rewired.tolist())
    graphs = comparison.matching.columns.graphs
    retyped = {
        node for node, other in _resized(comparison) if is_retyped(graphs[LEFT], node, graphs[RIGHT], other)
    }
    working: dict[str, list[str]] = {"changed": [], "left": [], "right": [], "parameters": []}
    others: dict[str, list[str]] = {"changed": [], "left": [], "right": []}
    lonely: dict[tuple[Side, str], list[int]] = {}
    side: Side
    for side in (LEFT, RIGHT):
        tree, states = comparison.trees[side], comparison.states[side]
        for index in np.flatnonzero((states == ONLY) | ((states == CHANGED) & (side == LEFT))).tolist():
            node = int(tree.nodes[index])
            if states[index] == CHANGED:
                other = int(comparison.partners[LEFT][index])
                named = (
                    index in details.pairs
                    or node in explained[LEFT]
                    or node in rewired
                    or tree.types[index] != comparison.trees[RIGHT].types[other]
                )
            else:
                named = node in explained[side] or in_lonely_layer(comparison, side, index)
            if not named:
                state = "changed" if states[index] == CHANGED else ("left", "right")[side]
                (working if forward[side][node] else others)[state].append(tree.graph.names[node])
                if forward[side][node] and states[index] == ONLY:
                    lonely.setdefault((side, tree.types[index]), []).append(index)
    if not _count(working):
        working["parameters"] = [
            graphs[LEFT].names[node]
            for node, _ in _resized(comparison)
            if node not in retyped and node not in details.parameters
        ]
    return working, others, lonely
