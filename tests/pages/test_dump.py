"""The page of dumps: from a NaN to the line that made it, tables, trees, checks, comparisons."""

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from mindinsight.writer import SummaryRecord
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.narrowing import require

DUMPS = Path(__file__).parents[1] / "data" / "dumps"


def write_dumps(base: Path) -> Path:
    """Two equal dumps, with a NaN in one of them, and checkpoints."""
    for name in ("broken", "healthy"):
        shutil.copytree(DUMPS / "ms_sync_v2_0_names", base / name / "dump")
    step = base / "broken" / "dump" / "rank_0" / "Net" / "0" / "1"
    (file,) = step.glob("MatMul.MatMul-op66.*.output.0.*")
    values = np.load(file)
    values[0, 0] = np.nan
    np.save(file, values)
    shutil.copytree(DUMPS / "ckpt", base / "weights")
    for number in range(8):  # more than a select is good for
        rank = base / f"more_{number}" / "dump" / "step0" / "rank0"
        rank.mkdir(parents=True)
        (rank / "dump.json").write_text('{"data": {}}')
    return base


@pytest.fixture(scope="module")
def url(serve_once: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return serve_once(write_dumps(tmp_path_factory.mktemp("dumps") / "base"))


@pytest.fixture
def shown(page: Any, url: Any) -> Callable[..., Any]:
    """shown("tab=check") opens the page of the broken dump."""

    def show(query: str = "") -> Any:
        page.goto(f"{url}dump?dump=./broken/dump&step=1&{query}")
        expect(page.get_by_role("heading", name="Dumps")).to_be_visible()
        return page

    return show


def side(page: Any) -> Any:
    return page.get_by_role("complementary", name="Operator")


def test_a_late_list_of_tensors_pushes_nothing_down(page: Page, url: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v2/dump/tensors?*", hold)
    with page.expect_request("**/v2/dump/tensors?*"):
        page.goto(f"{url}dump?dump=./broken/dump&step=1")
    filters = page.get_by_role("searchbox", name="Operator")
    expect(page.get_by_role("button", name="Tensors")).to_be_visible()
    expect(filters).to_be_hidden()
    held[0].continue_()
    expect(filters).to_be_visible()
    expect(page.get_by_role("row", name="MatMul").first).to_be_visible()


def test_four_clicks_from_a_nan_to_the_line_that_made_it(page: Any, url: Any) -> None:
    clicks = []
    page.expose_function("clicked", lambda: clicks.append(1))
    page.add_init_script("addEventListener('click', () => window.clicked(), true)")
    page.goto(url)
    page.get_by_role("link", name="Dumps", exact=True).click()
    page.get_by_role("button", name="Find the first fault").click()
    expect(page.get_by_text("Introduced here")).to_be_visible()
    expect(page.get_by_text("produced non-finite values from finite inputs.")).to_be_visible()
    expect(page.get_by_text("NaN: 1, Inf: 0, elements: 108")).to_be_visible()
    chain = page.locator(".fault-links li")
    expect(chain.first).to_contain_text("inputs0 input or parameter")
    expect(chain.last).to_contain_text("1 non-finite")
    expect(page.locator(".fault-chain g.ill.fault", has_text="MatMul-op66")).to_have_count(1)
    page.get_by_role("button", name=re.compile("MatMul-op66$")).first.click()
    expect(side(page).get_by_role("heading", level=2)).to_contain_text(
        "fc2-Dense/gradMatMul-expand/MatMul-op66"
    )
    expect(side(page).locator("figure")).to_contain_text("net.py:14")
    expect(side(page).locator("figure pre")).to_have_text("return self.fc2(x)")
    expect(page.get_by_role("spinbutton", name="Step")).to_have_value("1")
    assert 0 < len(clicks) <= 4


def test_a_recorded_fault_is_explained_by_the_value_that_came_in(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    with zipfile.ZipFile(DUMPS / "samples" / "recorded_torch.zip") as archive:
        archive.extractall(tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./recorded_torch&tab=check")
    expect(page.get_by_text("Default/sqrt-op0 produced non-finite values")).to_be_visible()
    expect(page.get_by_text("sqrt received -100.993 at [0, 0].")).to_be_visible()
    expect(page.get_by_text("That value came from Default/sub-op0.")).to_be_visible()
    expect(page.get_by_text("return torch.sqrt(hidden - 100)", exact=True)).to_be_visible()
    expect(page.locator(".fault-links li").nth(1)).to_contain_text("addmm −0.9927 … −0.003101")
    expect(page.locator(".fault-links .strange")).to_have_count(1)  # not the weight, broken by the update


def test_no_all_clear_for_what_was_not_judged(page: Any, serve: Any, tmp_path: Path) -> None:
    rank = tmp_path / "base" / "job" / "dump" / "step0" / "rank0"
    rank.mkdir(parents=True)
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2]}
    entry = {"input_args": [tensor | {"Max": 1.0, "Min": 0.0}], "input_kwargs": {}, "output": [tensor]}
    (rank / "dump.json").write_text(json.dumps({"data": {"Torch.log.0.forward": entry}}))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./job/dump&step=0&tab=check")
    expect(page.get_by_text("1 of 2 tensors is finite. The others could not be judged.")).to_be_visible()
    expect(page.get_by_text("1 tensor has neither values nor statistics to judge it by.")).to_be_visible()
    (rank / "dump.json").write_text('{"data": {"Torch.log.0.forward": {"input_args": [{"ty')
    page.reload()
    expect(page.get_by_text("Nothing could be searched: no tensors were found.")).to_be_visible()
    expect(page.get_by_text("1 file could not be read")).to_be_visible()


def test_rows_that_are_no_faults_are_folded_below_a_check_that_found_none(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    """Two networks of which one is trained at every other step."""
    names = [f"{net}.fc{layer}.weight" for net in "dg" for layer in (1, 2)]
    graph = GraphBuilder("Net")
    for name in names:
        graph.output(graph.node("relu", [graph.parameter(name, (64,))], shape=(64,)))
    dump = Dump(tmp_path / "base" / "job" / "dump", graph=graph)
    values = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    for number in range(6):
        step = dump.iteration(number)
        step.output("Default/relu-op0", np.abs(values))
        for name in names:
            step.parameter(name, values * np.float32(1 + 0.01 * (number if name[0] == "g" else number // 2)))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./job/dump&tab=check&step=1")
    page.get_by_role("button", name="Check for common faults").click()
    expect(page.get_by_text("None of the conditions that could be checked is met.")).to_be_visible()
    rows = page.locator(".dump-hits")
    expect(rows).to_be_hidden()
    page.get_by_text("Met a condition, but is no fault by the notes above").click()
    expect(rows).to_contain_text("fc1.weight")


def test_the_table_is_filtered_sorted_and_kept_in_the_address(shown: Callable[..., Any]) -> None:
    page = shown()
    expect(page.get_by_text("99 tensors", exact=True)).to_be_visible()
    page.get_by_role("checkbox", name="NaN or Inf only").check()
    expect(page.get_by_text("99 tensors · 1 selected")).to_be_visible()
    rows = page.locator(".dump-table tbody tr[data-key]")
    expect(rows).to_have_count(1)
    page.reload()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("searchbox", name="Source line").fill("net.py:14")
    expect(page.get_by_text("99 tensors · 24 selected")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("button", name="L2 norm").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("L2 norm")
    expect(rows.first).to_contain_text("conv1-Conv2d/Conv2D-op51")


def test_operators_are_walked_in_both_directions(shown: Callable[..., Any]) -> None:
    page = shown("graph=Net/0&operator=MatMul-op66")
    page.locator(".dump-links button", has_text="ApplyMomentum").click()
    expect(side(page).get_by_role("heading", level=2)).to_contain_text("ApplyMomentum-op73")
    page.locator(".dump-links button", has_text="MatMul-op66").dispatch_event("click")
    expect(side(page).get_by_role("heading", level=2)).to_contain_text("MatMul-op66")
    side(page).get_by_role("button", name="Close").click()
    expect(side(page)).to_be_hidden()


def test_a_tensor_is_looked_into(shown: Callable[..., Any]) -> None:
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


def test_one_click_goes_to_the_first_nan_and_to_the_extremes_of_a_tensor(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    values = np.zeros((2, 3, 450), np.float32)
    values[1, 2, 405], values[0, 1, 3], values[1, 0, 7] = np.nan, -5, 9
    step = Dump(tmp_path / "base" / "dump").iteration(0)
    step.output("Default/fc/MatMul-op0", values)
    step.output("Default/fc/ReLU-op0", np.abs(values[0]))
    url = f"{serve(tmp_path / 'base')}dump?dump=./dump&tensor=output/0&graph=Net/0&operator=Default_fc_"
    page.goto(f"{url}MatMul-op0")
    page.get_by_role("button", name="First NaN at [1, 2, 405]").click()
    marked = page.locator(".tensor-table td.marked")
    expect(marked).to_have_text("NaN")
    expect(marked).to_be_in_viewport()
    expect(page.get_by_role("textbox", name="Slice")).to_have_value("[1,:,:]")
    expect(page.get_by_role("button", name="Table", exact=True)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Min at [0, 1, 3]").click()
    expect(marked).to_have_text("−5")
    page.get_by_role("textbox", name="Slice").fill("[1,:,:]")
    page.get_by_role("textbox", name="Slice").press("Enter")
    expect(marked).to_have_count(0)
    page.goto(f"{url}ReLU-op0")
    expect(page.get_by_role("button", name="Max at [1, 3]")).to_be_visible()
    expect(page.get_by_role("button", name="First NaN")).to_have_count(0)


def test_what_is_being_written_stays_while_statistics_are_counted(shown: Callable[..., Any]) -> None:
    page = shown("")

    def counting(route: Any) -> None:
        answer = route.fetch()
        answer_body = answer.json()
        for tensor in answer_body["tensors"]:
            tensor["known"] = bool(counted)
        route.fulfill(json=answer_body)

    counted = []
    page.route("**/v2/dump/operator?*", counting)
    page.goto(page.url + "&graph=Net/0&operator=MatMul-op66&tensor=output/0")
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.locator(".tensor-table tbody td").first).to_have_text("NaN")
    box = page.get_by_role("textbox", name="Slice")
    box.fill("[1:3,0]")
    with page.expect_response("**/v2/dump/operator?*"):
        counted.append(True)
    expect(box).to_have_value("[1:3,0]")
    expect(box).to_be_focused()
    box.press("Enter")
    expect(page.locator(".tensor-table tbody td")).to_have_count(2)


def test_the_tree_leads_to_what_is_not_finite(shown: Callable[..., Any]) -> None:
    page = shown("tab=tree")
    path = "Gradients/Default/network-WithLossCell/_backbone-Net/fc2-Dense/gradMatMul-expand"
    for name in path.split("/"):
        row = page.get_by_role("treeitem").filter(has=page.get_by_text("1 puts out NaN or Inf")).last
        expect(row.get_by_role("button", name=name, exact=True).first).to_be_visible()
        row.get_by_role("button", name=name, exact=True).last.click()
    leaf = page.get_by_role("button", name="MatMul-op66")
    leaf.click()
    expect(side(page)).to_contain_text("return self.fc2(x)")
    expect(page.locator(".dump-tree .row.current")).to_be_visible()  # the tree was drawn again
    expect(leaf).to_be_focused()


def test_the_tree_says_that_a_parameter_holds_what_is_not_finite(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    step = Dump(tmp_path / "base" / "dump").iteration(0)
    step.parameter("fc.weight", np.array([[1.0, np.nan]], np.float32))
    step.parameter("fc.bias", np.array([1.0, 2.0], np.float32))
    step.output("Default/fc/MatMul-op0", np.array([1.0, np.inf], np.float32))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=tree")
    entries = page.get_by_role("tree").get_by_role("treeitem")
    expect(entries).to_have_text(
        [
            re.compile("fc_weight.*1 holds NaN or Inf"),
            re.compile("fc_bias *Parameter$"),
            re.compile("MatMul-op0.*1 puts out NaN or Inf"),
        ]
    )


def test_common_faults_and_conditions_of_ones_own(shown: Callable[..., Any]) -> None:
    page = shown("tab=check")
    page.get_by_role("button", name="Check for common faults").click()
    hits = page.locator(".dump-hits tbody tr")
    expect(hits).to_have_count(1)  # two biases that grow from nearly zero are none
    expect(hits.first).to_contain_text("NaN or Inf in a tensor")
    page.get_by_label("Custom").select_option(label="Weight too large")
    page.get_by_label("max_gt").fill("0.0216")
    page.get_by_label("max_gt").press("Tab")
    page.get_by_role("button", name="Run these checks").click()
    expect(page.get_by_text("2 hits")).to_be_visible()
    expect(hits.first).to_contain_text(re.compile(r"maximum 0\.02\d+ is above 0\.0216"))
    page.locator(".dump-hits button").last.click()
    expect(side(page).get_by_role("heading", level=2)).to_have_text("fc1.weight")


def test_hits_of_a_check_have_one_row_for_each_condition_and_operator(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    """A dead activation and its view, at three steps: the gradient vanishes as well."""
    graph = GraphBuilder("Net")
    graph.output(graph.node("t", [graph.node("relu", shape=(4, 8))], shape=(8, 4)))
    with graph.scope("/Gradients/Default"):
        graph.node("relu_backward", shape=(4, 8))
    dump, zeros = Dump(tmp_path / "base" / "dump", graph=graph), np.zeros((4, 8), np.float32)
    for number in range(3):
        step = dump.iteration(number)
        for name in ("Default/relu-op0", "Default/t-op0", "Gradients/Default/relu_backward-op0"):
            step.output(name, zeros.T if "/t-" in name else zeros)
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=check")
    page.get_by_role("button", name="Check for common faults").click()
    expect(page.get_by_text("2 rows by condition and operator")).to_be_visible()
    rows = page.locator(".dump-hits tbody tr")
    expect(rows).to_have_text([re.compile(r"Only zeros.*0, 1, 2.*relu-op0"), re.compile("relu_backward-op0")])


def test_rows_of_one_condition_are_folded_and_an_address_starts_the_check(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    """Eight layers are dead at the same steps. Whoever comes from an explanation need not press a button."""
    graph = GraphBuilder("Net")
    for layer in range(8):
        with graph.scope(f"/Default/{layer}-ReLU"):
            graph.output(graph.node("relu", shape=(4, 8)))
    dump, zeros = Dump(tmp_path / "base" / "dump", graph=graph), np.zeros((4, 8), np.float32)
    for number in range(3):
        step = dump.iteration(number)
        for layer in range(8):
            step.output(f"Default/{layer}-ReLU/relu-op{layer}", zeros)
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=check&check=common")
    rows = page.locator(".dump-hits tbody tr")
    expect(rows).to_have_count(4)
    page.get_by_role("button", name="5 more operators with the same condition").click()
    expect(rows).to_have_count(8)
    expect(rows.last).to_contain_text("relu-op7")


def test_a_dump_of_one_late_step_leads_to_the_rank_of_its_fault(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    """The address has the step as soon as the dump is open, which nobody chose."""
    for rank in range(2):
        step = Dump(tmp_path / "base" / "dump", rank=rank).iteration(40)
        step.input("Default/relu-op0", np.ones(4, np.float32))
        step.output("Default/relu-op0", np.full(4, np.nan if rank else 1.0, np.float32))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump")
    expect(page.get_by_label("Rank")).to_have_value("0")
    page.get_by_role("button", name="Find the first fault").click()
    expect(page.get_by_label("Rank")).to_have_value("1")
    page.get_by_label("Rank").select_option("0")
    expect(page.get_by_text("relu-op0 produced non-finite values")).to_be_visible()
    expect(page.get_by_label("Rank")).to_have_value("0")


def test_many_dumps_are_searched(shown: Callable[..., Any]) -> None:
    page = shown()
    chooser = page.get_by_role("combobox", name="Dump", exact=True)
    expect(chooser).to_have_value("broken/dump")
    chooser.fill("nothing of this name")
    chooser.blur()
    expect(chooser).to_have_value("broken/dump")
    chooser.fill("healthy/dump")
    expect(page).to_have_url(re.compile(r"dump=\./healthy/dump"))


def test_a_run_without_a_dump_shows_no_other_dump(page: Any, serve: Any, tmp_path: Path) -> None:
    shutil.copytree(DUMPS / "ms_sync_v2_0_names", tmp_path / "dumped" / "dump")
    with SummaryRecord(tmp_path / "plain") as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    url = serve(tmp_path)
    page.goto(f"{url}dump?runs=plain")
    expect(page.get_by_text("plain has no dump")).to_be_visible()
    expect(page.locator(".dump-main table")).to_have_count(0)
    page.locator(".toolbar select").select_option("./dumped/dump")
    expect(page).to_have_url(re.compile(r"dump=\./dumped/dump"))


def test_a_condition_is_not_checked_before_it_has_a_limit(shown: Callable[..., Any]) -> None:
    page = shown("tab=check")
    page.get_by_label("Custom").select_option(label="Tensor out of range")
    start = page.get_by_role("button", name="Run these checks")
    expect(start).to_be_disabled()
    expect(start).to_have_accessible_description("Tensor out of range needs a limit.")
    page.get_by_label("range_percentage_lt").fill("50")
    page.get_by_label("range_start_inclusive").fill("-1")
    expect(start).to_be_disabled()
    page.get_by_label("range_end_inclusive").fill("1")
    expect(start).to_be_enabled()


def test_two_dumps_are_compared(shown: Callable[..., Any]) -> None:
    page = shown("tab=compare")
    page.get_by_label("Reference").select_option("./healthy/dump")
    page.get_by_role("button", name="Compare", exact=True).last.click()
    expect(page.locator('[data-claim="claim.dump.introduced"]')).to_be_visible()
    expect(
        page.get_by_text("Tolerance, the L2 distance relative to the reference: float32 0.001")
    ).to_be_visible()
    expect(page.get_by_text("99 of 99 compared")).to_be_visible()
    page.locator("label", has_text="Show").locator("select").select_option("differ")
    rows = page.locator(".dump-compared tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.locator("td").nth(3)).to_contain_text("NaN or Inf that the reference does not have")
    expect(rows.locator("td").nth(2)).to_have_text("no")
    strip = page.get_by_role("slider", name="Divergence of all operators")
    expect(strip).to_have_attribute(
        "aria-valuetext", re.compile(r"MatMul-op66, relative L2 distance .Inf, introduced here")
    )
    page.locator("label", has_text="Show").locator("select").select_option("")
    strip.press("Home")
    expect(strip).to_have_attribute("aria-valuenow", "1")
    strip.press("Enter")
    first = require(strip.get_attribute("aria-valuetext")).split(": ")[1].split(",")[0]
    expect(page.locator(".dump-main input[type=search]")).to_have_value(first)
    expect(rows.first).to_contain_text(first.rpartition("/")[2])
    strip.press("ArrowRight")
    expect(strip).to_have_attribute("aria-valuenow", "2")
    page.locator(".dump-main input[type=search]").fill("")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV", exact=True).click()
    assert len(download.value.path().read_text().splitlines()) == 100
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV as msprobe").click()
    assert download.value.path().read_text().startswith("NPU Name,Bench Name,")
    expect(page.get_by_text(re.compile(r"^Rows \d+ to 99 of 99$"))).to_be_visible()  # from the divergence on
    page.get_by_label("Start at the first divergence").uncheck()
    expect(rows).to_have_count(99)
    page.reload()
    expect(rows).to_have_count(99)  # the link has the comparison, and where its rows begin


def test_the_step_of_a_comparison_is_in_its_link(shown: Callable[..., Any]) -> None:
    page = shown("tab=compare&with=./healthy/dump&with_step=99")
    expect(page.get_by_text("healthy/dump has no step 99 for rank 0.")).to_be_visible()
    chooser = page.locator(".dump-main").get_by_label("Step")
    chooser.select_option("0")
    expect(page).to_have_url(re.compile("with_step=0"))
    expect(page.get_by_text("has no step 99")).to_have_count(0)
    page.get_by_role("button", name="Compare", exact=True).last.click()
    expect(page.get_by_text(re.compile(r"\d+ of \d+ compared")).first).to_be_visible()
    page.reload()
    expect(chooser).to_have_value("0")


def test_a_comparison_is_saved_as_a_report_that_opens_without_a_server(
    shown: Callable[..., Any], page: Any, browser: Any, tmp_path: Path
) -> None:
    shown("tab=compare&with=./healthy/dump&with_step=1")
    expect(page.get_by_label("Reference")).to_have_value("./healthy/dump")
    page.get_by_role("button", name="Compare", exact=True).last.click()
    expect(page.get_by_text("99 of 99 compared")).to_be_visible()
    with page.expect_download() as download:
        page.locator(".dump-main").get_by_role("button", name="Save").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    context = browser.new_context(offline=True)
    saved = context.new_page()
    saved.goto(report.as_uri())
    expect(saved.get_by_text("broken/dump, rank 0, step 1 ↔ healthy/dump, rank 0, step 1")).to_be_visible()
    expect(saved.get_by_text("NaN or Inf that the reference does not have").first).to_be_visible()
    context.close()


def choice(page: Any, label: Any) -> Any:
    return page.locator(".toolbar label").filter(has_text=re.compile(f"^{label}")).locator("select")


def slow(page: Any, pattern: Any) -> Callable[..., Any]:
    """Answers to questions of a pattern wait until what this gives is called; it tells how many."""
    waiting = []

    def hold(route: Any) -> None:
        waiting.append(route)

    page.route(pattern, hold)

    def answer() -> int:
        for route in waiting:
            route.continue_()
        return len(waiting)

    return answer


def test_a_dump_chosen_later_wins_over_one_that_answers_later(shown: Callable[..., Any]) -> None:
    page = shown()
    expect(page.get_by_text("99 tensors")).to_be_visible()
    chooser = page.get_by_role("combobox", name="Dump", exact=True)
    late = slow(page, "**/summary?*healthy*")
    with page.expect_request("**/summary?*healthy*"):
        chooser.fill("healthy/dump")
    chooser.fill("broken/dump")
    page.get_by_role("checkbox", name="NaN or Inf only").check()
    expect(page.get_by_text("99 tensors · 1 selected")).to_be_visible()
    with page.expect_response("**/summary?*healthy*"):
        assert late() == 1
    expect(page.get_by_text("99 tensors · 1 selected")).to_be_visible()
    expect(page).to_have_url(re.compile(r"dump=\./broken/dump"))


def test_typing_into_the_search_of_a_comparison_is_not_interrupted(shown: Callable[..., Any]) -> None:
    page = shown("tab=compare&with_step=0")
    expect(page.get_by_label("Reference")).to_have_value("./broken/dump")
    expect(page.get_by_text("This is the same step.")).to_be_hidden()
    page.get_by_role("button", name="Compare", exact=True).last.click()
    expect(page.get_by_text("99 of 99 compared")).to_be_visible()
    search = page.get_by_role("searchbox", name="Operator")
    search.press_sequentially("relu", delay=200)  # slower than answers come
    rows = page.locator(".dump-compared tbody tr")
    expect(rows.first).to_contain_text("relu")
    expect(search).to_be_focused()
    expect(search).to_have_value("relu")


def test_a_file_that_is_cut_off_is_told_in_words_where_it_is_met(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    step = write_dumps(tmp_path / "base") / "broken" / "dump" / "rank_0" / "Net" / "0" / "1"
    (file,) = step.glob("ReLU.ReLU-op52.*.output.0.*")
    file.write_bytes(file.read_bytes()[:-4])
    url = serve(tmp_path / "base")
    page.goto(
        f"{url}dump?dump=./broken/dump&step=1&q=ReLU-op52&graph=Net/0&operator=ReLU-op52&tensor=output/0"
    )
    expect(side(page).get_by_text("Cannot be read: the file is truncated")).to_be_visible()
    expect(page.locator(".dump-table tbody td", has_text="!").first).to_have_attribute(
        "title", re.compile("^the file is truncated")
    )
    page.goto(f"{url}dump?dump=./broken/dump&step=1&tab=compare&with=./healthy/dump&with_step=1")
    expect(page.get_by_label("Reference")).to_have_value("./healthy/dump")
    page.get_by_role("button", name="Compare", exact=True).last.click()
    page.get_by_role("searchbox", name="Operator").fill("ReLU-op52")
    expect(page.locator(".dump-compared tbody tr").last).to_contain_text("the file is truncated")


def test_a_long_table_holds_only_the_rows_that_are_seen(page: Any, serve: Any, tmp_path: Path) -> None:
    folder = tmp_path / "base" / "long" / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    np.save(folder / "first.npy", np.zeros(1, np.float32))
    content = (folder / "first.npy").read_bytes()
    (folder / "first.npy").unlink()
    for number in range(1500):
        name = (
            f"Add.Default_Add-op{number}.0.0.{1700000000000000 + number}.output.0.DefaultFormat.Float32.npy"
        )
        (folder / name).write_bytes(content)
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./long")
    rows = page.locator(".dump-table tbody tr[data-key]")
    expect(rows.first).to_contain_text("Add-op0")
    page.locator(".table-scroll").evaluate("(element) => (element.scrollTop = element.scrollHeight)")
    expect(rows.last).to_contain_text("Add-op1499")
    assert rows.count() < 100
    page.get_by_role("searchbox", name="Operator").fill("op77")
    expect(page.get_by_text("1,500 tensors · 11 selected")).to_be_visible()


def test_logs_of_the_recorder_are_read(page: Any, serve: Any, tmp_path: Path) -> None:
    folder = tmp_path / "base" / "job" / "rank_0" / "rdr"
    folder.mkdir(parents=True)
    (folder / "SESSION.graph_exec_order.0.20260101000000.txt").write_text("first text")
    log = "[INFO] CORE: begins\n[ERROR] CORE: Launch failed\n  at line 3"
    (folder / "SESSION.graph_exec_order.1.20260101000001.txt").write_text(log)
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./job")
    expect(page.locator(".dump-log")).to_have_text("first text")
    page.get_by_role("button", name="SESSION.graph_exec_order.1").click()
    expect(page.locator(".dump-log .line")).to_have_count(3)
    page.get_by_role("searchbox", name="Search in this file").fill("LAUNCH")
    expect(page.locator(".dump-log mark")).to_have_text("Launch")
    expect(page.locator(".dump-log .line-number")).to_have_attribute("data-number", "2")
    page.get_by_role("searchbox", name="Search in this file").fill("")
    page.get_by_label("Level").select_option("error")
    expect(page.get_by_text("2 of 3 lines")).to_be_visible()


def test_without_dumps_the_page_says_how_to_make_one(page: Any, serve: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    page.goto(f"{serve(tmp_path / 'empty')}dump")
    expect(page.get_by_text("No dumps in this directory")).to_be_visible()


def test_the_graph_is_coloured_and_leads_to_operators(shown: Callable[..., Any]) -> None:
    page = shown("tab=graph")
    expect(page.locator(".graph-drawing .box").first).to_be_visible()
    reddened = page.locator(".graph-drawing .warm")
    expect(reddened.first).to_be_attached()
    culprit = page.locator(".graph-drawing .box.closed", has_text="MatMul-op66")
    expect(culprit).to_be_in_viewport()  # the scopes around the first fault are open
    scope = "Gradients/Default/network-WithLossCell/_backbone-Net/fc2-Dense/gradMatMul-expand"
    page.locator(".graph-drawing .box.frame", has_text=scope).last.locator(".mark").first.dispatch_event(
        "click"
    )
    expect(culprit).to_have_count(0)
    page.locator(".graph-drawing .box.closed", has_text=scope).last.locator(".mark").dispatch_event("click")
    expect(culprit).to_be_attached()
    culprit.dispatch_event("click")
    expect(side(page)).to_contain_text("return self.fc2(x)")
    page.get_by_label("Colour by").select_option("norm")
    expect(page.locator(".graph-drawing .box.frame > .warm").first).to_be_attached()


def test_the_graph_opens_at_the_first_fault_with_legible_text(page: Any, serve: Any, tmp_path: Path) -> None:
    """A chain longer than the window, of which the last operator is at fault."""
    graph, last = GraphBuilder("Net"), ""
    for _ in range(30):
        last = graph.node("relu", [last] if last else [], shape=(4,))
    graph.output(graph.node("log", [last], shape=(4,)))
    step = Dump(tmp_path / "base" / "dump", graph=graph).iteration(0)
    for number in range(30):
        step.input(f"Default/relu-op{number}", np.ones(4, np.float32))
        step.output(f"Default/relu-op{number}", np.ones(4, np.float32))
    step.input("Default/log-op0", np.ones(4, np.float32))
    step.output("Default/log-op0", np.full(4, np.nan, np.float32))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=graph")
    fault = page.locator(".graph-drawing .closed.fault")
    expect(fault).to_contain_text("log-op0")
    expect(fault).to_be_in_viewport()
    title = page.locator(".graph-drawing .fault:has(> .hatch) > text").first
    outline = title.evaluate("node => [getComputedStyle(node).paintOrder, getComputedStyle(node).stroke]")
    assert outline[0].startswith("stroke") and outline[1] != "none"


def test_a_mask_of_attention_is_no_fault_of_a_graph(page: Any, serve: Any, tmp_path: Path) -> None:
    graph = GraphBuilder("Net")
    filled = graph.node("masked_fill", [graph.node("matmul", shape=(2, 2))], shape=(2, 2))
    graph.output(graph.node("softmax", [filled], shape=(2, 2)))
    scores, mask = np.ones((2, 2), np.float32), np.array([[0, -np.inf], [0, 0]], np.float32)
    step = Dump(tmp_path / "base" / "dump", graph=graph).iteration(0)
    step.output("Default/matmul-op0", scores)
    step.input("Default/masked_fill-op0", scores)
    step.output("Default/masked_fill-op0", scores + mask)
    step.input("Default/softmax-op0", scores + mask)
    step.output("Default/softmax-op0", scores / 2)
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=graph&paint=norm")
    legend = page.locator(".dump-graph-legend")
    expect(legend).to_contain_text(re.compile(r"L2 norm\s*1\s*2"))  # all were measured
    expect(page.locator(".graph-drawing .closed").first).to_be_visible()
    expect(page.locator(".graph-drawing .hatch")).to_have_count(0)
    page.get_by_role("button", name="Tree").click()
    expect(page.get_by_text("3 operators")).to_be_visible()
    expect(page.get_by_text("NaN or Inf")).to_have_count(0)


def test_a_healthy_dump_says_so_and_folds_what_was_checked_away(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    dump = Dump(tmp_path / "base" / "dump")
    for number in range(2):
        dump.iteration(number).output("Default/add-op0", np.ones((2, 2), np.float32))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=check")
    expect(page.get_by_text("No NaN or infinity found")).to_be_visible()
    page.get_by_role("button", name="Check for common faults").click()
    expect(page.locator("[data-claim='claim.check.none']")).to_be_visible()
    expect(page.locator("[data-claim='claim.check.checked']")).to_be_hidden()
    page.get_by_text("What was checked").click()
    expect(page.locator("[data-claim='claim.check.checked']")).to_be_visible()


def test_infinities_of_a_mask_are_not_said_to_be_absent(page: Any, serve: Any, tmp_path: Path) -> None:
    step = Dump(tmp_path / "base" / "dump").iteration(0)
    step.output("Default/masked_fill-op0", np.array([-np.inf, 1], np.float32))
    step.input("Default/softmax-op0", np.array([-np.inf, 1], np.float32))
    step.output("Default/softmax-op0", np.array([0, 1], np.float32))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=check")
    expect(page.get_by_text("No NaN or infinity counts as a fault")).to_be_visible()
    expect(page.get_by_text("No NaN or infinity found")).to_have_count(0)


def test_a_check_goes_to_the_step_of_its_first_finding_and_stays_when_a_row_is_opened(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    dump, noise = Dump(tmp_path / "base" / "dump"), np.random.default_rng(0).normal(size=(2, 8))
    for number, scale in enumerate((1, 1.001, 1.002, 900)):
        dump.iteration(number).parameter("fc.weight", (noise * scale).astype(np.float32))
    page.goto(f"{serve(tmp_path / 'base')}dump?dump=./dump&tab=check")
    expect(page.get_by_text("No NaN or infinity found")).to_be_visible()
    page.get_by_role("button", name="Check for common faults").click()
    rows = page.locator(".dump-hits tbody tr")
    expect(rows.filter(has_text="Weight jumps")).to_be_visible()
    expect(page).to_have_url(re.compile("step=3"))
    rows.get_by_role("button").first.click()
    expect(side(page)).to_contain_text(re.compile("fc[._]weight"))
    expect(rows.filter(has_text="Weight jumps")).to_be_visible()


def test_a_saved_page_is_named_by_dump_tab_and_step(shown: Callable[..., Any]) -> None:
    page = shown("tab=check")
    expect(page.locator("#view [data-object]")).to_be_attached()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this page").click()
    assert download.value.suggested_filename == "Dumps_Check_broken_dump_Step_1.html"
