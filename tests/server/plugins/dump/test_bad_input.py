"""Dumps that are broken in every way a disk, a program or a stranger can break them, over HTTP."""

import io
import json
import re
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.api.pages import LANGUAGES, WEB
from mindinsight.server.formats.arrays import npy as archives
from mindinsight.server.texts import locale_texts
from tests.server.plugins.dump.conftest import DUMPS, ready

GOOD = "Add.Default_Add-op0.0.0.1700000000000000.output.0.DefaultFormat.Float32.npy"


def npy(header: Any, data: bytes = b"") -> Any:
    text = header.encode() + b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def claims(shape: Any, descr: str = "<f4") -> Any:
    return npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}", b"\0" * 64)


BROKEN = {
    "cut": (claims("(100,)"), "dump.truncated"),
    "huge": (claims("(1000000000000000,)"), "dump.truncated"),
    "wider": (claims("(1000000, 1000000, 1000000, 1000000)"), "dump.truncated"),
    "objects": (claims("(2,)", "|O"), "dump.object_dtype"),
    "unknown": (claims("(2,)", "<q9"), "dump.unknown_dtype"),
    "empty": (b"", "dump.not_npy"),
    "text": (b"this is no array", "dump.not_npy"),
    "header": (npy("{'shape': 3}"), "dump.bad_header"),
    "letters": (claims("(2,)", "<U4"), "dump.no_numbers"),
}


NAMES = ["line\nbreak", "..", "a..b", "100%", "%2e%2e", "<b>", "  ", "ünï", "'; DROP", "a" * 150]


def named(operator: Any, number: int = 1) -> str:
    return f"Mul.{operator}.0.0.{1700000000000000 + number}.output.0.DefaultFormat.Float32.npy"


def step_of(root: Any) -> Any:
    """A dump of one step with one tensor that is fine."""
    folder = root / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    np.save(folder / GOOD, np.arange(3, dtype=np.float32))
    return folder


def cut_json(root: Any) -> None:
    shutil.copytree(DUMPS / "msprobe_pytorch" / "L1_statistics_statistics", root)
    (path,) = (root / "step0").glob("*/dump.json")
    text = path.read_text()
    path.write_text(text[: len(text) // 2])


def bomb(root: Any) -> None:
    data = root / "step0" / "rank0" / "dump_tensor_data"
    data.mkdir(parents=True)
    name = "Functional.relu.0.forward.output.0.pt"
    with zipfile.ZipFile(data / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\0" * (4 << 20))
    leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "data_name": name}
    evil = {**leaf, "data_name": "../../../../../etc/passwd"}
    entries = {"Functional.relu.0.forward": {"input_args": [evil], "output": [leaf]}}
    (data.parent / "dump.json").write_text(json.dumps({"task": "tensor", "data": entries}))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Every directory is there before the server looks; tests add files only."""
    base = tmp_path_factory.mktemp("bad")
    files = step_of(base / "files")
    for number, (name, (content, _)) in enumerate(BROKEN.items(), 1):
        (files / named(name, number)).write_bytes(content)
    names = step_of(base / "names")
    for number, operator in enumerate(NAMES, 1):
        np.save(names / named(operator, number), np.full(4, number, np.float32))
    (step_of(base / "csv") / "statistic.csv").write_text("Op Type,Timestamp\nAdd,1\n")
    cut_json(base / "cut_json")
    bomb(base / "bomb")
    for name, shape in (("first", (2, 3)), ("second", (3, 2)), ("third", (4,))):
        np.save(step_of(base / name) / named("Mul-op1"), np.ones(shape, np.float32))
    step_of(base / "growing")
    step_of(base / "leaving")
    return base


def step(name: Any) -> dict[Any, Any]:
    return {"dump": f"./{name}", "rank": 0, "step": 0}


def tensor(name: Any, operator: Any) -> dict[Any, Any]:
    return {**step(name), "graph": "Net/0", "operator": operator, "direction": "output", "slot": "0"}


def test_broken_files_are_named_and_the_rest_is_measured(finished: Any) -> None:
    rows = {row["operator"]: row for row in finished("tensors", **step("files"))["rows"]}
    assert rows["Default_Add-op0"]["statistics"]["maximum"] == 2
    for name, (_, reason) in BROKEN.items():
        assert rows[name]["damage"]["reason"] == reason, name
        assert rows[name]["statistics"] is None
        assert "/" not in rows[name]["damage"]["file"]
        assert all(reason in locale_texts(WEB / "locales" / lang) for lang in LANGUAGES)


@pytest.mark.parametrize("path", ["values", "histogram", "heatmap", "download"])
@pytest.mark.parametrize("name", ["cut", "huge", "wider", "objects"])
def test_a_broken_tensor_cannot_be_looked_into_and_says_why(
    base: Any, client: Any, path: str, name: str
) -> None:
    answer = client.get(f"/v2/dump/{path}", params=tensor("files", name))
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["key"]) == ("unreadable", BROKEN[name][1])
    assert str(base) not in answer.text


def test_letters_are_no_numbers(client: Any) -> None:
    answer = client.get("/v2/dump/values", params=tensor("files", "letters"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_numbers")


@pytest.mark.parametrize("operator", NAMES)
def test_strange_names_are_names(finished: Any, client: Any, operator: Any) -> None:
    rows = {row["recorded"]: row for row in finished("tensors", **step("names"))["rows"]}
    value = NAMES.index(operator) + 1
    assert rows[operator]["statistics"]["maximum"] == value
    assert client.get("/v2/dump/values", params=tensor("names", operator)).json()["maximum"] == value
    answer = client.get("/v2/dump/download", params=tensor("names", operator))
    assert np.load(io.BytesIO(answer.content)).tolist() == [value] * 4
    name = answer.headers["content-disposition"].partition("''")[2]
    assert re.fullmatch(r"[\w.%-]+\.npy", name)


def test_a_csv_without_its_columns_is_named_and_the_tensors_stay(finished: Any) -> None:
    answer = finished("tensors", **step("csv"))
    assert [fault["reason"] for fault in answer["damage"]] == ["dump.csv_columns"]
    assert answer["damage"][0]["detail"] == "Op Name, IO, Slot"
    assert answer["total"] == 1


def test_json_that_is_cut_off_shows_what_came_before(finished: Any) -> None:
    answer = finished("tensors", **step("cut_json"))
    assert [fault["reason"] for fault in answer["damage"]] == ["dump.json_cut"]
    (path,) = (DUMPS / "msprobe_pytorch" / "L1_statistics_statistics" / "step0").glob("*/dump.json")
    assert 0 < len({row["recorded"] for row in answer["rows"]}) < len(json.loads(path.read_text())["data"])


def test_a_bomb_in_a_pt_file_is_not_unpacked_and_no_name_leads_out(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1 << 20)
    rows = client.get("/v2/dump/tensors", params=step("bomb")).json()["rows"]
    assert [row["values"] for row in rows] == [False, True]
    assert rows[0]["damage"]["reason"] == "dump.unsafe_name"
    tensor = {**step("bomb"), "operator": "Functional.relu.0.forward", "direction": "output", "slot": "0"}
    answer = client.get("/v2/dump/values", params=tensor)
    assert answer.json()["error"]["key"] == "dump.zip_bomb"


@pytest.mark.parametrize(("other", "measured"), [("second", True), ("third", False)])
def test_two_dumps_of_other_shapes_are_compared_as_far_as_they_go(
    finished: Any, client: Any, other: str, measured: bool
) -> None:
    body = {"target": step("first"), "reference": step(other)}
    number = client.post("/v2/dump/compare", json=body).json()["comparison"]
    rows = {row["target_tensor"]["recorded"]: row for row in finished(f"compare/{number}")["rows"]}
    assert (rows["Default_Add-op0"]["result"], rows["Default_Add-op0"]["cosine"]) == ("agree", 1.0)
    assert "shape" in rows["Mul-op1"]["codes"]
    assert (rows["Mul-op1"]["max_absolute"] == 0) == measured


def test_a_dump_that_is_still_written_is_followed(base: Any, finished: Any, ask: Any, tmp_path: Path) -> None:
    assert finished("tensors", **step("growing"))["total"] == 1
    late = base / "growing" / "rank_0" / "Net" / "0" / "0" / named("late")
    np.save(tmp_path / "late.npy", np.array([np.nan], np.float32))
    (tmp_path / "late.npy").replace(late)  # whole at once
    ready(lambda: ask("tensors", **step("growing"))["total"] == 2)
    assert finished("tensors", **step("growing"), lost=True)["rows"][0]["recorded"] == "late"
    assert ask("fault", dump="./growing")["faults"][0]["tensors"][0]["recorded"] == "late"


def test_a_file_that_goes_away_is_said_and_no_crash(base: Any, finished: Any, client: Any) -> None:
    finished("tensors", **step("leaving"))
    (base / "leaving" / "rank_0" / "Net" / "0" / "0" / GOOD).unlink()
    answer = client.get("/v2/dump/values", params=tensor("leaving", "Default_Add-op0"))
    assert answer.status_code in (404, 422)  # as the listing is from before or after
    assert answer.json()["error"]["code"] in ("unreadable", "unknown_tensor")
