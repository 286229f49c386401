"""Saved views: a name for what is on the screen, kept by the server."""

from typing import Any

import pytest
from playwright.sync_api import expect

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture
def url(serve: Any, sample_base: Any) -> Any:
    return serve(sample_base)


def box(page: Any) -> Any:
    return page.get_by_role("dialog", name="Saved views")


def opened(page: Any) -> Any:
    page.get_by_role("button", name="Saved views").click()
    return box(page)


def save(page: Any, name: Any) -> None:
    """By keyboard: the box opens on the field of the name."""
    page.get_by_role("button", name="Saved views").press("Enter")
    expect(box(page).get_by_role("textbox", name="Name of this view")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(box(page).get_by_role("link", name=name)).to_be_visible()
    page.keyboard.press("Escape")
    expect(box(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Saved views")).to_be_focused()


def test_a_view_is_saved_and_opened_with_all_that_was_chosen(page: Any, url: Any) -> None:
    page.goto(f"{url}scalar?runs=lenet&q=loss&y=log")
    expect(page.get_by_role("group", name="loss/auto", exact=True)).to_be_visible()
    save(page, "late loss")
    page.goto(url)
    opened(page).get_by_role("link", name="late loss Scalars").click()
    expect(page).to_have_url(f"{url}scalar?runs=lenet&q=loss&y=log")
    expect(page.get_by_role("searchbox", name="Filter tags")).to_have_value("loss")
    expect(page.locator("#side").get_by_role("checkbox", name="lenet")).to_be_checked()
    expect(box(page)).to_have_count(0)


def test_another_view_of_the_same_page_opens_without_loading_it_again(page: Any, url: Any) -> None:
    page.goto(f"{url}?sort=size")
    save(page, "by size")
    page.goto(f"{url}?q=len")
    expect(page.locator("td.name")).to_have_count(1)
    page.evaluate("window.kept = true")
    opened(page).get_by_role("link", name="by size").click()
    expect(page).to_have_url(f"{url}?sort=size")
    expect(page.locator("td.name")).to_have_count(6)
    assert page.evaluate("window.kept")


def test_views_are_renamed_and_removed_and_the_keyboard_stays_where_it_was(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    save(page, "first")
    save(page, "second")
    views = opened(page)
    views.get_by_role("button", name="Rename first").press("Enter")
    field = views.get_by_role("textbox", name="New name for first")
    expect(field).to_be_focused()
    field.fill("third")
    page.keyboard.press("Enter")
    expect(views.get_by_role("link")).to_have_text(["secondOverview", "thirdOverview", "Preferences"])
    expect(views.get_by_role("link", name="third")).to_be_focused()
    views.get_by_role("button", name="Delete second").press("Enter")
    expect(views.get_by_role("link")).to_have_text(["thirdOverview", "Preferences"])
    expect(views.get_by_role("textbox", name="Name of this view")).to_be_focused()
    page.reload()
    expect(opened(page).get_by_role("link")).to_have_text(["thirdOverview", "Preferences"])


def test_a_name_that_is_taken_is_said_and_changes_nothing(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    save(page, "first")
    save(page, "second")
    views = opened(page)
    views.get_by_role("button", name="Rename first").click()
    views.get_by_role("textbox", name="New name for first").fill("second")
    page.keyboard.press("Enter")
    expect(views.get_by_role("alert")).to_have_text("A saved view named second already exists.")
    expect(views.get_by_role("textbox", name="New name for first")).to_have_value("second")


def test_a_hostile_name_is_text(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    save(page, HOSTILE)
    expect(opened(page).get_by_role("link", name=HOSTILE)).to_be_visible()
    expect(page.locator("img[onerror]")).to_have_count(0)


def test_below_a_prefix_views_are_saved_and_opened(page: Any, serve: Any, sample_base: Any) -> None:
    url = serve(sample_base, url_path_prefix="/team/board")
    page.goto(f"{url}overview?run=./lenet")
    save(page, "lenet")
    page.goto(url)
    opened(page).get_by_role("link", name="lenet Overview").click()
    expect(page).to_have_url(f"{url}overview?run=./lenet")
    expect(page.get_by_role("heading", name="lenet", level=1)).to_be_visible()


def test_a_narrow_window_holds_the_whole_list(page: Any, url: Any) -> None:
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(f"{url}overview")
    save(page, "a name that is longer than anything a narrow window could hold in one line")
    box = opened(page).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 320
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_page_opens_with_its_default_settings_until_they_are_forgotten(page: Any, url: Any) -> None:
    page.goto(f"{url}scalar?runs=lenet&s=0.9&sk=gaussian&x=wall")
    opened(page).get_by_role("button", name="Use as default for this page").click()
    expect(box(page).get_by_role("status")).to_have_text("These settings are the page’s default now.")
    page.goto(f"{url}scalar")
    expect(page).to_have_url(f"{url}scalar?s=0.9&sk=gaussian&x=wall")
    expect(page.get_by_role("spinbutton", name="Smoothing")).to_have_value("0.9")
    page.goto(f"{url}scalar?s=0.1")
    expect(page.get_by_role("spinbutton", name="Smoothing")).to_have_value("0.1")
    opened(page).get_by_role("button", name="Forget this page’s default settings").click()
    expect(box(page).get_by_role("status")).to_be_visible()
    page.goto(f"{url}scalar")
    expect(page.get_by_role("spinbutton", name="Smoothing")).to_have_value("0.6")
    expect(page).to_have_url(f"{url}scalar")


def test_a_page_is_as_it_was_left_until_it_is_reset(page: Any, url: Any) -> None:
    page.goto(f"{url}scalar?runs=lenet,values")
    page.get_by_role("searchbox", name="Filter tags").fill("loss|float64$")
    page.get_by_label("Y scale").select_option("Log")
    page.locator("details.group > summary", has_text="scalar").click()
    expect(page).to_have_url(
        f"{url}scalar?runs=lenet,values&q=loss|float64$&y=log&fold=scalar".replace("|", "%7C").replace(
            "$", "%24"
        )
    )
    arranged = page.url
    page.goto(f"{url}scalar?runs=values")  # what a link says counts, and is not kept
    expect(page.locator("#side").get_by_role("checkbox", name="lenet")).not_to_be_checked()
    page.goto("about:blank")
    page.goto(f"{url}scalar")
    expect(page).to_have_url(arranged)
    expect(page.locator("details.group[open]")).to_have_count(1)
    page.goto(f"{url}scalar?q=fc")
    expect(page).to_have_url(f"{url}scalar?q=fc")
    page.goto(f"{url}scalar")
    opened(page).get_by_role("button", name="Reset this page and the choice of runs").click()
    expect(page).to_have_url(f"{url}scalar")
    page.goto(f"{url}scalar")
    expect(page.get_by_label("Y scale")).to_have_value("linear")
    expect(page).to_have_url(f"{url}scalar")
