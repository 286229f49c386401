import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.read_limits import Limits, UnreadableError
from mindinsight.server.formats.text_files import read_json, read_object, read_text


def test_texts_within_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xc3\xa9 \xff")
    assert read_text(tmp_path / "a.txt") == "café \ufffd"
    with pytest.raises(UnreadableError, match=r"dump.too_large"):
        read_text(tmp_path / "a.txt", Limits("text", 3, 3))
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
        read_json(tmp_path / "a.json", Limits("text", 3, 3))


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


WHOLE: dict[str, Any] = {
    "task": "tensor",
    "level": "L1",
    "none": None,
    "data": {"a": [1, {"x": 2}], "b": {"y": "z"}, "c": 3},
}


def read(tmp_path: Any, text: Any, inner: str = "data") -> Any:
    (tmp_path / "some.json").write_text(text)
    return read_object(tmp_path / "some.json", inner)


def test_a_whole_file(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(WHOLE)) == (WHOLE, None)
    content, trouble = read(tmp_path, '{"a": NaN, "b": -Infinity}')
    assert content["b"] == float("-inf")
    assert trouble is None


@pytest.mark.parametrize("indent", [None, 1])
def test_cut_at_every_place(tmp_path: Path, indent: Any) -> None:
    text = json.dumps(WHOLE, indent=indent)
    most = 0
    for end in range(len(text)):
        content, trouble = read(tmp_path, text[:end])
        assert trouble.reason == "dump.json_cut"
        data = content["data"]
        assert list(data) == list(WHOLE["data"])[: len(data)]
        assert all(data[key] == WHOLE["data"][key] for key in list(data)[:2])
        assert len(data) >= most
        most = len(data)
    assert most == 3
    assert content["task"] == "tensor"


def test_the_members_of_the_file_itself(tmp_path: Path) -> None:
    content, trouble = read(tmp_path, '{"0": [["a"], ["b"]], "1": [["c"], [', "")
    assert content == {"0": [["a"], ["b"]]}
    assert trouble.detail.startswith("some.json: ")


@pytest.mark.parametrize("text", ["", "{", '{"data"', '{"data": {', '{"data": {1: 2}}', "["])
def test_nothing_to_recover(tmp_path: Path, text: str) -> None:
    content, trouble = read(tmp_path, text)
    assert content.get("data") == {}
    assert trouble.reason == "dump.json_cut"


def test_no_object(tmp_path: Path) -> None:
    content, trouble = read(tmp_path, "[1]")
    assert content == {}
    assert trouble.reason == "dump.json"


def test_nesting_beyond_all_reason(tmp_path: Path) -> None:
    deep = "[" * 200_000
    content, trouble = read(tmp_path, f'{{"data": {{"a": 1, "b": {deep}')
    assert content["data"] == {"a": 1}
    assert trouble.reason == "dump.json_cut"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"dump.missing"):
        read_object(tmp_path / "nothing.json")
