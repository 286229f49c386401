"""Masks: tensors with minus infinities in place of what is left out, which count nothing after a softmax."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.finiteness import Finiteness, finiteness
from mindinsight.server.debug.neighbours import Fingerprint, fingerprint
from mindinsight.server.debug.operator_types import canonical, is_sum
from mindinsight.server.formats.dumps.types import TensorEntry

_PLACING: Final = frozenset(  # operators that put a constant where they are told to, and compute nothing
    {
        "constantpadnd",
        "fill",
        "full",
        "fulllike",
        "indexfill",
        "indexput",
        "maskedfill",
        "maskedscatter",
        "newfull",
        "scalartensor",
        "scatter",
        "select",
        "tensor",
        "tril",
        "triu",
        "where",
    }
)


def places_constants(operator: str) -> bool:
    """Whether an operator of this type fills in constants: an infinity of its output was meant."""
    return re.sub(r"v\d+$", "", canonical(operator)) in _PLACING  # MindSpore has a FillV2


def holds_minus_infinity(result: TensorResult) -> bool:
    """Whether minus infinity is all that is not finite in a tensor, by its data or recorded statistics."""
    if result.measurement is None:
        return False
    statistics = result.measurement.statistics
    if None not in (statistics.nans, statistics.positive_infs, statistics.negative_infs):
        return not statistics.nans and not statistics.positive_infs and bool(statistics.negative_infs)
    recorded = result.entry.statistics
    if recorded is None or recorded.min != -math.inf or recorded.max is None:
        return False
    return recorded.max < math.inf and not recorded.nan and recorded.mean in (None, -math.inf)


class MaskSearch:
    """Search for masks among the tensors of a step, which are measured on demand."""

    def __init__(
        self,
        entries: Sequence[TensorEntry],
        result: Callable[[int], TensorResult | None],
        outputs: Callable[[TensorEntry], list[int]],
        inputs: Callable[[TensorEntry], list[int]],
        takers: Callable[[int], list[TensorEntry]],
    ) -> None:
        """``result`` measures the tensor at a position, None for one that is finite by what is recorded.

        ``outputs`` and ``inputs`` give the positions of the tensors of an entry's operator; ``takers`` gives
        a tensor of each other operator that takes the one at a position.
        """
        self._entries = entries
        self._result = result
        self._outputs = outputs
        self._inputs = inputs
        self._takers = takers
        self._known: dict[int, bool] = {}  # by position
        self._without_effect: dict[int, bool] = {}  # by position

    def is_mask(self, position: int) -> bool:
        """Whether a tensor is a mask: its minus infinities were filled in, or come from masks alone.

        One that comes in is a mask where it leaves the operator as such, or leaves nothing in its outputs.
        A single number, as a loss, can be filled in, but not be what came of a mask.
        """
        if position not in self._known:
            self._known[position] = False  # where it depends on itself
            self._known[position] = self._judge(position)
        return self._known[position]

    def has_no_effect(self, position: int) -> bool:
        """Whether recorded operators took a tensor, and what came of it is finite in the end."""
        if position not in self._without_effect:
            self._without_effect[position] = False  # where it depends on itself
            entry = self._entries[position]
            takers = self._takers(position) if entry.direction in ("output", "parameter") else [entry]
            self._without_effect[position] = bool(takers) and all(map(self._absorbs, takers))
        return self._without_effect[position]

    def _absorbs(self, taker: TensorEntry) -> bool:
        """Whether the outputs of an operator are finite, or masks without effect."""
        outputs = self._outputs(taker)
        return bool(outputs) and all(
            self._finiteness(p) == "finite" or (self._may_hold_mask(p) and self.has_no_effect(p))
            for p in outputs
        )

    def _judge(self, position: int) -> bool:
        entry, result = self._entries[position], self._result(position)
        if result is None or not holds_minus_infinity(result):
            return False
        if entry.direction == "parameter":
            return entry.type == "Parameter" and self.has_no_effect(position)
        if entry.direction == "constant":
            return True
        if entry.direction == "output":
            if places_constants(entry.type):
                return True
            origins = [other for other in self._inputs(entry) if self._finiteness(other) == "not_finite"]
            return _is_tensor(result) and bool(origins) and all(map(self.is_mask, origins))
        outputs = self._outputs(entry)
        if is_sum(entry.type) or fingerprint(result) in self._parameters:
            return self._absorbs(entry)
        return bool(outputs) and all(map(self._may_hold_mask, outputs))

    @cached_property
    def _parameters(self) -> frozenset[Fingerprint | None]:
        """Contents of the parameters of the step: an infinity in one was not filled in by an operator."""
        positions = [p for p, entry in enumerate(self._entries) if entry.type == "Parameter"]
        return frozenset(fingerprint(result) for result in map(self._result, positions) if result)

    def _may_hold_mask(self, position: int) -> bool:
        """Whether an output is finite, or holds what a mask may leave in it."""
        result = self._result(position)
        if result is None or finiteness(result) != "not_finite":
            return self._finiteness(position) == "finite"
        return _is_tensor(result) and holds_minus_infinity(result)

    def _finiteness(self, position: int) -> Finiteness:
        result = self._result(position)
        return "finite" if result is None else finiteness(result)


def _is_tensor(result: TensorResult) -> bool:
    """Whether a measured tensor has several elements."""
    return result.measurement is not None and math.prod(result.measurement.shape) > 1
