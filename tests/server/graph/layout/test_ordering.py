from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.layout.ordering import crossings, order_layers


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
