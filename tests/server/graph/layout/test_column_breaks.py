from itertools import pairwise
from typing import Any

from mindinsight.server.graph.layout.coordinates import Size
from mindinsight.server.graph.layout.layered import arrange

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
