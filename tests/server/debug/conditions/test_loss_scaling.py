"""Steps that a loss scaler skipped. What a search says of them is in tests/claims/situations/fault.py."""

from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.debug.conditions.loss_scaling import skipped_scale
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.debug.fault_search import Origin
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.writer.recorders.dump import Dump

GRADIENT = "Gradients/Default/fc-Linear/_to_copy-op0"


@pytest.mark.parametrize(
    ("scale", "infinite", "dtype", "skipped"),
    [
        (65536.0, 1.0, np.float16, 65536.0),
        (1.0, 1.0, np.float16, None),
        (65536.0, 0.0, np.float16, None),
        (65536.0, 1.0, np.float32, None),
        (None, None, np.float16, None),
    ],
)
def test_a_scaler_must_have_seen_the_overflow_at_a_scale_above_one(
    tmp_path: Path, scale: float | None, infinite: float | None, dtype: type, skipped: float | None
) -> None:
    step = Dump(tmp_path).iteration(0)
    step.output(GRADIENT, np.asarray([1.0, np.inf], dtype))
    for slot, number in enumerate((scale, 1.0, infinite)):
        if number is not None and scale is not None:
            step.input("Default/_amp_update_scale_-op0", np.float32(number), slot)
    entries = list_tensors(open_dump(tmp_path), 0, 0).items
    origin = Origin("made", entries[0], GRADIENT)
    assert skipped_scale(origin, entries, measure_all) == skipped
