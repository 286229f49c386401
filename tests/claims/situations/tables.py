"""Situations of tables: the words in which cells of dumps, checkpoints and comparisons say what was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim
from mindinsight.server.commands.dump.dump_stat import statistics_claims
from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.compare.comparison_export import message_codes
from mindinsight.server.debug.compare.divergence_strip import strip_marks
from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.debug.compare.row_states import state
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.debug.conditions import Sample, conditions
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.debug.trends import trends
from mindinsight.server.debug.watchpoints import checked_limits
from mindinsight.server.formats.arrays.lazy_array import Held
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.plugins.dump.dump_comparisons import row_json
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, exactly, situation, words
from tests.claims.situations.dump_compare import Net, array, cancelling, changed, net, recorded, write

Array = npt.NDArray[Any]

REASONS = (
    "abs_mean_update_ratio_gt",
    "abs_mean_update_ratio_lt",
    "rtol",
    "tolerances",
    "range_percentage_lt",
    "range_percentage_gt",
    "max_min_lt",
    "max_min_gt",
    "abs_mean_gt",
    "abs_mean_lt",
    "max_gt",
    "max_lt",
    "min_gt",
    "min_lt",
    "mean_gt",
    "mean_lt",
    "zero_percentage_ge",
    "device",
)
TRENDS = ("unchanged", "jumping", "vanishing", "exploding", "not_finite")
STATES = ("agree", "differ", "unknown", "order", "alone")
MARKS = ("agrees", "differs", "introduced", "unmatched", "unknown")
CODES = (
    "not_finite",
    "dtype",
    "shape",
    "requires_grad",
    "argument",
    "thousandth",
    "norm",
    "checksum",
    "cosine",
    "norm_growth",
    "missing",
    "output",
    "output_drifts",
)


# Reasons of hits


def reasons(condition: str, values: Any, before: Any = None, **limits: Any) -> list[Claim]:
    """Return the words of the parameters that a condition hits, as reasons.js chooses them."""
    now, held = np.array(values, np.float64), None if before is None else Held(np.array(before, np.float64))
    sample = Sample(measure(now), lambda: Held(now), None if held is None else lambda: held)
    checked = checked_limits(condition, limits)
    verdict = conditions()[condition].judge(sample, checked)
    names = [finding.name for finding in verdict.findings if finding.hit]
    if verdict.hit and not names:  # the rule of tensors that did not change
        names = ["tolerances" if checked["atol"] else "rtol"]
    return words("dump.reason", *names)


def reason(name: str, truth: str, *made: str, **question: Any) -> None:
    """Declare a tensor that meets a condition for exactly these reasons."""

    def generate(folder: Path) -> Question:
        return Question(direct=lambda: reasons(**question))

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("dump.reason", REASONS, *made))(generate)


TWO = [1.0, 2.0]
reason(
    "weight_that_grew_tenfold",
    "Ten times its size.",
    "abs_mean_update_ratio_gt",
    condition="weight_change_too_large",
    values=[11.0, 22.0],
    before=TWO,
    abs_mean_update_ratio_gt=5,
)
reason(
    "weight_that_grew_less_than_the_limit",
    "Nothing is hit.",
    condition="weight_change_too_large",
    values=[5.0, 10.0],
    before=TWO,
    abs_mean_update_ratio_gt=5,
)
reason(
    "weight_that_hardly_moves",
    "By a billionth.",
    "abs_mean_update_ratio_lt",
    condition="weight_change_too_small",
    values=[1 + 1e-9, 2.0],
    before=TWO,
    abs_mean_update_ratio_lt=1e-6,
)
reason(
    "weight_within_both_tolerances",
    "It moved by the absolute tolerance, a tenth of its value.",
    "tolerances",
    condition="weight_not_changed",
    values=[1.1, 2.0],
    before=TWO,
    rtol=1e-5,
    atol=0.2,
)
reason(
    "weight_within_the_relative_tolerance",
    "No absolute tolerance.",
    "rtol",
    condition="weight_not_changed",
    values=TWO,
    before=TWO,
    rtol=1e-5,
    atol=0,
)
reason(
    "weight_of_which_one_element_moved",
    "One of two.",
    condition="weight_not_changed",
    values=[1.0, 2.1],
    before=TWO,
    rtol=1e-5,
    atol=0,
)
reason(
    "half_in_the_range",
    "Two of four.",
    "range_percentage_lt",
    condition="tensor_range",
    values=[0, 1, 8, 9],
    range_start_inclusive=0,
    range_end_inclusive=1,
    range_percentage_lt=80,
)
reason(
    "too_many_in_the_range",
    "Two of four.",
    "range_percentage_gt",
    condition="tensor_range",
    values=[0, 1, 8, 9],
    range_start_inclusive=0,
    range_end_inclusive=1,
    range_percentage_gt=40,
)
reason(
    "values_close_together", "One apart.", "max_min_lt", condition="tensor_range", values=TWO, max_min_lt=2
)
reason("values_far_apart", "One apart.", "max_min_gt", condition="tensor_range", values=TWO, max_min_gt=0.5)
reason(
    "large_tensor",
    "All four limits.",
    "abs_mean_gt",
    "max_gt",
    "min_gt",
    "mean_gt",
    condition="tensor_too_large",
    values=TWO,
    abs_mean_gt=1,
    max_gt=1,
    min_gt=0.5,
    mean_gt=1,
)
reason(
    "small_tensor",
    "All four limits.",
    "abs_mean_lt",
    "max_lt",
    "min_lt",
    "mean_lt",
    condition="tensor_too_small",
    values=TWO,
    abs_mean_lt=2,
    max_lt=3,
    min_lt=2,
    mean_lt=2,
)
reason(
    "tensor_at_its_limits",
    "A limit itself is not beyond it.",
    condition="tensor_too_large",
    values=TWO,
    max_gt=2,
    min_gt=1,
)
reason(
    "tensor_of_zeros",
    "All.",
    "zero_percentage_ge",
    condition="tensor_all_zero",
    values=[0.0, 0.0],
    zero_percentage_ge=100,
)


@situation(**exactly("dump.reason", REASONS, "device"))
def overflow_that_the_device_reported(folder: Path) -> Question:
    sample = Sample(measure(np.ones(2)), lambda: Held(np.ones(2)), None, overflowed=True)

    def ask() -> list[Claim]:
        hit = conditions()["operator_overflow"].judge(sample, {}).hit
        return words("dump.reason", *["device"] * hit)

    return Question(direct=ask)


@situation(**exactly("dump.reason", REASONS, "tolerances"))
def page_names_both_tolerances(folder: Path) -> Question:
    return Question(
        script=("views/dump/reasons.js", "unchangedWord", [{"atol": 1e-8}]), word="dump.reason.{}"
    )


@situation(**exactly("dump.reason", REASONS, "rtol"))
def page_names_the_only_tolerance(folder: Path) -> Question:
    return Question(script=("views/dump/reasons.js", "unchangedWord", [{"atol": 0}]), word="dump.reason.{}")


# Trends of weights and gradients


def trend(name: str, truth: str, before: Array, now: Array, *made: str, weight: bool = True) -> None:
    def generate(folder: Path) -> Question:
        dump = Dump(folder / "dump")
        for number, values in enumerate((before, now)):
            step = dump.iteration(number)
            if weight:
                step.parameter("fc.weight", values.astype(np.float32))
            else:
                step.output("Gradients/Default/MatMul-op0", values.astype(np.float32))

        def ask() -> list[Claim]:
            opened = open_dump(folder / "dump")
            before, after = (list_tensors(opened, 0, number).items for number in (0, 1))
            changes = trends(before, after)
            return words("dump.trends.state", *(change.state for change in changes if change.state))

        return Question(direct=ask)

    generate.__name__, generate.__doc__ = name, truth
    situation(**exactly("dump.trends.state", TRENDS, *made))(generate)


ONES = np.ones(4)
trend("weight_that_stays", "Equal.", ONES, ONES, "unchanged")
trend("weight_that_learns", "By a thousandth.", ONES, ONES * 1.001)
trend("weight_that_jumps", "By ten times its size.", ONES, ONES * 11, "jumping")
trend("weight_that_becomes_nan", "NaN.", ONES, ONES * np.nan, "not_finite")
trend("gradient_that_vanishes", "By twelve orders.", ONES, ONES * 1e-12, "vanishing", weight=False)
trend("gradient_that_explodes", "A millionfold.", ONES, ONES * 1e6, "exploding", weight=False)
trend("gradient_that_halves", "Neither.", ONES, ONES / 2, weight=False)
trend("gradient_that_becomes_infinite", "Infinite.", ONES, ONES + np.inf, "not_finite", weight=False)


# Rows of a comparison of dumps: state, codes, and the marks of the strip


def table(folder: Path, target: Net, reference: Net, **options: bool) -> Callable[[], list[Claim]]:
    for name, calls in (("target", target), ("reference", reference)):
        write(folder / name, calls, **options)
    return table_of(folder)


def table_of(folder: Path) -> Callable[[], list[Claim]]:
    def ask() -> list[Claim]:
        sides = [Side(open_dump(folder / name), 0, 0) for name in ("target", "reference")]
        rows = list(compare_sides(sides[0], sides[1]))
        tolerance = Tolerance()
        marks = strip_marks(rows, tolerance)
        return [
            *words("dump.compare.state", *(state(row, tolerance) for row in rows)),
            *words("dump.compare.code", *(code for row in rows for code in row.codes)),
            *words("dump.strip", *(mark.state for mark in marks)),
        ]

    return ask


def rows(
    name: str,
    truth: str,
    target: Callable[[], Net],
    states: Sequence[str],
    marks: Sequence[str],
    codes: Sequence[str] = (),
    reference: Callable[[], Net] = net,
    **options: bool,
) -> None:
    """Declare two dumps whose rows have exactly these words."""

    def generate(folder: Path) -> Question:
        return Question(direct=table(folder, target(), reference(), **options))

    generate.__name__, generate.__doc__ = name, truth
    parts = (
        ("dump.compare.state", STATES, states),
        ("dump.strip", MARKS, marks),
        ("dump.compare.code", CODES, codes),
    )
    declared = [exactly(prefix, every, *made) for prefix, every, made in parts]
    makes = [key for part in declared for key in part["makes"]]
    never = [key for part in declared for key in part["never"]]
    situation(makes=makes, never=never)(generate)


def one_operator(values: Array, output: Array, **fields: Any) -> Net:
    """Return one operator with an input and an output."""
    return {"Functional.f.0.forward": {"inputs": [values], "outputs": [output], **fields}}


X, Y = array(64), array(64, seed=3)
rows("rows_that_agree", "Equal dumps.", net, ["agree"], ["agrees"])
rows(
    "row_of_a_changed_weight",
    "What follows the weight differs as well.",
    lambda: net(weight=changed(array(8, 8, seed=2), (3, 4), 5)),
    ["agree", "differ"],
    ["agrees", "differs"],
)
rows(
    "row_whose_output_alone_differs",
    "Equal inputs, another output.",
    lambda: one_operator(X, Y),
    ["agree", "differ"],
    ["introduced"],
    ["thousandth", "cosine"],
    lambda: one_operator(X, array(64, seed=4)),
)
rows(
    "row_whose_output_differs_little_more_than_its_input",
    "Whether the operator introduced it is unknown: its input differs by a large share of it.",
    lambda: one_operator(X * np.float32(1.0008), Y * np.float32(1.002)),
    ["agree", "differ"],
    ["differs"],
    ["thousandth"],
    lambda: one_operator(X, Y),
)
rows(
    "row_of_another_operator",
    "An operator of each side has no partner.",
    lambda: one_operator(X, Y),
    ["alone"],
    ["unmatched"],
    (),
    lambda: {"Functional.g.0.forward": {"inputs": [X], "outputs": [Y]}},
)
rows(
    "row_with_nan",
    "NaN where the reference is finite.",
    lambda: one_operator(X, np.where(X > 1, np.nan, Y)),
    ["agree", "differ"],
    ["introduced"],
    ["not_finite"],
    lambda: one_operator(X, Y),
)
rows(
    "row_of_another_type",
    "Equal values in another type.",
    lambda: one_operator(X, Y.astype(np.float64)),
    ["agree"],
    ["agrees"],
    ["dtype"],
    lambda: one_operator(X, Y),
)
rows(
    "row_of_another_shape",
    "Equal values, reshaped.",
    lambda: one_operator(X, Y.reshape(8, 8)),
    ["agree"],
    ["agrees"],
    ["shape"],
    lambda: one_operator(X, Y),
)
rows(
    "row_of_statistics_that_agree",
    "Equal statistics do not show equal values.",
    lambda: one_operator(X, Y),
    ["unknown"],
    ["unknown"],
    (),
    lambda: one_operator(X, Y),
    values=False,
)
rows(
    "row_of_statistics_that_differ",
    "Norms of equal inputs and of an output of twice the size.",
    lambda: one_operator(X, 2 * Y),
    ["unknown", "differ"],
    ["differs"],
    ["norm", "norm_growth"],
    lambda: one_operator(X, Y),
    values=False,
)
rows(
    "row_with_another_argument",
    "A number that was given differs.",
    lambda: one_operator(X, Y) | {"Functional.h.0.forward": {"inputs": [X, 2], "outputs": [X]}},
    ["agree", "differ"],
    ["agrees", "differs"],
    ["argument"],
    lambda: one_operator(X, Y) | {"Functional.h.0.forward": {"inputs": [X, 3], "outputs": [X]}},
)


rows(
    "row_that_drifts_without_recorded_inputs",
    "The output differs by a fifth, and the cause is unknown.",
    lambda: {"Functional.f.0.forward": {"outputs": [1.2 * Y]}},
    ["differ"],
    ["differs"],
    ["output_drifts"],
    lambda: {"Functional.f.0.forward": {"outputs": [Y]}},
    values=False,
)
rows(
    "row_whose_inputs_were_not_recorded",
    "The output differs, and the cause is unknown.",
    lambda: {"Functional.f.0.forward": {"outputs": [3 * Y]}},
    ["differ"],
    ["differs"],
    ["output"],
    lambda: {"Functional.f.0.forward": {"outputs": [Y]}},
    values=False,
)
rows(
    "row_of_equal_checksums",
    "Checksums alone.",
    lambda: one_operator(X, Y),
    ["agree"],
    ["agrees"],
    (),
    lambda: one_operator(X, Y),
    values=False,
    checksums=True,
)
rows(
    "row_of_another_checksum",
    "Checksums alone.",
    lambda: one_operator(X, Y),
    ["agree", "differ"],
    ["introduced"],
    ["checksum"],
    lambda: one_operator(X, changed(Y, 1, 1e-3)),
    values=False,
    checksums=True,
)


@situation(makes=["dump.compare.state.order"], never=["dump.compare.state.differ"])
def row_of_two_operators_matched_by_order(folder: Path) -> Question:
    """Their values differ, which does not count, because they need not be the same operator."""
    for side, scope, output in (("target", "a-Block", X), ("reference", "b-Block", Y)):
        recorded(folder / side, {f"Default/{scope}/ReLU-op0": (X, output)})
    return Question(direct=table_of(folder))


@situation(makes=["dump.compare.code.requires_grad"], never=["dump.compare.code.dtype", "dump.strip.differs"])
def row_that_requires_a_gradient_on_one_side(folder: Path) -> Question:
    ask = table(folder, one_operator(X, Y), one_operator(X, Y))
    for side, requires in (("target", True), ("reference", False)):
        path = folder / side / "step0" / "rank0" / "dump.json"
        content = json.loads(path.read_text())
        content["data"]["Functional.f.0.forward"]["output"][0]["requires_grad"] = requires
        path.write_text(json.dumps(content))
    return Question(direct=ask)


@situation(
    makes=["dump.compare.code.missing", "dump.compare.state.alone"], never=["dump.compare.code.checksum"]
)
def row_of_a_checksum_on_one_side(folder: Path) -> Question:
    integers = np.arange(4)
    ask = table(
        folder,
        one_operator(X, Y),
        one_operator(X, Y) | {"Functional.g.0.forward": {"outputs": [integers]}},
        values=False,
        checksums=True,
    )
    return Question(direct=ask)


def statistics(folder: Path, values: bool, remove: Sequence[str] = ()) -> Question:
    """Ask what is open about a dump of tensors, or of statistics without those of these names."""
    (path,) = write(folder / "dump", net(), values=values).rglob("dump.json")
    content = json.loads(path.read_text())
    for call in content["data"].values():
        for tensor in call["output"]:
            for name in remove:
                tensor.pop(name, None)
    path.write_text(json.dumps(content))
    entries = list_tensors(open_dump(folder / "dump"), 0, 0).items
    return Question(direct=lambda: statistics_claims(list(measure_all(entries))))


@situation(["claim.dump.recorded_only"], ["claim.dump.finite_unknown"])
def statistics_of_finite_tensors(folder: Path) -> Question:
    return statistics(folder, values=False)


@situation(["claim.dump.finite_unknown"])
def statistics_without_extremes(folder: Path) -> Question:
    return statistics(folder, values=False, remove=("Max", "Min", "Mean", "Norm"))


@situation(never=["claim.dump.recorded_only", "claim.dump.finite_unknown"])
def values_without_statistics(folder: Path) -> Question:
    return statistics(folder, values=True, remove=("Max", "Min", "Mean", "Norm"))


def unnamed(folder: Path, value: float) -> Question:
    """Ask by what an output differs, in one value of the reference, for which msprobe has no rule."""
    write(folder / "target", one_operator(X, Y))
    write(folder / "reference", one_operator(X, changed(Y, (5,), value)))
    sides = [Side(open_dump(folder / name), 0, 0) for name in ("target", "reference")]

    def ask() -> list[Claim]:
        codes = [code for row in compare_sides(sides[0], sides[1]) for code in message_codes(row)]
        return words("dump.compare.code", *codes)

    return Question(direct=ask)


@situation(["dump.compare.code.apart"], ["dump.compare.code.beyond", "dump.compare.code.not_finite"])
def nan_that_only_the_reference_has(folder: Path) -> Question:
    return unnamed(folder, np.nan)


@situation(["dump.compare.code.rounding"], ["dump.compare.code.beyond"])
def a_sum_that_differs_by_rounding(folder: Path) -> Question:
    sides = [write(folder / str(error), cancelling(by, error)) for by, error in ((1e-5, 3e-7), (0, -2e-7))]

    def ask() -> list[Claim]:
        rows = compare_sides(Side(open_dump(sides[0]), 0, 0), Side(open_dump(sides[1]), 0, 0))
        codes = [code for row in rows for code in row_json(row, Tolerance())["codes"]]
        return words("dump.compare.code", *codes)

    return Question(direct=ask)


@situation(["dump.compare.code.beyond"], ["dump.compare.code.apart", "dump.compare.code.rounding"])
def one_other_value(folder: Path) -> Question:
    return unnamed(folder, 0.25)
