"""The offline debugger over a recorded dump: a session from its start to the hits of its watchpoints."""

import io
import json
import shutil
import tracemalloc

import numpy as np
import pytest

from .conftest import DATA, ROOT, Interface, code_of, fine, serving, until

SESSIONS = "debugger/sessions"
RELU = "Default/network-WithLossCell/_backbone-Net/relu-ReLU/ReLU-op52"
CONV = "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/Conv2D-op51"
WEIGHT = "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/conv1.weight"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    base = tmp_path_factory.mktemp("base")
    for name in ("dump", "second", "third"):
        shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / name)
    shutil.copytree(DATA / "dumps" / "msprobe_pytorch" / "L0_tensor_statistics", base / "torch")
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base.parent / "beside" / "dump")
    with serving(base, tmp_path_factory.mktemp("workspace")) as client:
        until(lambda: len(client.get("/v2/dump/list").json()["dumps"]) >= 4)
        yield Interface(client)


@pytest.fixture
def session(dumps):
    """Paths below a new session of ./job/dump, ended afterwards."""
    number = dumps.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/dump"})
    yield f"{SESSIONS}/{number}"
    dumps.sent(f"{SESSIONS}/{number}/delete")


def go(dumps, session, **body):
    """Control the session and wait until it is ready again."""
    answer = dumps.sent(f"{session}/control", body)
    until(lambda: state(dumps, session)["state"] == "waiting")
    return answer


def state(dumps, session):
    return dumps.sent(f"{session}/retrieve", {"mode": "all"})["metadata"]


def test_sessions_are_numbered_and_shared(dumps, session):
    number = session.rpartition("/")[2]
    assert dumps.ok(SESSIONS)["train_jobs"] == {"./job/dump": number}
    assert dumps.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "job/dump/"}) == number
    other = dumps.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/second"})
    third = dumps.post(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/third"})
    assert code_of(third) == (400, "5054B280")
    assert fine(dumps.post(f"{SESSIONS}/{other}/delete")) is None
    assert code_of(dumps.post(f"{SESSIONS}/{other}/delete")) == (400, "5054B281")


@pytest.mark.parametrize("dump_dir", ["../beside/dump", "./../beside/dump", "/etc", "./job", "./nothing", ""])
def test_only_dumps_inside_the_base_are_opened(dumps, dump_dir):
    answer = dumps.post(SESSIONS, {"session_type": "OFFLINE", "dump_dir": dump_dir})
    assert code_of(answer) == (400, "5054B285")


def test_what_is_wrong_with_a_request_for_a_session(dumps):
    assert code_of(dumps.post(SESSIONS, {"session_type": "OFFLINE"})) == (400, "50540003")
    assert code_of(dumps.post(SESSIONS, {"session_type": "ONLINE"})) == (400, "5054B282")
    assert code_of(dumps.post(SESSIONS, {"dump_dir": "./job/dump"})) == (400, "5054B081")
    assert code_of(dumps.post(SESSIONS, {"session_type": "OFFLINE", "dump_dir": 3})) == (400, "50540001")
    assert code_of(dumps.post(f"{SESSIONS}/0/delete")) == (400, "5054B282")
    assert code_of(dumps.post(SESSIONS, [1])) == (400, "5054B080")
    not_json = dumps.client.post(f"{ROOT}/{SESSIONS}", content=b"{")
    assert code_of(not_json) == (400, "50540002")


@pytest.mark.parametrize(
    "call",
    ["poll-data", "search", "tensor-comparisons", "tensors", "tensor-graphs", "tensor-hits"]
    + ["condition-collections", "stacks", "ranks/0/graph-runs", "tensor-files/download"],
)
def test_a_session_that_is_not_there(dumps, call):
    assert dumps.fault(f"{SESSIONS}/99/{call}") == (400, "5054B281")


def test_all_is_retrieved_at_once(dumps, session):
    answer = dumps.sent(f"{session}/retrieve", {"mode": "all"})
    facts = {name: answer["metadata"][name] for name in ("state", "step", "total_step_num", "enable_recheck")}
    assert facts == {"state": "waiting", "step": 0, "total_step_num": 2, "enable_recheck": False}
    assert answer["metadata"]["data_version"]["ms"] == "2.0.0"
    names = [node["name"] for node in answer["graph"]["nodes"]]
    assert names == ["Parameter[5]_1", "Default", "Gradients"]
    assert answer["graph"]["graph_names"] == answer["devices"][0]["graph_names"] == ["Net_0"]
    assert answer["devices"][0]["total_step_num"] == 2
    assert answer["watch_points"] == []


def test_nodes_of_a_scope(dumps, session):
    scope = "Default/network-WithLossCell/_backbone-Net/relu-ReLU"
    params = {"name": scope, "graph_name": "Net_0"}
    nodes = dumps.sent(f"{session}/retrieve", {"mode": "node", "params": params})["graph"]["nodes"]
    (relu,) = [node for node in nodes if node["name"] == RELU]
    assert relu["type"] == "ReLU"
    assert list(relu["input"]) == [CONV]
    assert "activation.py" in relu["stack_info"][0]["file_path"]
    assert relu["full_name"] == RELU


def test_levels_down_to_a_node(dumps, session):
    params = {"name": RELU, "single_node": True}
    level = dumps.sent(f"{session}/retrieve", {"mode": "node", "params": params})["graph"]
    while level["children"]:
        level = level["children"]
    assert RELU in [node["name"] for node in level["nodes"]]


def test_what_cannot_be_retrieved(dumps, session):
    def fault(**body):
        return code_of(dumps.post(f"{session}/retrieve", body))

    assert fault(mode="other") == (400, "5054B081")
    assert fault(mode="node", params=[1]) == (400, "5054B080")
    assert fault(mode="node", params={"name": "no", "graph_name": "Net_0"}) == (400, "5054B100")
    assert fault(mode="node", params={"name": "no"}) == (400, "5054B101")
    assert fault(mode="node", params={"name": ["no"]}) == (400, "5054B101")
    assert fault(mode="node", params={"graph_name": "other"}) == (400, "5054B081")
    assert fault(mode="node", params={"rank_id": 7}) == (400, "5054B081")
    assert fault(mode="watchpoint", params={"watch_point_id": 9}) == (400, "5054B081")


def found(nodes):
    return [name for node in nodes for name in (found(node["nodes"]) or [node["name"]])]


def test_search(dumps, session):
    assert found(dumps.ok(f"{session}/search", name="relu-op52")["nodes"]) == [RELU]
    weights = found(dumps.ok(f"{session}/search", node_category="weight")["nodes"])
    assert WEIGHT in weights
    assert all(name.endswith(("weight", "bias")) for name in weights)
    assert found(dumps.ok(f"{session}/search", node_category="activation")["nodes"]) == [RELU]
    lines = dumps.ok(f"{session}/search", stack_info_key_word="activation.py", name="op52")["nodes"]
    assert found(lines) == [RELU]
    assert dumps.ok(f"{session}/search") == {"nodes": []}
    assert dumps.fault(f"{session}/search", node_category="x") == (400, "5054B081")
    assert dumps.fault(f"{session}/search", rank_id="x") == (400, "50540001")
    assert dumps.fault(f"{session}/search", rank_id=5) == (400, "5054B081")


def test_source_lines_in_pages(dumps, session):
    whole = dumps.ok(f"{session}/stacks", limit=100)
    assert whole["total"] == len(whole["stack_infos"]) > 2
    second = dumps.ok(f"{session}/stacks", limit=1, offset=1)
    assert second["stack_infos"] == whole["stack_infos"][1:2]
    one = dumps.ok(f"{session}/stacks", key_word="activation.py")["stack_infos"]
    assert all(set(line) == {"file_path", "line_no", "code_line"} for line in one[0]["items"])
    assert dumps.ok(f"{session}/stacks", key_word="no such line") == {}
    assert dumps.fault(f"{session}/stacks", limit="x") == (400, "50540001")


def test_steps_of_a_rank(dumps, session):
    runs = dumps.ok(f"{session}/ranks/0/graph-runs")["graph_runs"]
    assert [run["count"] for run in runs] == [1, 2]
    assert runs[0]["sub_graph_names"] == ["Net_0"]
    assert dumps.fault(f"{session}/ranks/5/graph-runs") == (400, "5054B081")
    assert dumps.fault(f"{session}/ranks/x/graph-runs") == (400, "50540001")


def test_stepping(dumps, session):
    assert go(dumps, session, mode="continue", level="step", steps=1)["metadata"]["state"] == "sending"
    assert state(dumps, session)["step"] == 1
    go(dumps, session, mode="continue", level="step", steps=-1)
    assert state(dumps, session)["step"] == 2
    assert dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})["metadata"]["step"] == 1
    go(dumps, session, mode="continue", level="node", name=RELU)
    assert state(dumps, session)["step"] == 2
    assert dumps.sent(f"{session}/control", {"mode": "terminate"})["metadata"]["state"] == "waiting"


def test_steps_that_cannot_be_taken(dumps, session):
    def fault(**body):
        return code_of(dumps.post(f"{session}/control", body))

    assert fault(mode="jump") == (400, "5054B081")
    assert fault(mode="continue", level="step", steps=0) == (400, "5054B081")
    assert fault(mode="continue", level="step", steps=True) == (400, "5054B081")
    assert fault(mode="continue", level="layer") == (400, "5054B081")
    assert fault(mode="reset", steps=3) == (400, "5054B082")
    assert fault(mode="pause") == (400, "5054B184")
    assert fault(mode="continue", level="recheck") == (400, "5054B186")
    assert fault(mode="continue", level="node", name="no", graph_name="Net_0") == (400, "5054B100")


def test_events_are_polled_one_after_the_other(dumps, session):
    go(dumps, session, mode="continue", level="step", steps=1)
    events, position = [], "0"
    while not events or events[-1]["metadata"]["state"] != "waiting":
        events.append(dumps.ok(f"{session}/poll-data", pos=position))
        position = events[-1]["metadata"]["pos"]
    assert [event["metadata"]["state"] for event in events] == ["sending", "running", "running", "waiting"]
    assert dumps.ok(f"{session}/poll-data", pos="other:3") == events[0]
    assert dumps.fault(f"{session}/poll-data") == (400, "5054B081")


def test_conditions_with_their_defaults(dumps, session):
    collections = dumps.ok(f"{session}/condition-collections")
    known = {each["id"]: each for one in collections for each in one["conditions"]}
    defaults = {
        (name, parameter["name"]): parameter["default_value"]
        for name, condition in known.items()
        for parameter in condition["parameters"]
        if parameter["default_value"] is not None
    }
    assert defaults == {
        ("weight_initialization", "zero_percentage_ge"): 100,
        ("weight_not_changed", "rtol"): 1e-5,
        ("weight_change_too_large", "abs_mean_update_ratio_gt"): 0.1,
        ("weight_change_too_small", "abs_mean_update_ratio_lt"): 1e-4,
        ("tensor_all_zero", "zero_percentage_ge"): 100,
    }
    assert {each["abbr"] for each in known.values()} == {
        "WI",
        "WO",
        "WL",
        "WS",
        "WNC",
        "WCL",
        "WCS",
        "GV",
        "GL",
        "GE",
        "TO",
        "OO",
        "TL",
        "TS",
        "TZ",
        "TR",
        "AR",
    }


def test_a_condition_of_the_start_is_not_offered_later(dumps, session):
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    listed = json.dumps(dumps.ok(f"{session}/condition-collections"))
    assert "weight_initialization" not in listed
    answer = dumps.post(f"{session}/create-watchpoint", {"condition": {"id": "weight_initialization"}})
    assert code_of(answer) == (400, "5054B083")


def watch(dumps, session, condition, params=(), **body):
    given = [{"name": name, "value": value} for name, value in params]
    body = {"condition": {"id": condition, "params": given}, **body}
    return dumps.sent(f"{session}/create-watchpoint", body)


def test_a_watchpoint_is_hit(dumps, session):
    expected = json.loads((DATA / "dumps/ms_sync_v2_0_names/watchpoints_expected.json").read_text())["out"]
    (large,) = [each for each in expected if each["condition"] == 15 and each["iteration"] == 0]
    limits = [(each["name"], each["value"]) for each in large["parameters"] if not each["disabled"]]
    assert watch(dumps, session, "weight_too_large", limits)["id"] == 1
    go(dumps, session, mode="continue", level="step", steps=-1)
    assert state(dumps, session)["step"] == 1
    answer = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 10}})
    names = {hit["node_name"].rpartition("/")[2] for hit in answer["watch_point_hits"]}
    assert names == {hit["name"] for hit in large["hits"]}
    (conv,) = [each for each in answer["watch_point_hits"] if each["node_name"] == WEIGHT]
    params = conv["tensors"][0]["watch_points"][0]["watch_condition"]["params"]
    assert [each["name"] for each in params] == ["abs_mean_gt", "max_gt", "mean_gt"]
    assert params[1]["actual_value"] == pytest.approx(0.01553309, rel=1e-6)
    one = dumps.ok(f"{session}/tensor-hits", tensor_name=f"{WEIGHT}:0")["watch_points"]
    assert one[0]["watch_condition"]["abbr"] == "WL"
    history = dumps.sent(f"{session}/tensor-history", {"name": WEIGHT})["tensor_history"]
    assert history[0]["is_hit"]


def test_why_a_condition_was_not_judged_is_a_key_of_the_pages(dumps, session):
    watch(dumps, session, "weight_not_changed")
    go(dumps, session, mode="continue", level="step", steps=1)
    hits = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 1}})
    (caught,) = hits["watch_point_hits"][0]["tensors"][0]["watch_points"]
    assert (caught["error_code"], caught["error_list"]) == (4, ["no_prev_tensor"])


def test_hits_in_pages(dumps, session):
    def page(**group):
        return dumps.post(f"{session}/search-watchpoint-hits", {"group_condition": group})

    assert fine(page(limit=1)) == {"outdated": False}
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])
    go(dumps, session, mode="continue", level="step", steps=1)
    whole = fine(page(limit=100))
    assert whole["total"] == len(whole["watch_point_hits"]) > 2
    second = fine(page(limit=1, offset=1))
    assert second["watch_point_hits"] == whole["watch_point_hits"][1:2]
    focus = {"graph_name": "Net_0", "node_name": whole["watch_point_hits"][2]["node_name"]}
    assert fine(page(limit=1, focused_node=focus))["offset"] == 2
    assert fine(page(limit=9, watchpoint_id=7)) == {"outdated": False}
    assert code_of(page(limit=1, offset=whole["total"])) == (400, "5054B081")
    assert code_of(page(limit=0)) == (400, "5054B081")
    assert code_of(page()) == (400, "5054B081")
    assert code_of(page(limit=1, rank_id=4)) == (400, "5054B081")
    assert code_of(dumps.post(f"{session}/search-watchpoint-hits", {})) == (400, "5054B080")


def test_nodes_that_are_watched(dumps, session):
    """A list of nodes counts already when the watchpoint is made, and can be changed later."""

    def watched():
        answer = dumps.ok(f"{session}/search", name="op5", watch_point_id=1)
        nodes = {}

        def walk(level):
            for node in level:
                nodes[node["name"]] = node["watched"]
                walk(node["nodes"])

        walk(answer["nodes"])
        return nodes

    watch(dumps, session, "tensor_overflow", watch_nodes=[RELU])
    assert (watched()[RELU], watched()[CONV], watched()["Default"]) == (2, 0, 1)
    update = {"watch_point_id": 1, "watch_nodes": [CONV.rpartition("/")[0]], "mode": 1}
    dumps.sent(f"{session}/update-watchpoint", update)
    assert watched()[CONV] == 2
    dumps.sent(f"{session}/update-watchpoint", {**update, "mode": 0})
    assert (watched()[RELU], watched()[CONV]) == (2, 0)
    params = {"watch_point_id": 1, "name": RELU.rpartition("/")[0]}
    nodes = dumps.sent(f"{session}/retrieve", {"mode": "watchpoint", "params": params})["graph"]["nodes"]
    assert {node["name"]: node["watched"] for node in nodes}[RELU] == 2


def test_nodes_taken_from_a_watchpoint_for_all(dumps, session):
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])
    body = {"watch_point_id": 1, "mode": 0, "search_pattern": {"name": "op"}}
    dumps.sent(f"{session}/update-watchpoint", body)
    go(dumps, session, mode="continue", level="step", steps=1)
    answer = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 10}})
    assert answer == {"outdated": False}


def test_watchpoints_that_cannot_be_set(dumps, session):
    def fault(call, **body):
        return code_of(dumps.post(f"{session}/{call}", body))

    create = "create-watchpoint"
    assert fault(create) == (400, "5054B081")
    assert fault(create, condition={"id": "nothing"}) == (400, "5054B081")
    assert fault(create, condition={"id": ["tensor_overflow"]}) == (400, "5054B081")
    for params in ([{"name": "max_gt", "value": "1"}], [{"name": "other", "value": 1}], [3], [], "x"):
        condition = {"id": "tensor_too_large", "params": params}
        assert fault(create, condition=condition) == (400, "5054B081")
    condition = {"id": "tensor_overflow", "params": []}
    assert fault(create, condition=condition, watch_nodes=["no"], graph_name="Net_0") == (400, "5054B100")
    assert fault("update-watchpoint", watch_point_id=1, mode=1) == (400, "5054B081")
    assert fault("delete-watchpoint", watch_point_id=1) == (400, "5054B081")
    assert fault("delete-watchpoint", watch_point_id="1") == (400, "5054B081")


def test_watchpoints_are_listed_and_removed(dumps, session):
    watch(dumps, session, "tensor_too_large", [("max_gt", 0.1)])
    watch(dumps, session, "tensor_overflow")
    listed = dumps.sent(f"{session}/retrieve", {"mode": "watchpoint"})["watch_points"]
    params = [{"name": "max_gt", "value": 0.1}]
    assert listed[0] == {
        "id": 1,
        "watch_condition": {"id": "tensor_too_large", "abbr": "TL", "params": params},
    }
    dumps.sent(f"{session}/delete-watchpoint", {"watch_point_id": 1})
    assert [each["id"] for each in state_of_watchpoints(dumps, session)] == [2]
    dumps.sent(f"{session}/delete-watchpoint", {})
    assert state_of_watchpoints(dumps, session) == []


def state_of_watchpoints(dumps, session):
    return dumps.sent(f"{session}/retrieve", {"mode": "all"})["watch_points"]


def test_a_step_is_checked_again(dumps, session):
    assert code_of(dumps.post(f"{session}/recheck")) == (400, "5054B186")
    go(dumps, session, mode="continue", level="step", steps=1)
    assert watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])["metadata"]["enable_recheck"]
    dumps.sent(f"{session}/recheck")
    until(lambda: state(dumps, session)["state"] == "waiting")
    assert not state(dumps, session)["enable_recheck"]
    assert dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 1}})["total"]


def test_common_faults_are_watched_for_once(dumps, session):
    path = f"{session}/set-recommended-watch-points"
    assert code_of(dumps.post(path, {})) == (400, "50540003")
    assert code_of(dumps.post(path, {"requestBody": {}})) == (400, "5054B081")
    numbers = dumps.sent(path, {"requestBody": {"set_recommended": True}})["id"]
    assert len(numbers) == len(state_of_watchpoints(dumps, session)) > 5
    assert code_of(dumps.post(path, {"requestBody": {"set_recommended": True}})) == (400, "5054B189")


def test_tensors_of_a_node(dumps, session):
    nothing = dumps.sent(f"{session}/tensor-history", {"name": RELU})
    assert {row["tensor_status"] for row in nothing["tensor_history"]} == {"empty"}
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    rows = dumps.sent(f"{session}/tensor-history", {"name": RELU})["tensor_history"]
    assert [(row["name"], row["type"]) for row in rows] == [(f"{RELU}:0", "output"), (f"{CONV}:0", "input")]
    assert rows[0]["dtype"] == "DT_FLOAT32"
    assert rows[0]["bytes"] == int(np.prod(rows[0]["shape"])) * 4
    assert (rows[0]["tensor_status"], rows[0]["has_prev_step"], rows[0]["step"]) == ("cached", True, 2)


def recorded(name, step):
    (file,) = (DATA / "dumps/ms_sync_v2_0_names/rank_0/Net/0" / str(step)).glob(f"{name}.*.output.0.*.npy")
    return np.load(file)


def test_values_of_a_tensor(dumps, session):
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    values = recorded("Parameter.conv1.weight", 1)[:, 0]
    query = {"name": f"{WEIGHT}:0", "shape": "[0, 0, :, :]"}
    answer = dumps.ok(f"{session}/tensors", **query)["tensor_value"]
    assert answer["value"] == recorded("Parameter.conv1.weight", 1)[0, 0].tolist()
    assert answer["statistics"]["overall_count"] == recorded("Parameter.conv1.weight", 1).size
    assert answer["statistics"]["count"] == values[0].size
    before = dumps.ok(f"{session}/tensors", **query, prev="true")["tensor_value"]
    assert before["value"] == recorded("Parameter.conv1.weight", 0)[0, 0].tolist()
    assert (before["step"], before["has_prev_step"]) == (1, False)
    whole = dumps.ok(f"{session}/tensors", name=f"{WEIGHT}:0")["tensor_value"]
    assert np.shape(whole["value"]) == recorded("Parameter.conv1.weight", 1).shape


def test_values_that_cannot_be_had(dumps, session):
    path = f"{session}/tensors"
    assert dumps.fault(path) == (400, "50540003")
    assert dumps.fault(path, name=WEIGHT) == (400, "5054B081")
    assert dumps.fault(path, name=f"{WEIGHT}:0", detail="stats") == (400, "5054B081")
    assert dumps.fault(path, name="no:0", graph_name="Net_0") == (400, "5054B100")
    assert dumps.fault(path, name="Default:0") == (400, "5054B081")
    assert dumps.ok(path, name=f"{WEIGHT}:0")["tensor_value"]["tensor_status"] == "empty"
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    assert dumps.fault(path, name=f"{WEIGHT}:0", shape="[0]") == (400, "50540002")
    assert dumps.fault(path, name=f"{WEIGHT}:0", shape="[0, 0, ::0, :]") == (400, "50540002")


def test_a_parameter_beside_the_step_before(dumps, session):
    path, name = f"{session}/tensor-comparisons", f"{WEIGHT}:0"
    assert dumps.fault(path, name=name) == (400, "5054B081")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    answer = dumps.ok(path, name=name, shape="[0, 0, 0, :]")["tensor_value"]
    before, now = (recorded("Parameter.conv1.weight", step)[0, 0, 0].astype(float) for step in (0, 1))
    np.testing.assert_array_equal(answer["diff"], np.stack([before, now, now - before], axis=-1))
    within = dumps.ok(path, name=name, shape="[0, 0, 0, :]", tolerance=1)["tensor_value"]["diff"]
    assert [row[2] for row in within] == [0.0] * len(before)
    assert dumps.fault(path, name=name, tolerance="x") == (400, "50540001")
    assert dumps.fault(path, name=name, tolerance=2) == (400, "5054B081")
    assert dumps.fault(path, name=f"{RELU}:0") == (400, "5054B081")


def test_the_neighbourhood_of_a_tensor(dumps, session):
    path = f"{session}/tensor-graphs"
    assert dumps.fault(path, tensor_name=f"{RELU}:0") == (400, "5054B187")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    nodes = dumps.ok(path, tensor_name=f"{RELU}:0")["graph"]["nodes"]
    assert [node["name"] for node in nodes[:2]] == [RELU, CONV]
    assert len(nodes) > 2
    values = recorded("ReLU.ReLU-op52", 0)
    assert nodes[0]["slots"][0]["statistics"]["max"] == pytest.approx(float(values.max()))
    assert nodes[0]["input"][CONV]["slot_mapping"] == [["0", ""]]


def test_slots_of_a_neighbourhood_carry_their_hits(dumps, session):
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)], watch_nodes=[RELU])
    go(dumps, session, mode="continue", level="step", steps=1)
    nodes = dumps.ok(f"{session}/tensor-graphs", tensor_name=f"{RELU}:0")["graph"]["nodes"]
    slots = {node["name"]: node["slots"][0] for node in nodes}
    assert [caught["id"] for caught in slots[RELU]["watch_points"]] == [1]
    assert "watch_points" not in slots[CONV]


def test_a_tensor_as_a_file(dumps, session):
    load, download = f"{session}/tensor-files/load", f"{session}/tensor-files/download"
    assert dumps.fault(download) == (400, "5054B284")
    assert code_of(dumps.post(load, {"name": f"{WEIGHT}:0"})) == (400, "5054B081")
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 2})
    dumps.sent(load, {"name": f"{WEIGHT}:0", "prev": "true"})
    answer = dumps.get(download)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="conv1.weight_0.npy"'
    np.testing.assert_array_equal(np.load(io.BytesIO(answer.content)), recorded("Parameter.conv1.weight", 0))
    assert dumps.fault(download) == (400, "5054B284")


def test_a_large_tensor_is_not_held_in_memory(tmp_path):
    base = tmp_path / "base"
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / "dump")
    (file,) = (base / "job" / "dump" / "rank_0" / "Net" / "0" / "0").glob("Parameter.conv1.weight.*.npy")
    file.unlink()
    np.lib.format.open_memmap(file, "w+", np.float32, (64, 1 << 20)).flush()  # 256 MB of zeros, sparse
    with serving(base, tmp_path / "workspace") as client:
        v1 = Interface(client)
        number = v1.sent(SESSIONS, {"session_type": "OFFLINE", "dump_dir": "./job/dump"})
        session = f"{SESSIONS}/{number}"
        v1.sent(f"{session}/control", {"mode": "reset", "steps": 1})
        tracemalloc.start()
        try:
            v1.sent(f"{session}/tensor-files/load", {"name": f"{WEIGHT}:0"})
            assert tracemalloc.get_traced_memory()[1] < 128 << 20
        finally:
            tracemalloc.stop()


def test_a_dump_without_a_graph(dumps):
    listed = [each["id"] for each in dumps.client.get("/v2/dump/list").json()["dumps"]]
    (torch,) = [each for each in listed if each.startswith("./torch")]
    session = f"{SESSIONS}/{dumps.sent(SESSIONS, {'session_type': 'OFFLINE', 'dump_dir': torch})}"
    names = [node["name"] for node in dumps.sent(f"{session}/retrieve", {"mode": "all"})["graph"]["nodes"]]
    assert "Module.fc1.Linear.forward.0" in names
    dumps.sent(f"{session}/control", {"mode": "reset", "steps": 1})
    value = dumps.ok(f"{session}/tensors", name="Module.fc1.Linear.forward.0:0")["tensor_value"]
    assert value["tensor_status"] == "cached"
    dumps.sent(f"{session}/delete")
