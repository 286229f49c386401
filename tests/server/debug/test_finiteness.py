"""Finiteness of tensors, from their data, recorded statistics or types."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.finiteness import finiteness, not_finite, surely_finite
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.formats.dumps.types import FileDamage, RecordedStatistics
from tests.server.debug.conftest import spoil


@pytest.fixture
def entry(lenet: Any) -> Any:
    return next(entry for entry in list_tensors(lenet, 0, 1) if entry.recorded == "MatMul-op66")


def test_data_decide(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", "MatMul.MatMul-op66.*.output.0.*", np.inf)
    results = list(measure_all(list_tensors(open_dump(path), 0, 1)))
    culprits = [(result.entry.recorded, result.entry.direction) for result in results if not_finite(result)]
    assert culprits == [("MatMul-op66", "output")]
    assert {finiteness(result) for result in results} == {"finite", "not_finite"}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (RecordedStatistics(max=1.0, min=0.0), True),
        (RecordedStatistics(max=np.inf, min=0.0), False),
        (RecordedStatistics(max=1.0), False),  # one extreme alone proves nothing
        (None, False),
    ],
)
def test_recorded_extremes_make_reading_unnecessary(entry: Any, recorded: Any, expected: bool) -> None:
    assert surely_finite(entry._replace(dtype="float32", statistics=recorded)) == expected


def test_integers_are_finite(entry: Any) -> None:
    assert surely_finite(entry._replace(dtype="int32", statistics=None))


def test_what_cannot_be_read_is_unknown_but_text_is_finite(entry: Any) -> None:
    entry = entry._replace(dtype="float32", statistics=None)
    unread = TensorResult(entry, None, damage=FileDamage("a.npy", "dump.truncated"))
    assert finiteness(unread) == "unknown" and not not_finite(unread)
    assert finiteness(replace(unread, damage=FileDamage("a.npy", "dump.no_numbers"))) == "finite"
