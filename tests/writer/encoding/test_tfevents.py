"""Records of TensorBoard's event files as protobuf reads them."""

from typing import Any

import numpy as np
import pytest

from mindinsight.proto import framing
from mindinsight.writer.encoding import scalars, tfevents
from mindinsight.writer.encoding.encoder import Item
from tests.writer.tensorboard_messages import parse


def test_an_event_has_its_step_time_and_values() -> None:
    values = [tfevents.encode_scalar("a", 0.5), tfevents.encode_scalar("b", 1e300)]
    event = parse("Event", tfevents.encode_summary(-3, 12.5, values))
    assert (event.step, event.wall_time) == (-3, 12.5)
    values = event.summary.value
    assert [(entry.tag, entry.simple_value) for entry in values] == [("a", 0.5), ("b", float("inf"))]
    assert not parse("Event", tfevents.encode_summary(0, 12.5, [])).HasField("step")


def test_marks_of_sessions_and_graphs() -> None:
    assert parse("Event", tfevents.session_start_record()).session_log.status == 1
    assert parse("Event", tfevents.encode_graph(b"definition")).graph_def == b"definition"


def events(records: Any) -> list[Any]:
    return [parse("Event", framing.decode_payload(record[framing.HEADER_SIZE :])) for record in records]


def refuse(error: Any, item: Any, step: Any) -> None:
    raise AssertionError((error, item, step))


def test_scalars_and_arrays_of_a_step_are_one_event() -> None:
    raw = Item(tfevents.VALUE, "raw", tfevents.encode_scalar("raw", 1))
    items = (Item("tensor", "x", np.ones(2, np.float32), "float32"), raw)
    (event,) = events(tfevents.encode_jobs([(7, 1.5, ["loss", 0.5, "rate", 2.0], items, 0)], refuse))
    assert (event.step, event.wall_time) == (7, 1.5)
    assert [value.tag for value in event.summary.value] == ["loss", "rate", "x", "raw"]


def test_a_value_that_cannot_be_encoded_costs_no_other() -> None:
    failed = []
    bad = Item("image", "bad", np.zeros((2, 2), np.uint8))
    records = tfevents.encode_jobs(
        [(1, 0.0, ["loss", 0.5], (bad,), 0), (2, 0.0, [], (bad,), 0)],
        lambda error, item, step: failed.append((item.tag, step)),
    )
    assert failed == [("bad", 1), ("bad", 2)]
    (event,) = events(records[:1])
    assert [value.tag for value in event.summary.value] == ["loss"]
    assert records[1] == b""


def test_an_event_that_is_larger_than_any_message_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalars, "LARGEST_EVENT", 100)
    failed = []
    item = Item("tensor", "x", np.ones(200, np.float32), "float32")
    records = tfevents.encode_jobs(
        [(3, 0.0, [], (item,), 0)], lambda error, item, step: failed.append((item.tag, step))
    )
    assert (records, failed) == ([b""], [("x", 3)])


def test_scalars_of_many_steps_are_the_records_of_single_ones() -> None:
    numbers = [0.0, -0.0, 0.1, float("nan"), float("-inf"), 1e300, 1e-310, 2.0**24 + 1]
    steps = [0, 1, 127, 128, 1 << 40, -1]
    names = (["a"], ["loss", "ü"])
    jobs: list[Any] = [
        (step, 1.5 + step, [entry for tag in tags for entry in (tag, number)], (), 0)
        for step in steps
        for number in numbers
        for tags in names
    ]
    singles = [
        scalars.encode_step(job, refuse, tfevents.encode_scalar, lambda _: b"", tfevents.encode_summary)
        for job in jobs
    ]
    assert tfevents.encode_jobs(jobs, refuse) == singles
