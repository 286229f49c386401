import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.budgets import Budget
from mindinsight.server.formats.text_files import read_json, read_text
from mindinsight.server.formats.unreadable import UnreadableError


def test_texts_within_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xc3\xa9 \xff")
    assert read_text(tmp_path / "a.txt") == "café \ufffd"
    with pytest.raises(UnreadableError, match=r"dump.too_large"):
        read_text(tmp_path / "a.txt", Budget("text", 3, 3))
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_text(tmp_path / "b.txt")


def test_a_small_text_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("small")
    tracemalloc.start()
    read_text(tmp_path / "a.txt")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_json_within_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": NaN}')
    assert list(read_json(tmp_path / "a.json")) == ["a"]
    with pytest.raises(UnreadableError, match=r"dump.too_large"):
        read_json(tmp_path / "a.json", Budget("text", 3, 3))


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").symlink_to(tmp_path / "secret")
    with pytest.raises(UnreadableError, match=r"dump.link"):
        read_text(inside / "file")


@pytest.mark.parametrize("text", ["", "{", "nul", "[" * 200_000])
def test_json_that_is_none(tmp_path: Path, text: Any) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UnreadableError, match=r"dump.json"):
        read_json(tmp_path / "a.json")
