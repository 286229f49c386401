"""LossLandscape messages that lack parts, or are none. Whole ones are among the samples of event files."""

from __future__ import annotations

import pytest

from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.server.formats.payloads import Landscape, landscape
from mindinsight.server.formats.unreadable import UnreadableError
from tests.narrowing import require


def test_empty_message() -> None:
    assert landscape(b"") == Landscape(None, None, (), None, "", "", 0)


def test_path_without_one_axis() -> None:
    path = {"intervals": [1, 3], "points": {"x": {"dims": [2], "data_type": 11, "float_data": [0.5, 1.5]}}}
    message = LossLandscape(loss_path=path, metadata={"unit": "epoch", "step_per_epoch": 4})
    result = landscape(message.SerializeToString())
    assert (result.intervals, result.unit, result.step_per_epoch) == ((1, 3), "epoch", 4)
    assert (require(result.path).x.tolist(), require(result.path).y.size) == ([0.5, 1.5], 0)


def test_what_is_no_landscape_is_refused() -> None:
    with pytest.raises(UnreadableError) as caught:
        landscape(b"\x0a\x7f")
    assert caught.value.reason == "payload.unparsable"
