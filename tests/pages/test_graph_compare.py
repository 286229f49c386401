"""What a person does who lays two graphs beside each other."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from mindinsight.proto.graph_pb2 import GraphProto, ModelProto
from tests.claims.situations.graph import write_graph
from tests.claims.situations.graph_edits import layers

DATA = Path(__file__).parents[1] / "data"
BACKBONE = "Default/network-WithLossCell/_backbone-LeNet"
PAIR = "m=compare&run=./two"


def write_graphs(base: Path) -> None:
    """Write two graphs of one run: the second lacks a layer, has an operator more and another output."""
    folder = base / "two"
    folder.mkdir(parents=True)
    graph = GraphProto.FromString((DATA / "graph/lenet.graph").read_bytes())
    save(graph, folder / "first.pb")
    for node in [node for node in graph.node if node.full_name.startswith(f"{BACKBONE}/conv2-Conv2d")]:
        graph.node.remove(node)
    dense = next(node for node in graph.node if node.full_name.endswith("fc1-Dense/MatMul-op0"))
    dense.output_type.tensor_type.shape.dim[1].size = 64
    graph.node.add(name="9999", op_type="Cast", full_name=f"{BACKBONE}/fc3-Dense/Cast-op7")
    save(graph, folder / "second.pb")


@pytest.fixture
def base(tmp_path: Path) -> Any:
    write_graphs(tmp_path / "base")
    shutil.copytree(DATA / "events" / "multi_rank", tmp_path / "base" / "job")
    return tmp_path / "base"


def save(graph: Any, path: Any) -> None:
    path.write_bytes(ModelProto(ir_version=1, graph=graph).SerializeToString())


@pytest.fixture
def compare(page: Any, serve: Any, base: Any) -> Callable[..., Any]:
    """Opens two graphs, with the scopes open that are open in the left one by itself, and waits for both."""
    address = serve(base)

    def open_page(query: Any = PAIR, size: Any = None, begins: bool = False) -> Any:
        if query.startswith(PAIR) and "open=" not in query and not begins:
            alone = page.request.get(f"{address}v2/graph/picture?run=./two&tag=first.pb").json()
            query += f"&open={','.join(map(str, alone['open']))}"
        if size:
            page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"{address}graph?{query}")
        for side in ("Left", "Right"):
            expect(half(page, side).locator(".graph-drawing .box").first).to_be_attached()
        return page

    return open_page


def half(page: Any, side: Any) -> Any:
    return page.get_by_role("region", name=f"{side} graph", exact=True)


def box(page: Any, side: Any, label: Any, kind: str = "closed") -> Any:
    return half(page, side).locator(f"g.{kind}", has=page.locator(f'text.title:text-is("{label}")'))


def differences(page: Any) -> Any:
    return page.get_by_role("region", name="Differences", exact=True)


def facts(page: Any) -> Any:
    return page.get_by_role("region", name="Details of the selected node")


def test_both_graphs_of_a_run_stand_side_by_side_and_differences_are_counted(
    compare: Callable[..., Any],
) -> None:
    page = compare()
    counts = page.locator(".graph-notes")
    for text in (
        "identical operators",
        "1 operator differs or is rewired",
        "2 unchanged, only their inputs differ",
        "1 only in the left graph",
        "1 only in the right",
    ):
        expect(counts).to_contain_text(text)
    expect(half(page, "Left").get_by_role("combobox", name="Graph", exact=True)).to_have_value("first.pb")
    expect(half(page, "Right").get_by_role("combobox", name="Graph", exact=True)).to_have_value("second.pb")
    for side in ("Left", "Right"):
        expect(box(page, side, "_backbone-LeNet").locator(".badge")).to_contain_text("◧1 ◨1")
        expect(box(page, side, "network-WithLossCell").locator(".badge")).to_have_count(0)  # of Gradients


def test_what_opens_in_one_opens_in_the_other_and_the_address_remembers_it(
    compare: Callable[..., Any],
) -> None:
    page = compare()
    box(page, "Right", "_backbone-LeNet").dblclick()
    for side in ("Left", "Right"):
        expect(box(page, side, "_backbone-LeNet", "frame")).to_have_count(1)
    expect(box(page, "Left", "conv2-Conv2d")).to_have_class("box closed scope only")
    expect(box(page, "Right", "conv2-Conv2d")).to_have_count(0)
    page.reload()
    expect(box(page, "Left", "conv2-Conv2d")).to_have_count(1)
    box(page, "Left", "_backbone-LeNet", "frame").locator(".mark").first.click()
    for side in ("Left", "Right"):
        expect(box(page, side, "_backbone-LeNet", "frame")).to_have_count(0)


def test_a_node_is_selected_with_its_partner_and_tells_in_what_they_differ(
    compare: Callable[..., Any],
) -> None:
    page = compare()
    differences(page).get_by_role("button", name="MatMul-op0, Differs").click()
    for side in ("Left", "Right"):
        expect(box(page, side, "MatMul-op0", "selected")).to_have_count(1)
    row = facts(page).get_by_role("row").filter(has_text="Output")
    expect(row).to_contain_text("float32 [10, 32]")
    expect(row).to_contain_text("float32 [10, 64]")
    page.reload()
    for side in ("Left", "Right"):
        expect(box(page, side, "MatMul-op0", "selected")).to_have_count(1)


def test_what_is_in_one_graph_only_has_no_partner(compare: Callable[..., Any]) -> None:
    page = compare()
    differences(page).get_by_role("button", name="Cast-op7, Only in the right graph").click()
    expect(box(page, "Right", "Cast-op7", "selected")).to_have_count(1)
    expect(facts(page)).to_contain_text("Only in the right graph")
    expect(half(page, "Left").locator(".box.selected")).to_have_count(0)
    expect(box(page, "Left", "fc3-Dense", "frame")).to_have_count(1)


def test_differences_are_walked_through(compare: Callable[..., Any]) -> None:
    page = compare()
    rows = differences(page).get_by_role("listitem")
    current = differences(page).locator(".current")
    total = rows.count()
    page.get_by_role("button", name="Next difference").click()
    expect(current).to_contain_text(rows.nth(0).locator("button").inner_text())
    expect(page.get_by_text(f"1 of {total}", exact=True)).to_be_visible()
    page.get_by_role("button", name="Previous difference").click()
    expect(page.get_by_text(f"{total} of {total}", exact=True)).to_be_visible()
    half(page, "Left").locator(".graph-stage").focus()
    page.keyboard.press("n")
    expect(page.get_by_text(f"1 of {total}", exact=True)).to_be_visible()


def test_one_graph_leads_to_two_and_back(compare: Callable[..., Any]) -> None:
    page = compare()
    page.get_by_role("button", name="One graph").click()
    expect(page.get_by_role("tab", name="Outline")).to_be_visible()
    expect(half(page, "Left")).to_have_count(0)
    page.get_by_role("button", name="Compare two").click()
    expect(half(page, "Right").locator(".box").first).to_be_attached()
    differences(page).get_by_role("button", name="MatMul-op0, Differs").click()
    facts(page).get_by_role("link", name="All details in the right graph").click()
    expect(half(page, "Left")).to_have_count(0)  # until then each half has its own choice of a graph
    expect(page.locator(".graph-facts h2", has_text="MatMul-op0")).to_be_visible()
    expect(page.locator(".graph-facts")).to_contain_text("float32 [10, 64]")
    expect(page.get_by_role("combobox", name="Graph", exact=True)).to_have_value("second.pb")


def test_ranks_and_runs_are_chosen_on_each_side(compare: Callable[..., Any]) -> None:
    page = compare("m=compare&run=./job/rank_1")
    expect(half(page, "Right").get_by_label("Rank")).to_have_value("./job/rank_0")
    expect(page.locator('[data-claim="claim.graph.identical"]')).to_be_visible()
    half(page, "Right").get_by_label("Rank").select_option("2")
    expect(half(page, "Right").get_by_label("Rank")).to_have_value("./job/rank_2")
    page.get_by_role("button", name="Data pipeline").click()
    for side in ("Left", "Right"):
        expect(half(page, side).locator("g.box", has_text="GeneratorDataset")).to_have_count(1)


@pytest.fixture
def rank_with_two_graphs(base: Path) -> None:
    shutil.copy(base / "two" / "second.pb", base / "job" / "rank_0")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_drawings_begin_at_one_height_however_many_choices_there_are(
    rank_with_two_graphs: None, compare: Callable[..., Any], language: str
) -> None:
    page = compare("m=compare&run=./two&run2=./job/rank_0", size=(1440, 900))
    page.context.add_cookies([{"name": "mindinsight_lang", "value": language, "url": page.url}])
    page.reload()
    expect(page.locator(".graph-half .field")).to_have_count(5)
    canvases = page.locator(".graph-half .graph-canvas")
    left, right = (canvases.nth(side).bounding_box()["y"] for side in (0, 1))
    assert left == right


def test_a_run_that_is_not_there_is_said_to_be_missing(page: Any, serve: Any, base: Any) -> None:
    page.goto(f"{serve(base)}graph?{PAIR}&run2=./nothing")
    expect(page.get_by_text("Run ./nothing not found.")).to_be_visible()


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_nothing_for_axe_to_complain_about(compare: Callable[..., Any], theme: str, language: str) -> None:
    page = compare()
    page.emulate_media(color_scheme=theme)
    page.context.add_cookies([{"name": "mindinsight_lang", "value": language, "url": page.url}])
    page.reload()
    page.locator(".graph-differences li button", has_text="MatMul-op0").click()
    expect(page.locator(".graph-pair tbody tr").first).to_be_visible()
    results = Axe().run(page, context="#view")
    assert results.violations_count == 0, results.generate_report()


def test_narrow_screens_stack_both_and_scroll_down_only(compare: Callable[..., Any]) -> None:
    page = compare(size=(390, 844))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [half(page, side).bounding_box() for side in ("Left", "Right")]
    assert tops[1]["y"] >= tops[0]["y"] + tops[0]["height"]


def finder(page: Any, side: Any) -> Any:
    page.get_by_role("group", name="Search in").get_by_role("button", name=f"{side} graph").click()
    return page.get_by_role("searchbox", name="Search nodes")


def test_what_is_found_in_one_graph_is_shown_in_both(compare: Callable[..., Any]) -> None:
    page = compare()
    finder(page, "Left").fill("fc1-Dense/MatMul-op0")
    panel = page.get_by_role("region", name="Search results")
    panel.get_by_role("button", name="MatMul-op0").first.click()
    for side in ("Left", "Right"):
        expect(box(page, side, "MatMul-op0", "selected")).to_have_count(1)
    finder(page, "Left").fill("Cast-op7")
    expect(panel).to_contain_text("0 found")
    finder(page, "Right")
    expect(panel).to_contain_text("1 found")
    panel.get_by_role("button", name="Cast-op7").click()
    expect(box(page, "Right", "Cast-op7", "selected")).to_have_count(1)
    expect(facts(page)).to_contain_text("Only in the right graph")


def test_what_a_pair_depends_on_is_lit_in_both(compare: Callable[..., Any]) -> None:
    page = compare()
    box(page, "Left", "_backbone-LeNet").click()
    facts(page).get_by_role("button", name="Used by").click()
    expect(facts(page)).to_contain_text(
        re.compile(r"Left graph: Used by \d+ operators.*Right graph: Used by")
    )
    for side in ("Left", "Right"):
        expect(box(page, side, "_backbone-LeNet", "lit")).to_have_count(1)
        expect(box(page, side, "optimizer-Momentum", "lit")).to_have_count(1)
    half(page, "Right").locator(".graph-stage").focus()
    page.keyboard.press("d")
    expect(page.locator(".graph-drawing .lit")).to_have_count(0)
    page.keyboard.press("u")
    expect(facts(page)).to_contain_text("Depends on")


def test_a_parameter_of_one_graph_leads_to_its_users_in_both(compare: Callable[..., Any]) -> None:
    page = compare()
    finder(page, "Right").fill("fc1.bias")
    page.get_by_role("region", name="Search results").get_by_role(
        "button", name="fc1.bias", exact=True
    ).click()
    expect(facts(page)).to_contain_text("float32 [32]")
    facts(page).get_by_role("button", name="Load-op0").first.click()
    for side in ("Left", "Right"):
        expect(box(page, side, "Load-op0", "selected")).to_have_count(1)


def test_each_drawing_is_downloaded_by_itself(compare: Callable[..., Any]) -> None:
    page = compare()
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("group", name="Right graph").get_by_role("button", name="SVG image").click()
    assert download.value.suggested_filename == "second.pb-recorded-right.svg"
    assert b"_backbone-LeNet" in download.value.path().read_bytes()


def test_a_graph_that_comes_is_offered_and_one_written_again_is_looked_at_when_asked(
    compare: Callable[..., Any], base: Any
) -> None:
    page = compare()
    replace(base, "third.pb", (DATA / "graph" / "conv_optimize.pb").read_bytes())
    expect(half(page, "Left").get_by_role("option", name="third.pb")).to_be_attached()
    expect(page.locator(".graph-notes")).to_contain_text("1 only in the left graph")
    replace(base, "second.pb", (base / "two" / "first.pb").read_bytes())
    page.get_by_role("button", name="The graph was rewritten").click()
    expect(page.locator(".graph-notes")).to_contain_text("0 operators differ")
    expect(page.locator('[data-claim="claim.graph.identical"]')).to_be_visible()


def replace(base: Any, name: Any, content: Any) -> None:
    """Write a graph beside the others, there whole or not at all."""
    (base / "waiting").write_bytes(content)
    (base / "waiting").rename(base / "two" / name)


def test_edits_are_grouped_and_lead_to_their_first_place(compare: Callable[..., Any]) -> None:
    page = compare()
    edits = page.get_by_role("region", name="What changed", exact=True)
    expect(edits).to_contain_text("conv2-Conv2d")
    edits.locator("summary").first.click()  # the claims name every edit
    edits.get_by_role("button", name="Cast added", exact=True).click()
    expect(box(page, "Right", "Cast-op7", "selected")).to_have_count(1)
    edits.get_by_role("button", name="MatMul: float32 10×32 → 10×64").click()
    expect(facts(page)).to_contain_text("float32 [10, 64]")


def test_operators_that_only_take_other_inputs_are_marked_and_not_listed(compare: Callable[..., Any]) -> None:
    page = compare()
    counts = page.locator(".graph-notes")
    expect(counts).to_contain_text(re.compile(r"\d+ unchanged, only (its|their) inputs differ"))
    followers = page.locator(".graph-drawing .follows")
    expect(followers.first).to_be_attached()
    expect(differences(page).get_by_role("button", name=re.compile("only its inputs"))).to_have_count(0)


def test_a_run_with_one_graph_offers_no_choice_of_it(compare: Callable[..., Any]) -> None:
    page = compare("m=compare&run=./two&run2=./job/rank_0")
    expect(half(page, "Left").get_by_role("combobox", name="Graph", exact=True)).to_be_visible()
    expect(half(page, "Right").get_by_role("combobox", name="Rank", exact=True)).to_be_visible()
    expect(half(page, "Right").get_by_role("combobox", name="Graph", exact=True)).to_have_count(0)


def test_both_drawings_begin_at_the_first_difference(compare: Callable[..., Any]) -> None:
    page = compare(begins=True)
    expect(page.get_by_text(re.compile(r"^1 of \d+$"))).to_be_visible()
    first = differences(page).get_by_role("listitem").first
    expect(first).to_have_class(re.compile("current"))
    for side in ("Left", "Right"):
        expect(box(page, side, "_backbone-LeNet", "frame")).to_have_count(1)
    label = first.locator("button").inner_text().partition(" (")[0]
    middle = box(page, "Left", label, "selected")
    stage = half(page, "Left").locator(".graph-stage").bounding_box()
    expect(middle).to_be_visible()
    shown = middle.bounding_box()
    assert stage["y"] < shown["y"] < stage["y"] + stage["height"] - shown["height"]
    tops = [
        half(page, side).locator(".graph-drawing .frames").bounding_box()["y"] for side in ("Left", "Right")
    ]
    assert min(tops) <= stage["y"] + 20  # nothing is empty above both drawings


def test_an_address_that_names_what_is_open_stays_there(compare: Callable[..., Any]) -> None:
    page = compare(f"{PAIR}&open=0")
    expect(facts(page)).to_contain_text("Select a box")
    expect(page.locator(".graph-half .box.selected")).to_have_count(0)


def test_a_sentence_leads_to_its_place(page: Any, serve: Any, tmp_path: Path) -> None:
    for name, changes in {"one": {}, "two": {"activation": "gelu"}}.items():
        write_graph(tmp_path, name, layers(**changes)())
    page.goto(f"{serve(tmp_path)}graph?m=compare&run=./one&run2=./two&open=0")
    page.get_by_role("button", name="relu → gelu in 4 places").click()
    expect(facts(page).get_by_role("heading").first).to_contain_text("relu")


def test_renamed_graphs_have_no_empty_list(page: Any, serve: Any, tmp_path: Path) -> None:
    for name, changes in {"one": {}, "two": {"prefix": "module."}}.items():
        write_graph(tmp_path, name, layers(**changes)())
    page.goto(f"{serve(tmp_path)}graph?m=compare&run=./one&run2=./two")
    expect(differences(page)).to_have_text("No operator differs.")
    claim = page.locator("[data-claim='claim.graph.renamed']")
    expect(claim).to_contain_text("12 of them of parameters")
    expect(page.get_by_text("the 12 renamed parameters")).to_be_visible()
