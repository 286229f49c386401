from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.layout.coordinates import Size, assign_coordinates
from mindinsight.server.graph.layout.layered import arrange

WIDTHS = st.lists(st.integers(10, 80), min_size=2, max_size=6)
GAP = 7.0


def of_width(width: Any) -> Size:
    return Size(float(width), 10.0, width / 2, width / 2)


def placed(upper: Any, lower: Any, links: Any) -> tuple[Any, Any, Any]:
    sizes = [of_width(width) for width in (*upper, *lower)]
    layers = [list(range(len(upper))), list(range(len(upper), len(sizes)))]
    above = [[a for a, b in links if b == item] for item in range(len(sizes))]
    below = [[b for a, b in links if a == item] for item in range(len(sizes))]
    return layers, sizes, assign_coordinates(layers, above, below, sizes, GAP)


@given(WIDTHS, WIDTHS, st.data())
def test_order_and_gaps_are_kept(upper: Any, lower: Any, data: Any) -> None:
    ends = st.tuples(st.integers(0, len(upper) - 1), st.integers(len(upper), len(upper) + len(lower) - 1))
    layers, sizes, left = placed(upper, lower, data.draw(st.lists(ends, unique=True, max_size=12)))
    for layer in layers:
        for item, next_item in pairwise(layer):
            assert left[next_item] - left[item] >= sizes[item].width + GAP - 1e-6
    assert min(left) == 0.0


@given(WIDTHS)
def test_pairs_stand_exactly_below_each_other(widths: Any) -> None:
    links = [(number, number + len(widths)) for number in range(len(widths))]
    _, sizes, left = placed(widths, widths, links)
    for source, target in links:
        assert abs(left[source] + sizes[source].outlet - left[target] - sizes[target].inlet) < 1e-6


def test_a_parent_stands_above_the_middle_of_its_children() -> None:
    _, sizes, left = placed([40, 40], [20, 20, 20], [(0, 2), (0, 4)])
    middle = (left[2] + left[4] + 20) / 2
    assert abs(left[0] + sizes[0].outlet - middle) < 0.5


def test_long_links_stay_in_one_line() -> None:
    """Check that dummy nodes, which have no width, weigh more than boxes."""
    sizes = [of_width(60), Size(0, 0, 0, 0), of_width(90), Size(0, 0, 0, 0), of_width(60)]
    layers = [[0], [1, 2], [3], [4]]
    above = [[], [0], [], [1], [3]]
    below = [[1], [3], [], [4], []]
    left = assign_coordinates(layers, above, below, sizes, GAP)
    assert abs(left[1] - left[3]) < 1.0


BOX = Size(100, 30, 50, 50)


def chain(count: Any) -> list[Any]:
    return [(item, item + 1) for item in range(count - 1)]


def test_a_long_chain_stands_in_columns() -> None:
    plan = arrange([BOX] * 40, chain(40))
    assert len({x for x, _ in plan.corners}) >= 3
    assert 0.4 < plan.width / plan.height < 2.5
    columns = [x for x, _ in plan.corners]
    assert columns == sorted(columns)


def test_a_short_chain_is_not_cut() -> None:
    assert len({x for x, _ in arrange([BOX] * 8, chain(8)).corners}) == 1


def test_what_follows_a_high_box_stands_below_it() -> None:
    plan = arrange([BOX, BOX, Size(300, 1400, 150, 150), BOX, BOX], chain(5))
    ys = [y for _, y in plan.corners]
    assert ys == sorted(ys)
    assert plan.width < 301


def test_two_high_boxes_stand_in_two_columns() -> None:
    plan = arrange([BOX, Size(200, 900, 100, 100), BOX, Size(200, 900, 100, 100), BOX], chain(5))
    assert plan.corners[3][0] > plan.corners[1][0]


def test_lines_between_columns_keep_clear_of_the_boxes() -> None:
    plan = arrange([BOX] * 40, chain(40))
    (turn,) = [link for link in chain(40) if plan.corners[link[0]][0] != plan.corners[link[1]][0]][:1]
    for (ax, ay), (bx, by) in pairwise(plan.routes[turn]):
        assert ax == bx or ay == by
        for x, y in plan.corners:
            inside = x < (ax + bx) / 2 < x + 100 and min(ay, by) < y + 29 and y + 1 < max(ay, by)
            assert not inside


def test_many_links_are_not_led_from_column_to_column() -> None:
    ladder = [(item, item + 1) for item in range(60) if item % 2 == 0]
    ladder += [(item, other) for item in range(58) for other in (item + 2, item + 3 - 2 * (item % 2))]
    plan = arrange([BOX] * 60, [link for link in ladder if link[0] < link[1]])
    assert plan.height > plan.width
