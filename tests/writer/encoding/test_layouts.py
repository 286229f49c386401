"""Layouts: titles and tags as bytes, whatever is in them."""

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.encoding.layouts import checked, encode


def test_numbers_and_halves_of_surrogate_pairs_are_titles_too() -> None:
    message = Summary.Layout.FromString(encode(checked({1: {"a\ud83d": ["Multiline", ["x"]]}})))
    assert (message.category[0].title, message.category[0].chart[0].title) == ("1", "a\\ud83d")
