"""Statistics against NumPy, on every dtype and with every kind of unpleasant number."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.compute import tensor_statistics
from mindinsight.server.compute.tensor_statistics import (
    as_dumped,
    bin_edges,
    combine,
    measure,
    parts,
    sum_of,
    sum_of_products,
)
from tests.narrowing import require

DTYPES = [
    np.dtype(name)
    for name in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", ">f4")
]
ANY_ARRAY = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6))
)


def as_double(values: Any) -> Any:
    """What the numbers mean: complex by magnitude, everything else as double precision."""
    with np.errstate(all="ignore"):
        return np.abs(values).astype(np.float64) if values.dtype.kind == "c" else values.astype(np.float64)


def close(value: Any, expected: Any) -> bool:
    return expected == pytest.approx(value, rel=1e-9, abs=1e-300, nan_ok=True)


@settings(deadline=None)
@given(ANY_ARRAY)
def test_counts_are_those_of_numpy(values: Any) -> None:
    result, plain = measure(values), as_double(values)
    assert result.count == plain.size
    assert result.zeros == np.count_nonzero(plain == 0)
    assert result.negative == np.count_nonzero(plain < 0)
    assert result.positive == np.count_nonzero(plain > 0)
    assert result.nans == np.count_nonzero(np.isnan(plain))
    assert result.positive_infs == np.count_nonzero(plain == np.inf)
    assert result.negative_infs == np.count_nonzero(plain == -np.inf)
    assert result.count == result.zeros + result.negative + result.positive + result.nans
    assert result.finite == bool(np.isfinite(plain).all())


@settings(deadline=None)
@given(ANY_ARRAY)
def test_moments_are_those_of_the_finite_elements(values: Any) -> None:
    result, plain = measure(values), as_double(values)
    plain = plain[np.isfinite(plain)]
    if not plain.size:
        assert result.minimum is result.maximum is result.mean is result.std is result.norm is None
        return
    with np.errstate(all="ignore"):
        assert result.minimum == plain.min()
        assert result.maximum == plain.max()
        scale = np.abs(plain).max()
        if scale > 1e150 or 0 < scale < 1e-150:  # squares leave double precision, in NumPy as here
            return
        assert result.mean == pytest.approx(plain.mean(), rel=1e-9, abs=1e-12 * scale)
        assert close(result.absolute_mean, np.abs(plain).mean())
        assert result.std == pytest.approx(plain.std(), rel=1e-7, abs=1e-7 * scale)
        assert close(result.norm, math.sqrt((plain * plain).sum()))


@settings(deadline=None)
@given(hnp.arrays(np.float32, st.integers(1, 60)), st.integers(1, 20))
def test_the_size_of_the_pieces_does_not_matter(values: Any, cut: Any) -> None:
    whole = measure(values)
    split = combine(part for at in range(0, values.size, cut) for part in parts(values[at : at + cut]))
    assert split.count == whole.count
    assert (split.minimum, split.maximum, split.nans) == (whole.minimum, whole.maximum, whole.nans)
    if whole.mean is not None:
        scale = max(abs(require(whole.minimum)), abs(require(whole.maximum)))
        assert split.mean == pytest.approx(whole.mean, rel=1e-9, abs=1e-12 * scale)
        assert split.std == pytest.approx(whole.std, rel=1e-6, abs=1e-6 * scale)


def test_deviation_survives_a_mean_far_from_zero() -> None:
    values = 1e9 + np.random.default_rng(1).normal(size=3 * tensor_statistics.PIECE + 17)
    assert measure(values).std == pytest.approx(values.std(), rel=1e-9)


def test_a_drift_between_pieces_counts_as_deviation() -> None:
    values = np.repeat(np.array([5, 7], np.float64), tensor_statistics.PIECE)
    assert measure(values).std == 1.0


def test_big_integers_keep_every_digit_of_their_extremes() -> None:
    result = measure(np.array([2**63 - 1, 2**53 + 1, -(2**63)]))
    assert (result.minimum, result.maximum) == (-(2**63), 2**63 - 1)


def test_memory_order_and_strides_do_not_matter() -> None:
    values = np.random.default_rng(2).normal(size=(5, 7, 3))
    for view in (np.asfortranarray(values), values.transpose(2, 0, 1), values[::-1]):
        assert measure(view).count == values.size
        assert measure(view).norm == pytest.approx(np.linalg.norm(values))


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([None]), np.array(["2020"], "M8[Y]")])
def test_what_is_no_number_is_refused_by_name(values: Any) -> None:
    with pytest.raises(TypeError, match=str(values.dtype).replace("[", r"\[")):
        measure(values)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], (1, 2, 1.5, math.sqrt(5))),
        ([1, math.nan], (math.nan,) * 4),
        ([1, math.inf], (1, math.inf, math.inf, math.inf)),
        ([-math.inf, 1], (-math.inf, 1, -math.inf, math.inf)),
        ([-math.inf, math.inf], (-math.inf, math.inf, math.nan, math.inf)),
        ([math.inf], (math.inf, math.inf, math.inf, math.inf)),
        ([], (math.inf, -math.inf, math.nan, 0)),
    ],
)
def test_the_convention_of_the_statistics_file(values: Any, expected: Any) -> None:
    assert as_dumped(measure(np.array(values))) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("power", [-1060, -600, 0, 500, 1000, 1015])
def test_sums_of_numbers_of_any_size_neither_overflow_nor_vanish(power: int) -> None:
    """Powers of two change nothing but the exponents."""
    values = np.array([3.0, -1.0, 2.0, 0.0, 5.0]).repeat(3)
    plain, result = measure(values), measure(np.ldexp(values, power))
    for name in ("minimum", "maximum", "mean", "absolute_mean", "std", "norm"):
        assert getattr(result, name) == pytest.approx(math.ldexp(getattr(plain, name), power), rel=1e-3)


def test_large_and_small_numbers_in_different_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_statistics, "PIECE", 2)
    result = measure(np.array([1e300, 1 / 3, 1e-300, 1.0, 3e300, 0.0]))
    assert result.norm == pytest.approx(math.sqrt(10) * 1e300)
    assert result.mean == pytest.approx(4e300 / 6)
    assert result.std == pytest.approx(np.std([1.0, 0, 0, 0, 3.0, 0]) * 1e300)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 0.0), (1e308, 1e308), (-1e308, 1e308), (1e17, 1e17), (-1.7e308, -1.7e308), (1e-42, 1e-42)],
)
def test_edges_rise_and_take_in_both_ends(low: float, high: float) -> None:
    edges = bin_edges(low, high, 80)
    assert np.isfinite(edges).all()
    assert (edges[1:] > edges[:-1]).all()
    assert edges[0] <= low <= high <= edges[-1]


def test_edges_around_a_denormal_number_tell_it_from_zero() -> None:
    assert bin_edges(1e-42, 1e-42, 80)[0] > 0


@pytest.mark.parametrize(
    ("numbers", "deviation"),
    [([2**53, 2**53 + 1], 0.5), ([-(2**63), 1 - 2**63], 0.5), ([2**64 - 4, 2**64 - 1], 1.5), ([-5, 5], 5)],
)
def test_deviations_of_integers_beyond_doubles_are_exact(numbers: list[int], deviation: float) -> None:
    assert measure(np.array(numbers)).std == deviation


SIZES = [0, 1, 8191, 8192, 8193, 65536]


@pytest.mark.parametrize("size", SIZES)
def test_sums_are_those_of_exact_arithmetic(size: int) -> None:
    rng = np.random.default_rng(size)
    left, right = rng.normal(3, 1, size), rng.normal(-1, 1, size)
    assert sum_of(left) == pytest.approx(math.fsum(left), rel=1e-14, abs=0)
    products = [a * b for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert sum_of_products(left, right) == pytest.approx(math.fsum(products), rel=1e-13, abs=0)


def test_complex_products_take_the_conjugate_of_the_second() -> None:
    left, right = np.array([1 + 2j, 3 - 1j]), np.array([2 - 1j, 1 + 1j])
    assert sum_of_products(left, right) == (left * right.conj()).sum().real
    assert sum_of_products(left, left) == 15.0


def test_what_is_not_finite_stays_so() -> None:
    assert math.isnan(sum_of(np.array([1.0, math.nan])))
    assert sum_of_products(np.array([math.inf]), np.array([1.0])) == math.inf
    assert sum_of_products(np.full(3, 1e200), np.full(3, 1e200)) == math.inf
