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
    operator = finished("operator", **BROKEN, graph="Net/0", recorded="MatMul-op66")
    assert (operator["source"]["line"], operator["source"]["code"]) == (14, "return self.fc2(x)")
    assert operator["source"]["own"] and not operator["stack"][0]["own"]
    assert [(tensor["direction"], tensor["slot"]) for tensor in operator["tensors"]] == [
        ("input", "0"),
        ("input", "1"),
        ("output", "0"),
    ]
    assert operator["tensors"][2]["statistics"]["nans"] == 1
    assert all(link["certain"] for link in operator["inputs"] + operator["outputs"])
    before = finished("operator", **BROKEN, graph="Net/0", recorded=operator["inputs"][0]["recorded"])
    assert "MatMul-op66" in [link["recorded"] for link in before["outputs"]]


def test_without_a_graph_neighbours_are_found_by_what_they_hold(finished: Any) -> None:
    operator = finished("operator", dump="./torch", rank=0, step=0, recorded="Functional.relu.0.forward")
    assert [link["recorded"] for link in operator["inputs"]] == ["Functional.linear.0.forward"]
    assert not operator["inputs"][0]["certain"]
    assert operator["tensors"][0]["said"].keys() >= {"max", "min", "mean", "l2norm"}
    assert not operator["tensors"][0]["computed"]


def test_every_way_between_operators_can_be_walked_back(finished: Any, base: Any) -> None:
    names = {entry.recorded for entry in list_tensors(open_dump(base / "job" / "broken"), 0, 1).items}
    dump_step = {**BROKEN, "graph": "Net/0"}
    operators = {name: finished("operator", **dump_step, recorded=name) for name in names if "-op" in name}
    ways = 0
    for name, operator in operators.items():
        for link in operator["inputs"]:
            if link["recorded"] in operators:
                there = [other["recorded"] for other in operators[link["recorded"]]["outputs"]]
                assert name in there
                ways += 1
        for link in operator["outputs"]:
            assert name in [other["recorded"] for other in operators[link["recorded"]]["inputs"]]
    assert ways > 20
