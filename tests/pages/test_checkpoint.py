"""The page of checkpoints: timeline, tensors and comparison of what a training saved."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from mindinsight.writer import SummaryRecord
from tests.narrowing import require
from tests.server.formats.weights.torch_archives import SIX, Storage, tensor, write

CKPT = Path(__file__).parents[1] / "data" / "dumps" / "ckpt"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    base = tmp_path_factory.mktemp("checkpoints") / "base"
    for name, saved in (("1", "10"), ("2", "20"), ("nan", "30")):
        (base / "job" / "ckpt").mkdir(parents=True, exist_ok=True)
        shutil.copy(CKPT / f"tinynet-{name}.ckpt", base / "job" / "ckpt" / f"tinynet-{saved}.ckpt")
    with SummaryRecord(str(base / "job" / "summary")) as record:
        for step in (10, 20, 30):
            record.add_value("scalar", "loss", 30.0 / step)
            record.record(step)
    return serve_once(base)


def cell(page: Page, name: str) -> Locator:
    return page.locator("tbody").get_by_role("button", name=re.compile(name))


def chooser(page: Page) -> Locator:
    return page.locator(".toolbar label").filter(has_text=re.compile("^File")).locator("select")


def test_the_timeline_is_loud_about_nan_and_frozen_and_leads_to_values(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="All pages").click()
    page.get_by_role("dialog", name="All pages").get_by_role("link", name="Checkpoints").click()
    expect(page.get_by_text("head.weight has NaN or infinity, of these checkpoints first in")).to_be_visible()
    expect(page.locator("tbody th").first).to_have_text("head.weight")
    expect(page.locator("thead th").last).to_have_text("301")  # checkpoint 30, loss 1
    expect(cell(page, "frozen · 20 · frozen: the same bytes")).to_be_visible()
    cell(page, r"head.weight · 30 · \d+ elements? (is|are) NaN or infinite").click()
    side = page.get_by_role("complementary", name="Values of a tensor")
    expect(side.get_by_role("heading", name="head.weight")).to_be_visible()
    expect(side.locator(".plotly")).to_be_visible()
    side.get_by_role("button", name="Table", exact=True).click()
    expect(side.locator("td.strange").first).to_be_visible()
    page.get_by_label("Unchanged only").check()
    expect(page.locator("tbody th")).not_to_have_text(["head.weight"])
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert "frozen,start,,0,unchanged,0,0" in Path(download.value.path()).read_text()
    expect(page.get_by_role("link", name="Curves of job/summary")).to_have_attribute(
        "href", re.compile("scalar.*job/summary")
    )


def test_a_sentence_about_a_tensor_leads_to_it(page: Page, url: str) -> None:
    page.goto(f"{url}checkpoint?m=timeline")
    page.locator("[data-claim='claim.checkpoint.non_finite'] button").first.click()
    side = page.get_by_role("complementary", name="Values of a tensor")
    expect(side.get_by_role("heading", name="head.weight")).to_be_visible()
    expect(page.locator("tbody th").first).to_have_text("head.weight")


def test_tensors_are_searched_sorted_and_compared(page: Page, url: str) -> None:
    page.goto(f"{url}checkpoint?m=tensors&file=./job/ckpt/tinynet-30.ckpt")
    expect(page.get_by_text("20 tensors")).to_be_visible()
    first = page.locator("tbody td.name").first
    expect(first).to_have_class("name strange")
    page.get_by_role("button", name="Shape").click()
    expect(page.get_by_role("columnheader", name="Shape")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("searchbox").fill("bias")
    expect(first).to_contain_text("bias")
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="Compare", exact=True).click()
    chooser(page).select_option("./job/ckpt/tinynet-10.ckpt")
    page.get_by_label("Compare with").select_option("./job/ckpt/tinynet-20.ckpt")
    expect(page.get_by_text("3 unchanged · 17 changed")).to_be_visible()


def test_of_two_files_the_broken_tensor_is_first_and_a_step_is_no_alarm(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    """Tensors that are NaN in both files are unchanged. The others are ordered by their relative change."""
    for name, share in (("net-1900", 1.0), ("net-2000", 1.01)):
        tensors = {key: tensor(Storage(key, 6)) for key in ("broken", "frozen", "slow", "quick")}
        values = {
            "sbroken": np.full(6, np.nan, np.float32).tobytes(),
            "sfrozen": SIX,
            "sslow": (np.frombuffer(SIX, np.float32) * np.float32(share)).tobytes(),
            "squick": (np.frombuffer(SIX, np.float32) * np.float32(share**9)).tobytes(),
        }
        (tmp_path / "base").mkdir(exist_ok=True)
        write(tmp_path / "base" / f"{name}.pt", {**tensors, "step": int(name[4:])}, **values)
    page.goto(f"{serve(tmp_path / 'base')}checkpoint?m=compare")
    expect(page.locator("tbody td.name")).to_have_text(["broken", "quick", "slow", "frozen"])
    expect(page.locator(".banner.bad")).to_have_text(
        "broken (6 of 6 elements in the second) has NaN or infinity in both files."
    )
    expect(page.locator("[data-claim='claim.checkpoint.counters']")).to_contain_text("step: 1900 → 2000")
    expect(page.get_by_role("row", name="broken")).to_contain_text("6 → 6")


def test_of_two_files_only_what_has_another_shape_or_is_in_one_of_them_is_shown(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    folder, ones = tmp_path / "base", np.ones(4, np.float32)
    folder.mkdir()
    np.savez(folder / "net-1.npz", same=ones, head=ones, old=ones)
    np.savez(folder / "net-2.npz", same=ones, head=np.ones(6, np.float32), new=ones)
    page.goto(f"{serve(folder)}checkpoint?m=compare")
    names = page.locator("tbody td.name")
    expect(names).to_have_count(4)
    state = page.get_by_label("State")
    expect(state.locator("option")).to_have_text(
        ["all", "1 unchanged", "1 of another shape", "1 only in the first", "1 only in the second"]
    )
    for value, name in (("shape", "head"), ("first", "old"), ("second", "new")):
        state.select_option(value)
        expect(names).to_have_text([name])
    page.reload()
    expect(names).to_have_text(["new"])
    page.get_by_label("Compare with").select_option("./net-1.npz")
    expect(names).to_have_count(0)
    expect(state.locator("option:checked")).to_have_text("0 only in the second")
    page.get_by_role("button", name="Tensors", exact=True).click()
    expect(names).to_have_count(3)


def test_an_answer_that_comes_late_does_not_undo_what_was_chosen_since(page: Page, url: str) -> None:
    page.goto(f"{url}dump?tab=checkpoints&file=./job/ckpt/tinynet-10.ckpt")  # where they were once
    expect(page.get_by_text("20 tensors")).to_be_visible()
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/checkpoint?*tinynet-30*", hold)
    chooser(page).select_option("./job/ckpt/tinynet-30.ckpt")
    chooser(page).select_option("./job/ckpt/tinynet-20.ckpt")
    expect(page.get_by_text("20 tensors")).to_be_visible()
    for route in waiting:
        route.continue_()
    expect(page.get_by_text("not finite")).to_have_count(0)


def test_a_long_series_shows_some_of_all_or_a_part(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "base" / "long"
    folder.mkdir(parents=True)
    for number in range(450):
        np.savez(folder / f"net-{number}.npz", weight=np.full(4, 1.0 + number, np.float32))
    page.goto(f"{serve(tmp_path / 'base')}checkpoint")
    expect(page.get_by_text("finite in each of these checkpoints that has it")).to_be_visible()
    heads = page.locator("thead th")
    expect(heads).to_have_count(201)
    expect(heads.nth(1)).to_have_text("0")
    expect(heads.last).to_have_text("449")
    shown = page.get_by_label("Shown")
    expect(shown.locator("option")).to_have_text(
        ["200 of 450, evenly chosen", "0 – 199", "200 – 399", "400 – 449"]
    )
    shown.select_option("2")
    expect(heads).to_have_count(51)
    expect(heads.nth(1)).to_have_text("400")
    expect(page).to_have_url(re.compile("part=2"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    """Twelve checkpoints of 40 weights that change a little, of which one jumps once."""
    base = tmp_path_factory.mktemp("trained") / "base"
    (base / "job").mkdir(parents=True)
    chance = np.random.default_rng(0)
    weights: dict[str, Any] = {f"layers.{number}.weight": chance.normal(size=16) for number in range(40)}
    for step in range(20, 260, 20):
        weights = {name: value + 0.02 * chance.normal(size=16) for name, value in weights.items()}
        if step == 160:
            weights["layers.33.weight"] = weights["layers.33.weight"] * 4
        np.savez(base / "job" / f"net-{step}.npz", **weights)
    return serve_once(base)


def test_a_jump_is_named_dark_and_on_top_if_asked(page: Page, trained: str) -> None:
    page.goto(f"{trained}checkpoint")
    expect(page.locator("[data-claim='claim.checkpoint.largest_step']")).to_have_text(
        re.compile(
            r"layers\.33\.weight changed most of 40 floating-point tensors: by [23]\.\d+ times its L2 norm"
            r" from net-140.npz to net-160.npz"
        )
    )
    page.get_by_label("Order").select_option("Largest change first")
    expect(page.locator("tbody th").first).to_have_text("layers.33.weight")
    expect(page).to_have_url(re.compile("sort=largest"))

    def brightness(name: str) -> float:
        colour = cell(page, name).first.evaluate("cell => getComputedStyle(cell).backgroundColor")
        return sum(map(float, re.findall(r"\d+", colour)[:3])) / 3

    jump = brightness("layers.33.weight · 160")
    assert jump < 100
    assert min(brightness(f"layers.33.weight · {step}") for step in (100, 140, 180, 240)) > jump + 50


def test_a_selected_cell_stays_where_it_is_and_back_leaves_it(page: Page, trained: str) -> None:
    page.goto(f"{trained}checkpoint")
    target = cell(page, "layers.3.weight · 160")
    expect(target).to_have_attribute("title", re.compile(r"relative change \S+ since 140$"))
    expect(page.locator("[data-claim='claim.checkpoint.largest_whole']")).to_contain_text(
        "net-20.npz to net-240"
    )
    before = require(target.bounding_box())
    target.click()
    values = page.get_by_role("complementary", name="Values of a tensor")
    expect(values).to_be_visible()
    expect(page.locator("[aria-current='true'][title]")).to_have_attribute(
        "title", re.compile("layers.3.weight · 160")
    )
    assert require(target.bounding_box())["y"] == before["y"]
    page.get_by_role("button", name="Compare first and last").click()
    expect(page).to_have_url(re.compile(r"m=compare.*net-20.npz.*net-240.npz"))
    page.go_back()
    expect(values).to_be_visible()
    expect(target).to_have_attribute("aria-current", "true")
    page.go_back()
    expect(values).to_be_hidden()
    expect(target).to_be_visible()


def test_files_are_listed_by_their_numbers_and_changes_of_all_weights_are_no_alarm(
    page: Page, trained: str
) -> None:
    page.goto(f"{trained}checkpoint?m=compare&file=./job/net-40.npz&second=./job/net-240.npz")
    expect(page.locator("[data-claim='claim.checkpoint.changed_all']")).to_have_text("All 40 tensors differ.")
    expect(page.locator("[data-claim='claim.checkpoint.largest']")).to_contain_text("changed most")
    expect(page.locator(".banner.bad")).to_have_count(0)
    names = [text.partition(" ")[0] for text in chooser(page).locator("option").all_inner_texts()]
    assert names == [f"job/net-{step}.npz" for step in range(20, 260, 20)]


def test_the_values_of_a_tensor_leave_the_table_its_columns(page: Page, trained: str) -> None:
    page.set_viewport_size({"width": 1150, "height": 900})
    page.goto(f"{trained}checkpoint?m=compare&file=./job/net-40.npz&second=./job/net-60.npz")
    page.locator("tbody td.name").first.click()
    expect(page.get_by_role("complementary", name="Values of a tensor")).to_be_visible()
    holder = page.locator(".checkpoint-table .table-scroll")
    assert holder.evaluate("table => table.scrollWidth - table.clientWidth") <= 0


def test_the_cells_of_a_saved_page_have_their_colours(
    page: Page, trained: str, browser: Browser, tmp_path: Path
) -> None:
    page.goto(f"{trained}checkpoint")
    expect(page.locator("[data-claim='claim.checkpoint.largest_step']")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this page").click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    context = browser.new_context(offline=True)
    saved = context.new_page()
    saved.goto(file.as_uri())
    cells = saved.locator(".timeline-cell .moved")
    expect(cells.first).to_be_visible()
    looks = cells.evaluate_all(
        "cells => cells.map((cell) => "
        "[getComputedStyle(cell).backgroundColor, cell.offsetWidth * cell.offsetHeight])"
    )
    assert len(looks) == 40 * 11  # also of rows that were not scrolled to
    assert len({colour for colour, _ in looks}) > 10
    assert min(area for _, area in looks) > 200
    expect(saved.get_by_title(re.compile("layers.3.weight · 40 · relative change"))).to_have_count(1)
    context.close()
