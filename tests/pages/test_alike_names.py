"""Runs and tags that look alike: each is shown with what tells it apart."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event

from .shown_text import shown_texts

TAGS = ("loss", "lo\u200bss", "l\u043ess", "\u202eloss")
NAMES = ("run", "run\u00ad", "r\u03c5n")


@pytest.fixture
def base(tmp_path: Path) -> Any:
    event = Event(wall_time=1.7e9, step=1)
    for tag in TAGS:
        event.summary.value.add(tag=tag, scalar_value=1.0)
    for name in NAMES:
        folder = tmp_path / "base" / name
        folder.mkdir(parents=True)
        content = encode_record(event.SerializeToString())
        (folder / "events.out.events.summary.1700000000.0.host_MS").write_bytes(content)
    return tmp_path / "base"


def test_runs_and_tags_that_look_alike_are_told_apart(serve: Any, page: Any, base: Any) -> None:
    url = serve(base)
    page.goto(url)
    page.locator("td.name").nth(len(NAMES) - 1).wait_for()
    page.locator("td.name .badge.warn").wait_for()
    rows = {" ".join(text.split()) for text in shown_texts(page, "td.name")}
    assert rows == {"run", "run\\u00ad", "rυn υ U+03C5"}
    page.goto(url + "scalar")
    page.locator(".card h2").nth(len(TAGS) - 1).wait_for()
    headings = {" ".join(text.split()) for text in shown_texts(page, ".card > header")}
    assert headings == {"loss", "lo\\u200bss", "lоss о U+043E", "\\u202eloss"}
    assert page.locator(".card .badge.warn").get_attribute("title") == "Not what they look like: о U+043E"
