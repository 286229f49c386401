"""Layouts: the message, and what add_value refuses."""

import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.encoding.kinds.layout import ENCODER


def test_a_dict_becomes_charts() -> None:
    payload = ENCODER.serialised(
        {"Loss": {"both": ["Multiline", ["a", "b"]], "m": ["Margin", ["v", "l", "u"]]}}
    )
    message = Summary.Layout.FromString(payload)
    lines, margin = message.category[0].chart
    assert (message.category[0].title, lines.title, list(lines.multiline.tag)) == ("Loss", "both", ["a", "b"])
    assert margin.margin.series[0].lower == "l"
    assert ENCODER.facts(message) == {"charts": 2}


@pytest.mark.parametrize(
    ("value", "error"),
    [([], TypeError), ({"a": []}, TypeError), ({"a": {"b": ["Pie", ["x"]]}}, ValueError)],
)
def test_what_is_no_layout_is_refused(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        ENCODER.serialised(value)
