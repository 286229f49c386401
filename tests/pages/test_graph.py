"""What a person does on the graph page, on recorded graphs."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

DATA = Path(__file__).parents[1] / "data"
BACKBONE = "Default/network-WithLossCell/_backbone-LeNet"


@pytest.fixture
def base(tmp_path: Path) -> Any:
    base = tmp_path / "base"
    shutil.copytree(DATA / "events" / "lenet", base / "lenet")
    shutil.copytree(DATA / "events" / "multi_rank", base / "job")
    for name in ("conv_optimize", "types", "simplified"):
        (base / "files").mkdir(exist_ok=True)
        shutil.copy(DATA / "graph" / f"{name}.pb", base / "files" / f"{name}.pb")
    return base


@pytest.fixture
def graph(page: Any, serve: Any, base: Any) -> Callable[..., Any]:
    """Opens the page with some parameters and waits for the drawing."""
    address = serve(base)

    def open_page(query: str = "run=./lenet&view=recorded", size: Any = None) -> Any:
        if size:
            page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"{address}graph?{query}")
        page.locator(".graph-drawing .box").first.wait_for()
        return page

    return open_page


def labels(page: Any) -> Any:
    return page.locator(".graph-drawing .box .title").all_text_contents()


def choice(page: Any, label: Any) -> Any:
    """One of the selects above the drawing."""
    return page.locator(f'.graph .toolbar label:has(span:text-is("{label}")) select')


def facts(page: Any, label: Any) -> Any:
    """What the panel says, once it is about this node."""
    page.locator(".graph-facts h2", has_text=label).wait_for()
    return page.locator(".graph-about").inner_text()


def test_a_scope_opens_and_closes_and_the_address_remembers_it(graph: Callable[..., Any]) -> None:
    page = graph()
    assert "conv1-Conv2d" not in labels(page)
    page.locator("g.closed", has_text="_backbone-LeNet").dblclick()
    page.locator("g.closed", has_text="conv1-Conv2d").wait_for()
    assert "open=" in page.url and "node=" in page.url
    page.reload()
    page.locator("g.closed", has_text="conv1-Conv2d").wait_for()
    page.locator("g.frame", has_text="_backbone-LeNet").locator(".mark").click()
    page.locator("g.closed", has_text="conv1-Conv2d").wait_for(state="detached")


def test_a_large_graph_in_one_scope_opens_down_to_its_stages(page: Any, serve: Any, tmp_path: Path) -> None:
    from mindinsight.proto.graph_pb2 import ModelProto

    model = ModelProto(ir_version=1)
    for number in range(1000):
        path = f"Default/network-Net/stage_{number // 20}/block_{number % 20}/Add-op{number}"
        model.graph.node.add(name=str(number), op_type="Add", full_name=path)
    (tmp_path / "large" / "run").mkdir(parents=True)
    (tmp_path / "large" / "run" / "large.pb").write_bytes(model.SerializeToString())
    address = serve(tmp_path / "large")
    page.goto(f"{address}graph")
    expect(page.locator("g.closed", has_text="49 × stage")).to_have_count(1)
    assert "open=" not in page.url
    page.locator("g.frame", has_text="50 × stage").locator(".mark").click()
    expect(page.locator("g.closed")).to_have_count(1)
    assert "open=" in page.url
    page.reload()
    expect(page.locator("g.closed", has_text="50 × stage")).to_have_count(1)
    patches = page.locator(".graph-patches")
    expect(patches).to_be_hidden()
    page.get_by_role("button", name="Expand all", exact=True).click()
    expect(patches).to_be_visible()
    expect(page).to_have_url(re.compile("open=all(&|$)"))
    shapes = page.locator(".graph-drawing .box")
    expect(shapes.first).to_be_attached()
    assert shapes.count() < 900, "of two thousand"
    search = page.get_by_role("searchbox").first
    search.fill("Add-op777")
    expect(page.locator(".graph-results")).to_contain_text("block_17")
    search.press("Enter")
    target = page.locator("g.closed.selected", has_text="Add-op777")
    expect(target).to_be_visible()
    page.locator(".graph-facts nav").get_by_role("button", name="block_17").click()
    expect(page.locator("g.frame.selected", has_text="block_17")).to_be_visible()
    page.locator(".graph-stage").press("Enter")
    expect(page).to_have_url(re.compile(r"open=all(,|%2C)-\d+"))
    expect(target).to_have_count(0)


def test_a_scope_is_flattened_to_its_operators_and_layered_again(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&open=1,6,7&node=7")
    inner = page.locator(".graph-drawing g.frame", has_text="conv1-Conv2d")
    closed = page.locator(".graph-drawing g.closed:has(.mark)", has_text="conv1-Conv2d")
    operator = page.locator(".graph-drawing g.box", has_text="Conv2D-op0").first
    expect(closed).to_be_visible()
    page.get_by_role("button", name="Flatten layers").click()
    expect(closed).to_have_count(0)
    expect(inner).to_have_count(0)
    expect(operator).to_be_visible()
    expect(page).to_have_url(re.compile("flat=7(&|$)"))
    page.reload()
    expect(operator).to_be_visible()
    expect(closed).to_have_count(0)
    page.get_by_role("button", name="Show layers").click()
    expect(closed).to_be_visible()
    page.get_by_role("button", name="Flatten layers").click()
    expect(closed).to_have_count(0)
    operator.click()
    page.locator(".graph-facts nav").get_by_role("button", name="conv1-Conv2d").click()
    expect(page.locator(".graph-drawing g.selected", has_text="conv1-Conv2d")).to_be_visible()
    expect(page).not_to_have_url(re.compile("flat="))


def test_a_node_tells_its_attributes_inputs_and_outputs(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&open=1,6,7&node=7")
    page.fill(".graph-finder input[type=search]", "Conv2D-op0")
    page.locator(".graph-results button", has_text="Conv2D-op0").first.click()
    page.locator("g.box.selected", has_text="Conv2D-op0").wait_for()
    text = facts(page, "Conv2D-op0")
    assert "_backbone-LeNet" in text and "conv1-Conv2d" in text
    assert page.locator(".graph-facts h2").get_attribute("title") == f"{BACKBONE}/conv1-Conv2d/Conv2D-op0"
    assert "float32 [10, 4, 16, 16]" in text
    assert "kernel_size" in text and "(5, 5)" in text
    assert "inputs0" in text and "ReLU-op0" in text and "Load-op0" in text
    page.locator(".graph-about button", has_text="ReLU-op0").first.click()
    page.locator("g.box.selected", has_text="ReLU-op0").wait_for()


def test_patterns_and_types_narrow_the_search(graph: Callable[..., Any]) -> None:
    page = graph()
    page.get_by_label("Pattern").check()
    page.fill(".graph-finder input[type=search]", "^(Conv2D|MaxPool)-op[01]$")
    page.locator(".graph-results", has_text="4 found").wait_for()
    page.get_by_label("Operator type").select_option("MaxPool")
    page.locator(".graph-results", has_text="2 found").wait_for()
    page.reload()
    page.locator(".graph-results", has_text="2 found").wait_for()
    page.fill(".graph-finder input[type=search]", "(")
    page.locator(".graph-results", has_text="Invalid regular expression: character 1, “(”").wait_for()


def test_a_parameter_leads_to_its_users(graph: Callable[..., Any]) -> None:
    page = graph()
    page.fill(".graph-finder input[type=search]", "fc1.bias")
    page.locator(".graph-results button", has_text="fc1.bias").first.click()
    text = facts(page, "fc1.bias")
    assert "float32 [32]" in text and "Load-op0" in text and "ApplyMomentum" in text
    page.reload()
    assert facts(page, "fc1.bias") == text


def test_what_a_node_depends_on_is_lit_and_the_rest_is_dim(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&view=simplified")
    page.locator("g.closed", has_text="ReLU-op0").click()
    page.get_by_role("button", name="Depends on").click()
    page.locator(".graph-about", has_text="Depends on 2 operators").wait_for()
    assert page.locator("g.closed.dim", has_text="MaxPool-op0").count() == 1
    assert page.locator("path.line.on").count() > 0
    page.get_by_role("button", name="Used by").click()
    page.locator(".graph-about", has_text="(including itself)").wait_for()
    page.reload()
    page.locator(".graph-about", has_text="(including itself)").wait_for()
    expect(page.locator("g.closed.lit", has_text="MaxPool-op0")).to_have_count(1)


def test_the_keyboard_alone_is_enough(graph: Callable[..., Any]) -> None:
    page = graph()
    page.locator(".graph-stage").focus()
    page.keyboard.press("ArrowDown")
    page.locator("g.box.selected", has_text="_backbone-LeNet").wait_for()
    page.keyboard.press("Enter")
    page.locator("g.frame", has_text="_backbone-LeNet").wait_for()
    announcement = page.locator(".graph-canvas [aria-live]").text_content()
    assert "scope" in announcement and "open, 22 children" in announcement
    page.keyboard.press("u")
    page.locator(".graph-about", has_text="Depends on").wait_for()
    page.keyboard.press("Escape")
    page.locator("g.box.selected").wait_for(state="detached")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"


def outline(page: Any) -> Any:
    page.get_by_role("tab", name="Outline").click()
    return page.get_by_role("tree", name="Outline")


def test_a_bookmark_leads_back_to_its_node_from_any_link(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&open=1,6,7&node=7")
    heading = page.locator(".graph-facts h2")
    path = heading.get_attribute("title")
    star = page.get_by_role("button", name="Bookmark, kept in the link")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    bookmarks = page.get_by_role("list", name="Bookmarks")
    expect(bookmarks.get_by_role("listitem")).to_have_count(1)
    page.goto(re.sub("node=\\d+&?|open=[^&]*&?", "", page.url))
    page.locator(".graph-drawing .box").first.wait_for()
    expect(heading).to_have_count(0)
    bookmarks.get_by_role("button").first.click()
    expect(heading).to_have_attribute("title", path)
    bookmarks.get_by_role("button", name=f"Remove the bookmark of {path}").click()
    expect(bookmarks).to_be_hidden()
    assert "mark=" not in page.url


def test_the_outline_unfolds_and_leads_to_nodes(graph: Callable[..., Any]) -> None:
    page = graph()
    rows = outline(page).get_by_role("treeitem")
    expect(rows.filter(has_text="Default").first).to_have_attribute("aria-expanded", "false")
    before = rows.count()
    page.get_by_role("button", name="Expand Gradients").click()
    expect(page.get_by_role("button", name="Collapse Gradients")).to_be_focused()
    expect(rows).to_have_count(before + 1)
    page.get_by_role("button", name="Collapse Gradients").click()
    expect(rows).to_have_count(before)
    page.get_by_role("button", name="Expand Default").first.click()
    outline(page).get_by_role("button", name="optimizer-Momentum", exact=True).click()
    page.locator("g.box.selected", has_text="optimizer-Momentum").wait_for()
    expect(outline(page).locator(".current")).to_have_text("optimizer-Momentum")


def test_the_outline_opens_where_something_is_selected(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&open=1,6,7&node=7")
    expect(outline(page).locator(".current")).to_have_text("_backbone-LeNet")
    page.fill(".graph-finder input[type=search]", "Conv2D-op0")
    page.locator(".graph-results button", has_text="Conv2D-op0").first.click()
    expect(outline(page).locator(".current")).to_have_text("Conv2D-op0")
    page.reload()
    expect(outline(page).locator(".current")).to_have_text("Conv2D-op0")


def test_a_value_that_leaves_a_scope_tells_its_shape(graph: Callable[..., Any]) -> None:
    page = graph()
    expect(page.locator(".graph-drawing .flowing", has_text="float32 10×10")).to_have_count(1)
    page.locator("g.closed", has_text="_backbone-LeNet").dblclick()
    expect(page.locator(".graph-drawing .flowing", has_text="float32 10×8×2×2")).to_have_count(1)


MIDDLE = """path => {
  const middle = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
  return [middle.x, middle.y];
}"""


def test_the_pointer_on_a_line_tells_what_flows_along_it(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&open=1,6,7")
    label = page.locator(".graph-drawing .hovered text")
    expect(page.locator("g.closed", has_text="conv1-Conv2d")).to_be_visible()
    page.mouse.move(*page.locator(".graph-drawing path.line").first.evaluate(MIDDLE))
    expect(label).to_have_text([re.compile("^float32 "), re.compile("^Load-op. → ")])
    expect(page.locator("path.line.hover")).to_have_count(1)
    page.mouse.click(*page.locator(".graph-drawing path.line").first.evaluate(MIDDLE))
    expect(page.locator(".graph-facts")).to_contain_text("Values")
    expect(page.locator("path.line.on")).not_to_have_count(0)
    page.get_by_role("button", name="Zoom in").hover()
    expect(label).to_have_count(0)
    expect(page.locator("path.line.hover")).to_have_count(0)


def test_views_ranks_and_files_are_chosen(graph: Callable[..., Any]) -> None:
    page = graph("run=./job/rank_2")
    assert choice(page, "Rank").input_value() == "./job/rank_2"
    choice(page, "Rank").select_option("3")
    page.wait_for_url("**run=./job/rank_3**")
    page.get_by_role("button", name="Data pipeline").click()
    page.locator("g.box", has_text="GeneratorDataset").wait_for()
    choice(page, "Run").select_option("files")
    page.locator("g.box", has_text="conv1-Conv2d").first.wait_for()
    choice(page, "Graph").select_option("types.pb")
    page.locator("g.box", has_text="bfloat16").wait_for()


def transform(page: Any) -> Any:
    return page.locator(".graph-drawing > g").get_attribute("transform")


def test_dragging_wheel_and_the_small_map_move_the_drawing(graph: Callable[..., Any]) -> None:
    page = graph()
    seen = [transform(page)]
    stage = page.locator(".graph-stage").bounding_box()
    middle = (stage["x"] + 30, stage["y"] + stage["height"] / 2)
    for act in (
        lambda: page.mouse.wheel(0, -240),
        lambda: (page.mouse.down(), page.mouse.move(middle[0] + 90, middle[1] + 40), page.mouse.up()),
        lambda: page.locator(".graph-minimap").click(position={"x": 20, "y": 20}),
        lambda: page.get_by_role("button", name="Fit to window").click(),
    ):
        page.mouse.move(*middle)
        act()
        page.wait_for_function(
            "before => document.querySelector('.graph-drawing > g').getAttribute('transform') !== before",
            arg=seen[-1],
        )
        seen.append(transform(page))
    assert page.locator("g.box.selected").count() == 0


DOWNLOADS = {
    "SVG image": lambda data: data.startswith(b"<svg") and b"_backbone-LeNet" in data and b"var(" not in data,
    "PNG image": lambda data: data.startswith(b"\x89PNG") and len(data) > 5000,
    "JSON: boxes and edges": lambda data: (
        "_backbone-LeNet" in [box["label"] for box in json.loads(data)["boxes"]]
    ),
    "Plotly figure": lambda data: len(json.loads(data)["layout"]["shapes"]) > 5,
}


def test_no_line_crosses_the_title_of_an_open_scope(graph: Callable[..., Any]) -> None:
    page = graph()
    titles = page.locator(".graph-drawing .frame > .title")
    copies = page.locator(".graph-drawing .lines ~ .texts use")
    expect(copies).to_have_count(titles.count())
    ids = [f"#{title}" for title in titles.evaluate_all("titles => titles.map(({ id }) => id)")]
    assert copies.evaluate_all("copies => copies.map((copy) => copy.getAttribute('href'))") == ids


def test_the_drawing_is_downloaded(graph: Callable[..., Any]) -> None:
    page = graph()
    for name, good in DOWNLOADS.items():
        page.get_by_role("button", name="Download").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert good(download.value.path().read_bytes()), name


def test_the_plotly_figure_is_drawn_by_plotly(graph: Callable[..., Any]) -> None:
    page = graph()
    drawn = page.evaluate(
        """async () => {
          const boot = JSON.parse(document.getElementById("boot").textContent);
          await new Promise((done) => {
            const script = document.createElement("script");
            Object.assign(script, { src: boot.plotly, onload: done });
            document.head.append(script);
          });
          const figure = await (await fetch(`v2/graph/figure${location.search}`)).json();
          const place = document.createElement("div");
          document.body.append(place);
          await Plotly.newPlot(place, figure.data, { ...figure.layout, width: 800, height: 600 });
          const count = (what) => place.querySelectorAll(what).length;
          return [count(".shapelayer path"), count(".scatterlayer .point")];
        }"""
    )
    assert drawn[0] > 5 and drawn[1] > 5


def test_names_from_files_are_never_markup(
    graph: Callable[..., Any], page: Any, serve: Any, tmp_path: Path
) -> None:
    from mindinsight.proto.graph_pb2 import ModelProto

    model = ModelProto(ir_version=1)
    model.graph.node.add(name="1", op_type="<b>Evil</b>", full_name='Default/<img src=x onerror="boom()">')
    (tmp_path / "evil" / "run").mkdir(parents=True)
    (tmp_path / "evil" / "run" / "evil.pb").write_bytes(model.SerializeToString())
    page.goto(f"{serve(tmp_path / 'evil')}graph")
    page.locator("g.closed").first.click()
    page.locator(".graph-about", has_text="<b>Evil</b>").wait_for()
    assert page.locator("main img, main b").count() == 0


def test_a_base_without_graphs_says_how_to_record_one(page: Any, serve: Any, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    page.goto(f"{serve(tmp_path / 'none')}graph")
    page.get_by_text("No run has a graph").wait_for()
    assert page.locator(".empty a").count() == 0


def test_a_base_with_graphs_in_dumps_alone_leads_to_them(page: Any, serve: Any, tmp_path: Path) -> None:
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", tmp_path / "base" / "run" / "dump")
    page.goto(f"{serve(tmp_path / 'base')}graph")
    page.locator(".empty", has_text="No run has a graph").get_by_role("link").click()
    page.wait_for_url(re.compile("dump=./run/dump&tab=graph"))
    page.locator(".dump-graph g.closed").first.wait_for()


def test_a_graph_that_is_written_again_is_shown_when_asked_for(graph: Callable[..., Any], base: Any) -> None:
    page = graph("run=./files&tag=types.pb")
    before = page.locator(".graph-notes").inner_text()
    waiting = base / "waiting"
    waiting.write_bytes((base / "files" / "conv_optimize.pb").read_bytes())
    waiting.rename(base / "files" / "types.pb")
    again = page.get_by_role("button", name="The graph was rewritten")
    expect(again).to_be_visible()
    again.click()
    expect(page.locator(".graph-notes")).to_contain_text("26 operators")
    assert "26 operators" not in before


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "zh")])
def test_nothing_for_axe_to_complain_about(graph: Callable[..., Any], theme: str, language: str) -> None:
    page = graph()
    page.emulate_media(color_scheme=theme)
    page.context.add_cookies([{"name": "mindinsight_lang", "value": language, "url": page.url}])
    page.reload()
    page.locator("g.closed", has_text="_backbone-LeNet").click()
    page.locator(".graph-facts").wait_for()
    results = Axe().run(page, context="#view")
    assert results.violations_count == 0, results.generate_report()


def test_narrow_screens_scroll_down_and_not_sideways(graph: Callable[..., Any]) -> None:
    page = graph(size=(390, 844))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("g.closed", has_text="_backbone-LeNet").click()
    page.locator(".graph-facts", has_text="MaxPool").wait_for()


def test_a_training_opens_as_its_network_with_a_card_of_its_parts(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet")
    expect(page.get_by_role("button", name="Simplified")).to_have_attribute("aria-pressed", "true")
    card = page.get_by_role("region", name="Model card")
    expect(card).to_contain_text("conv1-Conv2d → conv2-Conv2d → flatten-Flatten → fc1-Dense → fc2-Dense")
    expect(card).to_contain_text("3.00 k parameters · 12.0 kB · 809 kFLOP")
    expect(page.locator(".graph-drawing .box", has_text="optimizer")).to_have_count(0)
    card.get_by_role("button", name="fc2-Dense").click()
    expect(page.locator("g.box.selected", has_text="fc2-Dense")).to_have_count(1)
    page.get_by_role("button", name="As recorded").click()
    expect(page.locator("g.box.selected", has_text="fc2-Dense")).to_have_count(1)
    expect(page.get_by_role("tab", name="Details")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".graph-facts h2")).to_have_text("fc2-Dense")


def test_the_card_cuts_a_long_name_at_its_end(page: Any, serve: Any, tmp_path: Path) -> None:
    from mindinsight.proto.graph_pb2 import ModelProto

    model = ModelProto(ir_version=1)
    for part in ("_loss_function-SoftmaxCrossEntropyWithLogits", "head"):
        for number in range(2):
            model.graph.node.add(op_type="Add", full_name=f"Default/network-Net/{part}/Add-op{number}")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "net.pb").write_bytes(model.SerializeToString())
    page.goto(f"{serve(tmp_path)}graph")
    name = page.locator(".graph-card tbody th .link").first
    name.wait_for()
    inside = (
        "button => button.getBoundingClientRect().right <= button.parentElement.getBoundingClientRect().right"
    )
    assert name.inner_text().startswith("_loss_function")
    assert name.evaluate("button => button.scrollWidth > button.clientWidth")  # it is too long
    assert name.evaluate(inside)


def test_hits_are_marked_and_stepped_through(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&view=simplified")
    page.fill(".graph-finder input[type=search]", "type:MatMul shape:10x*")
    expect(page.locator("g.closed.hit")).to_have_count(3)
    expect(page.locator(".graph-minimap .hit")).to_have_count(3)
    page.keyboard.press("Enter")
    expect(page.locator("g.closed.hit.selected", has_text="MatMul-op0")).to_have_count(1)
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".graph-stepper")).to_contain_text("3 of 3")
    expect(page.locator(".graph-facts nav")).to_contain_text("fc3-Dense")


def test_a_parameter_lights_the_scopes_that_use_it(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&view=simplified")
    page.fill(".graph-finder input[type=search]", "fc1.bias")
    page.locator(".graph-results button", has_text="fc1.bias").click()
    expect(page.locator("g.closed.lit")).to_have_count(1)
    expect(page.locator("g.closed.lit", has_text="fc1-Dense")).to_have_count(1)


def test_the_side_panel_is_made_wider_and_an_attribute_is_shown_in_the_drawing(
    graph: Callable[..., Any],
) -> None:
    page = graph("run=./lenet&view=recorded&open=1,6,7,8,9,10&node=9")
    edge = page.get_by_role("separator", name="Width of the side panel")
    edge.focus()
    page.keyboard.press("ArrowLeft")
    expect(edge).to_have_attribute("aria-valuenow", "364")
    page.fill(".graph-finder input[type=search]", "Conv2D-op0")
    page.locator(".graph-results button", has_text="Conv2D-op0").first.click()
    page.locator(".graph-facts").get_by_role("button", name="kernel_size").click()
    expect(page.locator("g.closed", has_text="Conv2D-op0").locator(".sub")).to_have_text("(5, 5)")
    assert "attr=kernel_size" in page.url


def test_plotly_draws_the_same_picture(graph: Callable[..., Any]) -> None:
    page = graph("run=./lenet&view=simplified")
    boxes = page.locator(".graph-drawing .box").count()
    page.get_by_role("button", name="Plotly", exact=True).click()
    expect(page.locator(".graph-plotly .shapelayer path")).to_have_count(boxes)
    expect(page.locator(".graph-plotly .modebar")).to_have_count(1)
    page.get_by_role("button", name="SVG", exact=True).click()
    expect(page.locator(".graph-plotly")).to_be_hidden()
