"""Tree of scopes of a graph, built from operator paths by the rules of MindInsight 2.3.1."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mindinsight.server.graph.model import graph as model

SCOPE: Final = "name_scope"
GROUP: Final = "aggregation_scope"
ROOT: Final = 0
PLUMBING: Final = frozenset(
    {"Load", "UpdateState", "Depend", "MakeTuple", "TupleGetItem", "Return", "Partial", "StopGradient"}
)  # types of operators that only pass values through


@dataclass(frozen=True, eq=False)
class Tree:
    """Scope tree as arrays in preorder. An index is 0..t-1, and 0 is the root.

    The descendants of a scope are therefore one range of indices. Parameters and constants occur once in each
    scope that uses them, so one node of the graph may have several leaves.
    """

    graph: model.Graph
    paths: tuple[str, ...]  # [t] unique, "" for the root
    types: tuple[str, ...]  # [t] an operator's type, Parameter, Const, SCOPE or GROUP
    nodes: model.Numbers  # [t] node of the graph, -1 for a scope
    parents: model.Numbers  # [t] -1 for the root
    ends: model.Numbers  # [t] one past the last descendant
    creation_order: (
        model.Numbers
    )  # [t] operators in file order first, then parameters, groups, scopes, constants
    edges: model.Edges  # between leaves

    @cached_property
    def indices(self) -> dict[str, int]:
        """Return the index of each path."""
        return {path: index for index, path in enumerate(self.paths)}

    @cached_property
    def leaf_indices(self) -> model.Numbers:
        """Return [n] the index of a leaf for each node of the graph, -1 for nodes without one."""
        indices = np.full(len(self.graph), -1, dtype=np.int32)
        leaves = np.flatnonzero(self.nodes >= 0)
        indices[self.nodes[leaves]] = leaves
        return indices

    @cached_property
    def first_nodes(self) -> model.Numbers:
        """Return [t] the first node of the graph in each subtree, in file order."""
        beyond = np.int32(len(self.graph))
        nodes = np.append(np.where(self.nodes >= 0, self.nodes, beyond), beyond)
        bounds = np.column_stack([np.arange(len(self.ends)), self.ends])
        first: model.Numbers = np.minimum.reduceat(nodes, bounds.ravel())[::2]
        return first

    @cached_property
    def levels(self) -> list[model.Numbers]:
        """Return a list by depth of the indices at that depth. Only the root has depth 0."""
        return _by_depth(np.maximum(self.parents, ROOT))

    @cached_property
    def counts(self) -> model.Offsets:
        """Return [t] the number of children."""
        return np.bincount(self.parents[1:], minlength=len(self.paths))

    @cached_property
    def _siblings(self) -> _EdgeIndex:
        return _index(self.parents[1:], len(self.paths))

    def children(self, index: int) -> list[int]:
        """Return the indices of the children, ascending."""
        order, begins = self._siblings
        children: list[int] = (order[begins[index] : begins[index + 1]] + 1).tolist()
        return children

    def is_leaf(self, index: int) -> bool:
        """Return True if an index is an operator, parameter or constant."""
        return bool(self.nodes[index] >= 0)

    def leaves(self, index: int) -> list[int]:
        """Return the indices of the leaves of a subtree in preorder, including the index itself."""
        inside = np.arange(index, self.ends[index])
        return [int(leaf) for leaf in inside[self.nodes[inside] >= 0]]

    def ancestors(self, index: int) -> list[int]:
        """Return the indices of the enclosing scopes, outermost first, without the root."""
        scopes = []
        while (index := int(self.parents[index])) > ROOT:
            scopes.append(index)
        return scopes[::-1]

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return [t] the sum of ``values`` [t] in each subtree."""
        before = np.concatenate([[0], np.cumsum(values)])
        return np.asarray(before[self.ends] - before[:-1])

    def in_subtree(self, index: int, indices: model.Numbers) -> model.Flags:
        """Return True for each element of ``indices`` in the subtree of ``index``."""
        return np.asarray((indices >= index) & (indices < self.ends[index]))

    def inner_edges(self, index: int) -> model.Edges:
        """Return the edges between leaves of a subtree."""
        edges = self._edges_of_subtree(self._by_source, index)
        return self.edges.select(edges[self.in_subtree(index, self.edges.targets[edges])])

    def boundary_edges(self, index: int) -> tuple[model.Edges, model.Edges]:
        """Return the edges that enter a subtree from outside, and the edges that leave it."""
        into, out_of = (self._edges_of_subtree(ends, index) for ends in (self._by_target, self._by_source))
        into = into[~self.in_subtree(index, self.edges.sources[into])]
        out_of = out_of[~self.in_subtree(index, self.edges.targets[out_of])]
        return self.edges.select(into), self.edges.select(out_of)

    @cached_property
    def _by_target(self) -> _EdgeIndex:
        return _index(self.edges.targets, len(self.paths))

    @cached_property
    def _by_source(self) -> _EdgeIndex:
        return _index(self.edges.sources, len(self.paths))

    def _edges_of_subtree(self, ends: _EdgeIndex, index: int) -> model.Offsets:
        """Return the numbers of the edges with the given end in the subtree, ascending."""
        return np.sort(ends.edges[ends.begins[index] : ends.begins[self.ends[index]]])


class _EdgeIndex(NamedTuple):
    """Edges grouped by one of their ends, so that a lookup does not scan all edges."""

    edges: model.Offsets  # [e] numbers of edges
    begins: model.Offsets  # [t + 1] start of each group in ``edges``


def _index(ends: model.Numbers, indices: int) -> _EdgeIndex:
    """Group the positions of ``ends`` by their value, from 0 to ``indices`` - 1."""
    counts = np.bincount(ends, minlength=indices)
    begins = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    return _EdgeIndex(np.argsort(ends, kind="stable"), begins)


@dataclass(frozen=True, slots=True)
class Folding:
    """Options of ``build_tree`` for folding wide scopes. MindInsight groups from 5 operators of a type, from
    10 when simplified."""

    least: int = 5  # smallest number of members of a group
    outer: bool = True  # parameters and constants are leaves
    nameless: bool = False  # nodes without a type are leaves


@dataclass(slots=True)
class _Entries:
    """Columns of the tree's entries (scopes, groups and leaves), in the order they are added."""

    paths: list[str] = field(default_factory=list)
    parent_paths: list[str] = field(default_factory=list)  # path of the scope or group around it
    types: list[str] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)

    def add(self, path: str, parent_path: str, kind: str, node: int = -1) -> None:
        self.paths.append(path)
        self.parent_paths.append(parent_path)
        self.types.append(kind)
        self.nodes.append(node)


def build_tree(graph: model.Graph, folding: Folding | None = None) -> Tree:
    """Return the scope tree of a graph. ``folding`` says how large groups are, and whether parameters,
    constants and nodes without a type are leaves."""
    folding = folding or Folding()
    operators = [
        node
        for node in np.flatnonzero(graph.kinds == model.OPERATOR).tolist()
        if graph.types[node] or folding.nameless
    ]
    scopes = {node: graph.names[node].rpartition("/")[0] for node in operators}
    groups = _groups(graph, scopes, folding)
    parent_paths = scopes | {node: group for group, nodes in groups.items() for node in nodes}
    entries = _Entries(_own_paths(graph, scopes, parent_paths), list(parent_paths.values()))
    entries.types = list(map(graph.types.__getitem__, operators))
    entries.nodes = operators.copy()
    parameters, constants, edge_leaves = (
        _outer_leaves(graph, scopes, parent_paths) if folding.outer else ({}, {}, {})
    )
    parameter_paths = _parameter_paths(graph, parameters, len(groups), folding)
    numbers = {key: number for number, key in enumerate(parameter_paths, len(operators))}
    for key, (path, parent_path) in parameter_paths.items():
        entries.add(path, parent_path, model.PARAMETER_TYPE, key[1])
    groups |= {parent_path: [] for key, (_, parent_path) in parameter_paths.items() if parent_path != key[0]}
    ungrouped = [f"{scope}/" for scope in dict.fromkeys(entries.parent_paths) if scope not in groups]
    for group in groups:
        entries.add(group, model.scope_of(group), GROUP)
    for scope in model.scopes_of([*ungrouped, *groups]):
        entries.add(scope, model.scope_of(scope), SCOPE)
    numbers |= {key: number for number, key in enumerate(constants, len(entries.paths))}
    for key in constants:
        entries.add(_leaf_path(*key, graph), key[0], model.CONSTANT_TYPE, key[1])
    return _build(graph, entries, _leaf_edges(graph, operators, numbers, edge_leaves))


def _own_paths(graph: model.Graph, scopes: dict[int, str], parent_paths: dict[int, str]) -> list[str]:
    """Return the paths of the operators in the tree, which for members of a group lead through the group."""
    paths = map(graph.names.__getitem__, scopes)
    return [
        path if parent == scope else f"{parent}/{path.rpartition('/')[2]}"
        for path, scope, parent in zip(paths, scopes.values(), parent_paths.values(), strict=True)
    ]


def _groups(graph: model.Graph, scopes: dict[int, str], folding: Folding) -> dict[str, list[int]]:
    """Return the members of each group of operators, by the path of the group."""
    if folding.least > len(scopes):
        return {}
    members: dict[str, dict[str, list[int]]] = {}
    for node, scope in scopes.items():
        members.setdefault(scope, {}).setdefault(graph.types[node], []).append(node)
    groups: dict[str, list[int]] = {}
    for scope, types in members.items():
        for kind, nodes in types.items():
            if kind and len(nodes) >= folding.least:
                groups[_group_path(scope, kind, len(nodes), len(groups))] = nodes
    return groups


def _group_path(scope: str, kind: str, count: int, number: int) -> str:
    name = f"{kind}[{count}]_{number}"
    return f"{scope}/{name}" if scope else name


_Key = tuple[str, int]  # scope or group, and the parameter or constant in it


def _outer_leaves(
    graph: model.Graph, scopes: dict[int, str], parent_paths: dict[int, str]
) -> tuple[dict[_Key, None], dict[_Key, None], dict[int, _Key]]:
    """Return the keys (scope that uses it, node) of parameters and of constants, and by edge the key of the
    parameter or constant that feeds it."""
    parameters: dict[_Key, None] = {}
    constants: dict[_Key, None] = {}
    feeding: dict[int, _Key] = {}
    for edge in np.flatnonzero(graph.kinds[graph.edges.sources] != model.OPERATOR).tolist():
        source, target = int(graph.edges.sources[edge]), int(graph.edges.targets[edge])
        if target not in scopes:
            continue
        constant = graph.kinds[source] == model.CONSTANT
        key = (parent_paths[target] if constant else scopes[target], source)
        (constants if constant else parameters)[key] = None
        feeding[edge] = key
    return parameters, constants, feeding


def _parameter_paths(
    graph: model.Graph, parameters: dict[_Key, None], number: int, folding: Folding
) -> dict[_Key, tuple[str, str]]:
    """Return path and parent path of each parameter in each scope that uses it."""
    by_scope: dict[str, list[_Key]] = {}
    for key in parameters:
        by_scope.setdefault(key[0], []).append(key)
    grouped: dict[str, str] = {}
    for scope, keys in by_scope.items():
        if len(keys) >= folding.least:
            grouped[scope] = _group_path(scope, model.PARAMETER_TYPE, len(keys), number + len(grouped))
    parent_paths = {key: grouped.get(key[0], key[0]) for key in parameters}
    return {
        key: (_leaf_path(parent_path, key[1], graph), parent_path)
        for key, parent_path in parent_paths.items()
    }


def _leaf_path(parent_path: str, node: int, graph: model.Graph) -> str:
    return f"{parent_path}/{graph.names[node]}" if parent_path else graph.names[node]


def _leaf_edges(
    graph: model.Graph, operators: list[int], numbers: dict[_Key, int], edge_leaves: dict[int, _Key]
) -> model.Edges:
    """Return the edges between entries, as numbers of entries."""
    entry_of = np.full(len(graph), -1, dtype=np.int32)
    entry_of[operators] = np.arange(len(operators), dtype=np.int32)
    sources, targets = entry_of[graph.edges.sources], entry_of[graph.edges.targets]
    for edge, key in edge_leaves.items():
        sources[edge] = numbers[key]
    return model.Edges(sources, targets, graph.edges.controls).select((sources >= 0) & (targets >= 0))


def _build(graph: model.Graph, entries: _Entries, edges: model.Edges) -> Tree:
    """Return the tree of the entries in preorder. Index and number 0 are the root."""
    nodes = np.array([-1, *entries.nodes], dtype=np.int32)
    numbers = {entries.paths[number - 1]: number for number in np.flatnonzero(nodes < 0)[1:].tolist()}
    number_of = {"": 0} | numbers
    parents = np.fromiter(map(number_of.__getitem__, ["", *entries.parent_paths]), np.int32)
    indices, walk, above, ends = number_preorder(parents)
    order = (walk[1:] - 1).tolist()
    nodes = nodes[walk]
    return Tree(
        graph=graph,
        paths=("", *_unique(list(map(entries.paths.__getitem__, order)), nodes[1:])),
        types=(SCOPE, *map(entries.types.__getitem__, order)),
        nodes=nodes,
        parents=above,
        ends=ends,
        creation_order=walk,
        edges=model.Edges(indices[edges.sources + 1], indices[edges.targets + 1], edges.controls),
    )


def number_preorder(
    parents: model.Numbers,
) -> tuple[model.Numbers, model.Numbers, model.Numbers, model.Numbers]:
    """Return the numbering of a tree in preorder as four arrays [t]. Siblings keep their order.

    ``parents`` is [t] the parent of each entry. Entry 0 is the root and its own parent. The arrays are the
    preorder index of each entry, and for each index the entry, the parent's index (-1 for the root), and the
    index one past the last descendant.
    """
    indices, sizes = _preorder(parents)
    walk = np.empty_like(indices)
    walk[indices] = np.arange(len(indices), dtype=np.int32)
    above = indices[parents[walk]]
    above[0] = -1
    return indices, walk, above, (np.arange(len(walk)) + sizes[walk]).astype(np.int32)


def _preorder(parents: model.Numbers) -> tuple[model.Numbers, model.Numbers]:
    """Return preorder index and subtree size of each entry."""
    levels = _by_depth(parents)
    sizes = np.ones(len(parents), dtype=np.int32)
    for level in levels[:0:-1]:
        np.add.at(sizes, parents[level], sizes[level])
    indices = np.zeros(len(parents), dtype=np.int32)
    for level in levels[1:]:
        siblings = level[np.argsort(parents[level], kind="stable")]
        before = np.cumsum(sizes[siblings]) - sizes[siblings]
        firsts = np.flatnonzero(np.diff(parents[siblings], prepend=-1))
        counts = np.diff(np.append(firsts, len(siblings)))
        indices[siblings] = indices[parents[siblings]] + 1 + before - np.repeat(before[firsts], counts)
    return indices, sizes


def _by_depth(parents: model.Numbers) -> list[model.Numbers]:
    """Return the entries of each depth. Only the root has depth 0."""
    depths = np.zeros(len(parents), dtype=np.int32)
    above = parents
    while np.any(above):
        depths += above > 0
        above = parents[above]
    depths[1:] += 1
    return [np.flatnonzero(depths == depth).astype(np.int32) for depth in range(int(depths.max()) + 1)]


def _unique(paths: list[str], nodes: model.Numbers) -> list[str]:
    """Return unique paths: a parameter with the path of a scope or an operator gets a number."""
    if len(set(paths)) == len(paths):
        return paths
    taken = {path for path, node in zip(paths, nodes, strict=True) if node < 0}
    numbers: dict[str, int] = {}
    distinct = []
    for path, node in zip(paths, nodes.tolist(), strict=True):
        distinct.append(model.free_name(path, taken, numbers) if node >= 0 and path in taken else path)
        taken.add(distinct[-1])
    return distinct
