"""The page of dumps: from a NaN to the line that made it, tables, trees, checks, comparisons, checkpoints."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

DUMPS = Path(__file__).parents[1] / "data" / "dumps"


@pytest.fixture
def url(serve, tmp_path):
    base = tmp_path / "base"
    for name in ("broken", "healthy"):
        shutil.copytree(DUMPS / "ms_sync_v2_0_names", base / name / "dump")
    step = base / "broken" / "dump" / "rank_0" / "Net" / "0" / "1"
    (file,) = step.glob("MatMul.MatMul-op66.*.output.0.*")
    values = np.load(file)
    values[0, 0] = np.nan
    np.save(file, values)
    shutil.copytree(DUMPS / "ckpt", base / "weights")
    return serve(base)


@pytest.fixture
def shown(page, url):
    """shown("tab=check") opens the page of the broken dump."""

    def show(query=""):
        page.goto(f"{url}dump?dump=./broken/dump&step=1&{query}")
        expect(page.get_by_role("heading", name="Dumps")).to_be_visible()
        return page

    return show


def side(page):
    return page.get_by_role("complementary", name="Operator")


def test_four_clicks_from_a_nan_to_the_line_that_made_it(page, url):
    page.goto(url)
    page.get_by_role("link", name="Dumps").click()
    page.get_by_role("button", name="Find the first fault").click()
    expect(page.get_by_text("1 NaN and 0 infinities in 108 values")).to_be_visible()
    page.get_by_role("button", name=re.compile("MatMul-op66$")).first.click()
    expect(side(page).get_by_role("heading", level=2)).to_contain_text(
        "fc2-Dense/gradMatMul-expand/MatMul-op66"
    )
    expect(side(page).locator("figure")).to_contain_text("net.py:14")
    expect(side(page).locator("figure pre")).to_have_text("return self.fc2(x)")
    expect(page.get_by_role("spinbutton", name="Step")).to_have_value("1")


def test_the_table_is_filtered_sorted_and_kept_in_the_address(shown):
    page = shown()
    expect(page.get_by_text("99 tensors", exact=True)).to_be_visible()
    page.get_by_role("checkbox", name="NaN or Inf only").check()
    expect(page.get_by_text("99 tensors · 1 chosen")).to_be_visible()
    rows = page.locator(".dump-table tbody tr[data-key]")
    expect(rows).to_have_count(1)
    page.reload()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("searchbox", name="Source line").fill("net.py:14")
    expect(page.get_by_text("99 tensors · 24 chosen")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="L2 norm").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("L2 norm")
    expect(rows.first).to_contain_text("conv1-Conv2d/Conv2D-op51")


def test_operators_are_walked_in_both_directions(shown):
    page = shown("graph=Net/0&operator=MatMul-op66")
    page.locator(".dump-links button", has_text="ApplyMomentum").click()
    expect(side(page).get_by_role("heading", level=2)).to_contain_text("ApplyMomentum-op73")
    page.locator(".dump-links button", has_text="MatMul-op66").dispatch_event("click")
    expect(side(page).get_by_role("heading", level=2)).to_contain_text("MatMul-op66")
    side(page).get_by_role("button", name="Close").click()
    expect(side(page)).to_be_hidden()


def test_a_tensor_is_looked_into(shown):
    page = shown("graph=Net/0&operator=MatMul-op66&tensor=output/0")
    expect(page.locator(".dump-values .chart svg").first).to_be_visible()
    page.get_by_role("button", name="Heat map").click()
    expect(page.get_by_role("img", name="Heat map")).to_be_visible()
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.locator(".tensor-table tbody td").first).to_have_text("NaN")
    page.get_by_role("textbox", name="Slice").fill("[1:3,0]")
    page.get_by_role("textbox", name="Slice").press("Enter")
    expect(page.locator(".tensor-table tbody td")).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download npy").click()
    assert np.isnan(np.load(download.value.path())).sum() == 1


def test_the_tree_leads_to_what_is_not_finite(shown):
    page = shown("tab=tree")
    path = "Gradients/Default/network-WithLossCell/_backbone-Net/fc2-Dense/gradMatMul-expand"
    for name in path.split("/"):
        row = page.get_by_role("treeitem").filter(has=page.get_by_text("1 not finite")).last
        expect(row.get_by_role("button", name=name, exact=True).first).to_be_visible()
        row.get_by_role("button", name=name, exact=True).last.click()
    page.get_by_role("button", name="MatMul-op66").click()
    expect(side(page)).to_contain_text("return self.fc2(x)")


def test_common_faults_and_conditions_of_ones_own(shown):
    page = shown("tab=check")
    page.get_by_role("button", name="Check for common faults").click()
    hits = page.locator(".dump-hits tbody tr")
    expect(hits).to_have_count(3)
    expect(hits.first).to_contain_text("Tensor overflow")
    page.get_by_label("Your own").select_option(label="Weight too large")
    page.get_by_label("max_gt").fill("0.0216")
    page.get_by_label("max_gt").press("Tab")
    page.get_by_role("button", name="Check these").click()
    expect(page.get_by_text("2 hits")).to_be_visible()
    page.locator(".dump-hits button").last.click()
    expect(side(page).get_by_role("heading", level=2)).to_have_text("fc1.weight")


def test_a_condition_is_not_checked_before_it_has_a_limit(shown):
    page = shown("tab=check")
    page.get_by_label("Your own").select_option(label="Tensor range")
    start = page.get_by_role("button", name="Check these")
    expect(start).to_be_disabled()
    page.get_by_label("range_percentage_lt").fill("50")
    page.get_by_label("range_start_inclusive").fill("-1")
    expect(start).to_be_disabled()
    page.get_by_label("range_end_inclusive").fill("1")
    expect(start).to_be_enabled()


def test_two_dumps_are_compared(shown):
    page = shown("tab=compare")
    page.get_by_label("Reference").select_option("./healthy/dump")
    page.get_by_role("button", name="Compare", exact=True).last.click()
    expect(page.get_by_text("they part here")).to_be_visible()
    expect(page.get_by_text("99 of 99 compared")).to_be_visible()
    page.locator("label", has_text="Show").locator("select").select_option("error")
    rows = page.locator(".dump-compared tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("NaN or Inf that the reference does not have")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 100


def test_checkpoints_are_compared(shown):
    page = shown("tab=checkpoints")
    expect(page.get_by_text("20 tensors")).to_be_visible()
    page.get_by_label("Compare with").select_option("./weights/tinynet-2.ckpt")
    expect(page.get_by_text("17 changed, 3 unchanged")).to_be_visible()


def test_without_dumps_the_page_says_how_to_make_one(page, serve, tmp_path):
    (tmp_path / "empty").mkdir()
    page.goto(f"{serve(tmp_path / 'empty')}dump")
    expect(page.get_by_text("No dump below this directory")).to_be_visible()


def test_the_graph_is_coloured_and_leads_to_operators(shown):
    page = shown("tab=graph")
    expect(page.locator(".graph-drawing .box").first).to_be_visible()
    reddened = page.locator(".graph-drawing rect[style*=color-mix]")
    expect(reddened.first).to_be_attached()
    for path in ("_backbone-Net", "fc2-Dense", "gradMatMul-expand"):
        closed = page.locator(".graph-drawing .box.closed", has_text=path).last
        closed.locator(".mark").dispatch_event("click")
    page.locator(".graph-drawing .box.closed", has_text="MatMul-op66").dispatch_event("click")
    expect(side(page)).to_contain_text("return self.fc2(x)")
    page.get_by_label("Colour by").select_option("norm")
    expect(page.locator(".graph-drawing .box.frame rect.header[style*=color-mix]").first).to_be_attached()
