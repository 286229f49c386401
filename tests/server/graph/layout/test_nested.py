"""Nested layouts of real graphs: boxes, lines, and the cache of layouts."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.encoders.drawing_json import drawing_json
from mindinsight.server.graph.layout import layered, nested
from mindinsight.server.graph.layout.nested import Box, DrawingCache, draw
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.network_outline import choose_initial_scopes
from mindinsight.server.graph.scopes.scope_tree import ROOT

DATA = Path(__file__).parents[3] / "data/graph"


@pytest.fixture(params=["lenet.graph", "conv_optimize.pb", "simplified.pb", "aggregated.pb"])
def tree(request: pytest.FixtureRequest) -> Any:
    return folded_tree(read_graph((DATA / request.param).read_bytes()))


def everything(tree: Any) -> list[Any]:
    return [index for index in range(len(tree.paths)) if tree.nodes[index] < 0]


def test_boxes_lie_in_their_scopes_and_apart(tree: Any) -> None:
    drawing = draw(tree, everything(tree))
    assert len(drawing.boxes) == len(tree.paths) - 1
    boxes = {box.index: box for box in drawing.boxes}
    inside: dict[Any, Any] = {}
    for box in drawing.boxes:
        parent = int(tree.parents[box.index])
        inside.setdefault(parent, []).append(box)
        if parent != ROOT:
            around = boxes[parent]
            assert around.x <= box.x and box.x + box.width <= around.x + around.width + 1e-6
            assert around.y <= box.y and box.y + box.height <= around.y + around.height + 1e-6
    for siblings in inside.values():
        for box_a, box_b in combinations(siblings, 2):
            assert (
                box_a.x + box_a.width <= box_b.x + 1e-6
                or box_b.x + box_b.width <= box_a.x + 1e-6
                or box_a.y + box_a.height <= box_b.y + 1e-6
                or box_b.y + box_b.height <= box_a.y + 1e-6
            )


def test_lines_join_siblings_or_a_scope_and_its_child(tree: Any) -> None:
    for line in draw(tree, everything(tree)).lines:
        parents = {int(tree.parents[line.source]), int(tree.parents[line.target])}
        assert len(parents) == 1 or line.source in parents or line.target in parents
        assert len(line.points) >= 2


def test_lines_end_at_the_edges_of_boxes_and_not_at_their_chips(tree: Any) -> None:
    drawing = draw(tree, everything(tree))
    boxes = {box.index: box for box in drawing.boxes}
    for line in drawing.lines:
        for (x, y), index in ((line.points[0], line.source), (line.points[-1], line.target)):
            if index == ROOT:
                continue
            box = boxes[index]
            assert min(abs(y - box.y), abs(y - box.y - box.height)) < 1e-6
            assert box.x - 1e-6 <= x <= box.x + box.width + 14


def test_operators_cannot_be_opened(tree: Any) -> None:
    every = list(range(len(tree.paths)))
    assert draw(tree, every) == draw(tree, everything(tree))


def test_every_value_between_siblings_is_on_a_line(tree: Any) -> None:
    drawing = draw(tree, everything(tree))
    drawn = {(line.source, line.target): line.flow.values for line in drawing.lines if line.flow}
    for source, target in zip(tree.edges.sources.tolist(), tree.edges.targets.tolist(), strict=True):
        above = [*tree.ancestors(source), source], [*tree.ancestors(target), target]
        differ = next((pair for pair in zip(*above, strict=False) if pair[0] != pair[1]), None)
        assert differ is None or drawn[differ] >= 1


def test_closed_scopes_hide_what_is_in_them(tree: Any) -> None:
    top = draw(tree, [])
    assert {box.index for box in top.boxes} == set(tree.children(ROOT))
    hidden = max(everything(tree))
    assert {box.index for box in draw(tree, [hidden]).boxes} == {box.index for box in top.boxes} or (
        tree.parents[hidden] == ROOT
    )


def test_the_drawing_of_a_graph_is_always_the_same(tree: Any) -> None:
    pictures = [json.dumps(drawing_json(tree, draw(tree, everything(tree)))) for _ in range(2)]
    assert pictures[0] == pictures[1]


def test_values_from_far_away_are_numbers_where_no_line_shows_them(graph: Any, blocks: Any) -> None:
    nodes = blocks(3)
    nodes.append(("Default/far/Sum-op0", [path for path, _ in nodes if "ReLU" in path]))
    tree = folded_tree(graph(nodes))
    boxes = {tree.paths[box.index]: box for box in draw(tree, everything(tree)).boxes}
    assert boxes["Default/net/0-Block"].leaves == 1
    assert boxes["Default/net"].leaves == 0
    assert boxes["Default/far/Sum-op0"].enters == 0  # a line from the border of its scope leads to it


def test_what_was_drawn_before_changes_no_drawing(tree: Any) -> None:
    """Open and close scopes one after the other, as a user does."""
    cache = DrawingCache(tree)
    opened: list[Any] = []
    for index in [*everything(tree), *choose_initial_scopes(tree)]:
        opened = [scope for scope in opened if scope != index] if index in opened else [*opened, index]
        assert cache.draw(opened) == draw(tree, opened)


def test_one_scope_more_arranges_only_itself_and_those_around_it(
    tree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(cache: DrawingCache, index: int, *more: Any) -> Any:
        arranged.append(index)
        return inside(cache, index, *more)

    arranged: list[int] = []
    inside = DrawingCache._draw_scope
    monkeypatch.setattr(DrawingCache, "_draw_scope", noted)
    cache, opened = DrawingCache(tree), everything(tree)
    inner = max(opened, key=lambda index: len(tree.ancestors(index)))
    cache.draw([index for index in opened if index != inner])
    arranged.clear()
    cache.draw(opened)
    assert sorted(arranged) == sorted({ROOT, inner, *tree.ancestors(inner)})


def test_of_many_drawings_the_last_are_kept(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested, "_CACHED_BOXES", 8)
    cache = DrawingCache(tree)
    assert cache.draw(everything(tree)) == draw(tree, everything(tree))
    box_count = sum(len(layout.boxes) for layout in cache._cache.values())
    assert box_count == cache._cached_boxes
    assert box_count <= 8 or len(cache._cache) == 1


def test_scopes_of_equal_structure_are_arranged_once(
    graph: Any, blocks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def noted(items: Any, *others: Any) -> Any:
        sizes.append(len(items))
        return layered.arrange(items, *others)

    monkeypatch.setattr(nested, "arrange", noted)
    tree = folded_tree(graph(blocks(8)))
    drawing = draw(tree, everything(tree))
    assert len(sizes) == len({box.index for box in drawing.boxes if box.open}) + 1 - 2 * 7
    monkeypatch.setattr(nested, "_CACHED_PLANS", 1)  # nothing is shared
    assert draw(tree, everything(tree)) == drawing
    assert len(sizes) > 12


def test_boxes_are_placed_once_however_deep(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    original, moves = Box.moved, [0]

    def moved(box: Box, x: float, y: float) -> Box:
        moves[0] += 1
        return original(box, x, y)

    monkeypatch.setattr(Box, "moved", moved)
    drawings = DrawingCache(tree)
    drawing = drawings.draw(everything(tree))
    assert moves[0] == len(drawing.boxes)
    assert drawings.draw(everything(tree)) is drawing
    assert moves[0] == len(drawing.boxes)


def test_a_flat_scope_shows_its_operators_without_the_scopes_between(tree: Any) -> None:
    scope = max(everything(tree)[1:], key=lambda index: len(tree.leaves(index)))
    drawing = draw(tree, [], flat=[scope])
    inside = [box for box in drawing.boxes if scope < box.index < tree.ends[scope]]
    assert sorted(box.index for box in inside) == tree.leaves(scope)
    assert {box.parent for box in inside} == {scope}
    lines = {(line.source, line.target) for line in drawing.lines if line.flow}
    edges = tree.inner_edges(scope)
    pairs = zip(edges.sources.tolist(), edges.targets.tolist(), strict=True)
    assert set(pairs) == {line for line in lines if scope < line[0] < tree.ends[scope]} & lines
    assert draw(tree, everything(tree), flat=[scope]).boxes != draw(tree, everything(tree)).boxes


def test_a_flat_scope_is_cached_apart_from_the_same_with_layers(tree: Any) -> None:
    cache, opened = DrawingCache(tree), everything(tree)
    scope = opened[1]
    for flat in ([], [scope], [ROOT], []):
        assert cache.draw(opened, flat=flat) == draw(tree, opened, flat)


def test_a_scope_of_too_many_operators_is_not_drawn_flat(tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested, "MOST_FLAT", 1)
    assert DrawingCache(tree).flattened([ROOT, *tree.leaves(ROOT)]) == []
    assert draw(tree, [], flat=[ROOT]) == draw(tree, [])
