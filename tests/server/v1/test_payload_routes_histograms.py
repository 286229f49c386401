from typing import Any

import numpy as np
import pytest

from mindinsight.server.v1.payload_routes import HistogramColumns, bucket_number, common_edges, rebin

LENET = {"train_id": "./lenet"}


def test_histograms_share_their_edges(v1: Any) -> None:
    tag = v1.ok("datavisual/plugins", **LENET)["plugins"]["histogram"][0]
    answer = v1.ok("datavisual/histograms", **LENET, tag=tag)
    assert (answer["train_id"], answer["tag"]) == ("./lenet", tag)
    edges = {tuple(left for left, _, _ in histogram["buckets"]) for histogram in answer["histograms"]}
    assert len(edges) == 1
    whole = v1.ok("datavisual/histograms", **LENET, tag=tag, full="true")["histograms"]
    assert len(answer["histograms"]) == min(50, len(whole))


def counted(buckets: Any, low: Any = None, high: Any = None) -> HistogramColumns:
    left, width, count = (np.asarray(column, np.float64) for column in zip(*buckets, strict=True))
    return HistogramColumns(
        left, width, count, left[0] if low is None else low, (left + width)[-1] if high is None else high
    )


@pytest.mark.parametrize(
    ("total", "number"), [(0, 1), (5, 2), (6, 3), (10, 3), (11, 3), (280, 29), (281, 30)]
)
def test_number_of_buckets(total: int, number: int) -> None:
    assert bucket_number(total) == number


def test_all_steps_share_edges() -> None:
    first, second = counted([(0.0, 1.0, 4.0)]), counted([(-2.0, 1.0, 3.0), (-1.0, 1.0, 3.0)])
    edges = common_edges([first, second])
    assert edges[0] == -2.0
    assert edges[-1] == 1.0
    assert len(edges) == 4
    assert rebin(first, edges) == [[-2.0, 1.0, 0], [-1.0, 1.0, 0], [0.0, 1.0, 4]]


def test_shares_are_rounded_up_as_the_original_does() -> None:
    twelve = counted([(0.0, 3.0, 12.0)])
    counts = [count for _, _, count in rebin(twelve, np.array([0.0, 1.1, 2.2, 3.0]))]
    assert counts == [5, 5, 4]


def test_a_constant_is_widened_and_zero_width_buckets_count_whole() -> None:
    constant = counted([(5.0, 0.0, 30.0)], 5.0, 5.0)
    edges = common_edges([constant])
    assert edges[0] == 4.5
    assert edges[-1] == 5.5
    assert sum(count for _, _, count in rebin(constant, edges)) == 60  # both buckets it touches


def test_nothing_counted_gives_one_empty_bucket() -> None:
    empty = HistogramColumns(np.zeros(0), np.zeros(0), np.zeros(0), 0.0, 0.0)
    assert rebin(empty, common_edges([empty])) == [[-0.5, 1.0, 0]]


def test_a_negative_width_is_read_as_its_size() -> None:
    odd = counted([(-128.0, -128.0, 1.0), (0.0, 127.0, 2.0)], -128.0, 127.0)
    assert sum(count for _, _, count in rebin(odd, common_edges([odd]))) >= 3
