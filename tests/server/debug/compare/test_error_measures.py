"""Verdicts on synthetic operators. The levels were recorded from msprobe 26.2 on the same numbers."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.compute.tensor_statistics import PIECE, Statistics, measure
from mindinsight.server.debug.compare.error_measures import (
    Compared,
    Measures,
    judge,
    level,
    measure_value_pair,
)
from mindinsight.server.debug.compare.operator_matching import Pair
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.arrays.lazy_array import Held
from mindinsight.server.formats.dumps.dump_types import TensorEntry
from tests.narrowing import require

ANSWERS = json.loads(
    (Path(__file__).parents[3] / "data" / "dumps" / "compare" / "msprobe_single.json").read_text()
)
OPPOSITE = [-math.inf, 1.0]  # msprobe takes -Inf and Inf for the same; we do not
MEASURES = ("cosine", "distance", "max_absolute", "max_relative", "one_thousandth", "five_thousandths")


def array(values: Any) -> Any:
    result = np.asarray(values)
    return result.astype(np.float32) if result.dtype == np.float64 else result


def measure_pair(target: Any, reference: Any) -> Measures | None:
    return measure_value_pair(Held(target), Held(reference))


CASES = [case for case in ANSWERS if case["target"] != OPPOSITE]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['target']}-{case['reference']}")
def test_the_numbers_of_msprobe_come_out(case: Any) -> None:
    measures = measure_pair(array(case["target"]), array(case["reference"]))
    for name in MEASURES:
        text = case[name].lower()
        if text in ("n/a", "unsupported", "shape unmatched", "inf"):
            continue  # msprobe gives no number; ours are tested below
        if name == "cosine" and 0 < np.linalg.norm(array(case["reference"])) < np.finfo(float).eps:
            continue  # msprobe takes both tensors as zero; ours is the cosine that they have
        if name == "cosine" and not np.nan_to_num(array(case["reference"]), posinf=0, neginf=0).any():
            continue  # msprobe gives 1 for zeros on both sides, and so does the export with its columns
        value = None if measures is None else getattr(measures, name)
        if text == "nan":
            assert value is None
        else:
            assert value == pytest.approx(float(text), rel=2e-6, abs=1e-9), name


def pairs(dtype: Any) -> Any:
    shape = hnp.array_shapes(max_dims=2, max_side=6)
    elements = st.floats(-1e6, 1e6, width=32) if dtype.kind == "f" else None
    return shape.flatmap(
        lambda shape: st.tuples(*[hnp.arrays(dtype, shape, elements=elements) for _ in range(2)])
    )


@settings(deadline=None)
@given(st.sampled_from([np.dtype(n) for n in ("f4", "f8", "i4", "u1", "?")]).flatmap(pairs))
def test_the_measures_are_those_of_numpy(pair: Any) -> None:
    target, reference = pair
    measures = require(measure_pair(target, reference))
    a, b = target.astype(float).ravel(), reference.astype(float).ravel()
    assert measures.count == a.size
    assert measures.apart == 0
    assert measures.max_absolute == np.abs(a - b).max()
    assert measures.distance == pytest.approx(np.linalg.norm(a - b))
    norms = np.linalg.norm(a), np.linalg.norm(b)
    if a.size > 1 and min(norms) > 1e-10:
        assert measures.cosine == pytest.approx(a @ b / norms[0] / norms[1], abs=1e-9)
    if (b != 0).all():
        relative = np.abs(a - b) / np.abs(b)
        assert measures.max_relative == relative.max()
        assert measures.one_thousandth == np.mean(relative < 0.001)
        assert measures.five_thousandths == np.mean(relative < 0.005)


def test_non_finite_elements_agree_only_with_their_like() -> None:
    nan, inf = math.nan, math.inf
    measures = require(
        measure_pair(np.array([nan, inf, inf, nan, 1.0, 2.0]), np.array([nan, inf, -inf, 3.0, 1.0, inf]))
    )
    assert (measures.count, measures.apart) == (3, 3)
    assert measures.max_absolute == 0


def test_an_array_compared_with_itself_does_not_differ() -> None:
    values = np.random.default_rng(0).normal(size=PIECE + 5).astype(np.float16)
    measures = require(measure_pair(values, values.astype(np.float64)))
    assert measures.cosine == pytest.approx(1)
    assert (measures.distance, measures.relative_distance, measures.max_relative) == (0, 0, 0)
    assert measures.one_thousandth == measures.five_thousandths == 1


def test_another_number_of_elements_cannot_be_compared() -> None:
    assert measure_pair(np.zeros(3), np.zeros(4)) is None


def test_integers_that_are_equal_as_doubles_have_a_distance() -> None:
    measures = require(measure_pair(np.array([2**60, 2**60 + 1, -7]), np.array([2**60, 2**60, -7])))
    assert (measures.max_absolute, measures.distance, measures.differing, measures.largest) == (1, 1, 1, 1)
    assert require(measures.relative_distance) > 0 and require(measures.max_relative) > 0
    equal = require(measure_pair(np.array([2**60, 2**60 + 1]), np.array([2**60, 2**60 + 1])))
    assert (equal.max_absolute, equal.distance, equal.differing) == (0, 0, 0)


def test_zeros_and_something_tiny_have_no_cosine() -> None:
    zeros, tiny = np.zeros(8, np.float32), np.full(8, 1e-20, np.float32)
    assert require(measure_pair(tiny, zeros)).cosine is None
    assert require(measure_pair(zeros, zeros)).cosine is None
    assert require(measure_pair(tiny, -tiny)).cosine == pytest.approx(-1)


def test_nothing_at_all_has_no_measures() -> None:
    measures = require(measure_pair(np.zeros((0, 3)), np.zeros((0, 3))))
    assert (measures.count, measures.cosine, measures.one_thousandth) == (0, None, None)


def test_complex_numbers_are_compared_as_such() -> None:
    values = np.array([1 + 1j, 2 - 1j])
    measures = require(measure_pair(values, values.conj()))
    assert measures.distance == pytest.approx(np.linalg.norm(values - values.conj()))
    assert measures.cosine == pytest.approx(np.vdot(values, values.conj()).real / np.linalg.norm(values) ** 2)


def test_text_is_refused() -> None:
    with pytest.raises(TypeError, match="U1"):
        measure_pair(np.array(["a"]), np.array(["b"]))


def test_squares_beyond_the_largest_number() -> None:
    values = np.array([1e300, -2e300, 1 / 3])
    measures = require(measure_pair(values, values / 2))
    assert measures.cosine == pytest.approx(1)
    assert (measures.distance, measures.relative_distance) == pytest.approx((math.sqrt(5) * 5e299, 1.0))
    measures = require(measure_pair(values, np.array([1.0, -2.0, 0.0])))
    assert measures.cosine == pytest.approx(1)
    assert measures.distance == pytest.approx(math.sqrt(5) * 1e300)


BASE = np.random.default_rng(0).normal(size=1000).astype(np.float32)
OTHER = np.random.default_rng(1).normal(size=1000).astype(np.float32)


def entry(direction: Any, slot: Any, dtype: Any = "float32") -> Any:
    position: dict[str, Any] = {
        "rank": 0,
        "step": 0,
        "graph": "",
        "sequence": 0,
        "order": 0,
        "timestamp": 0,
        "ref": None,
    }
    names: dict[str, Any] = {
        "operator": "Functional.case.0.forward",
        "recorded": "Functional.case.0.forward",
        "type": "case",
    }
    return TensorEntry(
        **position, **names, direction=direction, slot=slot, shape=None, dtype=dtype, format=""
    )


def within(share: Any) -> Any:
    """Return a comparison with a share of equal elements and the rest off by one percent."""
    values = BASE.copy()
    values[: round(len(values) * (1 - share))] *= 1.01
    return values


def turned(cosine: Any) -> Any:
    """Return a comparison of a tensor with the given cosine to the reference."""
    along = BASE / np.linalg.norm(BASE)
    across = OTHER - along * (OTHER @ along)
    across /= np.linalg.norm(across)
    return (cosine * along + np.sqrt(1 - cosine**2) * across) * np.linalg.norm(BASE)


def by_values(direction: Any, slot: Any, values: Any, reference: Any = None) -> Any:
    reference = BASE[: len(values)] if reference is None else reference
    first, second = (Measurement(measure(array), array.shape, "float32") for array in (values, reference))
    pair = Pair(entry(direction, str(slot)), entry(direction, str(slot)), "name")
    return Compared(pair, first, second, measure_pair(values, reference))


def statistics(norm: Any, nans: Any = 0) -> Any:
    finite = {} if nans else {"minimum": -1, "maximum": 1, "mean": 0.1, "norm": norm}
    return Measurement(Statistics(4, 0, 2, 2 - nans, nans, 0, 0, **finite), (2, 2), "float32")


def by_norms(direction: Any, slot: Any, target: Any, reference: Any = 1.0) -> Any:
    pair = Pair(entry(direction, str(slot)), entry(direction, str(slot)), "name")
    nan = target != target
    return Compared(pair, statistics(target, int(nan)), statistics(reference))


def levels(make: Any, inputs: Any, outputs: Any) -> Any:
    rows = [make("input", slot, value) for slot, value in enumerate(inputs)]
    rows += [make("output", slot, value) for slot, value in enumerate(outputs)]
    return [level(codes) for codes in judge(rows)]


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        ([within(1)], [within(0.05)], ["error"]),
        ([within(0.95)], [within(0.05)], ["error"]),
        ([within(0.85)], [within(0.05)], ["pass"]),
        ([within(0.95)], [within(0.2)], ["pass"]),
        ([within(0.95)], [within(0.05), within(1)], ["error", "pass"]),
        ([within(0.95), within(0.5)], [within(0.05)], ["pass"]),
        ([turned(0.95)], [turned(0.8)], ["warning"]),
        ([turned(0.95)], [turned(0.9)], ["pass"]),
        ([turned(0.85)], [turned(0.2)], ["pass"]),
        ([turned(0.95), turned(0.8)], [turned(0.5)], ["pass"]),
        ([], [turned(0.5)], ["error"]),
        ([BASE[:1]], [turned(0.5)], ["error"]),
        ([BASE], [BASE], ["pass"]),
        ([BASE[:1] + 1], [BASE[:1] + 9], ["pass"]),
    ],
)
def test_judged_by_values(inputs: Any, outputs: Any, expected: Any) -> None:
    assert levels(by_values, inputs, outputs) == ["pass"] * len(inputs) + expected


@pytest.mark.parametrize(
    ("inputs", "outputs", "expected"),
    [
        ([1.0], [1.6], ["error"]),
        ([1.05], [1.6], ["error"]),
        ([1.2], [1.6], ["pass"]),
        ([1.0], [1.05], ["pass"]),
        ([1.0], [1.2], ["warning"]),
        ([1.01], [1.2], ["warning"]),
        ([1.01], [1.09], ["pass"]),
        ([1.0, 1.5], [1.6], ["pass"]),
        ([1.0, 1.05], [1.6, 1.0], ["error", "pass"]),
        ([], [1.6], ["error"]),
        ([], [1.2], ["warning"]),
        ([1.0], [0.0], ["error"]),
        ([1.0], [float("nan")], ["error"]),
    ],
)
def test_judged_by_norms(inputs: Any, outputs: Any, expected: Any) -> None:
    assert levels(by_norms, inputs, outputs) == ["pass"] * len(inputs) + expected


def test_without_a_compared_input_its_agreement_is_not_claimed() -> None:
    assert judge([by_values("output", 0, turned(0.5))]) == [("output",)]
    assert judge([by_norms("output", 0, 1.6)]) == [("output",)]
    assert judge([by_norms("input", 0, 1.0), by_norms("output", 0, 1.2)]) == [(), ("norm_growth",)]


def test_a_reference_of_zeros_is_infinitely_far_away() -> None:
    rows = [by_norms("input", 0, 1.0), by_norms("output", 0, 1.0, 0.0)]
    assert judge(rows) == [(), ("norm",)]
    assert rows[1].norm_error == float("inf")


def test_type_shape_checksum_and_absence_speak_for_themselves() -> None:
    pair = Pair(entry("input", "0"), entry("input", "0", "float16"), "name")
    assert judge([Compared(pair, statistics(1), statistics(1))]) == [("dtype",)]
    same = Pair(entry("output", "0"), entry("output", "0"), "name")
    wider = Measurement(statistics(9).statistics, (2, 3), "float32")
    assert judge([Compared(same, wider, statistics(1))]) == [("shape",)]
    assert judge([Compared(same, None, None, same_checksum=False)]) == [("checksum",)]
    assert judge([Compared(same, None, None, same_checksum=True)]) == [()]
    assert judge([Compared(Pair(entry("output", "0"), None, "none"), None, None)]) == [()]


def test_gradients_of_parameters_are_not_outputs_made_of_inputs() -> None:
    row = by_values("output", 0, turned(0.2))
    grad = row.pair.target._replace(recorded="Module.fc.Linear.parameters_grad.0")
    pair = Pair(grad, grad, "name")
    assert judge([Compared(pair, row.target, row.reference, row.measures)]) == [()]
