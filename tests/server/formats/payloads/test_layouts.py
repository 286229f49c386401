"""Layouts of charts: what our writer's dict becomes, and what is damaged or too much."""

import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.payloads.layouts import Category, Chart, layout
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.writer.encoding import layouts


def test_lines_and_margins_come_back() -> None:
    charts = {"both": ["Multiline", ["train/.*", "误差"]], "range": ["Margin", ["mean", "low", "high"]]}
    payload = layouts.encode(layouts.checked({"Loss": charts}))
    expected = (Chart("both", ("train/.*", "误差")), Chart("range", (), (("mean", "low", "high"),)))
    assert layout(payload) == (Category("Loss", expected),)
    assert Summary.Layout.FromString(payload).category[0].chart[1].margin.series[0].upper == "high"


def test_an_empty_layout_has_no_charts() -> None:
    assert layout(b"") == ()


@pytest.mark.parametrize(
    ("payload", "reason"),
    [(b"\x12\xff", "payload.unparsable"), (b"\x12\0" * 1001, "payload.too_large")],
)
def test_what_is_damaged_or_too_much_is_said(payload: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        layout(payload)
    assert error.value.reason == reason
