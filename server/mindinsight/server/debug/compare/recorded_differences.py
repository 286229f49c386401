"""Differences of recorded statistics, for pairs of tensors without values and checksums."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mindinsight.server.claims import Claim, few
from mindinsight.server.debug.compare.compared_rows import (
    dtypes_of,
    entry_of,
    evidence,
    is_output,
    tensor_name,
    weight_name,
)
from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.compare.row_states import magnitude

_NAMED: Final = 3  # tensors in a sentence
_ROUNDING: Final = 1e-6  # of a sum of float32 that was recorded with all its digits
_SIX_DIGITS: Final = 1e-5  # of a number that was recorded with six digits
_COARSE: Final = {"float16": 1e-3, "bfloat16": 1e-2}  # one rounding: writers compute in the tensor's type
_STATISTICS: Final = ("norm", "mean", "minimum", "maximum")


@dataclass(frozen=True, slots=True)
class _Difference:
    """One recorded statistic that differs between the two tensors of a row."""

    statistic: str
    target: float
    reference: float
    share: float  # of the norm, or of the largest magnitude for the other statistics

    def clause(self) -> Claim:
        """Return a clause with both numbers, with digits that show the difference."""
        shown = [f"{value:.7g}".replace("-", "−") for value in (self.target, self.reference)]
        values: dict[str, Any] = {
            "statistic": Claim(f"claim.part.statistic.{self.statistic}", "note"),
            "target": shown[0],
            "reference": shown[1],
        }
        if not self.reference:
            return Claim("claim.part.statistic_not_zero", "note", values)
        amount = abs(self.target - self.reference) / abs(self.reference)
        return Claim("claim.part.statistic_differs", "note", values | {"amount": amount})


_Differences: TypeAlias = tuple[_Difference, ...]  # of one row, the largest first


def recorded_differences_claim(rows: Sequence[Row]) -> Iterator[Claim]:
    """Yield a claim if recorded statistics of undecided ``rows`` differ by more than rounding. It names
    the first tensor and those that differ most, relative to their values. A tensor that was recorded at
    several operators is named once."""
    compared = [row for row in rows if row.compared.target and row.compared.reference]
    differing = [(row, differences) for row in compared if (differences := _differences(row))]
    if not differing:
        return
    once: dict[_Differences, Row] = {}
    for row, differences in differing:
        if differences not in once or (weight_name(row) and not weight_name(once[differences])):
            once[differences] = row
    name = entry_of(differing[0][0]).recorded
    same = [of for row, of in differing if entry_of(row).recorded == name and not is_output(row)]
    first = same[0] if same else differing[0][1]  # inputs of an operator cause what its outputs differ by
    ordered = sorted(once, key=lambda differences: -differences[0].share)
    values = {
        "n": len(differing),
        "all": len(compared),
        "first": _named(once[first], first),
        "names": few([_named(once[differences], differences[:1]) for differences in ordered], _NAMED),
    }
    near = evidence([once[differences] for differences in ordered[:_NAMED]])
    yield Claim("claim.dump.statistics_within", "unknown", values, near, ("claim.missing.tensors",))


def _named(row: Row, differences: _Differences) -> Claim:
    values = {
        "name": weight_name(row) or tensor_name(row),
        "statistics": [difference.clause() for difference in differences],
    }
    return Claim("claim.part.statistics_of", "note", values)


def _differences(row: Row) -> _Differences:
    """Return the recorded statistics that differ by more than rounding. Empty if values were measured."""
    target, reference = row.compared.target, row.compared.reference
    if target is None or reference is None or row.compared.measures is not None:
        return ()
    peak = max(magnitude(target) or 0.0, magnitude(reference) or 0.0)
    coarse = max(_COARSE.get(dtype, 0.0) for dtype in dtypes_of(row))
    differences = []
    for name in _STATISTICS:
        ours, theirs = getattr(target.statistics, name), getattr(reference.statistics, name)
        if ours is None or theirs is None:
            continue
        rounded = all(float(f"{value:.6g}") == value for value in (ours, theirs))
        limit = max(_SIX_DIGITS if rounded else _ROUNDING, coarse)
        own = max(abs(ours), abs(theirs))
        whole = peak if peak and name != "norm" else own
        # a mean near zero is the remainder of large sums
        if abs(ours - theirs) > limit * (whole if name == "mean" else own):
            differences.append(_Difference(name, ours, theirs, abs(ours - theirs) / whole))
    return tuple(sorted(differences, key=lambda difference: -difference.share))
