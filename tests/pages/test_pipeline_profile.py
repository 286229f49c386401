"""The profile of a data pipeline on the graph page: what holds it up, in the panel and on its box."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

DATA = Path(__file__).parents[1] / "data" / "pipelines"


def test_the_bottleneck_is_named_and_marked(page: Page, serve: Callable[[Path], Any], tmp_path: Path) -> None:
    shutil.copytree(DATA / "map", tmp_path / "base" / "map")
    page.goto(f"{serve(tmp_path / 'base')}graph?run=./map&view=dataset")
    expect(page.locator("[data-claim='claim.pipeline_profile.operator']")).to_contain_text("Map holds")
    badges = page.locator(".graph-drawing .badge text")
    expect(badges).to_have_text(["⚠ 0 / 16", "16 / 16", "0.0625 / 16"], use_inner_text=False)
    page.locator(".pipeline-profile tr.slowest button").click()
    expect(page.locator(".graph-facts h2")).to_contain_text("Map-1")
    assert "node=" in page.url
