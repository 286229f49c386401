"""A dump over the graph of the same training: boxes by what was found, panels, and links both ways."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from benchmarks.planted_networks import gpt
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situations.graph import SMALL, write_graph
from tests.server.debug.conftest import broken_job

DATA = Path(__file__).parents[1] / "data"
PLACE = "run=./job&dump=./job/dump&step=1"


@pytest.fixture(scope="module")
def url(serve_once: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run with its graph and a dump of it that breaks at step 1, and a run of another network."""
    base = tmp_path_factory.mktemp("dumped") / "base"
    broken_job(base / "job")
    write_graph(base, "other", gpt(SMALL))
    shutil.copytree(DATA / "events" / "lenet", base / "lenet")
    return serve_once(base)


@pytest.fixture
def graph(page: Any, url: Any) -> Callable[..., Any]:
    """graph("run=./job") opens the page with the scopes open that are open without a dump.

    ``begins``: with those that a dump opens.
    """

    def show(query: Any = PLACE, begins: bool = False) -> Any:
        if query.startswith(PLACE) and not begins:
            alone = page.request.get(f"{url}v2/graph/picture?run=./job").json()
            query += f"&open={','.join(map(str, alone['open']))}"
        page.goto(f"{url}graph?{query}")
        expect(page.locator(".graph-drawing .box").first).to_be_visible()
        return page

    return show


def tools(page: Any) -> Any:
    return page.get_by_role("group", name="Dump overlay")


def notes(page: Any) -> Any:
    return page.locator(".graph-lines")


def test_an_address_that_names_what_is_not_there_is_told_so(
    graph: Callable[..., Any], refusals: set[int]
) -> None:
    refusals.add(404)
    page = graph("run=./job&dump=./job/nosuch")
    expect(notes(page)).to_contain_text("Dump ./job/nosuch not found.")
    page = graph("run=./job&node=Default/zzz")
    expect(page.get_by_text("Node Default/zzz not found in this graph.")).to_be_visible()
    page = graph("run=./job&node=Gradients")
    expect(page).to_have_url(re.compile(r"node=\d+"))
    expect(page.get_by_text("not found in this graph")).to_be_hidden()


def test_a_dump_of_another_network_is_not_called_healthy(graph: Callable[..., Any]) -> None:
    page = graph("run=./other&view=recorded&dump=./job/dump&step=0")
    expect(notes(page)).to_contain_text("Nothing of the dump is in this graph, so nothing could be judged")
    expect(notes(page)).to_contain_text("0 of 22 dumped operators in this graph")
    expect(notes(page)).to_contain_text("No name of the dump's modules is in this graph")


def test_a_fault_outside_the_graph_leads_to_its_operator_in_the_dump(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&dump=./job/dump&rank=0&step=1")
    claim = page.locator("[data-claim='claim.graph.fault_outside']")
    expect(claim).to_contain_text("The first fault of this step is outside this graph.")
    page.get_by_role("link", name="Open on the dump page").click()
    expect(page.get_by_role("complementary", name="Operator")).to_be_visible()
    expect(page).to_have_url(re.compile(r"dump\?.*dump=\./job/dump.*operator="))


def test_choosing_a_dump_marks_where_it_went_wrong_and_the_address_remembers(
    graph: Callable[..., Any],
) -> None:
    page = graph("run=./job&view=recorded")
    expect(page.locator(".graph-drawing .ill")).to_have_count(0)
    tools(page).get_by_label("Dump").select_option("job/dump")
    expect(notes(page)).to_contain_text("22 of 22 dumped operators in this graph")
    expect(notes(page)).to_contain_text("First fault")  # at whose step it opens
    tools(page).get_by_role("spinbutton", name="Step").fill("0")
    tools(page).get_by_role("spinbutton", name="Step").press("Enter")
    expect(notes(page)).to_contain_text("have no NaN, no infinity, no recorded overflow")
    tools(page).get_by_role("spinbutton", name="Step").fill("1")
    tools(page).get_by_role("spinbutton", name="Step").press("Enter")
    expect(notes(page)).to_contain_text("1 operator puts out only zeros")
    marked = page.locator("g.ill.fault:has(> .title:text-is('Gradients'))")
    expect(marked).to_have_count(1)
    expect(marked.locator(".badge text")).to_have_text("⚠ =0")
    expect(page).to_have_url(re.compile("dump=./job/dump&step=1"))
    page.reload()
    expect(marked).to_have_count(1)
    tools(page).get_by_label("Dump").select_option("No dump")
    expect(page.locator(".graph-drawing .ill")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("dump="))


@pytest.mark.parametrize("query", [PLACE, PLACE.removesuffix("&step=1")], ids=["its step", "no step"])
def test_a_dump_opens_at_its_first_fault(graph: Callable[..., Any], query: str) -> None:
    page = graph(query, begins=True)
    fault = page.locator(".graph-drawing .box.selected")
    expect(fault).to_contain_text("MatMul-op66")
    expect(fault).to_be_in_viewport()
    expect(tools(page).get_by_role("spinbutton")).to_have_value("1")
    expect(page.get_by_role("heading", name="In the dump")).to_be_visible()


def test_a_dump_of_one_late_step_opens_at_the_rank_of_its_fault(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    """As a flight recorder writes it: the address has the step as soon as the dump is open."""
    graph = GraphBuilder("Net")
    value = graph.parameter("x", (4,), role="input")
    with graph.scope("0-Block"):
        graph.output(graph.node("ReLU", [value], (4,)))
    model = graph.model()
    write_graph(tmp_path, "run", model.graph.SerializeToString())
    name = model.graph.node[0].full_name
    for rank in range(2):
        step = Dump(tmp_path / "run" / "dump", graph=graph, rank=rank).iteration(12)
        step.input(name, np.ones(4, np.float32))
        step.output(name, np.full(4, np.nan if rank else 1.0, np.float32))
    page.goto(f"{serve(tmp_path)}graph?run=./run&dump=./run/dump")
    expect(page.locator(".graph-drawing .box.selected")).to_contain_text("ReLU-op0")
    expect(tools(page).get_by_label("Rank")).to_have_value("1")


def stack(folder: Path, run: str, dead: int | None) -> None:
    """Write a graph of 60 activations in scopes of six, and a dump in which one puts out only zeros."""
    graph = GraphBuilder("Net")
    value = graph.parameter("x", (4, 8), role="input")
    for i in range(60):
        with graph.scope(f"{i // 6}-Block"):
            value = graph.node("ReLU", [value], (4, 8))
    graph.output(value)
    model = graph.model()
    write_graph(folder, run, model.graph.SerializeToString())
    step = Dump(folder / run / "dump", graph=graph).iteration(0)
    for i, node in enumerate(model.graph.node):
        step.output(node.full_name, np.full((4, 8), 0.0 if i == dead else 1.0, np.float32))


@pytest.mark.parametrize("dead", [45, None])
def test_a_dump_without_a_fault_opens_at_its_first_symptom(
    page: Any, serve: Any, tmp_path: Path, dead: int | None
) -> None:
    stack(tmp_path, "run", dead)
    page.goto(f"{serve(tmp_path)}graph?run=./run&dump=./run/dump")
    if dead is None:
        expect(notes(page)).to_contain_text("have no NaN, no infinity, no recorded overflow")
        expect(page.locator(".graph-drawing .box.selected")).to_have_count(0)
        return
    symptom = page.locator(".graph-drawing .box.selected")
    expect(symptom).to_contain_text(f"ReLU-op{dead}")
    expect(symptom).to_be_in_viewport()
    expect(page.locator("g.closed.ill.zero.selected")).to_have_count(1)


@pytest.mark.parametrize("before", [np.inf, 3.0])
def test_a_weight_that_was_broken_before_the_step_is_named_and_marked(
    page: Any, serve: Any, tmp_path: Path, before: float
) -> None:
    """Each of several operators in one box has its name above its tensors."""
    graph, ran = GraphBuilder("Net"), GraphBuilder("Net")
    for builder, operators in ((graph, ["linear"]), (ran, ["t", "addmm"])):
        value = builder.parameter("x", (2,), role="input")
        weight = builder.parameter("fc.weight", (2,))
        with builder.scope("/Default/fc-Linear"):
            for operator in operators:
                value = builder.node(operator, [value, weight], (2,), number=0)
        builder.output(value)
    write_graph(tmp_path, "run", graph.model().graph.SerializeToString())
    step = Dump(tmp_path / "run" / "dump", graph=ran).iteration(0)
    for operator, source in (("t", 1.0), ("addmm", before)):
        name = f"Default/fc-Linear/{operator}-op0"
        step.input(name, np.array([source, 1], np.float32))
        step.input(name, np.array([before, 2], np.float32), 1)
        step.output(name, np.array([before, 1], np.float32))
    step.parameter("fc.weight", np.array([before, 2], np.float32))
    page.goto(f"{serve(tmp_path)}graph?run=./run&dump=./run/dump&path=Default/fc-Linear/linear-op0")
    cause = page.get_by_text("The first fault came with the weight fc.weight")
    if before == np.inf:
        expect(cause).to_be_visible()
        expect(page.locator(".chip.broken")).to_have_text("fc.weightfc.weight")
        headings = page.locator(".graph-dump-facts h4 > span")
        expect(headings).to_have_text(["t-op0", "addmm-op0"])
    else:
        expect(notes(page)).to_contain_text("have no NaN, no infinity, no recorded overflow")
        expect(cause).to_have_count(0)
        expect(page.locator(".chip.broken")).to_have_count(0)


def test_the_first_fault_is_one_click_away_with_its_tensors(graph: Callable[..., Any]) -> None:
    page = graph("run=./job&dump=./job/dump")
    tools(page).get_by_role("button", name="Find the first fault").click()
    expect(page.locator("g.closed.ill.fault.selected", has_text="MatMul-op66")).to_have_count(1)
    expect(tools(page).get_by_role("spinbutton", name="Step")).to_have_value("1")
    here = page.locator(".graph-dump-facts")
    expect(here.get_by_role("row")).to_have_count(4)
    expect(here.locator("td.strange")).to_have_text("1")
    here.get_by_role("link", name="output 0").click()
    side = page.get_by_role("complementary", name="Operator")
    expect(side.get_by_role("heading", level=2)).to_contain_text("gradMatMul-expand/MatMul-op66")
    expect(side.get_by_role("button", name="output 0")).to_have_attribute("aria-expanded", "true")
    side.get_by_role("link", name="Show in the graph").click()
    expect(page.locator("g.closed.ill.fault.selected", has_text="MatMul-op66")).to_have_count(1)
    expect(page).not_to_have_url(re.compile("operator="))


def test_a_scope_lists_what_is_not_fine_inside(graph: Callable[..., Any]) -> None:
    page = graph()
    page.get_by_role("tab", name="Outline").click()
    page.locator(".graph-outline").get_by_role("button", name="Gradients", exact=True).click()
    page.get_by_role("tab", name="Details").click()
    here = page.locator(".graph-dump-facts")
    expect(here.get_by_role("listitem")).to_have_text(
        [re.compile("MatMul-op66"), re.compile("ReluGrad-op71")]
    )
    here.get_by_role("button", name="ReluGrad-op71").click()
    expect(page.locator("g.closed.ill.zero.selected", has_text="ReluGrad-op71")).to_have_count(1)


def test_what_was_found_is_said_to_who_cannot_see_it(graph: Callable[..., Any]) -> None:
    page = graph()
    expect(page.locator("g.ill.fault").first).to_be_visible()
    page.get_by_role("tab", name="Outline").click()
    page.locator(".graph-outline").get_by_role("button", name="Gradients", exact=True).click()
    page.get_by_role("tab", name="Details").click()
    expect(page.locator(".graph-canvas [aria-live]")).to_contain_text(
        "First fault, 1 operator puts out only zeros"
    )


def test_a_statistic_shades_the_boxes_and_writes_it_on_them(graph: Callable[..., Any]) -> None:
    page = graph()
    tools(page).get_by_label("Colour by").select_option("L2 norm")
    expect(page.locator("g.closed", has_text="relu-ReLU").locator(".warm")).to_have_count(1)
    page.get_by_role("button", name="Fit to window").click()  # it opens at the fault
    page.locator("g.frame:has(> .title:text-is('_backbone-Net'))").locator(".mark").click()
    box = page.locator("g.closed", has_text="_backbone-Net")
    expect(box.locator(".warm")).to_have_count(1)
    expect(box.locator(".badge text")).to_have_text(re.compile(r"^0\.\d+$"))
    expect(page.locator("g.closed", has_text="MakeTuple-op81").locator(".warm")).to_have_count(0)
    expect(notes(page)).to_contain_text("logarithmic")
    expect(page).to_have_url(re.compile("paint=norm"))


def test_the_overview_of_a_run_leads_to_its_dumps(page: Any, url: Any) -> None:
    page.goto(f"{url}overview?run=./job")
    page.locator("dl.facts").get_by_role("link", name="job/dump").click()
    expect(page).to_have_url(re.compile("/dump\\?.*dump=./job/dump"))
    expect(page.get_by_role("button", name="Find the first fault")).to_be_visible()


def test_common_faults_are_checked_when_asked_for(graph: Callable[..., Any]) -> None:
    page = graph("run=./job&dump=./job/dump&step=0")
    button = tools(page).get_by_role("button", name="Check for common faults")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(notes(page)).to_contain_text("22 of 22")
    page.goto(page.url)
    expect(button).to_have_attribute("aria-pressed", "true")


def test_a_parameter_shows_what_the_dump_has_of_it(graph: Callable[..., Any]) -> None:
    page = graph()
    page.get_by_role("searchbox", name="Search nodes").fill("fc1.weight")
    page.locator(".graph-results button", has_text=re.compile("^fc1.weight$")).click()
    expect(page.locator(".graph-dump-facts").get_by_role("row")).to_have_count(2)


def test_a_dump_of_another_network_is_said_to_fit_badly(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&dump=./job/dump")
    expect(notes(page)).to_contain_text("Most operators of the dump are not in this graph")


def test_without_any_dump_there_is_nothing_to_choose(page: Any, serve: Any, tmp_path: Path) -> None:
    base = tmp_path / "base"
    shutil.copytree(DATA / "events" / "lenet", base / "lenet")
    page.goto(f"{serve(base)}graph")
    expect(page.locator(".graph-facts, .graph-about")).to_contain_text("Select a box")
    expect(page.locator(".graph-dump")).to_be_hidden()


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_nothing_for_axe_to_complain_about(
    graph: Callable[..., Any], page: Any, url: Any, theme: str, language: str
) -> None:
    page.context.add_cookies([{"name": "mindinsight_lang", "value": language, "url": url}])
    page.emulate_media(color_scheme=theme)
    graph(f"{PLACE}&node=42")
    expect(page.locator(".graph-dump-facts li")).to_have_count(2)
    expect(page.locator("g.ill.fault").first).to_be_visible()
    results = Axe().run(page, context="#view")
    assert results.violations_count == 0, results.generate_report()


def test_narrow_screens_do_not_scroll_sideways(graph: Callable[..., Any], page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    graph()
    expect(page.locator("g.ill.fault").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cut = (
        "nodes => nodes.filter(node => node.getBoundingClientRect().right > 390).map(node => node.outerHTML)"
    )
    controls = page.locator(".graph-top :is(button, select, label), .graph-dump > *, .graph-told > *")
    assert controls.count() > 10
    assert controls.evaluate_all(cut) == []
