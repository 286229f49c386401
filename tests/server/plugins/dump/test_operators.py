"""Routes of operators."""

from typing import Any

from mindinsight.server.formats.dumps import list_tensors, open_dump

BROKEN = {"dump": "./job/broken", "rank": 0, "step": 1}


def test_the_tree_unfolds_scope_by_scope(finished: Any, ask: Any) -> None:
    finished("tensors", **BROKEN)
    top = {child["name"]: child for child in ask("tree", **BROKEN)["children"]}
    assert (top["Gradients"]["scope"], top["Gradients"]["lost"]) == (True, 1)
    path = ["Gradients", "Default", "network-WithLossCell", "_backbone-Net", "fc2-Dense", "gradMatMul-expand"]
    leaves = ask("tree", **BROKEN, scope=path)["children"]
    assert [(leaf["recorded"], leaf["lost"]) for leaf in leaves if not leaf["scope"] and leaf["lost"]] == [
        ("MatMul-op66", 1)
    ]


def test_an_operator_has_its_source_its_tensors_and_its_neighbours(finished: Any) -> None:
    found = finished("operator", **BROKEN, graph="Net/0", recorded="MatMul-op66")
    assert (found["source"]["line"], found["source"]["code"]) == (14, "return self.fc2(x)")
    assert found["source"]["own"] and not found["stack"][0]["own"]
    assert [(each["direction"], each["slot"]) for each in found["tensors"]] == [
        ("input", "0"),
        ("input", "1"),
        ("output", "0"),
    ]
    assert found["tensors"][2]["statistics"]["nans"] == 1
    assert all(link["certain"] for link in found["inputs"] + found["outputs"])
    before = finished("operator", **BROKEN, graph="Net/0", recorded=found["inputs"][0]["recorded"])
    assert "MatMul-op66" in [link["recorded"] for link in before["outputs"]]


def test_without_a_graph_neighbours_are_found_by_what_they_hold(finished: Any) -> None:
    found = finished("operator", dump="./torch", rank=0, step=0, recorded="Functional.relu.0.forward")
    assert [link["recorded"] for link in found["inputs"]] == ["Functional.linear.0.forward"]
    assert not found["inputs"][0]["certain"]
    assert found["tensors"][0]["said"].keys() >= {"max", "min", "mean", "l2norm"}
    assert not found["tensors"][0]["computed"]


def test_every_way_between_operators_can_be_walked_back(finished: Any, base: Any) -> None:
    names = {entry.recorded for entry in list_tensors(open_dump(base / "job" / "broken"), 0, 1).items}
    place = {**BROKEN, "graph": "Net/0"}
    found = {name: finished("operator", **place, recorded=name) for name in names if "-op" in name}
    ways = 0
    for name, operator in found.items():
        for link in operator["inputs"]:
            if link["recorded"] in found:
                there = [each["recorded"] for each in found[link["recorded"]]["outputs"]]
                assert name in there
                ways += 1
        for link in operator["outputs"]:
            assert name in [each["recorded"] for each in found[link["recorded"]]["inputs"]]
    assert ways > 20
