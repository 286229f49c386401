from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.layout.coordinates import Size, assign_coordinates
from mindinsight.server.graph.layout.layered import (
    arrange,
    assign_layers,
    crossings,
    find_back_links,
    order_layers,
)
from mindinsight.server.graph.scopes.folding import connected

SIZES = st.lists(
    st.tuples(st.integers(20, 200), st.integers(10, 90)).map(
        lambda sides: Size(*sides, sides[0] / 2, sides[0] / 3)
    ),
    min_size=1,
    max_size=14,
)
LINKS = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=30)


def apart(left: Any, right: Any) -> Any:
    (ax, ay, a), (bx, by, b) = left, right
    slack = 1e-6
    return (
        ax + a.width <= bx + slack
        or bx + b.width <= ax + slack
        or ay + a.height <= by + slack
        or by + b.height <= ay + slack
    )


@given(SIZES, LINKS)
def test_boxes_do_not_overlap_and_lie_inside(sizes: Any, links: Any) -> None:
    links = [(a % len(sizes), b % len(sizes)) for a, b in links]
    plan = arrange(sizes, links)
    boxes = [(x, y, size) for (x, y), size in zip(plan.corners, sizes, strict=True)]
    assert all(apart(*pair) for pair in combinations(boxes, 2))
    assert all(x >= -1e-6 and y >= -1e-6 for x, y, _ in boxes)
    assert all(x + size.width <= plan.width + 1e-6 for x, _, size in boxes)
    assert all(y + size.height <= plan.height + 1e-6 for _, y, size in boxes)


@given(SIZES, LINKS)
def test_every_link_has_a_line_from_box_to_box(sizes: Any, links: Any) -> None:
    links = [(a % len(sizes), b % len(sizes)) for a, b in links]
    plan = arrange(sizes, links)
    assert set(plan.routes) == {link for link in links if link[0] != link[1]}
    for (source, target), route in plan.routes.items():
        for item, (x, y) in ((source, route[0]), (target, route[-1])):
            left, top = plan.corners[item]
            assert left - 1e-6 <= x <= left + sizes[item].width + 14 + 1e-6
            assert min(abs(y - top), abs(y - top - sizes[item].height)) < 1e-6


@given(SIZES, LINKS)
def test_equal_input_gives_equal_drawings(sizes: Any, links: Any) -> None:
    links = [(a % len(sizes), b % len(sizes)) for a, b in links]
    assert arrange(sizes, links) == arrange(sizes, links[::-1])


def test_a_chain_is_a_straight_line() -> None:
    sizes = [Size(width, 30, width / 2, width / 2) for width in (80, 200, 50, 120)]
    plan = arrange(sizes, [(0, 1), (1, 2), (2, 3)])
    assert {round(x + size.inlet, 6) for (x, _), size in zip(plan.corners, sizes, strict=True)} == {100.0}


def test_a_long_link_passes_beside_the_boxes_it_does_not_touch() -> None:
    sizes = [Size(100, 30, 50, 50)] * 4
    plan = arrange(sizes, [(0, 1), (1, 2), (2, 3), (0, 3)])
    inner = [(x, y) for x, y in plan.routes[0, 3] if plan.corners[1][1] <= y <= plan.corners[2][1] + 30]
    assert inner
    assert all(not (plan.corners[1][0] <= x <= plan.corners[1][0] + 100) for x, _ in inner)


def test_first_and_last_stand_at_the_ends() -> None:
    sizes = [Size(50, 30, 25, 25)] * 3 + [Size(0, 0, 0, 0)] * 2
    plan = arrange(sizes, [(0, 1), (1, 2), (3, 1), (0, 4)], top_item=3, bottom_item=4)
    assert plan.corners[3][1] < plan.corners[1][1]
    assert plan.corners[4][1] == max(y for _, y in plan.corners)


def test_unrelated_boxes_fill_rows_instead_of_a_line() -> None:
    plan = arrange([Size(100, 30, 50, 50)] * 30, [])
    assert 3 <= len({y for _, y in plan.corners}) <= 12


def test_wishes_that_collide_are_met_half_way() -> None:
    sizes = [Size(10, 5, 5, 5), Size(10, 5, 5, 5), Size(10, 5, 5, 5)]
    left = assign_coordinates([[0], [1, 2]], [[], [0], [0]], [[1, 2], [], []], sizes, gap=4)
    assert left[2] - left[1] == 14
    assert left[0] + 5 == (left[1] + left[2] + 10) / 2


@given(SIZES, LINKS, st.sets(st.integers(0, 13)), st.sets(st.integers(0, 13)))
def test_lines_go_on_above_the_first_and_below_the_last_without_meeting_a_box(
    sizes: Any, links: Any, entered: Any, left: Any
) -> None:
    count = len(sizes)
    links = [(a % count, b % count) for a, b in links]
    first, last = count, count + 1
    port = Size(0.0, 0.0, 0.0, 0.0)
    links += [(first, item % count) for item in entered] + [(item % count, last) for item in left]
    plan = arrange([*sizes, port, port], links, first, last)
    for (x, y), size in zip(plan.corners, sizes, strict=False):
        for number, beyond in ((first, y < plan.corners[first][1]), (last, y > plan.corners[last][1])):
            at = plan.corners[number][0]
            assert not (beyond and x + 1e-6 < at < x + size.width - 1e-6)


def test_a_fan_of_wide_boxes_is_no_ribbon() -> None:
    wide, port = Size(300, 40, 150, 150), Size(0.0, 0.0, 0.0, 0.0)
    plan = arrange([wide] * 6 + [port], [(6, item) for item in range(6)], top_item=6)
    assert plan.width < 5 * 328
    narrow = Size(60, 40, 30, 30)
    row = arrange([narrow] * 6 + [port], [(6, item) for item in range(6)], top_item=6)
    assert len({y for _, y in row.corners[:6]}) == 1


COUNT = 12
LAYERS_LINKS = st.lists(
    st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)).filter(lambda link: link[0] != link[1]),
    unique=True,
    max_size=40,
)


def turned(links: Any) -> list[Any]:
    back = find_back_links(COUNT, links)
    return [(b, a) if (a, b) in back else (a, b) for a, b in links]


@given(LAYERS_LINKS)
def test_no_cycle_is_left_and_links_run_down(links: Any) -> None:
    down = turned(links)
    layers = assign_layers(COUNT, sorted(set(down)), widest=COUNT)
    assert all(layers[source] < layers[target] for source, target in down)


@given(LAYERS_LINKS)
def test_links_outside_cycles_are_never_turned(links: Any) -> None:
    after = {item: {target for source, target in links if source == item} for item in range(COUNT)}
    for _ in range(COUNT):
        after = {item: reached.union(*(after[other] for other in reached)) for item, reached in after.items()}
    assert all(source in after[target] for source, target in find_back_links(COUNT, links))


@given(LAYERS_LINKS, st.integers(1, 4))
def test_layers_are_never_wider_than_asked(links: Any, widest: Any) -> None:
    layers = assign_layers(COUNT, sorted(set(turned(links))), widest)
    assert max(layers.count(layer) for layer in layers) <= widest
    assert sorted(set(layers)) == list(range(max(layers) + 1))


def test_what_only_gives_stands_where_it_is_first_used() -> None:
    assert assign_layers(4, [(0, 1), (1, 2), (3, 2)], widest=9) == [0, 1, 2, 1]


def test_the_first_stays_on_top_and_the_last_goes_to_the_bottom() -> None:
    links = [(0, 1), (1, 2), (3, 2), (0, 4)]
    assert assign_layers(5, links, widest=9, top_item=3, bottom_item=4) == [0, 1, 2, 0, 3]


def test_parts_that_do_not_hang_together() -> None:
    assert connected(range(6), [(0, 3), (4, 5)]) == [[0, 3], [1], [2], [4, 5]]


def count_pairs(upper: Any, lower: Any, links: Any) -> Any:
    at = {item: index for layer in (upper, lower) for index, item in enumerate(layer)}
    return sum((at[a] - at[c]) * (at[b] - at[d]) < 0 for (a, b), (c, d) in combinations(links, 2))


def neighbours(count: Any, links: Any, way: Any) -> list[Any]:
    return [[link[1 - way] for link in links if link[way] == item] for item in range(count)]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)), unique=True, max_size=20))
def test_crossings_are_counted_and_never_made_more(links: Any) -> None:
    upper, lower = list(range(5)), list(range(5, 10))
    above, below = neighbours(10, links, 1), neighbours(10, links, 0)
    position = {item: item % 5 for item in range(10)}
    before = crossings([upper, lower], below, position)
    assert before == count_pairs(upper, lower, links)
    ordered = order_layers([list(upper), list(lower)], above, below)
    assert count_pairs(ordered[0], ordered[1], links) <= before
    assert [sorted(layer) for layer in ordered] == [upper, lower]


def test_a_twisted_ladder_is_untwisted() -> None:
    links = [(0, 5), (1, 4), (2, 3)]
    ordered = order_layers([[0, 1, 2], [3, 4, 5]], neighbours(6, links, 1), neighbours(6, links, 0))
    assert count_pairs(ordered[0], ordered[1], links) == 0
