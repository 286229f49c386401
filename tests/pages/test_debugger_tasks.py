"""Tasks of debugging take no more clicks and choices than they may, and end at the right answer."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from .debugger_tasks import TASKS, Hand, write_base


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    return serve_once(write_base(tmp_path_factory.mktemp("tasks") / "base"))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_takes_few_actions(name: str, page: Page, url: str) -> None:
    task, most = TASKS[name]
    page.goto(url)
    page.locator("td.name").first.wait_for()
    hand = Hand(page)
    assert task(hand)
    assert hand.clicks <= most
