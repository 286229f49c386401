"""Rules of explanations, on results that NumPy computes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.explanation_rules import Element, cause_of
from tests.narrowing import require


def element(output: Any, *inputs: Any, dtype: Any = None) -> Element:
    """Return the first non-finite element of an output."""
    index = tuple(int(axis) for axis in np.argwhere(~np.isfinite(output))[0])
    arrays = [np.asarray(values) for values in inputs]
    return Element(arrays, np.asarray(output), index, dtype or output.dtype.name)


def floats(*values: Any, dtype: Any = np.float32) -> Any:
    return np.array(values, dtype)


@pytest.fixture(autouse=True)
def silent() -> Iterator[Any]:
    with np.errstate(all="ignore"):
        yield


def unary(function: Any, *values: Any, dtype: Any = np.float32) -> Any:
    given = floats(*values, dtype=dtype)
    return element(function(given), given)


@pytest.mark.parametrize(
    ("operator", "make_element", "reason", "words", "slot"),
    [
        ("Log", lambda: unary(np.log, 1, -1), "log_negative", {"value": "-1", "pole": "0"}, 0),
        ("aten::log2", lambda: unary(np.log2, 1, 0), "log_zero", {"value": "0"}, 0),
        ("log1p", lambda: unary(np.log1p, 0, -3), "log_negative", {"value": "-3", "pole": "-1"}, 0),
        ("sqrt_", lambda: unary(np.sqrt, 4, -0.25), "sqrt_negative", {"value": "-0.25"}, 0),
        ("Rsqrt", lambda: unary(lambda x: 1 / np.sqrt(x), 4, 0), "division_by_zero", {"value": "1"}, 0),
        ("rsqrt", lambda: unary(lambda x: 1 / np.sqrt(x), -4), "sqrt_negative", {"value": "-4"}, 0),
        ("Reciprocal", lambda: unary(lambda x: 1 / x, 2, 0), "division_by_zero", {"value": "1"}, 0),
        ("exp", lambda: unary(np.exp, 1, 100), "exp_overflow", {"value": "100", "limit": "88.7228"}, 0),
        (
            "Exp",
            lambda: unary(np.exp, 12, dtype=np.float16),
            "exp_overflow",
            {"limit": "11.0899", "dtype": "float16"},
            0,
        ),
        ("Acos", lambda: unary(np.arccos, 0, 1.5), "arc_outside", {"value": "1.5"}, 0),
        ("aSin", lambda: unary(np.arcsin, -2), "arc_outside", {"value": "-2"}, 0),
    ],
)
def test_functions_of_one_value(operator: str, make_element: Any, reason: str, words: Any, slot: int) -> None:
    cause = require(cause_of(operator, make_element()))
    assert (cause.reason, cause.slot) == (reason, slot)
    assert words.items() <= cause.words.items()


@pytest.mark.parametrize(
    ("operator", "left", "right", "reason", "value"),
    [
        ("RealDiv", [[1.0, 2.0]], [1.0, 0.0], "division_by_zero", "2"),
        ("div", [0.0], [0.0], "zero_by_zero", "0"),
    ],
)
def test_divisions_blame_the_divisor_and_broadcast(
    operator: str, left: Any, right: Any, reason: str, value: str
) -> None:
    left, right = np.float32(left), np.float32(right)
    cause = require(cause_of(operator, element(left / right, left, right)))
    assert (cause.reason, cause.slot, cause.words["value"]) == (reason, 1, value)


@pytest.mark.parametrize(
    ("base", "exponent", "reason"), [(-8.0, 1 / 3, "power_negative"), (0.0, -2.0, "power_zero")]
)
def test_powers(base: float, exponent: Any, reason: str) -> None:
    left, right = floats(2, base), floats(exponent)
    cause = require(cause_of("Pow", element(np.power(left, right), left, right)))
    assert (cause.reason, cause.words["value"]) == (reason, f"{base:g}")


def test_a_row_of_a_softmax_that_is_masked_as_a_whole() -> None:
    given = np.array([[0, 1], [-np.inf, -np.inf]], np.float32)
    shifted = np.exp(given - given.max(1, keepdims=True))
    output = shifted / shifted.sum(1, keepdims=True)
    masked = element(output, given)
    assert masked.index == (1, 0)
    assert require(cause_of("_softmax", masked)).reason == "softmax_masked"
    assert (
        cause_of("_softmax", element(np.array([[np.nan, 1]], np.float32), np.array([[0, 1]], np.float32)))
        is None
    )


def test_normalizations_without_variance() -> None:
    single = np.ones((1, 3), np.float32)
    assert require(cause_of("BatchNorm", element(single * np.nan, single))).reason == "batch_of_one"
    constant = np.array([[1, 2], [5, 5]], np.float32)
    output = (constant - constant.mean(1, keepdims=True)) / constant.std(1, keepdims=True)
    cause = require(cause_of("native_layer_norm", element(output, constant)))
    assert (cause.reason, cause.words["value"]) == ("constant_row", "5")
    batch = np.ones((4, 3), np.float32)
    assert cause_of("BatchNorm", element(batch * np.nan, batch)) is None


def test_the_squares_of_a_variance_overflow_in_float32_and_not_below() -> None:
    row = np.array([[1.0, 3e36]], np.float32)
    cause = require(cause_of("native_layer_norm", element(np.full((1, 2), np.nan, np.float32), row)))
    assert (cause.reason, cause.slot, cause.words["dtype"]) == ("overflow_inside", 0, "float32")
    half = np.array([[1.0, 6e4]], np.float16)  # computed in float32
    for small in (np.array([[1.0, 3e18]], np.float32), half):
        assert cause_of("native_layer_norm", element(small * np.float32(np.nan), small)) is None


def test_a_quotient_beside_a_sum_divides_zero_by_zero() -> None:
    zero, unit = np.zeros(1, np.float32), np.ones(1, np.float32)
    cause = require(cause_of("aten::addcdiv_", element(unit * np.nan, unit, zero, zero)))
    assert cause.reason == "zero_by_zero"
    assert cause_of("aten::addcdiv_", element(unit * np.nan, unit, zero, unit)) is None


def test_an_overflow_is_claimed_where_the_inputs_can_reach_it() -> None:
    left, right = np.full((2, 2), 300, np.float16), np.full((2, 2), 300, np.float16)
    cause = require(cause_of("MatMul", element(left @ right, left, right)))
    assert (cause.reason, cause.slot) == ("overflow", 1)
    assert cause.words == {"dtype": "float16", "limit": "65504", "value": "300"}
    wide, large = np.array([np.inf], np.float32), np.array([3e38], np.float32)
    assert (
        require(cause_of("Mul", element(wide, large, large, dtype="bfloat16"))).words["limit"]
        == "3.38953e+38"
    )


@pytest.mark.parametrize(
    ("operator", "inputs"),
    [
        ("MatMul", (np.ones((2, 2), np.float32), np.ones((2, 2), np.float32))),
        ("ReLU", (np.full((2, 2), 3e38, np.float32),)),
        ("Add", (np.full((2, 2), 1e38, np.float32), np.full((2, 2), 1e38, np.float32))),
        ("Mul", (np.full((2, 2), 1e19, np.float32), np.full((2, 2), 1e19, np.float32))),
        ("Custom", (np.full((2, 2), 3e38, np.float32),)),
        ("ReduceSum", (np.full((2, 2), 1e30, np.float32),)),
        ("Conv2D", (np.ones((1, 3, 4, 4), np.float32), np.ones((8, 3, 3, 3), np.float32))),
        ("Cast", (np.full((2, 2), 65000, np.float32),)),
    ],
)
def test_no_overflow_is_claimed_where_the_inputs_cannot_reach_it(operator: str, inputs: Any) -> None:
    assert cause_of(operator, element(np.full((2, 2), np.inf, np.float32), *inputs)) is None


@pytest.mark.parametrize(
    ("operator", "inputs"),
    [
        ("MatMul", (np.full((2, 2), 2e19, np.float32), np.full((2, 2), 2e19, np.float32))),
        ("Add", (np.full((2, 2), 3e38, np.float32), np.full((2, 2), 3e38, np.float32))),
        ("Sub", (np.full((2, 2), 3e38, np.float32), np.full((2, 2), -3e38, np.float32))),
        ("Mul", (np.full((2, 2), 1e20, np.float32), np.full((2, 2), 1e20, np.float32))),
        ("Div", (np.full((2, 2), 1e20, np.float32), np.full((2, 2), 1e-20, np.float32))),
        ("Square", (np.full((2, 2), 1e20, np.float32),)),
        ("Pow", (np.full((2, 2), 10, np.float32), np.full((2, 2), 40, np.float32))),
        ("ReduceSum", (np.full((2, 2, 4), 3e38, np.float32),)),
    ],
)
def test_an_overflow_is_claimed_for_each_kind_of_bound(operator: str, inputs: Any) -> None:
    assert (
        require(cause_of(operator, element(np.full((2, 2), np.inf, np.float32), *inputs))).reason
        == "overflow"
    )


def test_poles_and_gradients_of_roots_are_no_overflows() -> None:
    infinite, undefined = floats(np.inf), floats(np.nan)
    assert require(cause_of("Lgamma", element(infinite, floats(0)))).reason == "pole"
    assert require(cause_of("Lgamma", element(infinite, floats(-2)))).reason == "pole"
    assert cause_of("Lgamma", element(infinite, floats(-2.5))) is None
    assert require(cause_of("SqrtGrad", element(infinite, floats(0), floats(1)))).reason == "division_by_zero"
    assert require(cause_of("SqrtGrad", element(undefined, floats(0), floats(0)))).reason == "zero_by_zero"
    assert cause_of("SqrtGrad", element(infinite, floats(2), floats(1))) is None


def test_no_rule_is_better_than_a_wrong_one() -> None:
    assert cause_of("Custom", element(floats(np.nan), floats(1))) is None
    assert cause_of("Log", element(floats(np.nan), floats(1))) is None
    assert cause_of("Log", element(floats(np.nan))) is None
    assert cause_of("Mul", element(floats(np.inf), floats(np.inf))) is None
    assert cause_of("Div", element(floats(np.nan, 1), np.ones((3, 5)), np.ones(7))) is None


MASKED = np.full((2, 3, 2), -np.inf, np.float32)
SCORES, ONE, NAN = np.zeros((2, 5), np.float32), floats(3).reshape(1, 1), floats(np.nan)
HALF = floats(6e4, dtype=np.float16)


@pytest.mark.parametrize(
    ("operator", "make_element", "reason", "words"),
    [
        ("atanh", lambda: unary(np.arctanh, 0.5, 1), "pole", {"value": "1"}),
        ("Atanh", lambda: unary(np.arctanh, 0.5, -2), "outside", {"value": "-2", "low": "-1", "high": "1"}),
        ("acosh", lambda: unary(np.arccosh, 2, 0.5), "outside", {"value": "0.5", "high": "+Inf"}),
        ("logit", lambda: unary(lambda x: np.log(x / (1 - x)), 0.5, 1), "pole", {"value": "1"}),
        ("fmod", lambda: element(np.fmod(ONE, ONE * 0), ONE, ONE * 0), "division_by_zero", {"value": "3"}),
        ("mean", lambda: element(NAN, np.zeros(0, np.float32)), "mean_of_nothing", {}),
        ("std", lambda: element(NAN, ONE), "deviation_of_one", {}),
        (
            "nll_loss_forward",
            lambda: element(NAN, SCORES, np.array([-100, -100])),
            "targets_ignored",
            {"n": "2"},
        ),
        ("div", lambda: element(floats(1, 2) / floats(0), floats(1, 2), floats(0)), "zero_scale", {}),
        ("_softmax", lambda: element(MASKED - MASKED, MASKED), "softmax_masked", {}),
    ],
)
def test_more_functions_have_rules(operator: str, make_element: Any, reason: str, words: Any) -> None:
    cause = require(cause_of(operator, make_element()))
    assert cause.reason == reason
    assert {**cause.words, **words} == cause.words


@pytest.mark.parametrize("operator", ["div", "pow", "remainder", "mul", "mm", "add"])
def test_no_overflow_is_claimed_where_a_number_was_not_recorded(operator: str) -> None:
    assert cause_of(operator, element(floats(np.inf), floats(2))) is None


def test_targets_with_a_class_are_not_called_ignored() -> None:
    ignored = element(NAN, SCORES, np.array([-100, 3]))
    assert cause_of("nll_loss_forward", ignored) is None
