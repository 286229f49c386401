"""Join of a dumped step with a graph: the node of each operator of the dump."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from mindinsight.server.debug.examine import OperatorKey
from mindinsight.server.debug.overlay.scope_renaming import Shape, pair_scopes, renamed_operator
from mindinsight.server.formats.dumps.dump_names import escape_name
from mindinsight.server.formats.dumps.dump_types import Operator
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Graph
from mindinsight.server.graph.model.node_details import shapes_at

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Join:
    """Join of a dump with a graph: the node of each matched operator or parameter, by key.

    Operators without a match are not among the nodes. The numbers count operators that recorded tensors,
    without parameters. Those matched by order are paired with nodes of the same name and scope by rising N,
    because the graph has another ``-opN``, and no recorded input confirms the match. Those matched by module
    ran in place of the only operator of their module in the graph, as ``t`` and ``addmm`` for ``linear``, or
    of its calls in order. For ambiguous ones it is unknown which operator of their module they are or ran in
    place of.
    """

    nodes: Mapping[OperatorKey, int]
    dumped: int
    matched: int
    by_order: int
    by_module: int
    ambiguous: int
    renamed: int  # in modules that the graph names otherwise


def join(
    operators: Iterable[Operator], graph: Graph, shapes: Mapping[OperatorKey, tuple[int, ...]] | None = None
) -> Join:
    """Return the join of operators with the nodes of a graph: by name within a scope, else by module. A
    number ``-opN`` counts how often a process called such an operator, also outside the model, so that
    equal numbers alone match nothing: see `_pair_group`. ``shapes`` are those of the outputs."""
    recorded = list(operators)
    scopes = rename_scopes(recorded, graph, shapes or {})
    dumped_operators = [renamed_operator(operator, scopes) for operator in recorded] if scopes else recorded
    other_names = {
        key_of(operator)
        for operator, own in zip(recorded, dumped_operators, strict=True)
        if operator.name != own.name
    }
    wiring = _Wiring(dumped_operators, graph)
    nodes, unsure, renumbered = dict(wiring.by_name), set[OperatorKey](), set[OperatorKey]()
    for stem, numbered in wiring.dumped.items():
        pairs = _pair_group(wiring, stem, shapes or {})
        for number, known in numbered.items():
            node = pairs.get(number)
            keys = {key_of(operator) for operator in known}
            if node is None:
                unsure |= keys if len(set(pairs.values())) < len(wiring.drawn[stem]) else set()
                continue
            nodes |= dict.fromkeys(keys, node)
            if wiring.number_of[node] != number and wiring.sources_of(known[0]) != wiring.inputs_of(node):
                renumbered |= keys
    free = [operator for operator in dumped_operators if key_of(operator) not in unsure]
    modules, ambiguous = _by_module(free, nodes, graph, shapes or {})
    nodes |= modules
    dumped_keys = {
        key_of(operator)
        for operator in dumped_operators
        if operator.type != "Parameter" and operator.sequence >= 0
    }
    groups = (nodes.keys(), renumbered, modules.keys(), ambiguous | unsure, nodes.keys() & other_names)
    return Join(nodes, len(dumped_keys), *(len(dumped_keys & keys) for keys in groups))


def rename_scopes(
    operators: Iterable[Operator], graph: Graph, shapes: Mapping[OperatorKey, Shape]
) -> dict[str, str]:
    """Return the scope in the graph of each scope in the dump, {} if `pair_scopes` finds none."""
    ran = sorted((operator for operator in operators if operator.sequence >= 0), key=lambda own: own.sequence)
    kinds = zip(graph.names, graph.kinds.tolist(), strict=True)
    drawn = {name: node for node, (name, kind) in enumerate(kinds) if kind == OPERATOR}
    keys = {operator.name: (operator.graph, operator.recorded) for operator in ran}

    def drawn_shape(name: str) -> Shape | None:
        return next((tuple(shape) for shape in shapes_at(graph, drawn[name])), None)

    return pair_scopes(list(keys), list(drawn), lambda name: shapes.get(keys[name]), drawn_shape)


def _split(name: str) -> tuple[str, int]:
    """Return a name without ``-opN``, escaped as in file names, and the number N, -1 if the name has none."""
    stem, mark, number = name.rpartition("-op")
    return (escape_name(stem), int(number)) if mark and number.isdecimal() else (escape_name(name), -1)


def _without_underscores(name: str) -> str:
    """Return a name with scopes without the leading underscores of its operator: ``softmax`` for
    ``_softmax``."""
    scope, slash, operator = name.rpartition("/")
    return f"{scope}{slash}{operator.lstrip('_')}" if slash else name


def _same_but_underscores(ran: Iterable[str], drawn: Iterable[str]) -> dict[str, str]:
    """Return the stem in the graph of each stem in the dump that differs in leading underscores only. Both
    are names of operators. Stems that either side has twice but for underscores are left out."""
    sides: list[dict[str, set[str]]] = [{}, {}]
    both = list(ran), list(drawn)
    if not any("/_" in name for names in both for name in names):
        return {}  # most graphs: saves half of the time of a join
    for side, names in zip(sides, both, strict=True):
        for name in names:
            side.setdefault(_split(_without_underscores(name))[0], set()).add(_split(name)[0])
    return {
        stem: other
        for plain, stems in sides[0].items()
        if len(stems) == 1 and len(others := sides[1].get(plain, set())) == 1
        for stem, other in zip(stems, others, strict=True)
        if stem != other
    }


class _Wiring:
    """Operators with a stem (scope and name without ``-opN``) that a dump and a graph have, and their
    sources."""

    def __init__(self, operators: Sequence[Operator], graph: Graph) -> None:
        self.graph = graph
        self.number_of: dict[int, int] = {}  # by node
        self.by_name: dict[OperatorKey, int] = {}  # parameters, and names without scope
        self.drawn: dict[str, dict[int, int]] = {}
        self.dumped: dict[str, dict[int, list[Operator]]] = {}
        self._stems: dict[int, str] = {}
        self._splits: dict[str, tuple[str, int]] = {}  # of the graph's names, most of which the dump has too
        self._named = {(operator.graph, operator.name): operator for operator in operators}
        self._wired = any(operator.sources for operator in operators)
        exact: dict[str, int] = {}
        for node, (name, kind) in enumerate(_kinds(graph)):
            if kind == OPERATOR:
                self._stems[node], self.number_of[node] = self._splits[name] = _split(name)
                self.drawn.setdefault(self._stems[node], {})[self.number_of[node]] = node
                exact.setdefault(name.rpartition("/")[2], node)
            elif kind == PARAMETER:
                exact[escape_name(name)] = node
        self._alike = _same_but_underscores(
            (operator.name for operator in operators), (graph.names[node] for node in self._stems)
        )
        stems = [self._split(operator.name) for operator in operators]
        full = {stem for operator, (stem, _) in zip(operators, stems, strict=True) if "/" in operator.name}
        for operator, (stem, number) in zip(operators, stems, strict=True):
            if stem in self.drawn and (stem not in full or "/" in operator.name):
                self.dumped.setdefault(stem, {}).setdefault(number, []).append(operator)
            elif (named := exact.get(operator.name, exact.get(escape_name(operator.name)))) is not None:
                self.by_name[key_of(operator)] = named
        shared = {self._scope(name) for node, name in enumerate(graph.names) if self._is_shared(node)}
        inside = {self._scope(operator.name) for operator in operators}
        self._opaque = {
            scope
            for node, name in enumerate(graph.names)
            if node in self._stems and "/" in (scope := self._scope(name))
            if scope in inside and scope not in shared
        }

    def _split(self, name: str) -> tuple[str, int]:
        """Return the stem in the graph of an operator of the dump, and its number."""
        stem, number = self._splits.get(name) or _split(name)
        return self._alike.get(stem, stem), number

    def _is_shared(self, node: int) -> bool:
        return self._stems.get(node) in self.dumped

    @staticmethod
    def _scope(name: str) -> str:
        return name.rpartition("/")[0]

    def sources_of(self, operator: Operator) -> frozenset[str] | None:
        """Return the labels of the nearest labelled operators that feed an operator, None if no sources are
        recorded."""

        def feeds(target: Operator) -> Iterator[tuple[Operator, str]]:
            for name in target.sources:
                source = self._named.get((target.graph, name))
                if source is not None and source.type != "Parameter":
                    yield source, self._label(name, self._split(name)[0])

        return _nearest(operator, feeds, lambda known: (known.graph, known.name)) if self._wired else None

    def inputs_of(self, node: int) -> frozenset[str]:
        """Return the labels of the nearest labelled operators that feed a node of the graph."""

        def feeds(target: int) -> Iterator[tuple[int, str]]:
            for source in self.graph.inputs_of(target):
                if source in self._stems:
                    yield source, self._label(self.graph.names[source], self._stems[source])

        return _nearest(node, feeds, lambda known: known)

    def _label(self, name: str, stem: str) -> str:
        """Return the stem as label if dump and graph have it, else the module if they share none of its
        operators, else ""."""
        scope = self._scope(name)
        return stem if stem in self.dumped else scope if scope in self._opaque else ""

    @cached_property
    def trusted(self) -> set[str]:
        """Return the stems whose numbers are reliable although the dump has only some of them. All numbers
        of that operator name are in the graph, and those of some scope agree completely."""
        by_type: dict[str, list[str]] = {}
        for stem in self.dumped:
            name = self.graph.names[next(iter(self.drawn[stem].values()))]
            by_type.setdefault(_split(name.rpartition("/")[2])[0], []).append(stem)
        trusted = set[str]()
        for stems in by_type.values():
            numbers = [(self.dumped[stem].keys(), self.drawn[stem].keys()) for stem in stems]
            if all(ran <= drawn for ran, drawn in numbers) and any(ran == drawn for ran, drawn in numbers):
                trusted.update(stems)
        return trusted


def _nearest(
    start: Key, feeds: Callable[[Key], Iterator[tuple[Key, str]]], identity: Callable[[Key], Hashable]
) -> frozenset[str]:
    """Return the labels of the nearest labelled operators that feed ``start``, directly or through others."""
    labels, seen, waiting = set(), {identity(start)}, [start]
    while waiting:
        for source, label in feeds(waiting.pop()):
            if label:
                labels.add(label)
            elif identity(source) not in seen:
                seen.add(identity(source))
                waiting.append(source)
    return frozenset(labels)


def _pair_group(wiring: _Wiring, stem: str, shapes: Mapping[OperatorKey, tuple[int, ...]]) -> dict[int, int]:
    """Match the operators of a stem to nodes of the graph, and return the node by number. They are matched
    by rising number if both sides have equally many and neither inputs nor shapes contradict that, else by
    the operators that feed them. Unmatched numbers are missing."""
    ran, drawn = wiring.dumped[stem], wiring.drawn[stem]
    equal, same = len(ran) == len(drawn), ran.keys() == drawn.keys()
    if same and len(ran) == 1:
        return drawn
    nodes = [drawn[number] for number in sorted(drawn)]
    by_rank = dict(zip(sorted(ran), nodes, strict=False))
    fed = {number: wiring.sources_of(ran[number][0]) for number in sorted(ran)}
    if None in fed.values():
        if equal:
            keys = {key_of(ran[number][0]): node for number, node in by_rank.items()}
            return {} if _shapes_contradict(wiring.graph, keys, shapes) else by_rank
        return {number: drawn[number] for number in ran} if stem in wiring.trusted else {}
    feeding = {node: wiring.inputs_of(node) for node in nodes}
    strict = not same and len(ran) > 1  # else only what fits another node is a contradiction
    others = feeding.values()
    if equal and all(
        sources == feeding[by_rank[number]] or not (strict or sources in others)
        for number, sources in fed.items()
    ):
        return by_rank
    return _pair_by_sources(fed, feeding)


def _pair_by_sources(
    fed: Mapping[int, frozenset[str] | None], feeding: Mapping[int, frozenset[str]]
) -> dict[int, int]:
    """Return the graph's node for each operator number of the dump, where the same operators feed both.
    Both sides must have equally many operators of a set, or all must have run several times. Numbers and
    nodes are in rising order."""
    groups = {
        sources: (
            [number for number, known in fed.items() if known == sources],
            [node for node, known in feeding.items() if known == sources],
        )
        for sources in feeding.values()
    }
    times = len(fed) // len(feeding)
    if not all(len(numbers) == times * len(nodes) for numbers, nodes in groups.values()):
        times = 1
    pairs: dict[int, int] = {}
    for sources, (numbers, nodes) in groups.items():
        if sources and len(numbers) == times * len(nodes):
            pairs |= dict(zip(numbers, nodes * times, strict=True))
    return pairs


def _shapes_contradict(
    graph: Graph, pairs: Mapping[OperatorKey, int], shapes: Mapping[OperatorKey, tuple[int, ...]]
) -> bool:
    """Return True if the output shapes of operators are those of their nodes in another order. Other
    shapes prove nothing, because they may be those of another batch size."""
    both = [(shapes.get(key), shapes_at(graph, node)) for key, node in pairs.items()]
    if len(both) < 2 or not all(shape is not None and drawn for shape, drawn in both):
        return False
    ran, drawn = [list(shape or ()) for shape, _ in both], [shapes[0] for _, shapes in both]
    return ran != drawn and sorted(ran) == sorted(drawn)


def _by_module(
    operators: Iterable[Operator],
    matched: Mapping[OperatorKey, int],
    graph: Graph,
    shapes: Mapping[OperatorKey, tuple[int, ...]],
) -> tuple[dict[OperatorKey, int], set[OperatorKey]]:
    """Return the node of each unmatched operator whose module has a single operator in the graph, also
    unmatched. A module may have run several times, with one operator in the graph for each call. Also
    return the ambiguous operators: their module has several unmatched operators in the graph."""
    inside: dict[str, list[int]] = {}
    for node, (name, kind) in enumerate(_kinds(graph)):
        if kind == OPERATOR:
            inside.setdefault(name.rpartition("/")[0], []).append(node)
    taken = set(matched.values())
    unmatched: dict[str, list[Operator]] = {}
    for operator in operators:
        module = operator.name.rpartition("/")[0]
        if key_of(operator) not in matched and "/" in module:  # "Default" is no module
            unmatched.setdefault(module, []).append(operator)
    nodes_of, ambiguous = dict[OperatorKey, int](), set[OperatorKey]()
    for module, members in unmatched.items():
        nodes = inside.get(module, [])
        keys = [key_of(operator) for operator in members]
        if len(nodes) > 1 and taken.isdisjoint(nodes) and (calls := _by_call(members, nodes, graph, shapes)):
            nodes_of |= calls
        elif len(nodes) > 1:
            ambiguous.update(keys if len(taken.intersection(nodes)) < len(nodes) - 1 else ())
        elif nodes and nodes[0] not in taken:
            nodes_of |= dict.fromkeys(keys, nodes[0])
    return nodes_of, ambiguous


def _by_call(
    operators: Iterable[Operator],
    nodes: Iterable[int],
    graph: Graph,
    shapes: Mapping[OperatorKey, tuple[int, ...]],
) -> dict[OperatorKey, int]:
    """Return the node of each operator of a module that ran several times, by the order of the calls. It
    is empty if the nodes have several types, or an operator did not run as often as there are nodes."""
    drawn = dict(sorted((_split(graph.names[node])[1], node) for node in nodes))
    ran: dict[str, dict[int, OperatorKey]] = {}
    count = 0
    for operator in operators:
        stem, number = _split(operator.name)
        ran.setdefault(stem, {})[number] = key_of(operator)
        count += 1
    types = {_split(graph.names[node])[0] for node in nodes}
    if len(types) > 1 or any(len(numbered) != len(drawn) for numbered in ran.values()):
        return {}
    by_call: dict[OperatorKey, int] = {}
    for numbered in ran.values():
        pairs = dict(zip((numbered[number] for number in sorted(numbered)), drawn.values(), strict=True))
        if _shapes_contradict(graph, pairs, shapes):
            return {}
        by_call |= pairs
    return by_call if len(by_call) == count else {}


def key_of(operator: Operator) -> OperatorKey:
    """Return the key of an operator: graph and recorded name."""
    return operator.graph, operator.recorded


def _kinds(graph: Graph) -> Iterable[tuple[str, int]]:
    return zip(graph.names, graph.kinds.tolist(), strict=True)
