"""Chain of operators that a value passed through, from an operator back to a weight or the batch."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mindinsight.server.claims import Claim
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.operator_links import Link, passes_on
from mindinsight.server.debug.tensor_targets import (
    ParameterKind,
    is_discrete,
    parameter_kind,
    parameter_names,
)
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

Carrier: TypeAlias = Literal["operator"] | ParameterKind
Find: TypeAlias = Callable[[TensorEntry], TensorResult | None]

MAX_LENGTH: Final = 200  # links of a chain


@dataclass(frozen=True, slots=True)
class ChainLink:
    """Link of a chain: an operator or a parameter, with the tensor of largest magnitude that it produced.

    ``is_late`` marks a tensor recorded after the operator that received it ran. An optimizer may have changed
    it in between, so its values say nothing of that operator's input. ``receiver`` is the full name of the
    following operator if its recorded input differs from this tensor, else "".
    """

    name: str  # full name
    recorded: str  # "" for a parameter that was not dumped
    type: str
    carrier: Carrier
    entry: TensorEntry | None
    result: TensorResult | None
    is_late: bool = False
    receiver: str = ""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return the claim that the following operator received other values, () unless that is known."""
        values = {"operator": self.name, "receiver": self.receiver}
        return (Claim("claim.chain.changed", "found", values),) if self.receiver else ()

    @property
    def magnitude(self) -> float:
        """Return the largest magnitude in the tensor, or -1.0 if it is unknown or was recorded too late."""
        return -1.0 if self.is_late else magnitude(self.result)


class ValueChain:
    """Search for chains in one graph. ``find`` returns the measured tensor, or None if it is unknown."""

    def __init__(
        self,
        operators: Iterable[Operator],
        entries: Iterable[TensorEntry],
        links: Iterable[Link],
        find: Find,
    ) -> None:
        all_entries = tuple(entries)
        self._find = find
        self._operators = {operator.recorded or operator.name: operator for operator in operators}
        self._parameters = parameter_names(all_entries)
        self._given: dict[str, list[TensorEntry]] = defaultdict(list)  # by recorded and by full name
        self._inputs: dict[tuple[str, str], TensorEntry] = {}  # by recorded name and slot
        for entry in all_entries:
            if entry.direction == "input":
                self._inputs[entry.recorded, entry.slot] = entry
            else:
                for name in {entry.recorded, entry.operator}:
                    self._given[name].append(entry)
        self._sources: dict[str, list[str]] = defaultdict(list)
        for link in links:
            self._sources[link.target].append(link.source)

    def back_from(self, recorded: str, source: str = "") -> list[ChainLink]:
        """Return the chain from an operator, which comes first, to the point where the value entered the
        network.

        At each operator the search follows the input with the largest magnitude, and non-finite inputs first.
        Integers, such as an index, are followed only if there is nothing else. At the first operator it
        follows ``source``, a full name, if given. The chain ends where an operator received other values than
        its source returned, or made non-finite ones from finite inputs. If several weights or inputs of the
        network are non-finite at the end, all of them are returned.
        """
        chain = [self._link(recorded)]
        passed = {recorded}
        while len(chain) < MAX_LENGTH:
            candidates = [name for name in self._sources.get(recorded, ()) if name not in passed]
            if not candidates:
                break
            links = [self._link(name, recorded) for name in candidates]
            if (
                len(chain) > 1
                and chain[-1].magnitude == math.inf
                and all(0 <= own.magnitude < math.inf for own in links)
            ):
                break  # it begins here
            links = [own for own in links if not _counts(own)] or links
            first = source if len(chain) == 1 else ""
            wanted = [link for link in links if first and first in (link.recorded, link.name)]
            following = max(wanted or links, key=lambda link: link.magnitude)
            chain.append(following)
            if following.receiver:
                break
            if following.carrier != "operator":
                ends = {link.name: link for link in links if link.carrier != "operator"}
                chain += [
                    link
                    for link in ends.values()
                    if link.magnitude == math.inf and link.name != following.name
                ]
                break
            recorded = following.recorded or following.name
            passed.add(recorded)
        return chain

    def _link(self, name: str, target: str = "") -> ChainLink:
        """Return the chain link of an operator or parameter that feeds ``target``."""
        operator = self._operators.get(name)
        given = [(entry, self._find(entry)) for entry in self._given.get(name, ())]
        entry, result = max(given, key=lambda pair: magnitude(pair[1]), default=(None, None))
        parameter = operator.type == "Parameter" if operator else entry is None or entry.type == "Parameter"
        if not parameter:
            operator_type = operator.type if operator else entry.type if entry else ""
            full = operator.name if operator else entry.operator if entry else name
            recorded = operator.recorded if operator else name
            receiver = self._changed_before(target, full, given)
            return ChainLink(full, recorded, operator_type, "operator", entry, result, receiver=receiver)
        full = entry.operator if entry else name
        recorded = entry.recorded if entry else ""
        kind = parameter_kind(full, self._parameters)
        received = self._received(target, full)
        if received is not None:
            return ChainLink(full, recorded, "", kind, received, self._find(received))
        return ChainLink(full, recorded, "", kind, entry, result, is_late=self._is_late(entry, target))

    def _changed_before(
        self, target: str, source: str, given: Sequence[tuple[TensorEntry, TensorResult | None]]
    ) -> str:
        """Return the full name of ``target`` if it received other values than ``given`` by its source, else
        ""."""
        entry = self._received(target, source)
        received = self._find(entry) if entry is not None else None
        output = given[0][1] if len(given) == 1 else None
        changed = received is not None and output is not None and passes_on(output, received) is False
        return self._operators[target].name if changed else ""

    def _received(self, target: str, source: str) -> TensorEntry | None:
        """Return the recorded input of ``target`` that comes from ``source``, or None if that is unknown.
        Returns None if the slots cannot be paired with sources."""
        operator = self._operators.get(target)
        if operator is None or len(operator.inputs) != len(operator.sources):
            return None
        pairs = zip(operator.sources, operator.inputs, strict=True)
        slots = [slot for name, slot in pairs if name == source]
        return self._inputs.get((target, slots[0])) if slots else None

    def _is_late(self, entry: TensorEntry | None, target: str) -> bool:
        """Return True if a tensor was recorded after the last output of ``target``."""
        ran = [given.sequence for given in self._given.get(target, ())]
        return entry is not None and bool(ran) and entry.sequence > max(ran)


def _counts(link: ChainLink) -> bool:
    """Return True if a link holds integers, which choose values and become none."""
    return link.entry is not None and is_discrete(link.entry)


def magnitude(result: TensorResult | None) -> float:
    """Return the largest magnitude in a tensor: infinity if it is non-finite, -1.0 if nothing is known."""
    if result is None or result.measurement is None:
        return -1.0
    statistics = result.measurement.statistics
    if statistics.finite is False:
        return math.inf
    ends = [abs(end) for end in (statistics.minimum, statistics.maximum) if end is not None]
    return float(max(ends, default=-1.0))


def cut_out(
    chain: Iterable[ChainLink], operators: Mapping[str, Operator], links: Iterable[Link], limit: int
) -> tuple[list[Operator], list[Link]]:
    """Return up to ``limit`` operators of a chain, the neighbours of its first one, and the links between.
    The neighbours are the sources and targets of the first operator, ``limit`` of each. Operators have no
    scopes. Parameters have their kind as type. Both lists are empty for an empty chain."""
    shown = list(chain)[:limit]
    if not shown:
        return [], []
    start = shown[0].recorded
    all_links = list(links)
    drawn = {link.recorded or link.name: _flat(link, operators) for link in shown}
    ends = [link.source for link in all_links if link.target == start][:limit]
    ends += [link.target for link in all_links if link.source == start][:limit]
    for name in ends:
        operator = operators.get(name)
        if operator is not None and operator.type != "Parameter":
            drawn.setdefault(name, replace(operator, scope=()))
    named = {link.name: link.recorded or link.name for link in shown}
    joined = dict.fromkeys(
        (named.get(link.source, link.source), link.target) for link in all_links if link.target in drawn
    )
    return list(drawn.values()), [
        Link(source, "", target, "", certain=True) for source, target in joined if source in drawn
    ]


def _flat(link: ChainLink, operators: Mapping[str, Operator]) -> Operator:
    """Return the operator to draw for a link, without its scope."""
    operator = operators.get(link.recorded) if link.recorded else None
    if operator is not None and link.carrier == "operator":
        return replace(operator, scope=())
    if link.carrier == "operator":
        return Operator(link.name, link.name, link.type, (), "", -1, -1)
    name = link.name.replace("/", ".")  # a slash would start a scope
    return Operator(name, link.recorded or link.name, link.carrier, (), "", -1, -1)
