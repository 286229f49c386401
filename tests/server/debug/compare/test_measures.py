"""Measures of two arrays against NumPy, and against answers of msprobe on small pairs."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.compute.statistics import PIECE
from mindinsight.server.debug.compare.measures import measure_pair
from tests.narrowing import require

ANSWERS = json.loads(
    (Path(__file__).parents[3] / "data" / "dumps" / "compare" / "msprobe_single.json").read_text()
)
OPPOSITE = [-math.inf, 1.0]  # msprobe takes -Inf and Inf for the same; we do not
MEASURES = ("cosine", "distance", "max_absolute", "max_relative", "one_thousandth", "five_thousandths")


def array(values: Any) -> Any:
    result = np.asarray(values)
    return result.astype(np.float32) if result.dtype == np.float64 else result


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
    assert require(measure_pair(zeros, zeros)).cosine == 1
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
