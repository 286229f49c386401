"""Infinities that were filled in on purpose, as in a mask or at the start of a minimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from mindinsight.server.debug.examine import Finiteness, TensorResult, finiteness
from mindinsight.server.debug.operator_links import Fingerprint, fingerprint, is_sum, places_constants
from mindinsight.server.debug.tensor_targets import is_state, is_weight
from mindinsight.server.formats.dumps.dump_types import TensorEntry


def holds_minus_infinity(result: TensorResult) -> bool:
    """Return True if minus infinity is the only non-finite value in a tensor, as far as is recorded."""
    if result.measurement is None:
        return False
    statistics = result.measurement.statistics
    if None not in (statistics.nans, statistics.positive_infs, statistics.negative_infs):
        return not statistics.nans and not statistics.positive_infs and bool(statistics.negative_infs)
    recorded = result.entry.statistics
    if recorded is None or recorded.min != -math.inf or recorded.max is None:
        return False
    return recorded.max < math.inf and not recorded.nan and recorded.mean in (None, -math.inf)


def holds_plus_infinity(result: TensorResult) -> bool:
    """Return True if plus infinity is the only non-finite value in a measured tensor."""
    if result.measurement is None:
        return False
    statistics = result.measurement.statistics
    return statistics.nans == 0 == statistics.negative_infs and bool(statistics.positive_infs)


_LATTICE: Final = "_ctc_loss"  # its second output has minus infinity for paths that do not exist


class MaskSearch:
    """Search for masks, tensors with intended infinities, among the tensors of a step.

    Tensors are measured on demand.
    """

    def __init__(
        self,
        entries: Sequence[TensorEntry],
        result: Callable[[int], TensorResult | None],
        outputs: Callable[[TensorEntry], list[int]],
        inputs: Callable[[TensorEntry], list[int]],
        takers: Callable[[int], list[TensorEntry]],
    ) -> None:
        """Store the callbacks that look up tensors, which are identified by their position in ``entries``.

        ``result`` measures a tensor, and returns None if its recorded data show it to be finite. ``outputs``
        and ``inputs`` return the positions of the tensors of an entry's operator. ``takers`` returns one
        tensor of each other operator that receives the given tensor.
        """
        self._entries = entries
        self._result = result
        self._outputs = outputs
        self._inputs = inputs
        self._takers = takers
        self._known: dict[int, bool] = {}  # by position
        self._without_effect: dict[int, bool] = {}  # by position

    def is_mask(self, position: int) -> bool:
        """Return True if minus infinities of the tensor at a position were filled in, or come from masks.

        Plus infinities were filled in on purpose if they had no effect, as before a minimum.
        An input is a mask if the outputs of its operator are masks or finite. A single number, such as a
        loss, can be filled in, but cannot result from a mask.
        """
        if position not in self._known:
            self._known[position] = False  # ends the recursion of a cycle
            self._known[position] = self._judge(position)
        return self._known[position]

    def has_no_effect(self, position: int) -> bool:
        """Return True if all recorded operators that received the tensor at a position in the entries have
        outputs that are finite, or masks without effect. Return False if none received it."""
        if position not in self._without_effect:
            self._without_effect[position] = False  # ends the recursion of a cycle
            entry = self._entries[position]
            takers = self._takers(position) if entry.direction in ("output", "parameter") else [entry]
            self._without_effect[position] = bool(takers) and all(map(self._absorbs, takers))
        return self._without_effect[position]

    def _absorbs(self, taker: TensorEntry) -> bool:
        """Return True if all outputs of an operator are finite, or masks without effect."""
        outputs = self._outputs(taker)
        return bool(outputs) and all(
            self._finiteness(p) == "finite" or (self._may_hold_mask(p) and self.has_no_effect(p))
            for p in outputs
        )

    def _judge(self, position: int) -> bool:
        """Return True if a tensor is a mask, by its direction and operator."""
        entry, result = self._entries[position], self._result(position)
        if result is not None and holds_plus_infinity(result):
            return self._is_start_of_minimum(position, fingerprint(result))
        if result is None or not holds_minus_infinity(result):
            return False
        if entry.direction == "parameter":
            return self._is_buffer(entry, result) and self.has_no_effect(position)
        if entry.direction == "constant":
            return True
        if entry.direction == "output":
            if places_constants(entry.type) or (entry.type == _LATTICE and entry.slot == "1"):
                return True
            origins = [other for other in self._inputs(entry) if self._finiteness(other) == "non_finite"]
            return _is_tensor(result) and bool(origins) and all(map(self.is_mask, origins))
        outputs = self._outputs(entry)
        if (parameter := self._parameters.get(fingerprint(result))) is not None:
            return self._is_buffer(parameter, result) and self._absorbs(entry)
        if is_sum(entry.type):
            return self._absorbs(entry)
        return bool(outputs) and all(map(self._may_hold_mask, outputs))

    def _is_start_of_minimum(self, position: int, content: Fingerprint | None) -> bool:
        """Return True if an operator filled in plus infinity on purpose, so that it has no effect. An
        example is the start of a minimum. An input must equal such an output."""
        entry = self._entries[position]
        if entry.direction == "output":
            return places_constants(entry.type) and self.has_no_effect(position)
        filled = self._filled.get(content) if entry.direction == "input" and content is not None else None
        return filled is not None and self.is_mask(filled)

    @cached_property
    def _filled(self) -> dict[Fingerprint | None, int]:
        """Return the positions of outputs with constants that operators filled in, by fingerprint."""
        outputs = (
            (position, self._result(position))
            for position, entry in enumerate(self._entries)
            if entry.direction == "output" and places_constants(entry.type)
        )
        return {fingerprint(result): position for position, result in outputs if result}

    @cached_property
    def _parameters(self) -> dict[Fingerprint | None, TensorEntry]:
        """Return the step's parameters by content. An infinity in a parameter was not filled in by an
        operator."""
        positions = [p for p, entry in enumerate(self._entries) if entry.type == "Parameter"]
        return {fingerprint(result): result.entry for result in map(self._result, positions) if result}

    def _is_buffer(self, entry: TensorEntry, result: TensorResult) -> bool:
        """Return True if a parameter has at most one distinct finite value, and its name is not of a weight
        or an optimizer's state."""
        if entry.type != "Parameter" or result.measurement is None:
            return False
        statistics = result.measurement.statistics
        name = entry.operator
        return statistics.minimum == statistics.maximum and not (is_weight(name) or is_state(name))

    def _may_hold_mask(self, position: int) -> bool:
        """Return True if an output is finite, or holds no other non-finite value than minus infinity."""
        result = self._result(position)
        if result is None or finiteness(result) != "non_finite":
            return self._finiteness(position) == "finite"
        return _is_tensor(result) and holds_minus_infinity(result)

    def _finiteness(self, position: int) -> Finiteness:
        result = self._result(position)
        return "finite" if result is None else finiteness(result)


def _is_tensor(result: TensorResult) -> bool:
    """Return True if a tensor was measured and has several elements."""
    return result.measurement is not None and math.prod(result.measurement.shape) > 1
