from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.layout.layers import assign_layers, components, find_back_links

COUNT = 12
LINKS = st.lists(
    st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)).filter(lambda link: link[0] != link[1]),
    unique=True,
    max_size=40,
)


def turned(links: Any) -> list[Any]:
    back = find_back_links(COUNT, links)
    return [(b, a) if (a, b) in back else (a, b) for a, b in links]


@given(LINKS)
def test_no_cycle_is_left_and_links_run_down(links: Any) -> None:
    down = turned(links)
    layers = assign_layers(COUNT, sorted(set(down)), widest=COUNT)
    assert all(layers[source] < layers[target] for source, target in down)


@given(LINKS)
def test_links_outside_cycles_are_never_turned(links: Any) -> None:
    after = {item: {target for source, target in links if source == item} for item in range(COUNT)}
    for _ in range(COUNT):
        after = {item: reached.union(*(after[other] for other in reached)) for item, reached in after.items()}
    assert all(source in after[target] for source, target in find_back_links(COUNT, links))


@given(LINKS, st.integers(1, 4))
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
    assert components(6, [(0, 3), (4, 5)]) == [[0, 3], [1], [2], [4, 5]]
