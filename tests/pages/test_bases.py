"""Several base directories on the page of runs: their names, the runs of one, those that come and go."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.server.settings.base_dirs import bases_of

from .conftest import DATA


@pytest.fixture
def top(tmp_path: Path) -> Any:
    shutil.copytree(DATA / "lenet", tmp_path / "mine" / "lenet")
    shutil.copytree(DATA / "record_api/values", tmp_path / "users" / "ann" / "values")
    return tmp_path


@pytest.fixture
def url(serve: Any, top: Any) -> Any:
    return serve(bases_of([str(top / "mine"), f"my lab={top}/lab", f"{top}/users/*"]))


def run(page: Any, name: Any) -> Any:
    return page.get_by_role("link", name=name, exact=True)


def test_the_directories_are_named_and_lead_to_their_runs(page: Any, url: Any) -> None:
    page.goto(url)
    expect(run(page, "mine/lenet")).to_be_visible()
    expect(run(page, "ann/values")).to_be_visible()
    ann = page.get_by_role("button", name="ann", exact=True)
    expect(ann).to_have_attribute("title", re.compile(r"users/ann\nfile system events"))
    heights = page.locator(".bases button").evaluate_all("all => all.map((button) => button.offsetHeight)")
    assert min(heights) >= 24  # px, WCAG 2.2: target size
    ann.click()
    expect(page).to_have_url(f"{url}?q=dir%3Dann")
    expect(run(page, "mine/lenet")).to_have_count(0)
    expect(run(page, "ann/values")).to_be_visible()
    expect(ann).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="mine", exact=True).click()
    expect(run(page, "ann/values")).to_have_count(0)
    expect(run(page, "mine/lenet")).to_be_visible()
    page.get_by_role("button", name="mine", exact=True).click()
    expect(page).to_have_url(url)
    expect(run(page, "ann/values")).to_be_visible()


def test_one_that_is_not_there_is_said_until_it_appears(page: Any, url: Any, top: Any) -> None:
    page.goto(url)
    warning = page.get_by_text(f"{top}/lab: no such directory")
    expect(warning).to_be_visible()
    shutil.copytree(DATA / "record_api/values", top / "lab" / "first")
    expect(run(page, "my lab/first")).to_be_visible()
    expect(warning).to_have_count(0)
    page.get_by_role("button", name="my lab", exact=True).click()
    expect(run(page, "mine/lenet")).to_have_count(0)
    expect(run(page, "my lab/first")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="my lab", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(run(page, "mine/lenet")).to_have_count(0)


def test_what_fits_a_pattern_comes_and_goes(page: Any, url: Any, top: Any) -> None:
    page.goto(url)
    expect(run(page, "ann/values")).to_be_visible()
    shutil.copytree(top / "users" / "ann", top / "users" / "bob")
    expect(page.get_by_role("button", name="bob", exact=True)).to_be_visible()
    expect(run(page, "bob/values")).to_be_visible()
    shutil.rmtree(top / "users" / "ann")
    expect(page.get_by_role("button", name="ann", exact=True)).to_have_count(0)
    expect(run(page, "ann/values")).to_have_count(0)


def test_of_many_directories_the_first_are_named_and_the_others_counted(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    for number in range(15):
        (tmp_path / "users" / f"user{number:02}").mkdir(parents=True)
    page.goto(serve(bases_of(f"{tmp_path}/users/*")))
    expect(page.get_by_role("button", name="user11", exact=True)).to_be_visible()
    expect(page.get_by_text("and 3 more directories")).to_have_attribute("title", "user12\nuser13\nuser14")
    expect(page.get_by_role("button", name="user12", exact=True)).to_have_count(0)


def test_the_directory_is_a_column_to_sort_by(page: Any, url: Any) -> None:
    page.goto(f"{url}?col=dir")
    cells = page.locator("tbody tr[data-key] td:nth-child(3)")
    page.get_by_role("button", name="Directory", exact=True).click()
    expect(cells).to_have_text(["mine", "ann"])
    page.get_by_role("button", name="Directory", exact=True).click()
    expect(cells).to_have_text(["ann", "mine"])


def test_one_directory_is_told_by_its_path_as_ever(page: Any, serve: Any, top: Any) -> None:
    page.goto(serve(top / "mine"))
    expect(run(page, "lenet")).to_be_visible()
    expect(page.get_by_text(str(top / "mine"), exact=True)).to_be_visible()
    expect(page.get_by_text("file system events")).to_be_visible()
