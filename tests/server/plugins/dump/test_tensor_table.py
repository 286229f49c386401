"""Routes of the tensor table."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.dumps import list_tensors, open_dump, read_tensor
from mindinsight.server.plugins.dump.tensor_table import Filter, tensors
from tests.narrowing import require

BROKEN = {"dump": "./job/broken", "rank": 0, "step": 1}


def test_the_table_has_every_tensor_with_its_statistics(finished: Any, base: Any) -> None:
    answer = finished("tensors", **BROKEN, limit=1000)
    entries = list_tensors(open_dump(base / "job" / "broken"), 0, 1).items
    assert (answer["all"], answer["measured"], answer["total"]) == (99, 99, 99)
    for row, entry in zip(answer["rows"], entries, strict=True):
        values = read_tensor(require(entry.ref))
        assert (row["recorded"], row["shape"]) == (entry.recorded, list(values.shape))
        assert row["statistics"]["nans"] == np.isnan(values).sum()


def test_rows_come_page_by_page(finished: Any) -> None:
    first, second = (finished("tensors", **BROKEN, limit=10, offset=offset)["rows"] for offset in (0, 10))
    assert [row["sequence"] for row in first + second] == list(range(20))


@pytest.mark.parametrize(
    ("chosen", "fits"),
    [
        ({"q": "relu-OP52"}, lambda row: row["recorded"] == "ReLU-op52"),
        ({"type": "MatMul"}, lambda row: row["type"] == "MatMul"),
        (
            {"direction": "output", "dtype": "float32"},
            lambda row: (row["direction"], row["dtype"]) == ("output", "float32"),
        ),
        ({"dtype": "int64"}, lambda row: row["dtype"] == "int64"),
        ({"lost": True}, lambda row: row["statistics"]["nans"] > 0),
        ({"by": "nans", "least": 1}, lambda row: row["statistics"]["nans"] > 0),
        ({"by": "maximum", "least": 3, "most": 3.2}, lambda row: 3 <= row["statistics"]["maximum"] <= 3.2),
        ({"q": "relu CONV"}, lambda row: False),
        ({"q": "op66 matmul"}, lambda row: row["operator"].endswith("MatMul-op66")),
        ({"q": "no such operator"}, lambda row: False),
        ({"graph": "Other/0"}, lambda row: False),
    ],
)
def test_filters(finished: Any, chosen: Any, fits: Any) -> None:
    every = finished("tensors", **BROKEN, limit=1000)
    answer = finished("tensors", **BROKEN, **chosen, limit=1000)
    assert answer["rows"] == [row for row in every["rows"] if fits(row)]
    assert answer["total"] == len(answer["rows"])
    assert {"float32", "int64"} <= set(every["dtypes"])


@pytest.mark.parametrize("source", ["net.py:14", "return self.fc2(x)"])
def test_tensors_are_found_by_the_line_they_come_from(finished: Any, source: str) -> None:
    rows = finished("tensors", **BROKEN, source=source, limit=1000)["rows"]
    assert len(rows) == 24
    for name in {row["recorded"] for row in rows}:
        operator = finished("operator", **BROKEN, graph="Net/0", recorded=name)
        stacks = [operator["stack"], *operator["other_stacks"]]
        assert any(frame["line"] == 14 for stack in stacks for frame in stack)


@pytest.mark.parametrize("descending", [True, False])
def test_sorting_puts_what_has_no_value_last(finished: Any, descending: bool) -> None:
    rows = finished("tensors", **BROKEN, sort="maximum", descending=descending, limit=1000)["rows"]
    values = [row["statistics"]["maximum"] for row in rows]
    known = [value for value in values if value is not None]
    assert values[: len(known)] == sorted(known, reverse=descending)
    names = [row["operator"] for row in finished("tensors", **BROKEN, sort="operator", limit=1000)["rows"]]
    assert names == sorted(names)


def test_no_answer_is_called_done_before_its_rows_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last tensors are measured between reading the results and asking whether that is all."""

    class Measured:
        entries = ()
        types = ()
        damage = ()
        named_dtypes: frozenset[str] = frozenset()
        is_done = False

        @property
        def done(self) -> bool:
            return self.is_done

        @property
        def results(self) -> tuple[()]:
            self.is_done = True  # from now on; what was read is the state before
            return ()

    answer = tensors(Measured(), Filter())  # type: ignore[arg-type]
    assert (answer["measured"], answer["done"]) == (0, False)
