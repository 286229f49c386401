"""Statistics recorded in a dump: inferred values, and disagreements with the tensors."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.recorded_statistics import find_disagreements, infer_statistics
from mindinsight.server.formats.dumps.dump_types import RecordedStatistics
from tests.narrowing import require

VALUES = np.array([1.0, -2.0, 0.0, 4.5])
RECORDED = RecordedStatistics(
    max=4.5, min=-2, mean=0.875, l2norm=5.02494, count=4, negative=1, positive=2, zero=1, nan=0
)


def test_what_is_recorded_is_what_is_concluded() -> None:
    statistics = require(infer_statistics(RECORDED, (4,)))
    assert (statistics.minimum, statistics.maximum, statistics.mean, statistics.norm) == (
        -2,
        4.5,
        0.875,
        5.02494,
    )
    assert (statistics.count, statistics.negative, statistics.positive, statistics.zeros) == (4, 1, 2, 1)
    assert statistics.finite


@pytest.mark.parametrize(
    ("recorded", "finite"),
    [
        (RecordedStatistics(max=1, min=0), True),
        (RecordedStatistics(max=math.nan, min=math.nan), False),
        (RecordedStatistics(max=math.inf, min=0), False),
        (RecordedStatistics(max=0, min=-math.inf), False),
        (RecordedStatistics(max=1, min=0, mean=math.nan), False),
        (RecordedStatistics(max=1, min=0, nan=3), False),
        (RecordedStatistics(l2norm=2.0), True),
        (RecordedStatistics(l2norm=math.inf), None),  # the sum of squares may have overflowed
        (RecordedStatistics(max=1), None),
        (RecordedStatistics(nan=0), None),
        (RecordedStatistics(nan=0, positive_inf=0, negative_inf=0), True),
    ],
)
def test_extremes_tell_whether_a_tensor_is_finite(recorded: Any, finite: Any) -> None:
    assert require(infer_statistics(recorded, (2,))).finite is finite


def test_zeros_are_known_when_both_extremes_are_zero() -> None:
    statistics = require(infer_statistics(RecordedStatistics(max=0, min=0), (2, 3)))
    assert (statistics.zeros, statistics.count) == (6, 6)


def test_no_count_is_invented() -> None:
    """Check that a positive maximum of 30 elements does not count as one positive element."""
    statistics = require(infer_statistics(RecordedStatistics(max=4, min=-2, mean=1, l2norm=9), (6, 8)))
    assert (statistics.count, statistics.zeros, statistics.negative, statistics.positive) == (
        48,
        None,
        None,
        None,
    )
    assert (statistics.nans, statistics.positive_infs, statistics.negative_infs) == (0, 0, 0)
    lost = require(infer_statistics(RecordedStatistics(max=math.nan, min=math.nan), None))
    assert (lost.count, lost.nans, lost.infinities, lost.positive) == (None, None, None, None)


def test_signs_are_known_where_the_extremes_have_one() -> None:
    statistics = infer_statistics(RecordedStatistics(max=4, min=1), (30,))
    assert (require(statistics).positive, require(statistics).negative, require(statistics).zeros) == (
        30,
        0,
        0,
    )
    statistics = infer_statistics(RecordedStatistics(max=4, min=0), (30,))
    assert (require(statistics).positive, require(statistics).negative, require(statistics).zeros) == (
        None,
        0,
        None,
    )


def test_nothing_recorded_is_nothing_concluded() -> None:
    assert infer_statistics(RecordedStatistics(checksum="abc", checksum_kind="crc32"), (2,)) is None


def test_what_agrees_to_the_printed_digits_agrees() -> None:
    assert find_disagreements(measure(VALUES), RECORDED) == ()
    assert (
        find_disagreements(
            measure(np.array([1.0, math.nan])), RecordedStatistics(max=math.nan, min=math.nan, nan=1)
        )
        == ()
    )
    small = np.array([1e6, -1e6 + 1e-3])
    assert find_disagreements(measure(small), RecordedStatistics(mean=0.0)) == ()


@pytest.mark.parametrize(
    "wrong",
    [{"max": 4.6}, {"min": math.nan}, {"mean": 0.9}, {"l2norm": 6.0}, {"count": 5}, {"zero": 0}, {"nan": 1}],
)
def test_what_is_not_so_is_named(wrong: Any) -> None:
    assert find_disagreements(measure(VALUES), replace(RECORDED, **wrong)) == tuple(wrong)
