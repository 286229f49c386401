from typing import Any

import pytest

from mindinsight.server.http.indices import index_of, indices_of


@pytest.mark.parametrize("text", ["", "-1", "10", "9" * 5000, "\u0661", "\u00b2", "1.0", " 1", "x", "1\0"])
def test_what_is_no_index_is_none(text: Any) -> None:
    assert index_of(text, 10) is None


def test_indices_of_a_list() -> None:
    assert [index_of(text, 10) for text in ("0", "9", "07")] == [0, 9, 7]
    assert indices_of(f"3,x,{'9' * 5000},,1", 4) == [3, 1]
    assert indices_of(None, 4) == []
