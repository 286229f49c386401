"""Reports: cards pinned from pages, texts between them, and the file that opens without a server."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .test_accessibility import violations

HOSTILE = {
    "tree": ["div", {"onclick": "alert(1)"}, [["script", {}, ["document.title = 'owned'"]], "what was seen"]],
    "figures": [],
    "legend": [{"name": "<b>run</b>", "colour": "red"}],
    "at": 0,
}


@pytest.fixture
def report(page: Page, samples: str) -> str:
    """The address of a new report."""
    answer = page.request.post(f"{samples}v2/reports", data={"title": "Why it learns"}).json()
    return f"{samples}v2/reports/{answer['id']}"


def open_report(page: Page, report: str) -> None:
    page.goto(report.replace("v2/reports/", "reports?report="))


def test_a_card_is_pinned_live_and_frozen_and_the_report_is_one_file(
    page: Page, browser: Browser, samples: str, report: str, tmp_path: Path
) -> None:
    page.goto(f"{samples}histogram?runs=lenet&q=conv1.weight")
    expect(page.locator(".chart svg").first).to_be_attached()
    page.get_by_role("button", name="Add to report", exact=True).click()
    page.get_by_role("button", name="Frozen").click()
    page.get_by_role("button", name="Why it learns").first.click()
    page.get_by_role("link", name="Open the report").click()
    expect(page.get_by_text("As it was on")).to_be_visible()
    live = {"view": "scalar", "query": "runs=lenet", "card": "loss/auto"}
    page.request.post(f"{report}/blocks", data={"pin": live, "text": "The **loss** falls."})
    open_report(page, report)
    expect(page.locator(".chart").locator(".main-svg:first-child, .sketch")).to_have_count(2)
    expect(page.locator(".live-card .card:visible")).to_have_count(1)
    assert violations(page) == {}
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as one HTML file").click()
    target = tmp_path / download.value.suggested_filename
    download.value.save_as(target)
    context = browser.new_context(offline=True)
    saved = context.new_page()
    saved.goto(target.as_uri())
    expect(saved.locator(".chart .main-svg:first-child")).to_have_count(2)
    expect(saved.locator("strong")).to_have_text("loss")
    assert saved.locator("button, input").count() == 0
    context.close()


def test_runs_of_a_card_are_named_once_and_all_of_them_where_it_is_frozen(
    page: Page, samples: str, report: str
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{samples}scalar?q=^loss/auto$")
    names = page.locator(".card .legend-list > li")
    expect(names.nth(1)).to_be_attached()
    runs = names.count()
    page.locator(".card").first.get_by_role("button", name="Add to report", exact=True).click()
    page.get_by_role("button", name="Frozen").click()
    page.get_by_role("button", name="Why it learns").first.click()
    page.get_by_role("link", name="Open the report").click()
    frozen = page.locator(".frozen-view")
    expect(frozen.locator(".legend-list > li")).to_have_count(runs)
    legend, last = frozen.locator(".curve-legend"), frozen.locator(".legend-list > li").last
    assert legend.evaluate("list => list.scrollHeight <= list.clientHeight")
    expect(last).to_be_visible()
    expect(page.locator(".pin-legend .swatch")).to_have_count(0)
    expect(page.locator(".pin-legend")).to_contain_text("As it was on")
    live = {"view": "scalar", "query": "", "card": "loss/auto"}
    page.request.post(f"{report}/blocks", data={"pin": live})
    open_report(page, report)
    expect(page.locator(".live-card .pin-target .legend-list li").first).to_be_visible()
    expect(page.locator(".pin-legend .swatch:visible")).to_have_count(0)


def test_a_text_is_written_and_never_over_that_of_another(page: Page, report: str) -> None:
    open_report(page, report)
    page.get_by_role("button", name="Add text").click()
    box = page.get_by_label("Text of the report")
    box.fill("# Seen <img src=x onerror=alert(1)>")
    box.press("Control+Enter")
    expect(page.locator(".markdown h1")).to_have_text("Seen <img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Edit the text").click()
    block = page.request.get(report).json()["blocks"][0]
    page.request.put(f"{report}/blocks/{block['id']}", data={"text": "theirs", "version": block["version"]})
    box.fill("mine")
    box.press("Control+Enter")
    expect(page.get_by_text("Somebody else changed this text")).to_be_visible()
    expect(page.locator(".report-theirs")).to_have_text("theirs")
    page.get_by_role("button", name="Keep mine").click()
    expect(page.locator(".report-block .markdown")).to_have_text("mine")


def test_nothing_that_a_frozen_card_contains_runs(page: Page, report: str) -> None:
    pin = {"view": "scalar", "card": "loss", "frozen": json.dumps(HOSTILE)}
    page.request.post(f"{report}/blocks", data={"pin": pin})
    open_report(page, report)
    expect(page.get_by_text("what was seen")).to_be_visible()
    expect(page.get_by_text("<b>run</b>")).to_be_visible()
    assert page.locator(".frozen-view script, .frozen-view [onclick]").count() == 0
    assert page.title() == "Why it learns · MindInsight"


@pytest.mark.parametrize(
    "attributes",
    [
        {"style": "position: fixed; inset: 0; width: 100vw; height: 100vh"},
        {"style": r"pos\69tion:fixed; top: 0; left: 0; width: 100vw; height: 100vh"},
        {"style": r"p\6f sition/**/:/**/sticky; inset: 0; min-width: 200vw; min-height: 200vh"},
        {"style": "position: absolute; transform: translate(-900px, -900px) scale(99)"},
        {"style": "margin: -9999px; width: 99999px; height: 99999px"},
        {"class": "dialog overlay backdrop menu", "style": "width: 200vw; height: 200vh"},
    ],
)
def test_a_frozen_card_covers_nothing_of_the_page(
    page: Page, report: str, attributes: dict[str, str]
) -> None:
    """Asked of the drawn page: what lies above each corner of the heading is the heading's own."""
    tree = ["div", {}, [["div", attributes, ["cover"]], ["i", {"style": "background: var(--run-1)"}, ["x"]]]]
    pin = {"view": "scalar", "card": "loss", "frozen": json.dumps(HOSTILE | {"tree": tree})}
    page.request.post(f"{report}/blocks", data={"pin": pin})
    open_report(page, report)
    expect(page.get_by_text("cover")).to_be_attached()
    uncovered = page.evaluate(
        """() => {
            const box = document.querySelector("h1").getBoundingClientRect();
            const at = (x, y) => document.elementFromPoint(x, y);
            return [at(box.left + 2, box.top + 2), at(2, 2), at(innerWidth - 20, 2)]
                .every((found) => !found?.closest(".frozen-view"));
        }"""
    )
    assert uncovered
    positions = page.locator(".frozen-view *").evaluate_all(
        "nodes => nodes.map((node) => getComputedStyle(node).position)"
    )
    assert "fixed" not in positions
    assert page.locator(".frozen-view i").evaluate("node => node.style.background") == "var(--run-1)"


@pytest.mark.parametrize(
    "style",
    [
        "background: url(https://other.host/a)",
        r"background: \75 rl(https://other.host/a)",
        r"--a: \75 rl(https://other.host/a); background: var(--a)",
        "--a: url(https://other.host/a); background: var(--a)",
        "background-image: image-set('https://other.host/a' 1x)",
    ],
)
def test_the_style_of_a_frozen_card_loads_nothing(page: Page, report: str, style: str) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    tree = ["div", {"style": style}, ["what was seen"]]
    pin = {"view": "scalar", "card": "loss", "frozen": json.dumps(HOSTILE | {"tree": tree})}
    page.request.post(f"{report}/blocks", data={"pin": pin})
    open_report(page, report)
    expect(page.get_by_text("what was seen")).to_be_visible()
    assert not [address for address in requests if "other.host" in address]
    assert page.locator(".frozen-view [style]").count() == 0 or "other.host" not in str(
        page.locator(".frozen-view [style]").first.get_attribute("style")
    )
