"""What surrounds every view: navigation, theme, language, the panel of runs, keyboard, narrow windows."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture
def url(samples: str) -> str:
    return samples


def nav(page: Any) -> Any:
    return page.get_by_role("navigation", name="Views")


def side(page: Any) -> Any:
    return page.locator("#side")


def test_views_are_swapped_without_loading_the_page_again(page: Any, url: Any) -> None:
    page.goto(url)
    page.evaluate("window.kept = true")
    nav(page).get_by_role("link", name="Overview").click()
    expect(page).to_have_url(f"{url}overview")
    expect(page).to_have_title("Overview · MindInsight")
    nav(page).get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    page.go_back()
    expect(page).to_have_title("Overview · MindInsight")
    assert page.evaluate("window.kept")


def test_the_panel_is_never_seen_beside_a_view_that_stands_alone(page: Any, url: Any) -> None:
    held = []

    def keep(route: Any) -> None:
        held.append(route)

    page.route("**/views/runs.js", keep)
    page.goto(url, wait_until="commit")
    expect(side(page).locator(".side-items")).to_be_attached()
    expect(side(page)).not_to_be_visible()
    page.unroute("**/views/runs.js")
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    expect(side(page)).not_to_be_visible()


def test_the_current_view_is_marked(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    expect(nav(page).get_by_role("link", name="Overview")).to_have_attribute("aria-current", "page")
    expect(nav(page).get_by_role("link", name="Runs")).not_to_have_attribute("aria-current", "page")


def test_colours_follow_the_system_until_somebody_chooses(page: Any, url: Any) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(url)
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Theme: dark").click()
    expect(root).to_have_attribute("data-theme", "light")


def test_the_language_is_switched_and_kept(page: Any, url: Any) -> None:
    page.goto(url)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", name="训练列表", level=1)).to_be_visible()
    page.goto(f"{url}overview")
    expect(page).to_have_title("概览 · MindInsight")
    page.get_by_role("button", name="English").click()
    expect(page).to_have_title("Overview · MindInsight")


def test_the_panel_chooses_runs_for_all_views_and_the_address_keeps_them(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    panel = side(page)
    expect(panel.get_by_text("9 of 9 in the charts")).to_be_visible()
    panel.get_by_role("checkbox", name="lenet").uncheck()
    expect(panel.get_by_text("8 of 9 in the charts")).to_be_visible()
    panel.get_by_role("button", name="None").click()
    panel.get_by_role("checkbox", name="landscape").check()
    expect(page).to_have_url(f"{url}overview?runs=landscape")
    page.reload()
    expect(panel.get_by_text("1 of 9 in the charts")).to_be_visible()
    nav(page).get_by_role("link", name="Runs").click()
    expect(page).to_have_url(f"{url}?runs=landscape")
    expect(page.get_by_role("checkbox", name="Show landscape in charts")).to_be_checked()


def test_ranks_are_folded_under_their_job(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    panel = side(page)
    expect(panel.get_by_text("rank 2")).to_have_count(0)
    panel.get_by_role("button", name="Show the ranks of ranks one by one").click()
    panel.get_by_role("checkbox", name="rank 2").uncheck()
    expect(panel.get_by_text("8 of 9 in the charts")).to_be_visible()
    job = panel.get_by_role("checkbox", name="ranks", exact=True)
    assert job.evaluate("box => box.indeterminate")
    job.check()
    expect(panel.get_by_text("9 of 9 in the charts")).to_be_visible()


def test_the_panel_filters_by_name(page: Any, url: Any) -> None:
    page.goto(f"{url}overview")
    side(page).get_by_role("searchbox").fill("LEN")
    expect(side(page).get_by_role("checkbox")).to_have_count(1)


def test_all_charts_what_the_filter_lists_and_none_hides_it(page: Page, url: str) -> None:
    page.goto(f"{url}overview?runs=landscape,values")
    panel = side(page)
    panel.get_by_role("searchbox").fill("/^(lenet|values)$/")
    expect(panel.get_by_role("checkbox")).to_have_count(2)
    panel.get_by_role("button", name="All", exact=True).click()
    expect(page).to_have_url(re.compile("runs=(lenet,values|values,lenet)$"))
    panel.get_by_role("checkbox", name="values").uncheck()
    panel.get_by_role("searchbox").fill("values")
    expect(panel.get_by_role("checkbox")).to_have_count(1)
    panel.get_by_role("button", name="None", exact=True).click()
    expect(page).to_have_url(f"{url}overview?runs=lenet")
    panel.get_by_role("searchbox").fill("lenet")
    expect(panel.get_by_role("checkbox", name="lenet")).to_be_visible()
    expect(panel.get_by_role("checkbox")).to_have_count(1)
    panel.get_by_role("button", name="None", exact=True).click()
    expect(page).to_have_url(f"{url}overview?runs=-")


def test_the_panel_is_made_wider_and_stays_so(page: Any, url: Any) -> None:
    page.goto(f"{url}scalar")
    edge = page.get_by_role("separator", name="Width of the list of runs")
    edge.press("ArrowRight")
    expect(edge).to_have_attribute("aria-valuenow", "296")
    page.reload()
    expect(edge).to_have_attribute("aria-valuenow", "296")
    assert page.locator("#side").evaluate("panel => panel.offsetWidth") == 296
    box = edge.bounding_box()
    page.mouse.move(box["x"] + 4, 400)
    page.mouse.down()
    page.mouse.move(420, 400)
    page.mouse.up()
    expect(page.locator("#side")).to_have_css("width", "420px")


def test_the_connection_is_live(page: Any, url: Any) -> None:
    page.goto(url)
    mark = page.locator(".connection")
    expect(mark).to_have_text("Live")


def test_everything_can_be_reached_by_keyboard(page: Any, url: Any) -> None:
    page.goto(url)
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_focused()


def test_a_narrow_window_has_the_panel_in_a_drawer(page: Any, url: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{url}overview")
    expect(side(page)).not_to_be_visible()
    page.get_by_role("button", name="Charted runs").click()
    expect(side(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_below_a_prefix_all_addresses_work(page: Any, serve: Any, sample_base: Any) -> None:
    url = serve(sample_base, url_path_prefix="/team/board")
    page.goto(url)
    expect(page.get_by_role("link", name="lenet")).to_be_visible()
    nav(page).get_by_role("link", name="Overview").click()
    expect(page).to_have_url(f"{url}overview")
    expect(page.locator(".connection")).to_have_text("Live")


def test_an_unknown_run_is_said(page: Any, url: Any) -> None:
    page.goto(f"{url}overview?run=./nothing")
    expect(page.get_by_role("heading", name="Run ./nothing not found.")).to_be_visible()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_header_covers_nothing_of_a_narrow_page(page: Any, samples: Any, lang: str) -> None:
    page.context.add_cookies([{"name": "mindinsight_lang", "value": lang, "url": samples}])
    page.goto(f"{samples}scalar?runs=lenet")
    toolbar = page.locator(".scalar-toolbar")
    for width in (320, 390, 430, 700):
        page.set_viewport_size({"width": width, "height": 844})
        expect(toolbar).to_be_visible()
        bottom = page.locator("#top nav").evaluate("links => links.getBoundingClientRect().bottom")
        assert bottom <= toolbar.evaluate("toolbar => toolbar.getBoundingClientRect().top"), width
        brand, tools = (page.locator(f"#top {part}").bounding_box() for part in (".brand", ".tools"))
        assert brand["x"] + brand["width"] <= tools["x"] + 1, width
        assert brand["width"] >= 24, width


def test_a_narrow_window_keeps_the_other_tools_behind_a_button(page: Any, url: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{url}overview")
    more = page.get_by_role("button", name="More")
    theme = page.get_by_role("button", name="Theme: system")
    expect(more).to_be_visible()
    expect(theme).not_to_be_visible()
    more.press("Enter")
    theme.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Theme: light")).not_to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(more).not_to_be_visible()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()


SHIFTS = """window.shifted = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => window.shifted += entry.value))
    .observe({ type: "layout-shift", buffered: true });"""


def test_a_page_does_not_jump_while_it_loads_and_nothing_is_cut(page: Any, samples: Any) -> None:
    page.add_init_script(SHIFTS)
    for name, width in (("overview", 1440), ("", 1366), ("scalar", 390)):
        page.set_viewport_size({"width": width, "height": 860})
        page.goto(f"{samples}{name}")
        expect(page.get_by_role("main")).to_have_attribute("aria-busy", "false")
        expect(page.get_by_role("main").locator("svg").first).to_be_visible()
        assert page.evaluate("window.shifted") < 0.02, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        cut = "links => links.scrollWidth - links.clientWidth"
        assert width == 390 or page.locator(".nav-links").evaluate(cut) <= 0, name


def test_header_icons_have_names_on_a_wide_window_and_in_the_menu(page: Any, samples: Any) -> None:
    page.set_viewport_size({"width": 1920, "height": 900})
    page.goto(f"{samples}alert")
    tools = page.locator("#top .tools")
    names = tools.locator(".name:visible")
    wide = ["Pause", "Refresh", "Alerts", "Views", "Save page", "Copy link", "Reports", "API"]
    wide += ["Keyboard", "Theme"]
    expect(names).to_have_text(wide)
    assert page.locator(".nav-links").evaluate("links => links.scrollWidth - links.clientWidth") <= 0
    page.set_viewport_size({"width": 390, "height": 844})
    expect(names).to_have_count(0)
    tools.get_by_role("button", name="More").click()
    expect(names).to_have_text(["Refresh", *wide[4:]])
    small = "all => all.filter(one => Math.min(one.offsetWidth, one.offsetHeight) < 24).length"
    assert tools.locator(":is(button, a):visible").evaluate_all(small) == 0


def test_a_page_comes_back_with_its_server(browser: Any, samples: Any) -> None:
    page = browser.new_page(locale="en")
    page.add_init_script("delete window.SharedWorker")  # a stream of its own, which breaks with the rest
    page.route("**/v2/**", lambda route: route.abort())
    page.goto(f"{samples}scalar")
    expect(page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()
    expect(page.locator(".connection")).to_have_text("Lost")
    page.unroute("**/v2/**")
    expect(page.locator(".card").first).to_be_visible()
    page.close()


def test_a_server_that_is_lost_is_said_in_words(browser: Any, samples: Any) -> None:
    page = browser.new_page(locale="en")
    page.add_init_script("delete window.SharedWorker")
    page.route("**/v2/**", lambda route: route.abort())
    page.goto(f"{samples}scalar")
    expect(page.get_by_role("heading", name="The server cannot be reached")).to_be_visible()
    expect(page.get_by_text("No runs yet")).to_have_count(0)
    expect(page.get_by_role("alert").filter(has_text="has not responded since")).to_be_visible()
    page.unroute("**/v2/**")
    page.get_by_role("main").get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()
    page.close()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_navigation_fits_and_its_menu_holds_every_page(page: Page, samples: str, lang: str) -> None:
    """Every kind is made to be present: 1,280 px and a phone show a part of the links, the menu all."""
    page.context.add_cookies([{"name": "mindinsight_lang", "value": lang, "url": samples}])
    page.route("**/v2/runs*", with_every_kind)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{samples}landscape?runs=lenet")
    links = page.locator(".nav-links > a:visible")
    expect(page.locator(".nav-links > [aria-current]")).to_be_visible()
    assert page.locator(".nav-links").evaluate("links => links.scrollWidth - links.clientWidth") <= 0
    assert links.count() >= 10
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.locator(".nav-menu").click()
        menu = page.locator(".nav-groups")
        expect(menu.get_by_role("link")).to_have_count(24)
        expect(menu.locator("a svg path[d='']")).to_have_count(0)  # each has its icon
        right = menu.evaluate("menu => menu.getBoundingClientRect().right")
        assert right <= width
        page.keyboard.press("Escape")
        expect(menu).to_have_count(0)
    expect(page.locator(".nav-current")).to_be_visible()


def with_every_kind(route: Any) -> None:
    """Answer with the list of runs, whose first run has every kind of data."""
    answer = route.fetch()
    body = answer.json()
    kinds = ("scalar", "image", "histogram", "tensor", "graph", "text", "audio", "pr_curve", "layout")
    body["runs"][0] |= {
        "lineage": True,
        "dumps": ["./dump"],
        "kinds": dict.fromkeys((*kinds, "landscape", "alert", "system", "console"), 1),
    }
    route.fulfill(response=answer, json=body)


def test_a_kind_without_data_is_only_in_the_menu(page: Page, samples: str) -> None:
    page.goto(f"{samples}overview?runs=lenet")
    dumps = nav(page).get_by_role("link", name="Dumps")
    expect(nav(page).get_by_role("link", name="Scalars")).to_be_visible()
    expect(dumps).to_have_count(0)
    page.get_by_role("button", name="All pages").click()
    link = page.get_by_role("dialog", name="All pages").get_by_role("link", name="Dumps")
    expect(link).to_have_attribute("title", "No run has data of this kind yet")
    link.click()
    expect(dumps).to_be_visible()  # the page that is open


@pytest.mark.parametrize("view", ["overview", "histogram", "checkpoint", "graph"])
def test_the_name_of_the_page_is_whole_in_a_narrow_window(page: Page, samples: str, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{samples}{view}?run=lenet")
    name = page.locator("#top .nav-current")
    expect(name).to_be_visible()
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth")


def test_the_minimap_lies_over_nothing_in_a_narrow_window(page: Page, samples: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{samples}graph?run=lenet")
    expect(page.locator(".graph-stage .box").first).to_be_visible()
    expect(page.locator(".graph-minimap")).to_be_hidden()


@pytest.mark.parametrize(("width", "in_header"), [(1280, True), (390, False)])
def test_the_page_is_saved_from_the_header_where_it_has_room(
    page: Page, samples: str, width: int, in_header: bool
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{samples}overview")
    save = page.get_by_role("button", name="Save this page")
    if not in_header:
        expect(save).to_have_count(0)
        page.get_by_role("button", name="More", exact=True).click()
    expect(save).to_be_visible()
