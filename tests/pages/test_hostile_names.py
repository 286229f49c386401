"""Names of runs and tags that are HTML, or far too long."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event

MARKUP = "<img src=x onerror=window.hit=1><script>window.hit=1<"


def write_run(folder: Path, tag: str) -> None:
    folder.mkdir(parents=True)
    records = []
    for step in range(3):
        event = Event(wall_time=float(step), step=step)
        event.summary.value.add(tag=tag, scalar_value=1.0)
        records.append(encode_record(event.SerializeToString()))
    (folder / "events.out.events.summary.1700000000.0.host_MS").write_bytes(b"".join(records))


def test_names_that_are_html_are_text(serve: Any, page: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "base" / MARKUP, MARKUP)
    url = serve(tmp_path / "base")
    for view in ("", "scalar"):
        page.goto(url + view)
        page.get_by_text(MARKUP).first.wait_for(state="attached")
        page.wait_for_timeout(500)
        assert page.evaluate("window.hit") is None
        assert page.locator("img[src=x]").count() == 0


def test_long_names_are_cut_where_they_are_alike(
    serve: Callable[[Path], str], page: Page, tmp_path: Path
) -> None:
    for seed in range(2):
        name = f"resnet50_imagenet_bs256_lr0.1_momentum0.9_seed{seed}"
        write_run(tmp_path / "base" / name, "encoder/" + 30 * "layer/" + "weight")
    page.goto(serve(tmp_path / "base") + "scalar")
    shown = page.locator("#side .long-name").filter(has_text="seed1")
    expect(shown).to_have_attribute("title", "./resnet50_imagenet_bs256_lr0.1_momentum0.9_seed1")
    expect(shown.locator(".head")).to_have_attribute("data-text", "…seed1")
    heading = page.get_by_role("heading", name="encoder/layer")
    tail = heading.locator(".tail")
    expect(tail).to_have_attribute("data-text", "layer/layer/layer/weight")
    expect(tail).to_be_in_viewport(ratio=1)
    assert heading.evaluate("element => element.scrollWidth <= element.clientWidth")
