from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.encoding.kinds.histogram import ENCODER

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
arrays = st.sampled_from(TYPES).flatmap(lambda code: hnp.arrays(np.dtype(code), shapes))


@given(arrays)
def test_a_histogram_counts_every_element(array: Any) -> None:
    histogram = Summary.Histogram.FromString(ENCODER.array_message(array, array.dtype.name))
    finite = array[np.isfinite(array)].astype(np.float64)
    assert histogram.count == array.size
    assert histogram.nan_count == np.isnan(array).sum()
    assert histogram.pos_inf_count == np.isposinf(array.astype(np.float64)).sum()
    assert histogram.neg_inf_count == np.isneginf(array.astype(np.float64)).sum()
    assert sum(bucket.count for bucket in histogram.buckets) == finite.size
    if finite.size:
        assert (histogram.min, histogram.max) == (finite.min(), finite.max())
    else:
        assert not histogram.buckets


def test_facts_are_what_a_json_document_can_hold() -> None:
    message = Summary.Histogram(count=3, nan_count=1, min=-1.0, max=2.0, sum=float("inf"))
    assert ENCODER.facts(message) == {
        "count": 3,
        "nan_count": 1,
        "pos_inf_count": 0,
        "neg_inf_count": 0,
        "min": -1.0,
        "max": 2.0,
        "sum": "inf",
    }
