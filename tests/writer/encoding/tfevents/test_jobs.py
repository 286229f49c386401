from typing import Any

import numpy as np
import pytest

from mindinsight.proto import framing
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.tfevents import jobs
from tests.writer.tensorboard_messages import parse


def events(records: Any) -> list[Any]:
    return [parse("Event", framing.decode_payload(record[framing.HEADER_SIZE :])) for record in records]


def refuse(error: Any, item: Any, step: Any) -> None:
    raise AssertionError((error, item, step))


def test_scalars_and_arrays_of_a_step_are_one_event() -> None:
    items = (Item("tensor", "x", np.ones(2, np.float32), "float32"), Item(jobs.FIELDS, "raw", b""))
    (event,) = events(jobs.encode([(7, 1.5, ["loss", 0.5, "rate", 2.0], items, 0)], refuse))
    assert (event.step, event.wall_time) == (7, 1.5)
    assert [value.tag for value in event.summary.value] == ["loss", "rate", "x", "raw"]


def test_a_value_that_cannot_be_encoded_costs_no_other() -> None:
    failed = []
    bad = Item("image", "bad", np.zeros((2, 2), np.uint8))
    records = jobs.encode(
        [(1, 0.0, ["loss", 0.5], (bad,), 0), (2, 0.0, [], (bad,), 0)],
        lambda error, item, step: failed.append((item.tag, step)),
    )
    assert failed == [("bad", 1), ("bad", 2)]
    (event,) = events(records[:1])
    assert [value.tag for value in event.summary.value] == ["loss"]
    assert records[1] == b""


def test_an_event_that_is_larger_than_any_message_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LARGEST_EVENT", 100)
    failed = []
    item = Item("tensor", "x", np.ones(200, np.float32), "float32")
    records = jobs.encode(
        [(3, 0.0, [], (item,), 0)], lambda error, item, step: failed.append((item.tag, step))
    )
    assert (records, failed) == ([b""], [("x", 3)])
