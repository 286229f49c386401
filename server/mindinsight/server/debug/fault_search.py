"""Search for the origin of what is not finite, among the tensors of one rank and step.

An operator is blamed only where everything that went into it is known to be finite: from its own recorded
inputs, from the calls it works on (``Operator.depends``), or from the outputs of its sources in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from mindinsight.server.debug.examine import Answer
from mindinsight.server.debug.neighbours import fingerprint
from mindinsight.server.debug.recorded import presumed
from mindinsight.server.debug.targets import is_state, is_weight, parameter_names
from mindinsight.server.formats.dumps.types import Operator, TensorEntry

OperatorKey: TypeAlias = tuple[str, str]  # graph, operator as recorded
Measure: TypeAlias = Callable[[Iterable[TensorEntry]], Iterable[Answer]]  # answers in the same order
Finiteness: TypeAlias = Literal["finite", "not_finite", "unknown"]
Kind: TypeAlias = Literal["made", "met", "unknown"]
Carrier: TypeAlias = Literal["", "input", "weight", "state", "data", "constant"]
Gap: TypeAlias = Literal["", "inputs", "outputs", "operator", "values", "later"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where what is not finite comes from, as far as the records tell.

    ``made``: by ``operator``, from finite inputs. ``met``: it came to ``operator`` as ``carrier``, named
    ``source`` where it has a name. ``unknown``: ``operator`` is the nearest known point, because of ``gap``
    in the records of ``source``. ``entry`` is the first tensor known to hold it.
    """

    kind: Kind
    entry: TensorEntry
    operator: str
    carrier: Carrier = ""
    gap: Gap = ""
    source: str = ""


class Search:
    """The tensors of one rank and step by operator, measured as they are needed."""

    def __init__(
        self, entries: Iterable[TensorEntry], operators: Sequence[Operator], measure: Measure
    ) -> None:
        self._entries = tuple(entries)
        self._measure = measure
        self._operators = {(each.graph, each.recorded): each for each in operators if each.recorded}
        self._keys = {(key[0], each.name): key for key, each in self._operators.items()}
        self._planned = {(each.graph, each.name) for each in operators if each.type != "Parameter"}
        self._parameters = parameter_names(self._entries)
        self._answers: dict[int, Answer] = {}
        self._tensors: dict[OperatorKey, list[int]] = {}
        for position, entry in enumerate(self._entries):
            self._tensors.setdefault(operator_key(entry), []).append(position)

    def origin(self, certain: bool = False) -> Origin | None:
        """The first origin in the order things ran; None where nothing is known to be not finite.

        An operator that surely made it goes before what an operator met earlier: masks of infinities are
        met by many. With ``certain``, only an operator that made it.
        """
        met: Origin | None = None
        harmless: Origin | None = None  # met, and nothing came of it
        for position in self._not_finite():
            entry = self._entries[position]
            output = entry.direction == "output"
            lost = self._lost_input(entry) if output else position
            if lost is None:
                found = self._of_output(position)
                if found.kind == "made":
                    return found
                if found.kind == "unknown" and met is None and not certain:
                    return found
                met = met or found
            elif met is None and not certain:
                if output or self._passed_on(entry):
                    met = self._of_input(lost)
                else:
                    harmless = harmless or self._of_input(lost)
        return None if certain else met or harmless

    def answers(self, entry: TensorEntry) -> list[Answer]:
        """This tensor and what else is not finite on the same side of its operator, measured."""
        side = [p for p in self._side(operator_key(entry)) if self._entries[p].direction == entry.direction]
        lost = [self._answers[p] for p in side if self._state(p) == "not_finite"]
        return sorted(lost, key=lambda answer: answer.entry != entry)

    def _not_finite(self) -> Iterator[int]:
        """Positions of what is not finite, in the order things ran."""
        order = [p for p in self._order if not surely_finite(self._entries[p])]
        for position, answer in zip(order, self._measure(self._entries[p] for p in order), strict=False):
            self._answers.setdefault(position, answer)
            if finiteness(self._answers[position]) == "not_finite":
                yield position

    def _state(self, position: int) -> Finiteness:
        entry = self._entries[position]
        if surely_finite(entry):
            return "finite"
        if position not in self._answers:
            self._answers[position] = next(iter(self._measure([entry])))
        return finiteness(self._answers[position])

    def _first(self, positions: Iterable[int], state: Finiteness) -> int | None:
        return next((p for p in positions if self._state(p) == state), None)

    def _side(self, key: OperatorKey, *directions: str) -> list[int]:
        """Positions of an operator's tensors of these directions, or of all."""
        tensors = self._tensors.get(key, ())
        return [p for p in tensors if not directions or self._entries[p].direction in directions]

    def _given(self, entry: TensorEntry) -> list[int]:
        """Positions of what went into the operator of a tensor, at the calls it works on too."""
        key = operator_key(entry)
        operator = self._operators.get(key)
        calls = [(entry.graph, name) for name in operator.depends] if operator else []
        return [p for call in (key, *calls) for p in self._side(call, "input", "parameter", "constant")]

    def _lost_input(self, entry: TensorEntry) -> int | None:
        return self._first(self._given(entry), "not_finite")

    def _of_output(self, position: int) -> Origin:
        """Whether an operator made an output: where none of its recorded inputs is known to be lost."""
        entry = self._entries[position]
        operator = self._operators.get(operator_key(entry))
        if operator is None or not operator.inputs_known:
            return self._of_sources(position, operator)
        if self._first(self._given(entry), "unknown") is not None:
            return Origin("unknown", entry, entry.operator, gap="values", source=entry.operator)
        return Origin("made", entry, entry.operator)

    def _of_sources(self, position: int, operator: Operator | None) -> Origin:
        """The same where inputs were not recorded, from the outputs of what the graph says feeds it."""
        entry = self._entries[position]
        untold = Origin("unknown", entry, entry.operator, gap="inputs", source=entry.operator)
        for name in operator.sources if operator else ():
            given = self._given_by(entry.graph, name)
            lost = self._first(given, "not_finite")
            if lost is not None and self._rank[lost] > self._rank[position]:
                return Origin("unknown", entry, entry.operator, gap="later", source=name)
            if lost is not None:
                return Origin("met", entry, entry.operator, self._carrier(entry.graph, name), source=name)
            if not given or self._first(given, "unknown") is not None:
                return untold
        return Origin("made", entry, entry.operator) if operator and operator.sources else untold

    def _of_input(self, position: int) -> Origin:
        """Where an input came from: by the graph, by its content, or by what was recorded before it."""
        entry = self._entries[position]
        if entry.direction == "constant":
            return Origin("met", entry, entry.operator, "constant", source=entry.operator)
        if entry.direction == "parameter":
            if entry.type != "Parameter":  # of a module
                return Origin("met", entry, entry.operator, "weight", source=entry.slot)
            kind = self._parameter_kind(entry.operator)
            return Origin("met", entry, entry.operator, kind, source=entry.operator)
        operator = self._operators.get(operator_key(entry))
        if operator and operator.sources:
            return self._by_source(entry, self._source_of(entry, operator))
        weight = self._weight_like(position)
        if weight is not None:
            return Origin("met", entry, entry.operator, "weight", source=weight)
        return self._by_records_before(position)

    def _source_of(self, entry: TensorEntry, operator: Operator) -> str:
        """The source of an input slot. Constants are no sources: where there are any, an unrecorded one."""
        if len(operator.inputs) == len(operator.sources) and entry.slot in operator.inputs:
            return operator.sources[operator.inputs.index(entry.slot)]
        return next((name for name in operator.sources if not self._given_by(entry.graph, name)), "")

    def _by_source(self, entry: TensorEntry, name: str) -> Origin:
        met = Origin("met", entry, entry.operator, self._carrier(entry.graph, name), source=name)
        if met.carrier != "input" or not name:
            return met
        given = self._given_by(entry.graph, name)
        if given:
            unread = self._first(given, "unknown") is not None
            return replace(met, kind="unknown", carrier="", gap="values") if unread else met
        key = self._keys.get((entry.graph, name))
        operator = self._operators.get(key) if key else None
        if key is None or operator is None:
            return replace(met, kind="unknown", carrier="", gap="operator")
        states = [self._state(p) for p in self._side(key, "input")]
        if operator.inputs_known and set(states) <= {"finite"}:
            return Origin("made", entry, name)
        return met if "not_finite" in states else replace(met, kind="unknown", carrier="", gap="inputs")

    def _by_records_before(self, position: int) -> Origin:
        """Without a graph: who may have given it are operators before whose outputs are not known."""
        entry = self._entries[position]
        before = self._order[: self._rank[position]]
        own = operator_key(entry)
        scope = self._operators[own].scope if own in self._operators else ()
        for key in reversed(dict.fromkeys(operator_key(self._entries[p]) for p in before)):
            if key == own or key[1] in scope:
                continue
            known = self._operators.get(key)
            if known is None or not known.outputs_known:
                return Origin("unknown", entry, entry.operator, gap="outputs", source=key[1])
            if self._first(self._side(key, "output"), "unknown") is not None:
                return Origin("unknown", entry, entry.operator, gap="values", source=key[1])
        return Origin("met", entry, entry.operator, "input")

    def _passed_on(self, entry: TensorEntry) -> bool:
        """Whether something came of an input that is not finite; an operator without outputs may have."""
        if entry.type == "Parameter":
            return False  # seen at those who take it
        outputs = self._side(operator_key(entry), "output")
        return not outputs or any(self._state(p) != "finite" for p in outputs)

    def _given_by(self, graph: str, name: str) -> list[int]:
        """Positions of what an operator or a parameter of the graph gives, where it was recorded."""
        key = self._keys.get((graph, name))
        return self._side(key, "output", "parameter", "constant") if key else []

    def _carrier(self, graph: str, name: str) -> Carrier:
        key = self._keys.get((graph, name))
        operator = self._operators.get(key) if key else None
        if (operator and operator.type != "Parameter") or (graph, name) in self._planned or not name:
            return "input"
        return self._parameter_kind(name)

    def _parameter_kind(self, name: str) -> Carrier:
        """What a parameter is by its name: a weight, a state of the optimizer, or data."""
        if is_state(name, self._parameters):
            return "state"
        return "weight" if is_weight(name, self._parameters) else "data"

    def _weight_like(self, position: int) -> str | None:
        """The weight of a module that has the content of an input, by checksum or all statistics."""
        self._state(position)
        content = fingerprint(self._answers[position])
        for other, entry in enumerate(self._entries):
            weight = entry.direction == "parameter" and entry.type != "Parameter"
            if weight and self._state(other) == "not_finite" and fingerprint(self._answers[other]) == content:
                return f"{entry.operator} {entry.slot}"
        return None

    @cached_property
    def _rank(self) -> dict[int, int]:
        return {position: rank for rank, position in enumerate(self._order)}

    @cached_property
    def _order(self) -> list[int]:
        """Positions as things ran: a module gives after all inside it, a weight's gradient comes last.

        A module's inputs are taken where they stand.
        """
        ends = {key: positions[-1] for key, positions in self._tensors.items()}
        depth = dict.fromkeys(ends, 0)
        for (graph, name), operator in self._operators.items():
            own = self._tensors.get((graph, name))
            if own is None:
                continue
            for parent in operator.scope:
                if (graph, parent) in ends:
                    ends[graph, parent] = max(ends[graph, parent], own[-1])
                    depth[graph, name] += 1
            for call in operator.depends:
                ends[graph, name] = max(ends[graph, name], *self._side((graph, call)), 0)

        def moment(position: int) -> tuple[int, bool, int, int]:
            key = operator_key(self._entries[position])
            moved = self._entries[position].direction == "output" and ends[key] != self._tensors[key][-1]
            return (ends[key], True, -depth[key], position) if moved else (position, False, 0, position)

        return sorted(range(len(self._entries)), key=moment)


def operator_key(entry: TensorEntry) -> OperatorKey:
    return entry.graph, entry.recorded


def finiteness(answer: Answer) -> Finiteness:
    """What is known of a measured tensor; texts, which cannot be measured, hold no NaN."""
    if answer.measured is None:
        texts = answer.damage is not None and answer.damage.reason == "dump.no_numbers"
        return "finite" if texts or surely_finite(answer.entry) else "unknown"
    finite = answer.measured.statistics.finite
    return "unknown" if finite is None else "finite" if finite else "not_finite"


def surely_finite(entry: TensorEntry) -> bool:
    """Whether integers, or the dump's own extremes, make reading a tensor needless."""
    if entry.dtype.startswith(("int", "uint", "bool")):
        return True
    recorded = entry.statistics
    if recorded is None or recorded.min is None or recorded.max is None:
        return False
    found = presumed(recorded, entry.shape)
    return found is not None and found.finite is True
