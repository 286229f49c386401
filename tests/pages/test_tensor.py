"""Tensors: slices as tables and maps, their facts, downloads, and slices that cannot be."""

import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .shown_text import shown_texts


def cells(page: Any) -> list[Any]:
    rows = ".tensor-table tbody tr"
    expect(page.locator(rows).first).to_be_visible()
    return [[number(text) for text in row.split("\t")[1:]] for row in shown_texts(page, rows)]


def number(text: Any) -> float:
    return float(text.replace("−", "-"))


def take(page: Any, dims: Any) -> None:
    box = page.get_by_role("textbox", name="Slice")
    box.fill(dims)
    page.keyboard.press("Enter")


def fact(page: Any, column: Any, name: Any) -> Any:
    """What the table of statistics says in a column, which may not be there."""
    table = page.get_by_role("table", name="Statistics")
    expect(table.get_by_role("columnheader", name=column)).to_be_visible()
    position = table.get_by_role("columnheader").all_text_contents().index(column)
    return table.get_by_role("row").filter(has_text=name).locator("td").nth(position)


def download(page: Any, kind: Any) -> bytes:
    with page.expect_download() as started:
        page.get_by_role("link", name=kind).click()
    return started.value.path().read_bytes()


def test_a_slice_is_a_table_of_the_recorded_values(page: Any, samples: Any) -> None:
    page.goto(f"{samples}tensor?runs=lenet&run=./lenet&tag=Tensor")
    expect(page.get_by_text("float32 [10, 8, 2, 2]")).to_be_visible()
    whole = np.load(io.BytesIO(download(page, "NPY")))
    assert cells(page) == pytest.approx(whole[0, 0], abs=1e-4)
    take(page, "[2,:,1,:]")
    expect(page.locator(".tensor-table tbody tr")).to_have_count(8)
    assert np.array(cells(page)) == pytest.approx(whole[2, :, 1, :], abs=1e-4)
    assert whole.astype(float).sum() == pytest.approx(512.1266348734498)
    page.reload()
    assert np.array(cells(page)) == pytest.approx(whole[2, :, 1, :], abs=1e-4)
    rows = download(page, "CSV").decode().split()
    assert len(rows) == 8


def dimension(page: Any, number: Any) -> Any:
    return page.get_by_role("textbox", name=f"Dimension {number}:")


def test_each_dimension_has_a_box_beside_the_slice(page: Any, samples: Any) -> None:
    page.goto(f"{samples}tensor?runs=lenet&dims=[2,:,1,:]")
    whole = np.load(io.BytesIO(download(page, "NPY")))
    assert np.array(cells(page)) == pytest.approx(whole[2, :, 1, :], abs=1e-4)
    expect(page.get_by_role("group", name="Slice by dimension").get_by_role("textbox")).to_have_count(4)
    expect(dimension(page, 0)).to_have_value("2")
    expect(dimension(page, 1)).to_have_value(":")
    dimension(page, 1).fill("5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Slice")).to_have_value("[2,5,1,:]")
    expect(page.locator(".tensor-table tbody td")).to_have_count(2)
    dimension(page, 2).fill("")
    page.keyboard.press("Enter")
    expect(dimension(page, 2)).to_have_value(":")
    expect(page.locator(".tensor-table tbody td")).to_have_count(4)
    assert np.array(cells(page)) == pytest.approx(whole[2, 5], abs=1e-4)
    dimension(page, 0).press("ArrowUp")
    expect(page.get_by_role("textbox", name="Slice")).to_have_value("[3,5,:,:]")
    expect(dimension(page, 0)).to_be_focused()
    take(page, "[1,0,:,:]")
    expect(dimension(page, 0)).to_have_value("1")


def test_a_held_step_and_going_back_are_in_the_address(page: Any, samples: Any, expected: Any) -> None:
    known = expected("lenet", "tensor", "Tensor")
    page.goto(f"{samples}tensor?runs=lenet&dims=[2,:,1,:]")
    step = page.get_by_role("spinbutton", name="Step")
    step.fill("1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("at=1"))
    page.reload()
    expect(step).to_have_value("1")
    page.evaluate("history.pushState(null, '', 'tensor?runs=lenet&m=heat&dims=[0,:,:,1]')")
    page.go_back()
    page.go_forward()
    expect(page.get_by_role("button", name="Heat map")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("textbox", name="Slice")).to_have_value("[0,:,:,1]")
    expect(step).to_have_value(str(known["steps"][-1]))
    page.go_back()
    expect(page.get_by_role("button", name="Table")).to_have_attribute("aria-pressed", "true")
    expect(step).to_have_value("1")
    expect(page.get_by_role("textbox", name="Slice")).to_have_value("[2,:,1,:]")


def test_digits_and_scientific_notation(page: Any, samples: Any) -> None:
    page.goto(f"{samples}tensor?runs=lenet&dims=[2,:,1,:]")
    cells(page)
    page.get_by_role("spinbutton", name="Digits").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(".tensor-table td").filter(has_text="0.").first).to_have_text(
        re.compile(r"^−?0\.\d\d$")
    )
    page.get_by_label("Scientific").check()
    expect(page.locator(".tensor-table tbody td").first).to_contain_text("e+")
    page.reload()
    expect(page.locator(".tensor-table tbody td").first).to_contain_text("e+")


def test_every_step_and_tag_is_reached(page: Any, samples: Any, expected: Any) -> None:
    page.goto(f"{samples}tensor?runs=lenet,values")
    known = expected("lenet", "tensor", "Tensor")
    page.get_by_label("Tag").select_option("Tensor")
    expect(page.get_by_role("spinbutton", name="Step")).to_have_value(str(known["steps"][-1]))
    page.get_by_role("spinbutton", name="Step").fill("1")
    page.keyboard.press("Enter")
    expect(fact(page, "The whole tensor", "Values")).to_have_text("320")
    page.get_by_label("Tag").select_option("tensor/nan_inf")
    expect(page.get_by_text("float32 [2, 3]")).to_be_visible()
    assert parse_qs(urlsplit(page.url).query)["tag"] == ["tensor/nan_inf"]


def test_a_slice_has_its_statistics_beside_those_of_the_tensor(page: Any, samples: Any) -> None:
    page.goto(f"{samples}tensor?runs=lenet&run=./lenet&tag=Tensor")
    take(page, "[2,:,1,:]")
    expect(fact(page, "This slice", "Values")).to_have_text("16")
    expect(fact(page, "The whole tensor", "Values")).to_have_text("320")
    page.goto(f"{samples}tensor?runs=values&run=./values&tag=tensor/nan_inf")
    expect(fact(page, "The whole tensor", "Values")).to_have_text("6")
    expect(page.get_by_role("columnheader", name="This slice")).to_have_count(0)


def test_what_is_not_finite_is_loud(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}tensor?runs=values&run=./values&tag=tensor/nan_inf")
    expect(page.locator(".tensor-table td.strange")).to_have_text(["NaN", "+Inf", "−Inf"])
    for name in ("NaN", "+Inf", "−Inf"):
        expect(fact(page, "The whole tensor", name)).to_have_text("1")
    page.get_by_role("button", name="Heat map").click()
    numbers, others = chart("tensor/nan_inf [:,:]").until(lambda traces: len(traces) == 2)
    assert [name for row in others["text"] for name in row if name] == ["NaN", "+Inf", "−Inf"]
    filled = np.isfinite(np.array(others["z"], float))
    assert filled.sum() == 3 and not (filled & np.isfinite(np.array(numbers["z"], float))).any()
    page.get_by_role("button", name="Over steps").click()
    expect(page.locator(".badge.bad")).to_have_text("NaN 3 · +Inf 3 · −Inf 3 · since step 1")


@pytest.mark.parametrize("dims", ["[0,0]", "[:,:,:,:]", "[99,0,:,:]", "__import__"])
def test_a_slice_that_cannot_be_says_why_and_can_be_mended(page: Any, samples: Any, dims: str) -> None:
    page.goto(f"{samples}tensor?runs=lenet")
    cells(page)
    with page.expect_response(lambda answer: "v2/tensor/slice" in answer.url and answer.status == 422):
        take(page, dims)
    expect(page.get_by_role("heading", name="Invalid slice")).to_be_visible()
    take(page, "[0,0,:,:]")
    assert len(cells(page)) == 2


def test_the_slice_as_a_map_and_the_spread_over_the_steps(
    page: Any, samples: Any, chart: Any, expected: Any
) -> None:
    page.goto(f"{samples}tensor?runs=lenet&dims=[2,:,1,:]")
    page.get_by_role("button", name="Heat map").click()
    (heat,) = chart("Tensor [2,:,1,:]").traces()
    assert np.array(heat["z"]).shape == (8, 2)
    page.get_by_role("button", name="Over steps").click()
    (spread,) = chart("Tensor").traces()
    assert spread["x"] == expected("lenet", "tensor", "Tensor")["steps"]


def scroll_to_the_end(page: Any) -> None:
    table = page.locator(".tensor-scroll")
    table.evaluate("it => it.scrollTo(it.scrollWidth, it.scrollHeight)")


def test_only_the_visible_cells_of_a_large_slice_exist(page: Any, serve: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        record.add_value("tensor", "wide", np.arange(200 * 200, dtype=np.float32).reshape(200, 200))
        record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}tensor")
    cell = page.locator(".tensor-table tbody td")
    expect(cell.first).to_have_text("0")
    assert cell.count() < 2000
    scroll_to_the_end(page)
    last = page.locator(".tensor-table").get_by_role("cell", name=str(200 * 200 - 1), exact=True)
    expect(last).to_be_in_viewport()
    expect(page.locator(".tensor-table tr").last).to_have_attribute("aria-rowindex", "201")
    expect(page.get_by_role("columnheader", name="199", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("rowheader", name="199", exact=True)).to_be_in_viewport()
    assert cell.count() < 2000
    page.locator(".tensor-scroll").evaluate("it => it.scrollTo(0, 0)")
    expect(page.locator(".tensor-table").get_by_role("cell", name="0", exact=True)).to_be_in_viewport()


@pytest.mark.parametrize("outlier", [12345.0, 1.0])
def test_an_outlier_leaves_the_other_cells_their_colours(
    page: Any, serve: Any, chart: Any, tmp_path: Path, outlier: float
) -> None:
    values = np.random.default_rng(5).normal(size=(20, 20)).astype(np.float32)
    values[3, 4] = outlier
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        record.add_value("tensor", "weight", values)
        record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}tensor")
    expect(page.locator(".tensor-table tbody td").first).to_be_visible()
    far = outlier > 10
    expect(page.get_by_text("1 value far beyond is marked")).to_have_count(int(far))
    expect(page.locator(".tensor-table td.beyond")).to_have_text(["12345"] if far else [])
    backgrounds = "cells => new Set(cells.map((it) => it.style.background)).size"
    assert page.locator(".tensor-table tbody td").evaluate_all(backgrounds) > 10
    page.get_by_role("button", name="Heat map").click()
    heat, *beyond = chart("weight [:,:]").until(lambda traces: len(traces) == 1 + far)
    assert [name for trace in beyond for row in trace["text"] for name in row if name] == (
        ["12345"] if far else []
    )
    assert heat["zmax"] < 10


def test_large_tensors_are_looked_at_through_a_window(page: Any, serve: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        record.add_value("tensor", "wide", np.arange(250 * 450, dtype=np.float32).reshape(250, 450))
        record.record(1)
        record.flush()
        page.goto(f"{serve(tmp_path / 'base')}tensor")
        expect(page.get_by_text("of 250, columns 0 to")).to_be_visible()
        page.get_by_role("button", name="Columns to the right").click()
        page.get_by_role("button", name="Columns to the right").click()
        expect(page.get_by_text("to 449 of 450")).to_be_visible()
        assert cells(page)[0][0] == 400
        scroll_to_the_end(page)
        expect(
            page.locator(".tensor-table").get_by_role("cell", name=str(199 * 450 + 449), exact=True)
        ).to_be_in_viewport()
        page.get_by_role("button", name="Rows below").click()
        expect(page.get_by_text("to 249 of 250")).to_be_visible()
        scroll_to_the_end(page)
        expect(
            page.locator(".tensor-table").get_by_role("cell", name=str(250 * 450 - 1), exact=True)
        ).to_be_in_viewport()
        page.reload()
        expect(page.get_by_text("to 249 of 250, columns 400 to 449 of 450")).to_be_visible()
        record.add_value("tensor", "wide", np.zeros((2, 2), np.float32))
        record.add_value("tensor", "another", np.zeros((2, 2), np.float32))
        record.record(2)
        record.flush()
        expect(page.get_by_text("float32 [2, 2]")).to_be_visible()
        expect(page.get_by_label("Tag").locator("option")).to_have_count(2)


def test_late_steps_of_one_tensor_do_not_replace_those_of_another(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        for step in range(3):
            record.add_value("tensor", "long", np.zeros((4, 2), np.float32))
            record.record(step)
        record.add_value("tensor", "short", np.ones((2, 2), np.float32))
        record.record(3)
        record.flush()
        page.goto(f"{serve(tmp_path / 'base')}tensor?tag=long")
        expect(page.get_by_text("float32 [4, 2]")).to_be_visible()
        held = []

        def hold(route: Any) -> None:
            held.append(route)

        page.route("**/v2/tensor/steps?*tag=long*", hold)
        with page.expect_request("**/v2/tensor/steps?*tag=long*"):
            record.add_value("tensor", "long", np.zeros((4, 2), np.float32))
            record.record(4)
            record.flush()
        page.get_by_label("Tag").select_option("short")
        expect(page.get_by_text("float32 [2, 2]")).to_be_visible()
        assert held
        for late in held:
            late.continue_()
        page.unroute("**/v2/tensor/steps?*tag=long*")
        with page.expect_request("**/v2/tensor/steps?*tag=short*"):
            record.add_value("tensor", "short", np.full((2, 2), 7, np.float32))
            record.record(5)
            record.flush()
        expect(page.get_by_role("spinbutton", name="Step")).to_have_value("5")
        expect(page.get_by_text("float32 [2, 2]")).to_be_visible()
        expect(page.locator(".tensor-table tbody tr").first).to_have_text("077")


def test_pages_without_tensors_say_what_to_do(page: Any, samples: Any) -> None:
    page.goto(f"{samples}tensor?runs=images")
    expect(page.get_by_role("heading", name=re.compile("runs? ha(s|ve) tensors"))).to_be_visible()
