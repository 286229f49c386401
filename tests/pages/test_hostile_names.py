"""Runs and tags whose names are HTML: shown letter by letter, never run."""

from pathlib import Path
from typing import Any

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event

MARKUP = "<img src=x onerror=window.hit=1><script>window.hit=1<"


def test_names_that_are_html_are_text(serve: Any, page: Any, tmp_path: Path) -> None:
    folder = tmp_path / "base" / MARKUP
    folder.mkdir(parents=True)
    records = []
    for step in range(3):
        event = Event(wall_time=float(step), step=step)
        event.summary.value.add(tag=MARKUP, scalar_value=1.0)
        records.append(encode_record(event.SerializeToString()))
    (folder / "events.out.events.summary.1700000000.0.host_MS").write_bytes(b"".join(records))
    url = serve(tmp_path / "base")
    for view in ("", "scalar"):
        page.goto(url + view)
        page.get_by_text(MARKUP).first.wait_for(state="attached")
        page.wait_for_timeout(500)
        assert page.evaluate("window.hit") is None
        assert page.locator("img[src=x]").count() == 0
