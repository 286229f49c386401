"""Search for the origin of non-finite values among the tensors of one rank and step, in execution order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

from mindinsight.server.debug.conditions.masks import MaskSearch
from mindinsight.server.debug.conditions.side_results import side_results
from mindinsight.server.debug.examine import (
    Finiteness,
    OperatorKey,
    TensorResult,
    finiteness,
    operator_key,
    surely_finite,
)
from mindinsight.server.debug.operator_links import (
    Fingerprint,
    fingerprint,
    is_replaced,
    takes_no_number,
)
from mindinsight.server.debug.tensor_targets import parameter_kind, parameter_names
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry


def tensors_by_operator(entries: Sequence[TensorEntry]) -> dict[OperatorKey, list[int]]:
    """Return the positions of the tensors of each operator, in ascending order."""
    tensors: dict[OperatorKey, list[int]] = {}
    for position, entry in enumerate(entries):
        tensors.setdefault(operator_key(entry), []).append(position)
    return tensors


def execution_order(
    entries: Sequence[TensorEntry],
    operators: Mapping[OperatorKey, Operator],
    tensors: Mapping[OperatorKey, Sequence[int]],
) -> list[int]:
    """Return the positions of ``entries`` in execution order, given ``tensors_by_operator`` of them. Outputs
    of a module follow all calls inside it, and gradients of weights the calls they depend on."""
    ends = {key: positions[-1] for key, positions in tensors.items()}
    depth = dict.fromkeys(ends, 0)
    for (graph, name), operator in operators.items():
        own = tensors.get((graph, name))
        if own is None:
            continue
        for parent in operator.scope:
            if (graph, parent) in ends:
                ends[graph, parent] = max(ends[graph, parent], own[-1])
                depth[graph, name] += 1
        for call in operator.depends:
            ends[graph, name] = max(ends[graph, name], *tensors.get((graph, call), ()), 0)

    def sort_key(position: int) -> tuple[int, bool, int, int]:
        key = operator_key(entries[position])
        deferred = entries[position].direction == "output" and ends[key] != tensors[key][-1]
        return (ends[key], True, -depth[key], position) if deferred else (position, False, 0, position)

    return sorted(range(len(entries)), key=sort_key)


Measure: TypeAlias = Callable[[Iterable[TensorEntry]], Iterable[TensorResult]]  # keeps the order
Kind: TypeAlias = Literal["made", "met", "unknown"]
Carrier: TypeAlias = Literal[
    "", "input", "weight", "state", "data", "constant", "mask", "number", "nothing", "tensors"
]
Gap: TypeAlias = Literal["", "inputs", "outputs", "operator", "values", "later", "between", "unseen"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of non-finite values, as far as the records show.

    * ``made``: ``operator`` produced them from finite inputs, from no tensors (carrier "nothing"), from a
      non-finite argument (carrier "number"), or from finite tensors and perhaps an unrecorded number (carrier
      "tensors"). ``entry`` belongs to another operator if the outputs of ``operator`` were not recorded.
    * ``met``: ``operator`` received them as ``carrier``, which is named ``source`` if it has a name.
    * ``unknown``: ``operator`` is the nearest known operator, due to a ``gap`` in the records of ``source``.

    ``entry`` is the first tensor known to hold them.
    """

    kind: Kind
    entry: TensorEntry
    operator: str
    carrier: Carrier = ""
    gap: Gap = ""
    source: str = ""


class OriginSearch:
    """Search for the origin of non-finite values in one rank and step. Tensors are measured on demand."""

    def __init__(
        self,
        entries: Iterable[TensorEntry],
        operators: Sequence[Operator],
        measure: Measure,
        modules_only: bool = False,
        numbers_known: bool = True,
        complete: bool = False,
    ) -> None:
        """Store the records. ``numbers_known`` says that numbers given to operators were recorded, and
        ``complete`` that all operators were."""
        self._unused = side_results(operators) if complete else frozenset()
        self._entries = tuple(entry for entry in entries if not is_replaced(entry))
        self._modules_only = modules_only
        self._numbers_known = numbers_known
        self._measure = measure
        self._operators = {
            (operator.graph, operator.recorded): operator for operator in operators if operator.recorded
        }
        self._by_name = {(key[0], operator.name): operator for key, operator in self._operators.items()}
        self._planned = {
            (operator.graph, operator.name) for operator in operators if operator.type != "Parameter"
        }
        self._parameters = parameter_names(self._entries)
        self._results: dict[int, TensorResult] = {}
        self._tensors = tensors_by_operator(self._entries)
        self._masks = MaskSearch(
            self._entries,
            self._result,
            lambda entry: self._side(operator_key(entry), "output"),
            self._fed_by,
            self._takers,
        )

    def origin(self, certain: bool = False) -> Origin | None:
        """Return the first origin in execution order, or None if all known tensors are finite or masks.

        An operator that produced non-finite values has priority over operators that received them earlier,
        because many receive masks of infinities. With ``certain``, only operators that produced them count.
        Those whose results no recorded operator that trains uses count if no other produced them.
        """
        origin = self._first_origin(certain, self._unused)
        if origin is None or origin.kind == "made" or not self._unused:
            return origin
        return self._first_origin(True, frozenset()) or origin

    def _first_origin(self, certain: bool, spared: frozenset[OperatorKey]) -> Origin | None:
        met: Origin | None = None
        harmless: Origin | None = None  # received, without effect on outputs
        for position in self._non_finite_positions():
            entry = self._entries[position]
            if self._masks.is_mask(position) or operator_key(entry) in spared:
                continue
            output = entry.direction == "output"
            received = self._first_with(self._inputs_of(entry), "non_finite") if output else position
            if received is None:
                origin = self._judge_output(position)
                if origin.kind == "made":
                    return origin
                if origin.kind == "unknown" and met is None and not certain:
                    return origin
                met = met or origin
            elif met is None and not certain:
                if output or self._propagates(entry):
                    met = self._trace_input(received)
                else:
                    harmless = harmless or self._trace_input(received)
        return None if certain else met or harmless

    def is_mask(self, entry: TensorEntry) -> bool:
        """Return True if the minus infinities of a tensor were filled in, or come only from masks."""
        return self._masks.is_mask(self._positions[entry.sequence])

    def is_aside(self, entry: TensorEntry) -> bool:
        """Return True if no recorded operator that trains uses a result of a tensor's operator, such as a
        metric's, and nothing else is non-finite: that may come from it in a way that was not recorded."""
        return operator_key(entry) in self._aside

    @cached_property
    def _aside(self) -> frozenset[OperatorKey]:
        others = (
            p for p in self._non_finite_positions() if operator_key(self._entries[p]) not in self._unused
        )
        return (
            frozenset()
            if not self._unused or any(not self._masks.is_mask(p) for p in others)
            else self._unused
        )

    def is_open_mask(self, entry: TensorEntry) -> bool:
        """Return True unless the recorded outputs show that a mask had no effect. The tensor must be a mask,
        as `is_mask` tells: this is not checked here."""
        position = self._positions[entry.sequence]
        return not (self._masks.has_no_effect(position) or self._ends_finite_after(position))

    def _ends_finite_after(self, position: int) -> bool:
        """Return True if the step's last recorded output follows a tensor and is finite."""
        last = next((p for p in reversed(self._order) if self._entries[p].direction == "output"), position)
        return self._rank[last] > self._rank[position] and self._finiteness(last) == "finite"

    def results(self, entry: TensorEntry) -> list[TensorResult]:
        """Return the non-finite tensors of the same operator and direction, measured, ``entry`` first."""
        side = self._side(operator_key(entry), entry.direction)
        non_finite = [
            self._results[position] for position in side if self._finiteness(position) == "non_finite"
        ]
        return sorted(non_finite, key=lambda result: result.entry != entry)

    def other_inputs(self, entry: TensorEntry) -> list[Origin]:
        """Return the origins of the other non-finite inputs, except masks, of the operator that received a
        tensor."""
        inputs = self._side(operator_key(entry), "input", "parameter", "constant")
        others = [p for p in inputs if self._entries[p] != entry and self._finiteness(p) == "non_finite"]
        return [self._trace_input(position) for position in others if not self._masks.is_mask(position)]

    def _non_finite_positions(self) -> Iterator[int]:
        """Yield the positions of non-finite tensors in execution order."""
        order = [p for p in self._order if not surely_finite(self._entries[p])]
        for position, result in zip(order, self._measure(self._entries[p] for p in order), strict=False):
            self._results.setdefault(position, result)
            if finiteness(self._results[position]) == "non_finite":
                yield position

    def _fed_by(self, entry: TensorEntry) -> list[int]:
        """Return the positions of an operator's recorded inputs, or else of its sources' outputs."""
        operator = self._operators.get(operator_key(entry))
        sources = operator.sources if operator else ()
        return self._inputs_of(entry) or [
            p for name in sources for p in self._outputs_of_source(entry.graph, name)
        ]

    def _takers(self, position: int) -> list[TensorEntry]:
        """Return one tensor of each operator that receives a tensor, found by equal content or by the
        graph."""
        entry, result = self._entries[position], self._result(position)
        content = None if result is None else fingerprint(result)
        takers = {operator_key(other): other for other in self._received.get(content, ())}
        for key in self._receivers.get((entry.graph, entry.operator), ()):
            if outputs := self._side(key, "output"):
                takers.setdefault(key, self._entries[outputs[0]])
        takers.pop(operator_key(entry), None)
        return list(takers.values())

    @cached_property
    def _received(self) -> dict[Fingerprint | None, list[TensorEntry]]:
        """Return the non-finite inputs of the step by the fingerprint of their content."""
        received: dict[Fingerprint | None, list[TensorEntry]] = defaultdict(list)
        inputs = [p for p, e in enumerate(self._entries) if e.direction == "input" and not surely_finite(e)]
        missing = [p for p in inputs if p not in self._results]
        self._results.update(zip(missing, self._measure(self._entries[p] for p in missing), strict=False))
        for position in inputs:
            content = fingerprint(self._results[position])
            if content is not None and self._finiteness(position) == "non_finite":
                received[content].append(self._entries[position])
        return received

    @cached_property
    def _receivers(self) -> dict[OperatorKey, list[OperatorKey]]:
        """Return, for each operator, the operators that receive its results in the graph."""
        receivers: dict[OperatorKey, list[OperatorKey]] = defaultdict(list)
        for key, operator in self._operators.items():
            for name in operator.sources:
                receivers[key[0], name].append(key)
        return receivers

    def _finiteness(self, position: int) -> Finiteness:
        result = self._result(position)
        return "finite" if result is None else finiteness(result)

    def _result(self, position: int) -> TensorResult | None:
        """Return the measured tensor, or None if its recorded data show it to be finite."""
        entry = self._entries[position]
        if surely_finite(entry):
            return None
        if position not in self._results:
            self._results[position] = next(iter(self._measure([entry])))
        return self._results[position]

    def _first_with(self, positions: Iterable[int], state: Finiteness) -> int | None:
        """Return the first of the positions whose tensor has the given finiteness, or None."""
        return next((p for p in positions if self._finiteness(p) == state), None)

    def _side(self, key: OperatorKey, *directions: str) -> list[int]:
        """Return the positions of an operator's tensors with the given directions."""
        return [p for p in self._tensors.get(key, ()) if self._entries[p].direction in directions]

    def _inputs_of(self, entry: TensorEntry) -> list[int]:
        """Return the positions of the inputs of a tensor's operator, and of the calls it depends on."""
        key = operator_key(entry)
        operator = self._operators.get(key)
        calls = [(entry.graph, name) for name in operator.depends] if operator else []
        return [p for call in (key, *calls) for p in self._side(call, "input", "parameter", "constant")]

    def _judge_output(self, position: int) -> Origin:
        """Return the origin of a non-finite output whose recorded inputs are not known to be non-finite."""
        entry = self._entries[position]
        operator = self._operators.get(operator_key(entry))
        if operator is None or not operator.inputs_known:
            return self._judge_by_sources(position, operator)
        if self._first_with(self._inputs_of(entry), "unknown") is not None:
            return Origin("unknown", entry, entry.operator, gap="values", source=entry.operator)
        carrier: Carrier = "number" if _takes_non_finite_number(operator) else self._given(operator)
        carrier = carrier if self._inputs_of(entry) else "nothing"
        return Origin("made", entry, entry.operator, carrier)

    def _given(self, operator: Operator) -> Carrier:
        """Return "tensors" if an operator may have received an unrecorded number, else ""."""
        recorded = any(name.startswith("input.") for name, _ in operator.arguments)
        known = self._numbers_known or operator.depends or recorded
        count, module = max(len(operator.inputs), len(operator.sources)), "".join(operator.scope[-1:])
        return "" if known or takes_no_number(operator.type, count, module) else "tensors"

    def _judge_by_sources(self, position: int, operator: Operator | None) -> Origin:
        """Return the origin of an output without recorded inputs, from the outputs of its sources."""
        entry = self._entries[position]
        unknown = Origin("unknown", entry, entry.operator, gap="inputs", source=entry.operator)
        for name in operator.sources if operator else ():
            outputs = self._outputs_of_source(entry.graph, name)
            received = self._first_with(outputs, "non_finite")
            if received is not None and self._rank[received] > self._rank[position]:
                return Origin("unknown", entry, entry.operator, gap="later", source=name)
            if received is not None:
                return Origin("met", entry, entry.operator, self._carrier(entry.graph, name), source=name)
            if not outputs or self._first_with(outputs, "unknown") is not None:
                return unknown
        if operator is None or not operator.sources:
            return unknown
        return Origin("made", entry, entry.operator, self._given(operator))

    def _trace_input(self, position: int) -> Origin:
        """Return the origin of a non-finite input, by the graph, by equal content, or by the tensors recorded
        before."""
        entry = self._entries[position]
        if entry.direction == "constant":
            return Origin("met", entry, entry.operator, "constant", source=entry.operator)
        if entry.direction == "parameter":
            if entry.type != "Parameter":  # of a module
                return Origin("met", entry, entry.operator, "weight", source=entry.slot)
            kind = parameter_kind(entry.operator, self._parameters)
            return Origin("met", entry, entry.operator, kind, source=entry.operator)
        operator = self._operators.get(operator_key(entry))
        if operator and operator.sources:
            return self._trace_source(entry, self._source_of(entry, operator))
        parameter = self._matching_parameter(position)
        if parameter is not None:
            return Origin("met", entry, entry.operator, parameter[0], source=parameter[1])
        return self._trace_by_order(position)

    def _source_of(self, entry: TensorEntry, operator: Operator) -> str:
        """Return the name of the operator or parameter that feeds an input slot, or "" if unknown. If
        constants make positions ambiguous, the first source without recorded outputs is returned."""
        if len(operator.inputs) == len(operator.sources) and entry.slot in operator.inputs:
            return operator.sources[operator.inputs.index(entry.slot)]
        return next((name for name in operator.sources if not self._outputs_of_source(entry.graph, name)), "")

    def _trace_source(self, entry: TensorEntry, name: str) -> Origin:
        """Return the origin of a non-finite input that comes from a named source of the graph."""
        met = Origin("met", entry, entry.operator, self._carrier(entry.graph, name), source=name)
        if met.carrier != "input" or not name:
            return met
        outputs = self._outputs_of_source(entry.graph, name)
        if (output := self._output_of_masks(entry, outputs)) is not None:
            return Origin("made", self._entries[output], entry.operator, "mask")
        if outputs:
            unmeasured = self._first_with(outputs, "unknown") is not None
            return replace(met, kind="unknown", carrier="", gap="values") if unmeasured else met
        operator = self._by_name.get((entry.graph, name))
        if operator is None:
            return replace(met, kind="unknown", carrier="", gap="operator")
        states = [self._finiteness(p) for p in self._side((entry.graph, operator.recorded), "input")]
        if operator.inputs_known and set(states) <= {"finite"}:
            return Origin("made", entry, name, self._given(operator))
        return met if "non_finite" in states else replace(met, kind="unknown", carrier="", gap="inputs")

    def _trace_by_order(self, position: int) -> Origin:
        """Return the origin of an input without a graph. It is unknown if an earlier operator lacks
        outputs."""
        entry = self._entries[position]
        before = self._order[: self._rank[position]]
        own = operator_key(entry)
        output = self._first_with(self._side(own, "output"), "non_finite")
        # An operator before filled in minus infinities: the values began where that mask ended.
        if output is not None and any(
            self._entries[p].direction == "output" and self._masks.is_mask(p) for p in before
        ):
            return Origin("made", self._entries[output], entry.operator, "mask")
        scope = self._operators[own].scope if own in self._operators else ()
        nearest = ""  # module that ran just before, with finite outputs
        for key in reversed(dict.fromkeys(operator_key(self._entries[p]) for p in before)):
            if key == own or key[1] in scope:
                continue
            known = self._operators.get(key)
            if known is None or not known.outputs_known:
                return Origin("unknown", entry, entry.operator, gap="outputs", source=key[1])
            if self._first_with(self._side(key, "output"), "unknown") is not None:
                return Origin("unknown", entry, entry.operator, gap="values", source=key[1])
            nearest = nearest or (key[1] if self._side(key, "output") else "")
        if self._modules_only and nearest:
            return Origin("unknown", entry, entry.operator, gap="between", source=nearest)
        return Origin("met", entry, entry.operator, "input")

    def _output_of_masks(self, entry: TensorEntry, sources: Sequence[int]) -> int | None:
        """Return an operator's non-finite output if all its non-finite inputs are masks, or None."""
        given = [p for p in sources if self._finiteness(p) == "non_finite"]
        masks = bool(given) and all(map(self._gives_mask, given))
        return self._first_with(self._side(operator_key(entry), "output"), "non_finite") if masks else None

    def _gives_mask(self, position: int) -> bool:
        """Return True if the tensor at a position is an output and a mask."""
        return self._entries[position].direction == "output" and self._masks.is_mask(position)

    def _propagates(self, entry: TensorEntry) -> bool:
        """Return True if an input may make the outputs of its operator non-finite, or if no output was
        recorded."""
        if entry.type == "Parameter":
            return False  # judged at the operators that take it
        outputs = self._side(operator_key(entry), "output")
        return not outputs or any(self._finiteness(p) != "finite" for p in outputs)

    def _outputs_of_source(self, graph: str, name: str) -> list[int]:
        """Return the positions of the recorded outputs of an operator or parameter of the graph."""
        operator = self._by_name.get((graph, name))
        return self._side((graph, operator.recorded), "output", "parameter", "constant") if operator else []

    def _carrier(self, graph: str, name: str) -> Carrier:
        """Return which kind of parameter a source is, or ``input`` for operators and nameless sources."""
        operator = self._by_name.get((graph, name))
        if (operator and operator.type != "Parameter") or (graph, name) in self._planned or not name:
            return "input"
        return parameter_kind(name, self._parameters)

    def _matching_parameter(self, position: int) -> tuple[Carrier, str] | None:
        """Return kind and name of the non-finite parameter with the content of an input, or None."""
        self._finiteness(position)
        content = fingerprint(self._results[position])
        for other, entry in enumerate(self._entries):
            same = entry.direction == "parameter" and self._finiteness(other) == "non_finite"
            if same and fingerprint(self._results[other]) == content:
                if entry.type == "Parameter":
                    return parameter_kind(entry.operator, self._parameters), entry.operator
                return "weight", f"{entry.operator} {entry.slot}"
        return None

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {entry.sequence: position for position, entry in enumerate(self._entries)}

    @cached_property
    def _rank(self) -> dict[int, int]:
        return {position: rank for rank, position in enumerate(self._order)}

    @cached_property
    def _order(self) -> list[int]:
        return execution_order(self._entries, self._operators, self._tensors)


def _takes_non_finite_number(operator: Operator) -> bool:
    """Return True if a recorded argument, a JSON text, is NaN or infinite."""
    return any(
        name.startswith("input") and text in ("NaN", "Infinity", "-Infinity")
        for name, text in operator.arguments
    )
