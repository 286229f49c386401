"""Messages of TensorBoard as protobuf reads them: events, values, tensors of every type."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.encoding.tfevents import messages
from tests.writer.tensorboard_messages import parse


def value(body: bytes) -> Any:
    return parse("Value", messages.value("tag", body))


def test_an_event_has_its_step_time_and_values() -> None:
    body = messages.summary([messages.scalar("a", 0.5), messages.scalar("b", 1e300)])
    event = parse("Event", messages.event(-3, 12.5, body))
    assert (event.step, event.wall_time) == (-3, 12.5)
    values = event.summary.value
    assert [(entry.tag, entry.simple_value) for entry in values] == [("a", 0.5), ("b", float("inf"))]
    assert not parse("Event", messages.event(0, 12.5, body)).HasField("step")


def test_marks_of_sessions_and_graphs() -> None:
    assert parse("Event", messages.session_start()).session_log.status == 1
    assert parse("Event", messages.graph(b"definition")).graph_def == b"definition"


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("float32", 1),
        ("float64", 2),
        ("int8", 6),
        ("int64", 9),
        ("bool", 10),
        ("float16", 19),
        ("uint64", 23),
    ],
)
def test_an_array_keeps_its_type_its_shape_and_every_bit(dtype: str, number: int) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    tensor = value(messages.tensor(array.T)).tensor
    assert (tensor.dtype, [dim.size for dim in tensor.shape.dim]) == (number, [3, 2])
    assert tensor.content == array.T.tobytes()
    swapped = value(messages.tensor(array.astype(array.dtype.newbyteorder(">")))).tensor
    assert swapped.content == array.tobytes()


def test_bfloat16_leaves_as_it_came() -> None:
    tensor = value(messages.tensor(np.array([1.0, -3.0], np.float32), "bfloat16")).tensor
    assert (tensor.dtype, tensor.content) == (14, b"\x80\x3f\x40\xc0")


def test_texts_and_the_plugin_that_shows_them() -> None:
    entry = value(messages.metadata("text", b"more") + messages.strings([b"a", b""], (2,)))
    assert (entry.metadata.plugin_data.plugin_name, entry.metadata.plugin_data.content) == ("text", b"more")
    assert (entry.tensor.dtype, list(entry.tensor.string_val)) == (7, [b"a", b""])
