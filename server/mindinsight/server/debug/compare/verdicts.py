"""Rules that judge the differences of one operator, after msprobe 26.

They judge whether an operator *introduced* an error: an output that differs is not reported when an input
differed already. ``pass`` therefore does not mean that two tensors are equal.

A rule looks at one tensor (``not_finite``, ``dtype``, ``shape``, ``requires_grad``, ``checksum``,
``missing``), at one argument (``argument``), or at an operator, where the worst input is compared with the
outputs. ``norm`` is reported at every output beyond its limit; ``thousandth``, ``cosine`` and ``norm_growth``
at the worst output (msprobe reports them at the first). Operators that return uninitialized memory (``empty``
and the like) or move tensors are not judged; of some collectives, whose inputs are buffers, only the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from mindinsight.server.debug.compare.matching import Pair
from mindinsight.server.debug.compare.measures import Measures
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps.types import FileDamage, TensorEntry

Level: TypeAlias = Literal["pass", "warning", "error"]
Coded: TypeAlias = list[tuple[str, int]]  # message code, position of the tensor among those of its operator

LEVELS: Final[dict[str, Level]] = {  # message codes; their texts are in the locale files as compare.<code>
    "not_finite": "error",
    "dtype": "error",
    "shape": "error",
    "requires_grad": "error",
    "argument": "error",
    "thousandth": "error",
    "norm": "error",
    "checksum": "error",
    "cosine": "warning",
    "norm_growth": "warning",
    "output": "error",  # in place of those of an operator where no input was compared: its origin is unknown
    "output_drifts": "warning",
    "missing": "warning",
}

# Second part of the names of calls, after msprobe 26.2.
UNJUDGED: Final = frozenset(
    ["empty", "empty_like", "empty_strided", "empty_with_format", "new_empty", "new_empty_strided",
     "numpy", "to", "__setitem__"]
)  # fmt: skip
OUTPUTS_ONLY: Final = frozenset(
    ["_all_gather_base", "_reduce_scatter_base", "all_to_all_single", "batch_isend_irecv"]
)
_MODULES: Final = ("Module", "Cell")
_ALONE: Final = {"error": "output", "warning": "output_drifts"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Two matched tensors with their statistics; ``same_checksum`` is None where none was recorded."""

    pair: Pair
    target: Measurement | None
    reference: Measurement | None
    measures: Measures | None = None  # None: one side has no values, or sizes differ
    same_checksum: bool | None = None
    damage: FileDamage | None = None

    @property
    def norm_error(self) -> float | None:
        """|norm - norm of the reference| / norm of the reference, from statistics alone."""
        norms = [
            None if measurement is None else measurement.statistics.norm
            for measurement in (self.target, self.reference)
        ]
        if norms[0] is None or norms[1] is None:
            return None
        difference = abs(norms[0] - norms[1])
        return difference / norms[1] if norms[1] else math.inf if difference else 0.0


def judge(rows: Sequence[Compared]) -> list[tuple[str, ...]]:
    """Message codes of each row of one operator; no codes mean ``pass``."""
    call = _call(rows)
    if call in UNJUDGED:
        return [()] * len(rows)
    if call in OUTPUTS_ONLY:
        return [tuple(_judge_row(row)) if _is_judged_output(row.pair.target) else () for row in rows]
    codes: list[list[str]] = [_judge_row(row) for row in rows]
    inputs = [row for row in rows if row.pair.target and row.pair.target.direction != "output"]
    outputs = [i for i, row in enumerate(rows) if _is_judged_output(row.pair.target)]
    for code, position in (*_judge_values(rows, inputs, outputs), *_judge_norms(rows, inputs, outputs)):
        codes[position].append(code if any(map(_is_compared, inputs)) else _ALONE[LEVELS[code]])
    return [tuple(dict.fromkeys(row_codes)) for row_codes in codes]


def _is_compared(row: Compared) -> bool:
    return row.measures is not None or row.norm_error is not None or row.same_checksum is not None


def _call(rows: Sequence[Compared]) -> str:
    """Function of a call, ``to`` of ``Tensor.to.0.forward``; "" for modules and operators of a graph."""
    entries = (row.pair.target or row.pair.reference for row in rows)
    prefix, _, rest = next((entry.recorded for entry in entries if entry), "").partition(".")
    return "" if prefix in _MODULES or "." not in rest else rest.partition(".")[0]


def level(codes: Sequence[str]) -> Level:
    """The worst level among codes."""
    levels = {LEVELS[code] for code in codes}
    return "error" if "error" in levels else "warning" if levels else "pass"


def _judge_row(row: Compared) -> list[str]:
    """Message codes of one row, independent of the other rows of its operator."""
    target, reference = row.pair.target, row.pair.reference
    if row.pair.argument is not None:
        return ["argument"]
    if target is None or reference is None:
        entry = target or reference
        recorded = entry and entry.statistics
        return ["missing"] if recorded and recorded.checksum and recorded.max is None else []
    codes = []
    if None not in (target.requires_grad, reference.requires_grad):
        codes += ["requires_grad"] * (target.requires_grad != reference.requires_grad)
    if row.same_checksum is False and row.measures is None:
        codes.append("checksum")
    if row.target and row.reference:
        if row.target.statistics.finite is False and row.reference.statistics.finite:
            codes.append("not_finite")
        if (target.dtype or row.target.dtype) != (reference.dtype or row.reference.dtype):
            codes.append("dtype")
        if row.target.shape != row.reference.shape:
            codes.append("shape")
    return codes


def _is_judged_output(entry: TensorEntry | None) -> bool:
    """Whether a tensor is an output to judge by inputs; gradients of parameters are recorded without any."""
    return entry is not None and entry.direction == "output" and ".parameters_grad." not in entry.recorded


def _judge_values(rows: Sequence[Compared], inputs: Sequence[Compared], outputs: Sequence[int]) -> Coded:
    codes = []
    within = _worst(rows, outputs, lambda m: m.one_thousandth)
    if within and _least(inputs, lambda m: m.one_thousandth) > 0.9 and within[0] < 0.1:
        codes.append(("thousandth", within[1]))
    cosine, before = _worst(rows, outputs, lambda m: m.cosine), _least(inputs, lambda m: m.cosine)
    if cosine and before > 0.9 and before - cosine[0] > 0.1:
        codes.append(("cosine", cosine[1]))
    return codes


def _judge_norms(
    rows: Sequence[Compared], inputs: Sequence[Compared], output_positions: Sequence[int]
) -> Coded:
    """Message codes from the norms that both dumps recorded, where there are no values."""
    outputs = [
        (error, i)
        for i in output_positions
        if rows[i].measures is None and (error := _usable_error(rows[i])) is not None
    ]
    if not outputs or any(row.measures is not None for row in inputs):
        return []
    error, position = max(outputs, key=lambda output: output[0])
    before = max((e for row in inputs if (e := _usable_error(row)) is not None), default=0.0)
    codes = [("norm", i) for output_error, i in outputs if before < 0.1 and output_error > 0.5]
    if math.isfinite(error) and (error > 10 * before if before else error > 0.1):
        codes.append(("norm_growth", position))
    return codes


def _usable_error(row: Compared) -> float | None:
    """Relative error of the norm, where shapes agree and no checksum decides."""
    if row.same_checksum is not None or row.target is None or row.reference is None:
        return None
    return row.norm_error if row.target.shape == row.reference.shape else None


def _values(row: Compared, get: Callable[[Measures], float | None]) -> float | None:
    return get(row.measures) if row.measures is not None and row.measures.count > 1 else None


def _least(inputs: Sequence[Compared], get: Callable[[Measures], float | None]) -> float:
    """The smallest measure of the inputs; 1 where none is known."""
    return min((value for row in inputs if (value := _values(row, get)) is not None), default=1.0)


def _worst(
    rows: Sequence[Compared], outputs: Sequence[int], get: Callable[[Measures], float | None]
) -> tuple[float, int] | None:
    """The smallest measure of the outputs and its position."""
    return min(((value, i) for i in outputs if (value := _values(rows[i], get)) is not None), default=None)
