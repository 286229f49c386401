"""Verdicts on made-up operators. The levels were recorded from msprobe 26.2 on the same numbers."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.statistics import Statistics, measure
from mindinsight.server.debug.compare.matching import Pair
from mindinsight.server.debug.compare.measures import measure_pair
from mindinsight.server.debug.compare.verdicts import Compared, judge, level
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps.types import TensorEntry

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
    """A tensor of which a share is the same, the rest off by one percent."""
    values = BASE.copy()
    values[: round(len(values) * (1 - share))] *= 1.01
    return values


def turned(cosine: Any) -> Any:
    """A tensor with this cosine to the reference."""
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
    assert judge([by_values("output", 0, turned(0.5))]) == [("output", "output_drifts")]
    assert judge([by_norms("output", 0, 1.6)]) == [("output", "output_drifts")]
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
