"""Faults, checks, comparisons and checkpoints over HTTP."""

import csv

import pytest

BROKEN, HEALTHY = "./job/broken", "./job/healthy"


def test_the_first_fault_leads_to_the_line(ask):
    (found,) = ask("fault", dump=BROKEN)["faults"]
    assert (found["kind"], found["rank"], found["step"]) == ("made", 0, 1)
    assert found["tensors"][0]["recorded"] == "MatMul-op66"
    assert found["operator"]["source"]["code"] == "return self.fc2(x)"
    healthy = ask("fault", dump=HEALTHY, all=True)
    assert healthy["faults"] == []
    assert healthy["coverage"] == {"tensors": 198, "judged": 198, "unread": 0, "silent": 0}
    assert ask("fault", dump=BROKEN, step=0)["faults"] == []


def test_conditions_come_with_what_a_form_needs(ask):
    found = ask("conditions")
    assert len(found["conditions"]) == 20
    (changed,) = [each for each in found["conditions"] if each["id"] == "weight_change_too_large"]
    assert [(one["name"], one["default"], one["checks"]) for one in changed["parameters"]] == [
        ("abs_mean_update_ratio_gt", 0.1, True),
        ("epsilon", 1e-9, False),
    ]
    assert "tensor_overflow" in [each["condition"] for each in found["common"]]


def test_the_common_faults_are_checked_and_hits_lead_to_tensors(client, finished):
    number = client.post("/v2/dump/check", json={"dump": BROKEN}).json()["check"]
    found = finished(f"check/{number}")
    lost = [hit for hit in found["hits"] if hit["condition"] == "tensor_overflow"]
    assert [(hit["step"], hit["tensor"]["recorded"], hit["tensor"]["slot"]) for hit in lost] == [
        (1, "MatMul-op66", "0")
    ]
    assert found["total"] == len(found["hits"])
    assert len(finished(f"check/{number}", limit=1)["hits"]) == 1


def test_chosen_conditions_on_chosen_operators(client, finished):
    watch = {"condition": "weight_too_large", "limits": {"max_gt": 0.0216}, "operators": ["fc1.*"]}
    number = client.post("/v2/dump/check", json={"dump": HEALTHY, "watchpoints": [watch]}).json()["check"]
    hits = finished(f"check/{number}")["hits"]
    assert [(hit["tensor"]["operator"], hit["step"]) for hit in hits] == [
        ("fc1.weight", 0),
        ("fc1.weight", 1),
    ]
    assert hits[0]["findings"][1]["hit"]


def test_a_condition_that_cannot_be_is_refused(client):
    watch = {"condition": "weight_too_large", "limits": {}}
    answer = client.post("/v2/dump/check", json={"dump": HEALTHY, "watchpoints": [watch]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_condition")
    assert "needs at least one of" in answer.json()["error"]["message"]


def test_weights_and_gradients_between_two_steps(ask):
    found = ask("trends", dump=HEALTHY, rank=0, step=1, before=0)["trends"]
    states = {each["operator"]: each["state"] for each in found}
    assert (states["fc2.bias"], states["conv1.weight"]) == ("jumping", "")


@pytest.fixture(scope="module")
def comparison(client):
    body = {"target": {"dump": BROKEN, "step": 1}, "reference": {"dump": HEALTHY, "step": 1}}
    return client.post("/v2/dump/compare", json=body).json()["comparison"]


def test_a_comparison_tells_where_two_dumps_part(finished, comparison):
    found = finished(f"compare/{comparison}")
    assert (found["compared"], found["beyond"], found["levels"]["error"]) == (99, 1, 1)
    assert found["divergence"]["kind"] == "made"
    assert [each["recorded"] for each in found["divergence"]["tensors"]] == ["MatMul-op66"]
    (row,) = finished(f"compare/{comparison}", only="beyond")["rows"]
    assert (row["codes"], row["apart"], row["result"]) == (["not_finite"], 1, "error")
    assert row["target_tensor"]["slot"] == "0"


def test_rows_of_a_comparison_are_searched_and_sorted(client, finished):
    body = {"target": {"dump": HEALTHY, "step": 1}, "reference": {"dump": HEALTHY, "step": 0}}
    number = client.post("/v2/dump/compare", json=body).json()["comparison"]
    rows = finished(f"compare/{number}", sort="cosine", limit=1000)["rows"]
    cosines = [row["cosine"] for row in rows if row["cosine"] is not None]
    assert cosines == sorted(cosines)
    assert all("conv1" in row["target"].lower() for row in finished(f"compare/{number}", q="CONV1")["rows"])
    assert finished(f"compare/{number}", only="alone")["total"] == 0
    picture = finished("picture", dump=HEALTHY, step=1, colour="error", comparison=number)
    assert max(box["share"] for box in picture["boxes"] if box["share"] is not None) == 1
    assert (
        finished("picture", dump=HEALTHY, step=1, colour="error", comparison=99)["boxes"][0]["share"] is None
    )


def test_the_report_is_a_csv(client, finished, comparison):
    finished(f"compare/{comparison}")
    answer = client.get(f"/v2/dump/compare/{comparison}/csv")
    assert len(list(csv.DictReader(answer.text.splitlines()))) == 99


def test_checkpoints_are_listed_measured_and_compared(ask, finished):
    assert [each["id"] for each in ask("checkpoints")["checkpoints"]] == [
        f"./weights/tinynet-{name}.ckpt" for name in ("1", "2", "nan")
    ]
    found = finished("checkpoint", file="./weights/tinynet-nan.ckpt")
    assert [each["name"] for each in found["tensors"] if each["statistics"]["nans"]] == ["head.weight"]
    files = {"first": "./weights/tinynet-1.ckpt", "second": "./weights/tinynet-2.ckpt"}
    states = {
        each["name"]: each["state"] for each in finished("checkpoint/difference", **files)["differences"]
    }
    assert [name for name, state in states.items() if state == "unchanged"] == [
        "frozen",
        "learning_rate",
        "momentum",
    ]


@pytest.mark.parametrize(
    "file", ["./weights/expected.json", "./../../etc/passwd", "/etc/passwd", "./nothing.ckpt", "\0"]
)
def test_no_other_file_is_opened(client, file):
    answer = client.get("/v2/dump/checkpoint", params={"file": file})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_checkpoint")


def test_a_checkpoint_whose_checksum_does_not_fit_is_damaged(base, finished):
    body = (base / "weights" / "tinynet-1.ckpt").read_bytes().partition(b"crc_num")[0]
    path = base / "weights" / "damaged.ckpt"
    path.write_bytes(body + b"crc_num" + (1).to_bytes(10, "big"))
    files = {"first": "./weights/tinynet-1.ckpt", "second": "./weights/damaged.ckpt"}
    try:
        assert finished("checkpoint", file=files["first"])["damage"] == []
        found = finished("checkpoint", file=files["second"])
        compared = finished("checkpoint/difference", **files)
    finally:
        path.unlink()
    assert found["damage"] == compared["damage"] == [{"reason": "dump.checksum", "detail": "damaged.ckpt"}]
