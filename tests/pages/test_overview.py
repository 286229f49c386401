"""One run at a glance: six tiles with real values that lead to their pages, facts, files and damage."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord
from mindinsight.writer.alerts import Level
from tests.claims.situations.alignment import paced, times
from tests.server.formats.tensorboard.conftest import Messages

TILES = {
    "Scalars": ("scalar", "1.126"),
    "Histograms": ("histogram", "conv1.weight/auto"),
    "Tensors": ("tensor", "float32 [10, 8, 2, 2]"),
    "Graph": ("graph", "86 operators"),
    "Data pipeline": ("graph", "MnistDataset"),
    "Images": ("image", "160 × 40"),
}


@pytest.fixture
def lenet(page: Any, samples: str) -> str:
    page.goto(f"{samples}overview?run=./lenet")
    return samples


def tile(page: Any, name: Any) -> Any:
    return page.get_by_role("region", name=name, exact=True)


def test_each_tile_shows_values_and_leads_to_its_page(page: Any, lenet: Any) -> None:
    for name, (view, value) in TILES.items():
        expect(tile(page, name)).to_contain_text(value)
        tile(page, name).get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(rf"{lenet}{view}\?runs=lenet"))
        page.go_back()


def test_the_curve_is_drawn_in_the_runs_colour(page: Any, lenet: Any) -> None:
    line = tile(page, "Scalars").locator(".scatterlayer path.js-line")
    expect(line).to_have_count(2)
    line = line.first
    colour = line.evaluate("line => getComputedStyle(line).stroke")
    swatch = page.locator(".overview-head .swatch").evaluate("box => getComputedStyle(box).backgroundColor")
    assert colour == swatch


def test_the_newest_image_is_a_picture(page: Any, lenet: Any) -> None:
    picture = tile(page, "Images").get_by_role("img")
    expect(picture).to_be_visible()
    size = "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
    assert picture.evaluate(size) == [160, 40]


def test_a_single_value_is_a_dot_and_what_is_not_finite_is_counted(page: Any, samples: Any) -> None:
    page.goto(f"{samples}overview?run=./values")
    expect(tile(page, "Scalars").locator(".scatterlayer .point").first).to_be_visible()
    expect(tile(page, "Histograms").locator(".badge.bad")).to_have_text("NaN 36")


def test_what_was_not_recorded_is_said(page: Any, samples: str) -> None:
    page.goto(samples + "overview?run=./damaged")
    expect(page.get_by_text("Not recorded: ")).to_contain_text("Images")
    expect(tile(page, "Images")).to_be_hidden()


def test_facts_and_results_of_the_training(page: Any, lenet: Any) -> None:
    facts = page.locator("dl.facts")
    expect(facts.filter(has_text="learning_rate")).to_contain_text("0.05")
    expect(facts.filter(has_text="network")).to_contain_text("LeNet")
    expect(facts.filter(has_text="Accuracy")).to_contain_text("0.46")
    expect(page.get_by_role("heading", name="3 files")).to_be_visible()
    expect(page.get_by_text("Everything written so far has been read.")).to_be_visible()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_state_of_a_file_is_seen_without_moving_the_table(page: Any, lenet: Any, lang: str) -> None:
    page.context.add_cookies([{"name": "mindinsight_lang", "value": lang, "url": lenet}])
    page.goto(f"{lenet}overview?run=./lenet")
    table = page.locator(".overview-rest .scroll").filter(has=page.locator(".file-name"))
    expect(table.locator(".badge.ok")).to_have_count(3)
    assert table.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_against_a_baseline_only_what_differs_is_listed(page: Any, lenet: Any) -> None:
    page.get_by_role("button", name="Set as baseline").click()
    expect(page.get_by_role("button", name="Remove as baseline")).to_be_visible()
    page.goto(f"{lenet}overview?run=./landscape")
    expect(page.get_by_role("heading", name="Against lenet")).to_be_visible()
    expect(page.get_by_text("LeNet → ")).to_be_visible()
    page.goto(f"{lenet}overview?run=./lenet")
    page.get_by_role("button", name="Remove as baseline").click()
    expect(page.get_by_role("button", name="Set as baseline")).to_be_visible()


def test_a_job_in_the_address_is_its_first_rank(page: Any, samples: str) -> None:
    page.goto(f"{samples}overview?job=ranks")
    expect(page.get_by_role("heading", name="ranks/rank_0", level=1)).to_be_visible()
    page.goto(f"{samples}overview?job=nowhere")
    expect(page.get_by_role("main")).to_contain_text("nowhere")


def test_ranks_are_one_click_away(page: Any, samples: str) -> None:
    page.goto(f"{samples}overview?run=./ranks/rank_0")
    page.get_by_label("Rank", exact=True).select_option("rank 3")
    expect(page).to_have_url(f"{samples}overview?run=./ranks/rank_3")
    expect(page.get_by_role("heading", level=1)).to_have_text("ranks/rank_3")


def test_a_slow_rank_is_named_beside_another_rank_and_on_the_page_of_the_job(
    page: Page, serve: Any, tmp_path: Path
) -> None:
    paced(tmp_path / "base", {rank: times(rank, 0.32 if rank == 3 else 0.2) for rank in range(4)})
    url = serve(tmp_path / "base")
    slow = re.compile(r"The steps of rank 3 take \d+ % longer than those of the median rank since step \d")
    page.goto(f"{url}overview?run=./job/rank_0")
    expect(page.get_by_text(slow)).to_be_visible()
    page.goto(f"{url}job?job=job")
    expect(page.get_by_text(slow)).to_be_visible()
    ranks = page.get_by_role("table").get_by_role("row")
    expect(ranks.nth(1)).to_contain_text("rank 3")
    expect(ranks.nth(1)).to_contain_text("slow")
    expect(ranks.nth(2)).not_to_contain_text("slow")


def test_gaps_of_the_recording_and_checkpoints_are_named(page: Any, serve: Any, tmp_path: Path) -> None:
    for first in (0, 5):
        with SummaryRecord(str(tmp_path / "base" / "run")) as record:
            for step in range(first, first + 10):
                record.add_value("scalar", "loss", 1.0)
                record.record(step)
    for step in (5, 10):
        np.savez(tmp_path / "base" / "run" / f"net-{step}.npz", weight=np.ones(3))
    url = serve(tmp_path / "base")
    page.goto(f"{url}overview?run=./run")
    recording = page.locator(".overview-recording")
    expect(recording).to_contain_text("5 values of loss at steps 5 to 9 no longer count")
    expect(recording.locator("[data-claim='claim.checkpoint.unsearched']")).to_be_visible()
    page.get_by_role("link", name="2 checkpoints, step 5 … 10").click()
    expect(page).to_have_url(f"{url}checkpoint?file=./run/net-10.npz")
    expect(page.get_by_role("main")).to_contain_text("weight")
    page.get_by_role("button", name="Timeline").click()
    expect(page.locator("tbody th")).to_have_text(["weight"])
    page.goto(f"{url}overview?run=./run")
    expect(recording).to_contain_text("none of the 2 that were searched has NaN or infinity")


def test_a_file_that_grows_is_followed(page: Any, serve: Any, sample_base: Any, tmp_path: Path) -> None:
    """Half of a run, then all of it, without a reload."""
    whole = next((sample_base / "lenet").glob("*_MS"))
    part = sample_base / "growing" / whole.name
    part.parent.mkdir()
    part.write_bytes(whole.read_bytes()[:200_000])
    page.goto(serve(sample_base) + "overview?run=./growing")
    expect(tile(page, "Scalars")).to_contain_text("last")
    expect(tile(page, "Scalars")).not_to_contain_text("1.126")
    with part.open("ab") as file:  # a copy would cut the file short first
        file.write(whole.read_bytes()[200_000:])
    expect(tile(page, "Scalars")).to_contain_text("1.126")


def test_texts_of_files_are_never_markup(page: Any, serve: Any, sample_base: Any) -> None:
    (sample_base / "<img src=x onerror=alert(1)>").mkdir()
    evil = sample_base / "<img src=x onerror=alert(1)>"
    for path in (sample_base / "values").iterdir():
        shutil.copy(path, evil)
    url = serve(sample_base)
    page.goto(url)
    expect(page.get_by_role("link", name="<img src=x onerror=alert(1)>")).to_be_visible()
    page.get_by_role("link", name="<img src=x onerror=alert(1)>").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("<img src=x onerror=alert(1)>")


def test_the_graph_is_that_of_its_page_with_the_same_scopes_open(page: Any, lenet: Any) -> None:
    drawing = tile(page, "Graph").get_by_role("img", name="Graph")
    expect(drawing.locator("g.frame > .title")).to_have_text(["Default", "network-WithLossCell"])
    expect(drawing.locator("g.closed", has_text="_backbone-LeNet")).to_have_count(1)
    shown, viewed = drawing.bounding_box(), drawing.evaluate("one => one.viewBox.baseVal.height")
    assert shown["height"] / viewed > 0.5  # legible: not all of it, as a speck


def test_what_no_page_draws_is_listed_and_rare_tiles_need_data(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    runs = Path(__file__).parents[1] / "data" / "tfevents" / "runs"
    shutil.copytree(runs / "torch", tmp_path / "base" / "torch")
    shutil.copytree(runs / "x", tmp_path / "base" / "x")
    url = serve(tmp_path / "base")
    page.goto(f"{url}overview?run=./torch")
    table = page.get_by_role("region", name="Recorded and not drawn")
    expect(table.get_by_role("row").nth(1)).to_contain_text("meshmesh_VERTEX")
    expect(tile(page, "PR curves")).to_contain_text("average precision 0.4132")
    expect(tile(page, "Audio")).to_contain_text("8000 Hz")
    page.goto(f"{url}overview?run=./x")
    expect(tile(page, "Scalars")).to_be_visible()
    expect(tile(page, "Audio")).to_be_hidden()
    expect(page.get_by_role("region", name="Recorded and not drawn")).to_have_count(0)


def test_rounded_integers_are_said_beside_their_file(page: Page, serve: Any, tmp_path: Path) -> None:
    tf = Messages()
    value = tf.tensor("tokens", 9, [], tf.field(10, 2**53 + 1), plugin=tf.plugin("scalars"))
    path = tmp_path / "base" / "a" / "events.out.tfevents.1700000000.host.1.0"
    path.parent.mkdir(parents=True)
    path.write_bytes(tf.record(1, value) + tf.record(2, value))
    page.goto(f"{serve(tmp_path / 'base')}overview?run=./a")
    expect(page.get_by_text("2 integers above 2^53 were rounded to the nearest double")).to_be_attached()
    expect(page.get_by_text("rounded_integer")).to_have_count(0)


def test_a_run_with_settings_alone_has_no_tile_of_a_pipeline(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    with SummaryRecord(tmp_path / "base" / "run") as record:
        record.add_value("scalar", "loss", 1.0)
        record.add_value("custom_lineage_data", "settings", {"rate": 0.1})
        record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}overview?run=./run")
    expect(page.get_by_text("Not recorded: ")).to_contain_text("Data pipeline")
    expect(page.get_by_role("region", name="Scalars", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="Data pipeline", exact=True)).to_be_hidden()


def test_an_error_that_the_training_raised_leads_to_its_cause(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    levels: tuple[tuple[str, Level], ...] = (("broken", "error"), ("warned", "warning"))
    for name, level in levels:
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            record.add_value("scalar", "accuracy", 0.5, step=1)
            record.alert("queue is empty", "no batch for a minute", level=level, step=7)
    address = serve(tmp_path / "base")
    page.goto(f"{address}overview?run=./broken")
    line = page.locator(".overview-divergence")
    expect(line).to_contain_text("Error")
    expect(line).to_contain_text("Step 7")
    line.get_by_role("link", name="queue is empty").click()
    expect(page).to_have_url(re.compile(r"/scalar\?.*at=7"))
    page.goto(f"{address}overview?run=./warned")
    expect(page.get_by_role("heading", name="warned")).to_be_visible()
    expect(page.get_by_text("Everything written so far has been read")).to_be_visible()
    expect(page.locator(".overview-divergence")).to_be_hidden()


def test_a_directory_of_dumps_is_no_running_training_and_is_not_opened_by_default(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    data = Path(__file__).parents[1] / "data"
    shutil.copytree(data / "events" / "lenet", tmp_path / "base" / "lenet")
    shutil.copytree(data / "dumps" / "ms_sync_v2_0_names", tmp_path / "base" / "dumped")
    url = serve(tmp_path / "base")
    page.goto(f"{url}overview")
    expect(page.get_by_role("heading", name="lenet", exact=True)).to_be_visible()
    page.goto(url)
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="base", exact=True))
    expect(row).to_contain_text("no event files")
    expect(page.get_by_text(re.compile(r"[1-9] running"))).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
def test_wide_numbers_stay_in_the_tile_of_tensors(
    page: Page, serve: Callable[..., str], tmp_path: Path, width: int
) -> None:
    with SummaryRecord(tmp_path / "base" / "run") as record:
        record.add_value("tensor", "weights", -1.23e-14 * np.arange(1, 65, dtype=np.float64).reshape(8, 8))
        record.record(1)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{serve(tmp_path / 'base')}overview?run=run")
    table = tile(page, "Tensors").locator("table.cells")
    expect(table).to_be_visible()
    sides = "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]"
    (left, right), (first, last) = tile(page, "Tensors").evaluate(sides), table.evaluate(sides)
    assert left < first < last < right


def test_boxes_of_a_pipeline_are_counted_apart_from_its_operations(page: Page, samples: str) -> None:
    page.goto(f"{samples}graph?run=lenet&view=dataset")
    notes = page.locator(".graph-notes")
    expect(notes).to_have_text("11 boxes: operations, their functions and samplers")
