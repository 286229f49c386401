"""What is on the screen for somebody else: a link, and a file that opens without any server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mindinsight.server.settings.base_dirs import bases_of
from mindinsight.writer import SummaryRecord
from tests.raw_keys import raw_keys


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """A saved page in a browser without a network; every request it makes is counted."""
    context = browser.new_context(offline=True)
    requests = []

    def open_file(path: Any) -> tuple[Any, Any]:
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page, requests

    yield open_file
    context.close()


def save(page: Any, press: Any, tmp_path: Any) -> Any:
    with page.expect_download() as download:
        press()
    target = tmp_path / download.value.suggested_filename
    download.value.save_as(target)
    return target


def test_the_link_shows_the_same_picture(page: Any, samples: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{samples}scalar?runs=lenet&q=loss&y=log")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{samples}scalar?runs=lenet&q=loss&y=log"


def test_where_the_clipboard_is_closed_the_link_is_shown(page: Any, samples: Any) -> None:
    page.add_init_script("delete Navigator.prototype.clipboard")
    page.goto(f"{samples}scalar?runs=lenet")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("textbox", name="Link to this view")).to_have_value(f"{samples}scalar?runs=lenet")


def test_a_chart_is_a_file_that_opens_offline(
    page: Any, samples: Any, chart: Any, tmp_path: Path, opened: Any, expected: Any
) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    chart("loss/auto").traces()
    card = page.get_by_role("group", name="loss/auto", exact=True)
    card.get_by_role("button", name="Card menu").click()
    path = save(page, page.get_by_role("button", name="Save as a single HTML file").click, tmp_path)
    assert path.name == "loss_auto.html"
    saved, requests = opened(path)
    expect(saved.get_by_role("heading", level=1)).to_have_text("loss/auto · lenet")
    expect(saved).to_have_title(re.compile(r"^loss/auto · lenet · .+ · MindInsight$"))
    expect(saved.locator(".main-svg").first).to_be_visible()
    drawn = saved.evaluate("document.querySelector('.chart').data[0].y")
    known = expected("lenet", "scalar", "loss/auto")
    assert drawn[-1] == pytest.approx(known["values"][-1])
    expect(saved.get_by_text("lenet", exact=True)).to_be_visible()
    box = saved.locator(".chart").bounding_box()
    saved.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=2)
    expect(saved.locator(".tip")).to_contain_text("lenet")
    expect(saved.locator(".modebar")).to_have_count(0)
    assert requests == [path.as_uri()]


def test_a_saved_histogram_names_its_run(page: Page, samples: str, tmp_path: Path, opened: Any) -> None:
    page.goto(f"{samples}histogram?runs=lenet")
    card = page.get_by_role("main").get_by_role("group").filter(has=page.locator(".chart svg")).first
    name = card.get_attribute("aria-label")
    path = save(page, card.get_by_role("button", name="Save as a single HTML file").click, tmp_path)
    saved, _ = opened(path)
    expect(saved.get_by_role("heading", level=1)).to_have_text(f"{name} · lenet")
    expect(saved).to_have_title(re.compile(re.escape(f"{name} · lenet · ")))


@pytest.mark.parametrize("tinted", ["0", "1"])
def test_a_saved_lineage_names_the_runs_whose_colours_it_has(
    page: Page, samples: str, tmp_path: Path, opened: Any, tinted: str
) -> None:
    page.goto(f"{samples}lineage?tint={tinted}")
    rows = page.get_by_role("main").locator("tbody tr[data-run]")
    expect(rows.first).to_be_visible()
    names = sorted(
        run.removeprefix("./") for run in rows.evaluate_all("rows => rows.map((row) => row.dataset.run)")
    )
    path = save(page, page.get_by_role("button", name="Save this page").click, tmp_path)
    saved, _ = opened(path)
    legend = saved.locator("main.offline > header .row:has(> .swatch)").all_inner_texts()
    assert sorted(legend) == (names if tinted == "0" else [])


@pytest.mark.parametrize(
    ("view", "charts"), [("scalar?runs=values", 20), ("lineage", 1), ("histogram?runs=lenet", 9)]
)
def test_a_whole_view_holds_what_was_not_scrolled_to(
    page: Any, samples: Any, tmp_path: Path, opened: Any, view: str, charts: int
) -> None:
    page.goto(samples + view)
    expect(page.locator(".chart svg").first).to_be_attached()
    path = save(page, page.get_by_role("button", name="Save this page").click, tmp_path)
    saved, requests = opened(path)
    expect(saved.locator(".chart .main-svg:first-child")).to_have_count(charts)
    assert saved.locator("button, input, a[href]").count() == 0
    assert requests == [path.as_uri()]


def test_pictures_are_in_the_file(page: Any, samples: Any, tmp_path: Path, opened: Any) -> None:
    page.goto(f"{samples}image?runs=lenet&q=Image")
    expect(page.get_by_text("31 of 31")).to_be_visible()
    path = save(page, page.get_by_role("button", name="Save this page").click, tmp_path)
    assert path.name == "Images_lenet.html"
    saved, _ = opened(path)
    expect(saved.locator("img.picture")).to_have_attribute("src", re.compile("^data:image/png;base64,"))
    assert saved.locator("img.picture").evaluate("picture => picture.naturalWidth") == 160


@pytest.mark.parametrize(
    ("view", "content", "legend"),
    [
        ("graph?run=lenet", "24 operators", []),
        ("overview?run=lenet", "MnistDataset", ["lenet"]),
        ("explain?run=lenet", "No fault was found", []),
        ("scalar?runs=lenet,images&q=loss", "loss/auto", ["lenet"]),
        ("align?run=lenet&baseline=ranks/rank_0", "differs by more than", ["lenet", "ranks/rank_0"]),
    ],
)
def test_a_saved_page_has_what_it_is_about_and_nothing_to_press(
    page: Page, samples: str, tmp_path: Path, opened: Any, view: str, content: str, legend: list[str]
) -> None:
    page.goto(samples + view)
    expect(page.get_by_role("main")).to_contain_text(content)
    saved, _ = opened(save(page, page.get_by_role("button", name="Save this page").click, tmp_path))
    main = saved.locator("main.offline")
    expect(main).to_contain_text(content)
    assert saved.locator("main.offline > header .row:has(> .swatch)").all_inner_texts() == legend
    text = main.inner_text()
    for control in ("Expand all", "Values from a file", "Pattern", "Outline", "Save report", "Arrange cards"):
        assert control not in text
    assert main.locator(".search, [role=tablist], .segments, .icon, .graph-minimap").count() == 0
    assert raw_keys(text) == set()


def test_a_saved_page_is_true_tomorrow(page: Any, samples: Any, tmp_path: Path, opened: Any) -> None:
    page.goto(f"{samples}runs")
    expect(page.locator("[data-wall]").first).to_have_text(re.compile("ago|now"))
    save_button = page.get_by_role("button", name="Save this page")
    saved, _ = opened(save(page, save_button.click, tmp_path))
    expect(saved.locator("[data-wall]").first).to_have_text(re.compile(r"\d:\d\d"))
    assert not re.search(r"\d (s|min|h|days?) ago", saved.locator("body").inner_text())
    expect(saved.locator("header p")).to_have_text(re.compile(r"^MindInsight .* UTC"))


def test_a_saved_choice_of_a_row_is_text(page: Any, samples: Any, tmp_path: Path, opened: Any) -> None:
    page.goto(f"{samples}why?good=lenet&bad=values")
    chosen = page.locator(".why-run [aria-pressed=true]")
    expect(chosen.first).to_be_visible()
    before = chosen.all_inner_texts()
    assert {"Good", "Bad"} <= set(before)
    saved, _ = opened(save(page, page.get_by_role("button", name="Save this page").click, tmp_path))
    assert saved.locator(".why-run .badge").all_inner_texts() == before


@pytest.mark.parametrize(
    ("view", "name"),
    [
        ("", "Runs samples"),
        ("scalar?runs=lenet", "Scalars lenet"),
        ("overview?run=lenet", "Overview lenet"),
        ("explain?run=lenet", "Explain lenet"),
        ("job?job=ranks", "Job ranks"),
        ("graph?run=lenet", "Graph lenet"),
        ("align?run=lenet&baseline=ranks/rank_0", "Compare lenet ranks/rank_0"),
    ],
)
def test_a_saved_page_names_its_object(
    page: Page, samples: str, tmp_path: Path, opened: Any, view: str, name: str
) -> None:
    page.goto(samples + view)
    expect(page.locator("#view")).to_have_attribute("aria-busy", "false")
    path = save(page, page.get_by_role("button", name="Save this page").click, tmp_path)
    base = page.evaluate("fetch('v2/runs').then((answer) => answer.json())")["base"].split("/")[-1]
    name = name.replace("samples", base)
    assert path.name == f"{re.sub(r'[^a-zA-Z0-9.-]+', '_', name)}.html"
    saved, _ = opened(path)
    expect(saved.get_by_role("heading", level=1).first).to_have_text(name)
    expect(saved).to_have_title(re.compile(f"^{name} · .*MindInsight$"))


def test_runs_of_an_equal_colour_are_in_no_legend_but_their_own(
    page: Page, serve: Any, tmp_path: Path, opened: Any
) -> None:
    for name in ("drawn", "other"):
        with SummaryRecord(tmp_path / "base" / name) as record:
            for step in range(20):
                record.add_value("scalar", f"loss/{name}", 1 / (1 + step), step=step)
    for rank in range(3):
        with SummaryRecord(tmp_path / "base" / "job" / f"rank_{rank}") as record:
            for step in range(50):
                record.add_value("scalar", "loss", (1 + rank) / (1 + step), step=step)
    address = serve(tmp_path / "base")
    colours = [{"run": f"./{name}", "colour": "#0f62fe"} for name in ("drawn", "other")]
    page.request.patch(f"{address}v2/runs/notes/many", data={"changes": colours})
    legend = "main.offline > header .row:has(> .swatch)"
    for view, names in (("scalar?runs=drawn,other&q=loss/drawn", ["drawn"]), ("job?job=job", [])):
        page.goto(address + view)
        expect(page.locator(".chart .main-svg, .chart svg").first).to_be_attached()
        saved, _ = opened(save(page, page.get_by_role("button", name="Save this page").click, tmp_path))
        assert saved.locator(legend).all_inner_texts() == names


def test_a_saved_page_of_one_of_several_bases_names_that_one(
    page: Page, serve: Any, tmp_path: Path, opened: Any
) -> None:
    for name in ("first", "second"):
        with SummaryRecord(tmp_path / name / "run") as record:
            record.add_value("scalar", "loss", 1.0, step=1)
    address = serve(bases_of([str(tmp_path / name) for name in ("first", "second")]))
    page.goto(f"{address}overview?run=second/run")
    expect(page.get_by_role("heading", level=1)).to_have_text("second/run")
    path = save(page, page.get_by_role("button", name="Save this page").click, tmp_path)
    assert path.name == "Overview_second_run.html"
    saved, _ = opened(path)
    expect(saved).to_have_title("Overview second/run · MindInsight")
    assert "first" not in saved.locator("main.offline > header").inner_text()
