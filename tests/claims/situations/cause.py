"""Causes that are nearly the true one: conditions that hold elsewhere, or do not give this result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, situation
from tests.claims.situations.fault import INF, NAN, Call, ask, except_for, floats, made, write

UNKNOWN = except_for("unknown", "result", "unexplained")
NO_SUM = except_for("unexplained")


def with_numbers(
    folder: Path, operator: str, numbers: Mapping[int, float], *tensors: Any, output: Any
) -> Question:
    """One operator with numbers at these positions among its arguments."""
    name = f"Torch.{operator}.0.forward"
    write(folder / "dump", [(name, tensors, output)])
    path = folder / "dump" / "step0" / "rank0" / "dump.json"
    content = json.loads(path.read_text())
    arguments = content["data"][name]["input_args"]
    for position, number in sorted(numbers.items()):
        arguments.insert(position, {"type": "float", "value": number})
    path.write_text(json.dumps(content))
    return ask(folder)


def backward(folder: Path, operator: str, given: Any, gradient: Any, output: Any) -> Question:
    """A forward call with finite tensors, and its backward call."""
    calls: Sequence[Call] = [
        (f"Torch.{operator}.0.forward", [given], np.abs(given)),
        (f"Torch.{operator}.0.backward", [gradient], output),
    ]
    write(folder / "dump", calls)
    return ask(folder)


def _squared(folder: Path, weight: float, batch: float) -> Question:
    """The square of a product overflows. The product is of a weight and a batch."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        turned = graph.node("t", [graph.parameter("fc.weight", (2,))], (2,))
        graph.node("square", [graph.node("mul", [turned, graph.parameter("x", (2,))], (2,))], (2,))
    step = Dump(folder / "dump", graph=graph).iteration(0)
    step.input("Default/t-op0", floats(weight, 1))
    step.output("Default/t-op0", floats(weight, 1))
    step.input("Default/mul-op0", floats(weight, 1))
    step.input("Default/mul-op0", floats(batch, 1), 1)
    step.output("Default/mul-op0", floats(weight * batch, 1))
    step.input("Default/square-op0", floats(weight * batch, 1))
    step.output("Default/square-op0", floats(INF, 1))
    return ask(folder)


@situation(
    makes=["claim.cause.overflow", "claim.cause.weight_value"], never=["claim.cause.unknown"], exit_code=1
)
def an_overflow_that_begins_in_a_weight(folder: Path) -> Question:
    return _squared(folder, 1e30, 2.0)


@situation(makes=["claim.cause.overflow"], never=["claim.cause.weight_value"], exit_code=1)
def an_overflow_that_begins_in_the_batch(folder: Path) -> Question:
    return _squared(folder, 2.0, 1e30)


@situation(makes=["claim.fault.made.number", "claim.cause.number"], never=except_for("number"), exit_code=1)
def a_constant_that_is_not_a_number(folder: Path) -> Question:
    return with_numbers(folder, "mul", {1: NAN}, floats(1, 2), output=floats(NAN, NAN))


@situation(makes=["claim.fault.made.number"], never=["claim.cause.number", "claim.fault.made"], exit_code=1)
def a_limit_of_infinity_is_not_the_cause(folder: Path) -> Question:
    return with_numbers(folder, "clamp", {1: -INF, 2: 5.0}, floats(1, 2), output=floats(NAN, 2))


@situation(
    makes=["claim.cause.division_by_zero", "claim.fault.made"],
    never=[*except_for("division_by_zero"), "claim.fault.made.number"],
    exit_code=1,
)
def division_by_the_number_zero(folder: Path) -> Question:
    return with_numbers(folder, "div", {1: 0.0}, floats(3), output=floats(INF))


def multiplied(folder: Path, number: float | None) -> Question:
    """Write what a recorder dumps of a product that overflows: its graph may hold the number."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        given = graph.parameter("inputs0", (2,), "float16")
        numbers = {} if number is None else {"input.1": number}
        graph.node("mul", [given], (2,), "float16", attributes=numbers)
    dump = Dump(folder / "dump", graph=graph)
    step = dump.iteration(0)
    step.input("Default/mul-op0", np.array([2.5, 0.5], np.float16))
    step.output("Default/mul-op0", np.array([INF, 3e4], np.float16))
    return ask(folder)


@situation(
    makes=["claim.cause.overflow", "claim.fault.made"],
    never=except_for("overflow"),
    exit_code=1,
)
def product_with_a_number_that_the_graph_holds(folder: Path) -> Question:
    return multiplied(folder, 60000.0)


@situation(makes=["claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def product_with_a_number_that_was_not_recorded(folder: Path) -> Question:
    return multiplied(folder, None)


@situation(makes=["claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def product_with_a_number_that_does_not_overflow(folder: Path) -> Question:
    return multiplied(folder, 3.0)


def _in_place(folder: Path, operator: str, slot: int = 0) -> Question:
    """Write an operator in place whose input, such as memory of a mask, is NaN, and whose result is not."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        graph.node(operator, [graph.parameter("inputs0", (2,)), graph.parameter("inputs1", (2,))], (2,))
    step = Dump(folder / "dump", graph=graph).iteration(0)
    for number in range(2):
        values = np.full(2, NAN if number == slot else 1.0, np.float32)
        step.input(f"Default/{operator}-op0", values, number)
    step.output(f"Default/{operator}-op0", np.ones(2, np.float32))
    return ask(folder)


@situation(never=["claim.fault.met.data", "claim.check.non_finite"], exit_code=0)
def memory_that_a_dropout_fills(folder: Path) -> Question:
    return _in_place(folder, "bernoulli_")


@situation(makes=["claim.fault.met.data"], exit_code=1)
def nan_that_is_copied_into_memory(folder: Path) -> Question:
    return _in_place(folder, "copy_", slot=1)


@situation(makes=["claim.fault.met.data"], exit_code=1)
def nan_that_a_product_receives(folder: Path) -> Question:
    return _in_place(folder, "mul_")


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def squares_that_an_optimizer_adds_up(folder: Path) -> Question:
    numbers, gradient = {3: 1e-3}, floats(5e35)
    return with_numbers(folder, "addcmul", numbers, floats(1e-8), gradient, gradient, output=floats(INF))


@situation(makes=["claim.cause.unknown"], never=except_for("unknown"), exit_code=1)
def squares_times_an_unknown_number(folder: Path) -> Question:
    gradient = floats(5e35)
    return with_numbers(folder, "addcmul", {}, floats(1e-8), gradient, gradient, output=floats(INF))


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def power_of_a_number(folder: Path) -> Question:
    """The number comes first: it is the base."""
    return with_numbers(folder, "pow", {0: 10.0}, floats(50), output=floats(INF))


@situation(
    makes=["claim.fault.made.nothing", "claim.cause.number"],
    never=[*except_for("number"), "claim.fault.made", "claim.fault.made.number"],
    exit_code=1,
)
def a_tensor_that_is_filled_with_nan(folder: Path) -> Question:
    write(folder / "dump", [("Torch.full.0.forward", [], floats(NAN, NAN))])
    path = folder / "dump" / "step0" / "rank0" / "dump.json"
    content = json.loads(path.read_text())
    content["data"]["Torch.full.0.forward"]["input_args"] = [{"type": "float", "value": NAN}]
    path.write_text(json.dumps(content))
    return ask(folder, "--rank", "0")


@situation(makes=["claim.fault.made"], never=["claim.fault.made.nothing", *UNKNOWN], exit_code=1)
def an_operator_without_a_rule(folder: Path) -> Question:
    return made(folder, "mystery", [floats(1, 2)], floats(NAN, 2))


@situation(makes=["claim.cause.division_by_zero"], never=except_for("division_by_zero"), exit_code=1)
def gradient_of_a_square_root_at_zero(folder: Path) -> Question:
    return backward(folder, "sqrt", floats(1, 0), floats(1, -1), floats(0.5, -INF))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def a_negative_gradient_is_no_argument_of_the_root(folder: Path) -> Question:
    """The backward call of a root received a negative gradient, not a negative number to take the root of."""
    return backward(folder, "sqrt", floats(1, 4), floats(1, -1), floats(0.5, NAN))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def a_negative_gradient_is_no_argument_of_the_logarithm(folder: Path) -> Question:
    return backward(folder, "log", floats(1, 4), floats(1, -1), floats(1, NAN))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def negative_power_that_is_tiny(folder: Path) -> Question:
    """Ten to the power -50 is nearly zero, and no overflow."""
    return made(folder, "pow", [floats(10, 1), floats(-50, 1)], floats(INF, 1))


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def negative_power_of_a_small_number(folder: Path) -> Question:
    return made(folder, "pow", [floats(1e-3, 1), floats(-20, 1)], floats(INF, 1))


@situation(makes=["claim.cause.unexplained"], never=NO_SUM, exit_code=1)
def an_overflow_in_another_row_of_a_product(folder: Path) -> Question:
    """Large numbers stand in the first row. The infinity stands in the second, a row of ones."""
    left, right = np.ones((2, 3), np.float32), np.full((3, 4), 10, np.float32)
    left[0] = 1e38
    output = left.astype(np.float64) @ right
    output[0], output[1, 1] = 3e38, INF
    return made(folder, "matmul", [left, right], output.astype(np.float32))


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def an_overflow_in_the_row_of_the_infinity(folder: Path) -> Question:
    left, right = np.ones((2, 3), np.float32), np.full((3, 4), 10, np.float32)
    left[1] = 3e38
    output = np.array([[30] * 4, [INF] * 4], np.float32)
    return made(folder, "matmul", [left, right], output)


@situation(makes=["claim.cause.unexplained"], never=NO_SUM, exit_code=1)
def a_long_sum_of_ones(folder: Path) -> Question:
    ones = np.ones((1, 70_000), np.float32)
    return made(folder, "matmul", [ones, ones.T], np.array([[INF]], np.float32))


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def a_long_sum_of_ones_in_half_precision(folder: Path) -> Question:
    """70,000 is beyond the largest number of float16."""
    ones = np.ones((1, 70_000), np.float16)
    return made(folder, "matmul", [ones, ones.T], np.array([[INF]], np.float16))


@situation(makes=["claim.cause.unexplained"], never=NO_SUM, exit_code=1)
def an_overflow_in_another_row_of_a_sum(folder: Path) -> Question:
    values = np.array([[3e38, 1e37, 0], [1, 1, 1]], np.float32)
    return made(folder, "sum", [values], floats(3.1e38, INF))


@situation(makes=["claim.cause.overflow_inside"], never=except_for("overflow_inside"), exit_code=1)
def a_sum_whose_terms_cancel(folder: Path) -> Question:
    """The sum is zero, and its first terms exceed the type."""
    return made(folder, "sum", [floats(3e38, 3e38, -3e38, -3e38)], np.array(INF, np.float32))


@situation(makes=["claim.cause.overflow_inside"], never=except_for("overflow_inside"), exit_code=1)
def a_mean_of_large_numbers(folder: Path) -> Question:
    """No mean exceeds its largest term: only the sum that it is made of does."""
    return made(folder, "mean", [np.full(4, 3e38, np.float32)], np.array(INF, np.float32))


@situation(makes=["claim.cause.overflow_inside"], never=except_for("overflow_inside"), exit_code=1)
def a_norm_of_large_numbers(folder: Path) -> Question:
    return made(folder, "norm", [np.full(4, 1e30, np.float32)], np.array(INF, np.float32))


@situation(makes=["claim.cause.overflow_inside"], never=except_for("overflow_inside"), exit_code=1)
def a_norm_of_large_numbers_in_double_precision(folder: Path) -> Question:
    return made(folder, "norm", [np.full(4, 1e200)], np.array(INF))


@situation(makes=["claim.cause.unexplained"], never=NO_SUM, exit_code=1)
def an_infinite_mean_of_ones(folder: Path) -> Question:
    return made(folder, "mean", [np.ones(4, np.float32)], np.array(INF, np.float32))


@situation(makes=["claim.cause.unexplained"], never=NO_SUM, exit_code=1)
def an_infinite_convolution_of_ones(folder: Path) -> Question:
    images, filters = np.ones((1, 3, 4, 4), np.float32), np.ones((8, 3, 3, 3), np.float32)
    return made(folder, "conv2d", [images, filters], np.full((1, 8, 2, 2), INF, np.float32))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def a_product_of_the_other_sign(folder: Path) -> Question:
    """1e60 would be plus infinity."""
    return made(folder, "mul", [floats(1e30, 1), floats(1e30, 1)], floats(-INF, 1))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def a_division_that_gives_zero_for_zero(folder: Path) -> Question:
    return made(folder, "DivNoNan", [floats(1, 1), floats(0, 1)], floats(INF, 1))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def nan_from_one_by_zero(folder: Path) -> Question:
    """One divided by zero is infinite. The NaN has another cause."""
    return made(folder, "div", [floats(1, 1), floats(0, 1)], floats(NAN, 1))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def infinity_from_the_logarithm_of_a_negative_number(folder: Path) -> Question:
    return made(folder, "log", [floats(-1, 1)], floats(INF, 0))


@situation(makes=["claim.cause.unknown"], never=[*UNKNOWN, "claim.fault.met.input"], exit_code=1)
def softmax_over_rows_of_which_a_column_is_masked(folder: Path) -> Question:
    masked = np.array([[-INF, 1], [-INF, 1]], np.float32)
    calls: list[Call] = [
        ("Tensor.masked_fill.0.forward", [np.ones((2, 2), np.float32)], masked),
        ("Functional.softmax.0.forward", [masked], np.array([[NAN, 1], [0, 1]], np.float32)),
    ]
    write(folder / "dump", calls)
    return ask(folder)


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def normalization_of_large_equal_numbers(folder: Path) -> Question:
    """Their sum exceeds the type before a variance of zero can matter."""
    return made(folder, "layer_norm", [np.full((2, 4), 3e38, np.float32)], np.full((2, 4), NAN, np.float32))


@situation(makes=["claim.cause.variance_negative"], never=except_for("variance_negative"), exit_code=1)
def normalization_by_a_negative_variance(folder: Path) -> Question:
    """A batch of one is no fault in evaluation. The recorded variance is."""
    inputs = [np.ones((1, 2), np.float32), floats(0, 0), floats(1, -1)]
    return made(folder, "batch_norm", inputs, np.array([[1, NAN]], np.float32))


@situation(makes=["claim.cause.result"], never=UNKNOWN, exit_code=1)
def targets_of_two_numbers_that_are_no_classes(folder: Path) -> Question:
    """One number is ignored, not two: one of the targets is wrong."""
    scores, targets = np.ones((2, 3), np.float32), np.array([-100, -1])
    return made(folder, "nll_loss", [scores, targets], np.array(NAN))


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def a_number_beyond_half_precision(folder: Path) -> Question:
    return made(folder, "to", [floats(70_000)], floats(INF, dtype=np.float16))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def a_number_within_half_precision(folder: Path) -> Question:
    return made(folder, "to", [floats(65_000)], floats(INF, dtype=np.float16))


@situation(makes=["claim.cause.unknown"], never=UNKNOWN, exit_code=1)
def an_update_of_adam_without_epsilon(folder: Path) -> Question:
    """The second moment is zero. No rule knows the order in which an optimizer takes its tensors."""
    inputs = [floats(1), floats(0.1), floats(0), floats(0.001), floats(0.5)]
    return made(folder, "Adam", inputs, floats(INF))


def operator(folder: Path, kind: str, inputs: Sequence[Any], output: Any) -> Question:
    write(folder / "dump", [(f"Torch.{kind}.0.forward", inputs, output)])
    return ask(folder)


@situation(makes=["claim.cause.overflow_both"], never=except_for("overflow_both"), exit_code=1)
def products_of_both_signs_beyond_the_type(folder: Path) -> Question:
    left, right = floats(2e20, 3e20).reshape(1, 2), floats(2e20, -3e20).reshape(2, 1)
    return operator(folder, "matmul", [left, right], floats(NAN).reshape(1, 1))


@situation(makes=["claim.cause.unexplained"], never=["claim.cause.overflow_both"], exit_code=1)
def products_of_both_signs_within_the_type(folder: Path) -> Question:
    left, right = floats(2e15, 3e15).reshape(1, 2), floats(2e15, -3e15).reshape(2, 1)
    return operator(folder, "matmul", [left, right], floats(NAN).reshape(1, 1))


@situation(
    makes=["claim.cause.result"], never=["claim.cause.overflow_both", "claim.cause.unexplained"], exit_code=1
)
def products_of_one_sign_beyond_the_type(folder: Path) -> Question:
    """Their sum is infinite and never NaN. That magnitudes reach so far is no proof that inputs fail."""
    left, right = floats(2e20, 3e20).reshape(1, 2), floats(2e20, 3e20).reshape(2, 1)
    return operator(folder, "matmul", [left, right], floats(NAN).reshape(1, 1))


BATCH = np.arange(12, dtype=np.float32).reshape(4, 3)


def normalized(folder: Path, *running: Any, broken: int) -> Question:
    output = np.zeros((4, 3), np.float32)
    output[:, broken] = NAN
    return operator(folder, "batch_norm", [BATCH, *running], output)


@situation(makes=["claim.cause.variance_negative"], never=except_for("variance_negative"), exit_code=1)
def variance_below_zero(folder: Path) -> Question:
    given = floats(1, 1, 1), floats(0, 0, 0), floats(5, 6, 7), floats(1, 2, -0.5)
    return normalized(folder, *given, broken=2)


@situation(makes=["claim.cause.unknown"], never=["claim.cause.variance_negative"], exit_code=1)
def bias_below_zero(folder: Path) -> Question:
    """A negative value in a channel other than the one that is NaN is a bias, and no variance."""
    given = floats(1, 1, 1), floats(0, 0, 0), floats(5, 6, 7), floats(1, -2, 0.5)
    return normalized(folder, *given, broken=2)


@situation(makes=["claim.cause.overflow"], never=except_for("overflow"), exit_code=1)
def cumulative_product_beyond_the_type(folder: Path) -> Question:
    return operator(folder, "cumprod", [floats(1e20, 1e15, 1e6)], floats(1e20, 1e35, INF))


@situation(makes=["claim.cause.unknown"], never=["claim.cause.overflow"], exit_code=1)
def cumulative_product_within_the_type(folder: Path) -> Question:
    return operator(folder, "cumprod", [floats(1e20, 1e15, 10)], floats(1e20, 1e35, INF))


@situation(makes=["claim.cause.zero_norm"], never=except_for("zero_norm"), exit_code=1)
def row_of_zeros_divided_by_its_norm(folder: Path) -> Question:
    rows, output = floats(3, 4, 0, 0).reshape(2, 2), floats(0.6, 0.8, NAN, NAN).reshape(2, 2)
    return operator(folder, "l2_normalize", [rows], output)


@situation(makes=["claim.cause.unknown"], never=["claim.cause.zero_norm"], exit_code=1)
def row_with_one_value_beside_zeros(folder: Path) -> Question:
    rows, output = floats(3, 4, 0, 1e-3).reshape(2, 2), floats(0.6, 0.8, NAN, NAN).reshape(2, 2)
    return operator(folder, "l2_normalize", [rows], output)


@situation(makes=["claim.cause.deviation_of_one"], never=except_for("deviation_of_one"), exit_code=1)
def spread_of_one_value_by_another_name(folder: Path) -> Question:
    return operator(folder, "reduce_std", [floats(7)], floats(NAN))


@situation(makes=["claim.cause.softmax_masked"], never=except_for("softmax_masked"), exit_code=1)
def column_that_is_masked_altogether(folder: Path) -> Question:
    scores = floats(1, -INF, 2, -INF).reshape(2, 2)
    output = floats(0.3, NAN, 0.7, NAN).reshape(2, 2)
    write(
        folder / "dump",
        [
            ("Tensor.masked_fill.0.forward", [np.ones((2, 2), np.float32)], scores),
            ("Functional.softmax.0.forward", [scores], output),
        ],
    )
    return ask(folder)


# Operators with one element, of which the cause is this one or unknown


def solo(name: str, truth: str, cause: str, operator: str, inputs: Sequence[Any], output: Any) -> None:
    def generate(folder: Path) -> Question:
        return made(folder, operator, inputs, output)

    generate.__name__, generate.__doc__ = name, truth
    situation(makes=["claim.fault.made", f"claim.cause.{cause}"], never=except_for(cause), exit_code=1)(
        generate
    )


HALF = np.float16
solo(
    "cast_to_half_precision",
    "A million is no float16.",
    "overflow",
    "Cast",
    [floats(1e6)],
    floats(INF, dtype=HALF),
)
solo("square_beyond_float32", "The input is finite.", "overflow", "Square", [floats(1e20)], floats(INF))
solo(
    "sum_in_half_precision",
    "2,000 times 60.",
    "overflow",
    "ReduceSum",
    [np.full(2000, 60, HALF)],
    np.array(INF, HALF),
)
solo(
    "small_sum_in_half_precision",
    "20 times 60 is 1,200.",
    "unexplained",
    "ReduceSum",
    [np.full(20, 60, HALF)],
    np.array(INF, HALF),
)
solo(
    "running_sum_beyond_float32",
    "At its second element.",
    "overflow",
    "CumSum",
    [floats(3e38, 3e38)],
    floats(3e38, INF),
)
solo("product_of_a_row", "1e40.", "overflow", "ReduceProd", [floats(1e20, 1e20)], np.array(INF, np.float32))
solo(
    "quotient_by_a_tiny_number",
    "The divisor is not zero.",
    "overflow",
    "RealDiv",
    [floats(1), floats(1e-45)],
    floats(INF),
)
solo(
    "quotient_by_minus_zero",
    "It is a zero.",
    "division_by_zero",
    "RealDiv",
    [floats(1), floats(-0.0)],
    floats(-INF),
)
solo(
    "remainder_of_a_division_by_zero",
    "Five by zero.",
    "division_by_zero",
    "Mod",
    [floats(5), floats(0)],
    floats(NAN),
)
solo(
    "logarithm_of_one_plus_minus_one", "The pole lies at -1.", "log_zero", "Log1p", [floats(-1)], floats(-INF)
)
solo(
    "logarithm_of_one_plus_minus_two", "Beyond the pole.", "log_negative", "Log1p", [floats(-2)], floats(NAN)
)
solo(
    "logarithm_of_a_number_that_half_precision_rounds_to_zero",
    "The input is zero.",
    "log_zero",
    "Log",
    [floats(1e-9, dtype=HALF)],
    floats(-INF, dtype=HALF),
)
solo("power_of_two_of_two_hundred", "The limit is 128.", "exp_overflow", "Exp2", [floats(200)], floats(INF))
solo("hyperbolic_sine_of_a_hundred", "exp(100) / 2.", "overflow", "Sinh", [floats(100)], floats(INF))
solo("softplus_of_a_hundred", "It is a hundred.", "unknown", "Softplus", [floats(100)], floats(INF))
solo("inverse_hyperbolic_tangent_of_one", "A pole.", "pole", "Atanh", [floats(1)], floats(INF))
solo(
    "inverse_hyperbolic_cosine_of_a_half",
    "Defined from one on.",
    "outside",
    "Acosh",
    [floats(0.5)],
    floats(NAN),
)
solo("inverse_error_function_of_one", "A pole.", "pole", "Erfinv", [floats(1)], floats(INF))
solo("inverse_error_function_of_two", "Outside.", "outside", "Erfinv", [floats(2)], floats(NAN))
solo("zero_to_the_power_of_zero", "It is one.", "unknown", "Pow", [floats(0), floats(0)], floats(NAN))
solo("ten_to_the_power_of_a_hundred", "1e100.", "overflow", "Pow", [floats(10), floats(100)], floats(INF))
solo(
    "larger_of_two_finite_numbers", "It is finite.", "unknown", "Maximum", [floats(2), floats(3)], floats(INF)
)
solo("sigmoid_of_a_hundred", "It is one.", "unknown", "Sigmoid", [floats(100)], floats(NAN))
solo(
    "tangent_of_half_a_turn",
    "No number of float32 is the pole.",
    "unknown",
    "Tan",
    [floats(np.pi / 2)],
    floats(INF),
)
