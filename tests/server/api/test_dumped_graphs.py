"""The graph of a run under a dump of it: colours, panels and places, over a real server."""

import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.planted_networks import gpt
from tests.claims.situations.graph import SMALL, write_graph
from tests.server.debug.conftest import broken_job

GRAPH = "ms_output_trace_code_graph_0.pb"
BACK = "Gradients/Default/network-WithLossCell/_backbone-Net"
MATMUL = f"{BACK}/fc2-Dense/gradMatMul-expand/MatMul-op66"


@pytest.fixture
def ask(samples: Any, tmp_path: Path) -> Any:
    """ask("", shown="1") asks about step 1, in which an operator makes a NaN and another gives only zeros."""
    broken_job(tmp_path / "base" / "job")
    write_graph(tmp_path / "base", "other", gpt(SMALL))
    client = samples()

    def get(path: Any, method: Any = "GET", **params: Any) -> Any:
        query = {"run": "./job", "tag": GRAPH, "dump": "./job/dump", "rank": 0, "step": 1}
        return client.request(method, f"/v2/{path}", params={**query, **params})

    get.client = client  # type: ignore[attr-defined]
    return get


def settled(ask: Any, **params: Any) -> Any:
    """The colours once all is known."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        colours = ask("graph/dump", **params).json()
        if colours["done"]:
            return colours
        time.sleep(0.05)
    raise TimeoutError("the statistics were not counted in 60 s")


def drawn(ask: Any, **params: Any) -> Any:
    return {box["path"]: box["id"] for box in ask("graph/picture", **params).json()["boxes"]}


def test_boxes_tell_the_worst_inside_and_how_much_of_the_dump_is_there(ask: Any) -> None:
    boxes = drawn(ask)
    colours = settled(ask, shown=",".join(map(str, boxes.values())))
    assert (colours["dumped"], colours["found"], colours["by_order"]) == (22, 22, 0)
    assert (colours["tensors"], colours["measured"]) == (99, 99)
    assert colours["counts"] == {"fault": 1, "zero": 1}
    assert colours["fault"]["path"] == MATMUL
    assert colours["first"] is not None
    by_id = {box["id"]: box for box in colours["boxes"]}
    assert by_id[boxes["Gradients"]]["symptom"] == "fault"
    assert by_id[boxes["Gradients"]]["counts"] == {"fault": 1, "zero": 1}
    assert by_id[boxes["Default"]]["symptom"] == "fine"
    assert by_id[boxes["Default/MakeTuple-op81"]]["symptom"] == "unknown"


def test_a_statistic_colours_by_its_share_on_a_logarithmic_scale(ask: Any) -> None:
    boxes = drawn(ask)
    colours = settled(ask, colour="norm", shown=",".join(map(str, boxes.values())))
    by_id = {box["id"]: box for box in colours["boxes"]}
    assert colours["most"] == pytest.approx(by_id[boxes["Default"]]["value"])
    assert by_id[boxes["Default"]]["share"] == 1
    assert 0 < by_id[boxes["Gradients"]]["share"] < 1
    assert by_id[boxes["Default/MakeTuple-op81"]]["value"] is None
    assert settled(ask, colour="nans", shown=str(boxes["Gradients"]))["boxes"][0]["value"] == 1
    assert ask("graph/dump", colour="beauty").status_code == 422


def test_hits_of_a_check_of_this_step_are_symptoms(ask: Any) -> None:
    started = ask.client.post("/v2/dump/check", json={"dump": "./job/dump", "steps": [1], "watchpoints": [
        {"condition": "tensor_too_large", "limits": {"max_gt": 0}, "operators": ["Conv2D-op51"]},
    ]})  # fmt: skip
    check = started.json()["check"]
    counts = settled(ask, check=check)["counts"]
    assert counts == {"fault": 1, "caught": 1, "zero": 1}
    assert "caught" not in settled(ask, check=check, step=0)["counts"]


def test_a_hit_on_a_weight_is_seen_at_the_operators_that_take_it(ask: Any) -> None:
    boxes = drawn(ask, open="1")
    started = ask.client.post("/v2/dump/check", json={"dump": "./job/dump", "steps": [1], "watchpoints": [
        {"condition": "weight_too_large", "limits": {"max_gt": 0}, "operators": ["conv1.weight"]},
    ]})  # fmt: skip
    colours = settled(ask, check=started.json()["check"], shown=",".join(map(str, boxes.values())))
    by_id = {box["id"]: box for box in colours["boxes"]}
    assert colours["counts"]["caught"] >= 1
    assert by_id[boxes["Default"]]["symptom"] == "caught"
    conv = f"{BACK.removeprefix('Gradients/')}/conv1-Conv2d/Conv2D-op51"
    index = ask("graph/node", node=conv).json()["id"]
    (box,) = settled(ask, check=started.json()["check"], shown=str(index))["boxes"]
    assert box["symptom"] == "caught"


def test_an_operator_has_its_tensors_and_a_scope_its_worst(ask: Any) -> None:
    settled(ask)
    (operator,) = ask("graph/dump/node", node=MATMUL).json()["operators"]
    assert (operator["graph"], operator["recorded"]) == ("Net/0", "MatMul-op66")
    slots = [(row["direction"], row["slot"]) for row in operator["tensors"]]
    assert slots == [("input", "0"), ("input", "1"), ("output", "0")]
    assert operator["tensors"][2]["statistics"]["nans"] == 1
    scope = ask("graph/dump/node", node="Gradients").json()
    assert [(row["label"], row["symptom"]) for row in scope["worst"]] == [
        ("MatMul-op66", "fault"),
        ("ReluGrad-op71", "zero"),
    ]
    assert scope["total"] == 2
    assert ask("graph/dump/node", node="Default/MakeTuple-op81").json()["operators"] == []


def test_an_operator_of_the_dump_has_a_place_and_a_parameter_a_node(ask: Any) -> None:
    operator_index = ask("graph/dump/place", graph="Net/0", recorded="MatMul-op66").json()
    assert operator_index["outer"] is None
    assert ask("graph/node", node=operator_index["place"]).json()["path"] == MATMUL
    weight = ask("graph/dump/place", graph="Net/0", recorded="fc1.weight").json()
    assert weight["place"] is None
    assert ask("graph/outer", node=weight["outer"]).json()["label"] == "fc1.weight"
    (operator,) = ask("graph/dump/outer", node=weight["outer"]).json()["operators"]
    assert operator["recorded"] == "fc1.weight" and len(operator["tensors"]) == 1
    nowhere = ask("graph/dump/place", graph="Net/0", recorded="data-1")
    assert nowhere.status_code == 404 and nowhere.json()["error"]["key"] == "error.not_in_graph"


def test_the_simplified_view_has_the_forward_part_only(ask: Any) -> None:
    colours = settled(ask, view="simplified")
    assert 0 < colours["found"] < colours["dumped"]
    assert colours["fault"] is None and colours["first"] is None


def test_of_a_dump_of_another_network_nothing_is_judged(ask: Any) -> None:
    """A dump of which nothing is in the graph has no verdict; the dump of the graph itself has one."""
    other = settled(ask, run="./other", tag="")
    assert (other["found"], other["judged"], other["counts"]) == (0, 0, {})
    assert other["unjudged"] > 0
    own = settled(ask)
    assert own["judged"] > own["found"] > 0
