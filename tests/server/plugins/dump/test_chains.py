"""Route of the chain that led to a fault: back to the batch, with a drawing of the graph around it."""

from collections.abc import Callable
from typing import Any


def test_a_fault_is_traced_back_to_the_batch_and_drawn(finished: Callable[..., Any]) -> None:
    answer = finished("chain", dump="./job/broken", step=1, graph="Net/0", operator="MatMul-op66")
    chain = answer["chain"]
    assert answer["certain"]
    assert (chain[0]["recorded"], chain[0]["tensor"]["statistics"]["nans"]) == ("MatMul-op66", 1)
    assert chain[0]["source"]["code"] == "return self.fc2(x)"
    assert (chain[-1]["operator"], chain[-1]["carrier"]) == ("inputs0", "data")
    assert {link["carrier"] for link in chain[:-1]} == {"operator"}
    places = [box["place"] for box in answer["picture"]["boxes"]]
    assert places.count(0) == 1
    assert {0, 1, 2} <= set(places)
    assert answer["picture"]["lines"]


def test_a_source_is_followed_where_it_is_named(finished: Callable[..., Any]) -> None:
    position = {"dump": "./job/broken", "step": 1, "graph": "Net/0"}
    chain = finished("chain", **position, operator="MatMulBiasAddFusion-op56", source="fc2.weight")["chain"]
    assert [(link["operator"], link["carrier"]) for link in chain[1:]] == [("fc2.weight", "weight")]


def test_links_of_a_dump_without_a_graph_are_inferred(finished: Callable[..., Any]) -> None:
    answer = finished("chain", dump="./torch", operator="Functional.relu.0.forward")
    assert not answer["certain"]
    assert answer["chain"][1]["recorded"] == "Functional.linear.0.forward"
