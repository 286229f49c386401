"""Hits of common checks that a healthy training has too, told from faults by the values of one step.

Three patterns are known. A bias or weight that started at zero doubles in its first steps. A bias before a
softmax or a normalization has a gradient of zero, because they do not depend on it. A small learning rate
changes all parameters by little.
"""

from __future__ import annotations

import math
import re
import statistics as numbers
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from mindinsight.server.debug.operator_links import canonical, is_constant, is_view, module_of
from mindinsight.server.debug.tensor_targets import is_gradient, is_optimizer, is_shift, parameter_names

if TYPE_CHECKING:
    from mindinsight.server.debug.fault_search import Measure
    from mindinsight.server.debug.recorded_statistics import AnyStatistics
    from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

Expectation: TypeAlias = Literal["", "growing", "cancelled", "small", "few", "finished", "equal", "masked"]
Standstill: TypeAlias = Literal[
    "purpose",
    "trained",
    "either",
    "half",
    "rounding",
    "gradient",
    "zero",
    "vanished",
    "frozen",
    "set",
    "unreached",
]

_TRAINED: Final[dict[Standstill, Standstill]] = {
    "purpose": "trained",
    "either": "half",
    "frozen": "unreached",
}
_SUMS: Final = frozenset(["biasaddgrad", "reducesum", "sum"])  # operators that make the gradient of a bias
# Backward operators whose outputs are the gradients of the input, the weight and the bias, as far as they are
# asked for. That of the bias, the last, is the sum of the first input.
_OF_PARAMETERS: Final = frozenset(
    ["nativelayernormbackward", "nativebatchnormbackward", "convolutionbackward"]
)
_SCALES: Final = ("weight", "gamma")  # parameters beside a bias, in whose units its changes count
_EPSILONS: Final = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# Half the distance to the next number, as a share of a number: what is added below it is lost.
ROUNDED: Final = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
_ROUNDINGS: Final = 16  # epsilons of the summed magnitudes: the terms are results of rounding themselves
_SIGNS: Final = 30  # times less than the sum of terms with random signs: chance does not give it
_VANISHED: Final = 1e-9  # mean magnitude of terms below which a gradient is dead before it is summed
_TOO_SMALL: Final = 1e-5  # of a parameter, below which its gradient moves it by less than the check's limit
_FINISHED: Final = 1e-6  # loss, a thousand times the limit of a gradient that vanishes: both are as small
_SLIGHT_GROWTH: Final = 0.1  # of other weights: one that is as small, such as a scale from zero, may double
_BEFORE_BACKWARD: Final = 8  # outputs in front of a backward pass among which its loss is looked for
_FEW: Final = 0.5  # of the values of a parameter: where most change, their mean counts
_FAR: Final = 1e-3  # of the median change of parameters: less is another standstill than a learning rate's


class ExpectedHits:
    """Search for reasons why hits on the tensors of one rank and step are no signs of a fault.

    ``before`` are the tensors of the previous dumped step, ``first`` those of the first.
    """

    def __init__(
        self,
        entries: Sequence[TensorEntry],
        before: Iterable[TensorEntry],
        operators: Sequence[Operator],
        measure: Measure,
        first: Iterable[TensorEntry] = (),
    ) -> None:
        self._given = {(entry.recorded, entry.direction, entry.slot): entry for entry in entries}
        self._outputs = {entry.operator: entry for entry in entries if entry.direction == "output"}
        self._before = {_plain(entry.operator): entry for entry in before if entry.direction == "parameter"}
        self._first = tuple(first)
        self._operators = {operator.recorded: operator for operator in operators}
        self._measure = measure

    def finished_loss(self, entry: TensorEntry) -> TensorEntry | None:
        """Return the loss, if it is so small that a tensor may be zero because nothing is left to learn. It
        is the last single number before the backward pass of a gradient, or before each for other
        tensors."""
        losses = [
            loss
            for first, last, loss in self._losses
            if not is_gradient(entry) or first <= entry.sequence <= last
        ]
        sizes = [self._magnitude(loss) for loss in losses]
        small = [size is not None and size <= _FINISHED for size in sizes]
        if not losses or not all(small):
            return None
        later = entry.sequence >= min(own.sequence for own in losses)
        makers = [self._operators.get(own.recorded) for own in losses]
        summed = any(entry.operator in maker.sources for maker in makers if maker)
        return losses[0] if later or summed or self._elements(entry) == 1 else None

    @cached_property
    def _losses(self) -> list[tuple[int, int, TensorEntry]]:
        """First and last position of each backward pass, with the loss in front of it: what PyTorch's
        ``ones_like`` takes, else the last single number of the outputs before."""
        passes: list[tuple[int, int, TensorEntry]] = []
        recent: deque[TensorEntry] = deque(maxlen=_BEFORE_BACKWARD)
        backward = False
        for entry in self._given.values():
            if entry.direction != "output":
                continue
            if not is_gradient(entry):
                recent.append(entry)
                backward = False
            elif backward:
                passes[-1] = (passes[-1][0], entry.sequence, passes[-1][2])
            elif (loss := self._loss_of(recent)) is not None:
                passes.append((entry.sequence, entry.sequence, loss))
                backward = True
        return passes

    def _loss_of(self, recent: Iterable[TensorEntry]) -> TensorEntry | None:
        loss: TensorEntry | None = None
        for entry in filter(self._is_number, recent):
            if canonical(entry.type) == "oneslike":  # PyTorch's gradient of the loss itself
                loss = self._source(entry) or loss
            elif not is_constant(entry.type):
                loss = entry
        return loss

    def _is_number(self, entry: TensorEntry) -> bool:
        """Return True if a tensor is one number. It is measured if the dump does not list its shape."""
        (result,) = self._measure([entry]) if entry.shape is None else (None,)
        known = result.measurement if result else None
        shape, dtype = (known.shape, known.dtype) if known else (entry.shape, entry.dtype)
        return shape is not None and math.prod(shape) == 1 and "float" in dtype

    def of_zeros(self, entry: TensorEntry) -> Expectation:
        """Return "equal" for a difference that is zero because both its inputs have the same values, as that
        of the old and the new policy before the first update, "masked" for the exponential of nothing but
        minus infinity, as where a running maximum begins, else ""."""
        if canonical(entry.type) == "exp" and (given := self._given.get((entry.recorded, "input", "0"))):
            (result,) = self._measure([given])
            values = result.measurement.statistics if result.measurement else None
            masked = values is not None and values.count and values.negative_infs == values.count
            return "masked" if masked else ""
        if canonical(entry.type) != "sub":
            return ""
        pair = [self._given.get((entry.recorded, "input", slot)) for slot in ("0", "1")]
        known = [self._statistics(given) for given in pair]
        shapes = {given.shape for given in pair if given is not None}
        return "equal" if known[0] and known[0] == known[1] and len(shapes) == 1 else ""

    def of_gradient(self, entry: TensorEntry, limit: float) -> Expectation:
        """Return "cancelled" for a vanishing gradient that is a sum of cancelling terms, else "". The mean
        magnitude of the terms must exceed ``limit``."""
        return "cancelled" if is_gradient(entry) and self._cancels(entry, limit) else ""

    def of_change(self, entry: TensorEntry, ratio: float, limit: float) -> Expectation:
        """Return "growing" if a change is large only relative to a small parameter, else "".

        ``ratio`` is the change as a multiple of the parameter. As a multiple of the module's weight for a
        bias, or of the other weights for one that began at zero, the change must be within ``limit``. For
        others, it must be within a tenth of that as a multiple of the other weights.
        """
        name = _plain(entry.operator)
        others = [other for key, other in self._before.items() if key != name and key.endswith(_SCALES)]
        share = 1.0 if self._began_at_zero(entry) and not is_shift(entry.operator) else _SLIGHT_GROWTH
        most = share * self._median(others)
        if is_shift(entry.operator):
            own = [other for key, other in self._before.items() if key in self._scales_beside(entry)]
            most = max(most, self._median(own[:1]))
        before = self._magnitude(self._before.get(name))
        # A change from zero is left out by `group_hits`.
        return "growing" if before and ratio * before <= limit * most else ""

    def _scales_beside(self, entry: TensorEntry) -> list[str]:
        return [f"{_module(entry)}_{scale}" for scale in _SCALES]

    def _median(self, entries: Sequence[TensorEntry]) -> float:
        """Return the median of the magnitudes that are known, 0 without any."""
        known = [size for entry in entries if (size := self._magnitude(entry)) is not None]
        return numbers.median(known) if known else 0.0

    def _began_at_zero(self, entry: TensorEntry) -> bool:
        """Return True if a parameter, or what operators received of it, was zero at the first dumped step.
        Parameters can be recorded after their first update."""
        return any(
            self._magnitude(known) == 0
            for known in self._first
            if entry.operator == (known.operator if known.direction == "parameter" else self._viewed(known))
        )

    def _viewed(self, output: TensorEntry) -> str:
        """Return the operator or parameter whose values a view returns, or "" for other operators."""
        operator = self._operators.get(output.recorded) if is_view(output.type) else None
        return operator.sources[0] if operator and len(operator.sources) == 1 else ""

    def _magnitude(self, entry: TensorEntry | None) -> float | None:
        """Return the mean magnitude of a tensor, or None if it is unknown or not finite."""
        statistics = self._statistics(entry)
        return statistics.absolute_mean if statistics else None

    def of_standstill(
        self,
        entry: TensorEntry,
        ratio: float | None,
        changes: Sequence[float],
        share: float = 1.0,
        limit: float = math.inf,
    ) -> Expectation:
        """Return why a parameter that hardly changed is no sign of a fault: "small" if the others of the step
        changed as little, "cancelled" if the terms of a bias's gradient cancel, "few" if at most half of its
        values changed, by ``limit`` or more, and "" if there is no reason.

        It is "small" if it changed about as much as the others of the step, and "cancelled" for a bias with a
        gradient that is zero because its terms cancel. It is "few" if at most half of its values changed, as
        in an embedding, and these by ``limit`` or more. ``ratio`` is the change as a multiple of the
        parameter, None if unknown. ``changes`` are those of all parameters, and ``share`` is that of the
        values that changed.
        """
        if ratio and 0 < share <= _FEW and ratio / share >= limit:
            return "few"
        moved = [change for change in changes if change > 0]
        if ratio and ratio >= _FAR * numbers.median(moved or [ratio]):
            return "small"
        return "cancelled" if is_shift(entry.operator) and self._has_cancelled_gradient(entry) else ""

    def standstill(self, entry: TensorEntry) -> Standstill:
        """Return why a parameter may stand still: on "purpose", by a missing update of one that has a
        "gradient", because its gradient is "zero" or has nearly "vanished", by "rounding" of the optimizer's
        updates, or "either" if the updates of a parameter in half precision are unknown. It is "frozen" if no
        gradient of it was computed, while those of others were.

        Where requires_grad was recorded, it is "set" if that is False. If it is True, "trained" is in place
        of "purpose", "half" of "either", and "unreached" of "frozen". Rounding takes an operator of the
        optimizer that writes to the parameter, without a recorded input of zeros.
        """
        required = dict(known.arguments).get("requires_grad") if (known := self._operator(entry)) else None
        if required == "False":
            return "set"
        why = self._standstill(entry)
        return _TRAINED.get(why, why) if required == "True" else why

    def _operator(self, entry: TensorEntry) -> Operator | None:
        return self._operators.get(entry.recorded)

    def _standstill(self, entry: TensorEntry) -> Standstill:
        if entry.dtype not in ROUNDED:
            gradient, size = self._gradient(entry), self._magnitude(entry) or 0.0
            if gradient == 0:
                return "zero"
            if gradient is not None:
                return "vanished" if gradient <= _TOO_SMALL * size else "gradient"
            return (
                "frozen" if self._others_have_gradients and not self._may_have_gradient(entry) else "purpose"
            )
        for operator in self._operators.values():
            updates = operator.type.endswith("_") and any(map(is_optimizer, operator.scope))
            if updates and entry.operator in operator.sources[: len(operator.inputs)]:
                inputs = [self._given.get((operator.recorded, "input", slot)) for slot in operator.inputs]
                known = [self._statistics(given) for given in inputs]
                if all(statistics is not None and statistics.absolute_mean for statistics in known):
                    return "rounding"
        return "either"

    @cached_property
    def _others_have_gradients(self) -> bool:
        parameters = [entry for entry in self._given.values() if entry.direction == "parameter"]
        return any(self._gradient(entry) for entry in parameters)

    def _may_have_gradient(self, entry: TensorEntry) -> bool:
        """Return True if a backward operator of a parameter's module returns a tensor of its size, unless it
        takes the parameter: what it returns then is the gradient of the module's input."""
        taken = {entry.operator, *(view.name for view in self._views(entry))}
        return any(
            self._elements(output) == self._elements(entry)
            and (taken.isdisjoint(operator.sources) or canonical(operator.type) in _OF_PARAMETERS)
            for operator, output in self._backward.get(_module(entry), ())
        )

    def _views(self, entry: TensorEntry) -> list[Operator]:
        users = self._users.get(entry.operator, [])
        return [user for user in users if is_view(user.type) and len(user.sources) == 1]

    def _gradient(self, entry: TensorEntry) -> float | None:
        """Return the largest mean magnitude of what is known to be a gradient of a parameter, None
        without. For a weight, a backward operator of its module takes what an operator multiplied with the
        weight. For a bias, it sums. Neither happens for a parameter that requires no gradient."""
        views = self._views(entry)
        names = (entry.operator, *(view.name for view in views))
        users = [user for name in names for user in self._users.get(name, ())]
        own = {*names} | self._parameters
        beside = {name for user in users for name in user.sources} - own
        sums = is_shift(entry.operator)
        sizes = [
            self._magnitude(output)
            for operator, output in self._backward.get(_module(entry), ())
            if self._elements(output) == self._elements(entry) is not None
            and (
                self._is_of_parameter(operator, output, sums)
                if canonical(operator.type) in _OF_PARAMETERS
                else canonical(operator.type) in _SUMS
                if sums
                else bool(beside.intersection(operator.sources))
            )
        ]
        return max((size for size in sizes if size is not None), default=None)

    def _is_of_parameter(self, operator: Operator, output: TensorEntry, bias: bool) -> bool:
        """Return True if an output of a backward operator is the gradient of the bias, else of the weight."""
        slot, last = int(output.slot), len(operator.outputs) - 1
        before = self._given.get((operator.recorded, "output", str(last - 1)))
        beside = before is not None and self._elements(before) == self._elements(
            output
        )  # the weight before the bias
        return slot == (last - 1 if beside and not bias else last)

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return parameter_names(self._given.values())

    @cached_property
    def _recorded(self) -> list[tuple[Operator, TensorEntry]]:
        return [
            (operator, output)
            for operator in self._operators.values()
            for slot in operator.outputs
            if (output := self._given.get((operator.recorded, "output", slot))) is not None
        ]

    @cached_property
    def _backward(self) -> dict[str, list[tuple[Operator, TensorEntry]]]:
        """Recorded backward operators with their outputs, by the module as parameters name it."""
        modules: dict[str, list[tuple[Operator, TensorEntry]]] = {}
        for operator, output in self._recorded:
            if is_gradient(output):
                modules.setdefault(_plain(module_of(operator.scope)), []).append((operator, output))
        return modules

    @cached_property
    def _users(self) -> dict[str, list[Operator]]:
        """Recorded forward operators by what they take."""
        users: dict[str, list[Operator]] = {}
        for operator, output in self._recorded:
            for source in () if is_gradient(output) else operator.sources:
                users.setdefault(source, []).append(operator)
        return users

    def _has_cancelled_gradient(self, entry: TensorEntry) -> bool:
        return any(
            _plain(module_of(operator.scope)) == _module(entry)
            and (output := self._outputs.get(operator.name)) is not None
            and is_gradient(output)
            and self._elements(output) == self._elements(entry) is not None
            and self._cancels(output, _VANISHED)
            for operator in self._operators.values()
            if canonical(operator.type) in _SUMS | _OF_PARAMETERS
        )

    def _cancels(self, given: TensorEntry, least: float) -> bool:
        """Return True if an output, or the output it is a view of, is known to be a sum that is zero up to
        rounding. The mean magnitude of the terms must exceed ``least``."""
        output = given
        while (is_view(output.type) or self._is_scaled(output)) and (source := self._source(output)):
            output = source
        kind = output.type
        if canonical(kind) in _OF_PARAMETERS and output == self._outputs.get(output.operator):
            kind = "sum"
        terms, total = self._statistics(self._summed(output)), self._statistics(output)
        if terms is None or total is None or total.absolute_mean is None:
            return False
        if terms.absolute_mean is None or terms.absolute_mean <= least:
            return False
        rounding = rounding_of_sum(kind, output.dtype, terms, total.count)
        return rounding is not None and bool(total.absolute_mean <= rounding)

    def _is_scaled(self, output: TensorEntry) -> bool:
        """Return True if an output is its operator's only tensor times a number, as the share of a rank."""
        operator = self._operators.get(output.recorded)
        return (
            canonical(output.type) in ("mul", "div") and operator is not None and len(operator.sources) == 1
        )

    def _summed(self, output: TensorEntry) -> TensorEntry | None:
        """Return the tensor of terms that a sum adds: its recorded input, else its source in the graph, or
        None."""
        return self._given.get((output.recorded, "input", "0")) or self._source(output)

    def _source(self, output: TensorEntry) -> TensorEntry | None:
        """Return the output that is the first input of an operator in the graph, or None if that is
        unknown."""
        operator = self._operators.get(output.recorded)
        return self._outputs.get(operator.sources[0]) if operator and operator.sources else None

    def _elements(self, entry: TensorEntry) -> int | None:
        """Return the number of elements of a tensor, measured if the dump does not list its shape."""
        size = _size(entry)
        known = self._statistics(entry) if size is None else None
        return known.count if known else size

    def _statistics(self, entry: TensorEntry | None) -> AnyStatistics | None:
        if entry is None:
            return None
        (result,) = self._measure([entry])
        known = result.measurement.statistics if result.measurement else None
        return known if known is not None and known.finite else None


def rounding_of_sum(operator_type: str, dtype: str, terms: AnyStatistics, count: int | None) -> float | None:
    """Return the mean magnitude that rounding gives ``count`` sums of ``terms`` if their exact value is zero.
    Return None if the operator does not sum, or if the type or the terms are unknown."""
    epsilon = _EPSILONS.get(dtype)
    if canonical(operator_type) not in _SUMS or epsilon is None:
        return None
    if not terms.count or not count or terms.absolute_mean is None:
        return None
    number = terms.count / count
    return float(min(_ROUNDINGS * epsilon, 1 / (_SIGNS * number**0.5)) * number * terms.absolute_mean)


def _size(entry: TensorEntry) -> int | None:
    return None if entry.shape is None else math.prod(entry.shape)


def _module(entry: TensorEntry) -> str:
    return _plain(entry.operator).rpartition("_")[0]


def _plain(name: str) -> str:
    """Return the name of a parameter or module with underscores, as in a dump without a graph."""
    return re.sub(r"[./]", "_", name)
