"""Values wait for their step, and become the jobs that the background writes."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.encoding.encoder import TooLarge
from mindinsight.writer.pending import Pending


def kinds(jobs: Any) -> list[Any]:
    return [[item.kind for item in items] + tags[::2] for _, _, tags, items, _ in jobs]


def test_what_was_collected_is_one_job_and_is_taken_once() -> None:
    pending = Pending()
    pending.add("scalar", "loss", 0.5)
    pending.add("TENSOR", "x", np.ones(3))
    (job,) = pending.take(7, 1.5)
    assert job[:3] == (7, 1.5, ["loss", 0.5])
    assert kinds([job]) == [["tensor", "loss"]]
    assert pending.take(8, 2.5) == []


def test_messages_are_jobs_of_their_own() -> None:
    pending = Pending()
    pending.add("custom_lineage_data", "facts", {"lr": 0.1})
    pending.add("scalar", "loss", 0.5)
    assert kinds(pending.take(1, 0.0)) == [["custom_lineage_data"], ["loss"]]


def test_a_filter_chooses_kinds_and_the_rest_is_forgotten() -> None:
    pending = Pending()
    pending.add("scalar", "loss", 0.5)
    pending.add("tensor", "x", np.ones(3))
    assert kinds(pending.take(1, 0.0, lambda kind: kind == "tensor")) == [["tensor"]]
    assert pending.take(2, 0.0) == []


def test_a_single_job_leaves_what_is_collected() -> None:
    pending = Pending()
    pending.add("scalar", "loss", 0.5)
    assert kinds([pending.single_job(3, 0.0, "scalar", "accuracy", 0.25)]) == [["accuracy"]]
    assert kinds([pending.single_job(3, 0.0, "image", "picture", np.zeros((1, 1, 2, 2)))]) == [["image"]]
    assert kinds(pending.take(4, 0.0)) == [["loss"]]


def test_a_step_takes_no_more_than_a_message_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.writer.pending.LARGEST_EVENT", 1000)
    pending = Pending()
    pending.add("tensor", "x", np.ones(100, np.float32))
    with pytest.raises(TooLarge):
        pending.add("tensor", "y", np.ones(200, np.float32))
    assert [tag for _, tag in pending.refused] == ["y"]
    assert kinds(pending.take(1, 0.0)) == [["tensor"]]
    pending.add("tensor", "z", np.ones(100, np.float32))  # the next step has all the room again


def test_an_unknown_kind_is_refused() -> None:
    for plugin in ("video", None, 3):
        with pytest.raises(ValueError, match="plugin must be one of scalar, image"):
            Pending().add(plugin, "x", 1)
