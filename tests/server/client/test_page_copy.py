"""Copies of the pages without a server: questions, what is visited, and the frame. `tests/pages/test_site.py`
looks at a whole copy.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.client.page_copy import Paths, Recorder, addresses_of, question_key, write_frame
from mindinsight.server.http.responses import COLUMNS, pack

QUESTIONS = json.loads((Path(__file__).parents[2] / "js" / "questions.json").read_text())


@pytest.mark.parametrize(("method", "address", "body", "key"), QUESTIONS)
def test_questions_are_written_as_the_pages_do(method: str, address: str, body: str, key: str) -> None:
    assert question_key(method, address, body) == key


def listed(*names: str, rank: int | None = None, **fields: Any) -> dict[str, Any]:
    runs = [
        {"id": f"./{name}", "job": "./job" if rank is not None else f"./{name}", "rank": rank}
        | {"kinds": {"scalar": 1}, "dumps": [], **fields}
        for name in names
    ]
    return {"runs": runs}


VIEWS = {"scalar": ["scalar"], "histogram": ["histogram"], "graph": ["graph", "pipeline"], "reports": []}


def test_each_page_and_each_run_is_visited() -> None:
    runs = listed("a b", kinds={"graph": 1}, dumps=["./a b/dump"])
    views = [{"name": name, "needs": needs} for name, needs in VIEWS.items()]
    addresses = addresses_of(runs, views)
    assert addresses[:3] == ["", "graph", "reports"]
    assert not [address for address in addresses if address.startswith(("scalar", "histogram"))]
    assert "scalar?s=0.9" in addresses_of(listed("a"), views)
    assert "graph?run=.%2Fa%20b" in addresses
    assert "dump?dump=.%2Fa%20b%2Fdump&tab=check" in addresses
    assert not [address for address in addresses if address.startswith(("job?", "console?"))]
    assert "job?job=.%2Fjob" in addresses_of(listed("r0", "r1", rank=0), [])


def test_the_pipeline_of_each_run_is_visited() -> None:
    runs = listed("a", "b", pipeline=True)["runs"] + listed("c", kinds={"graph": 1}, pipeline=False)["runs"]
    addresses = addresses_of({"runs": runs}, [{"name": "graph", "needs": ["graph", "pipeline"]}])
    visited = [address for address in addresses if address.startswith("graph?")]
    pipelines = [f"graph?run=.%2F{name}&view=dataset" for name in "ab"]
    assert visited == [*pipelines, "graph?run=.%2Fc"]


def test_each_pair_of_a_few_runs_is_compared() -> None:
    def compared(*names: str) -> list[str]:
        addresses = addresses_of(listed(*names), [{"name": "align", "needs": []}])
        return [address for address in addresses if address.startswith("align?")]

    assert compared("a", "b") == ["align?run=.%2Fa&baseline=.%2Fb", "align?run=.%2Fb&baseline=.%2Fa"]
    assert len(compared("a", "b", "c")) == 6
    assert compared(*map(str, range(30))) == []


class Answered:
    """A route of Playwright whose server answers with a list of runs."""

    def __init__(self, url: str, answer: Any) -> None:
        self.request = type("Request", (), {"url": url, "method": "GET", "post_data": None})()
        self.status, self.headers = 200, {"content-type": "application/json; charset=utf-8"}
        self._answer = answer
        self.given: Any = None

    def fetch(self) -> Any:
        return self

    def body(self) -> bytes:
        return json.dumps(self._answer).encode()

    def fulfill(self, response: Any, body: bytes) -> None:
        self.given = json.loads(body)

    def abort(self) -> None:
        self.given = "aborted"


def test_a_copy_does_not_know_the_directory_above(tmp_path: Path) -> None:
    recorder = Recorder("http://127.0.0.1:1/", tmp_path)
    directory = {"path": "/home/ann/secret/summary"}
    runs = {"base": directory["path"], "bases": [directory], "errors": [directory], **listed("a", "b")}
    route: Any = Answered("http://127.0.0.1:1/v2/runs", runs)
    recorder.handle(route)
    (file,) = tmp_path.iterdir()
    written = json.loads(file.read_text())
    assert route.given == written
    assert "secret" not in file.read_text()
    assert ([run["id"] for run in written["runs"]], written["base"]) == (["./a", "./b"], "summary")
    events: Any = Answered("http://127.0.0.1:1/v2/events", {})
    recorder.handle(events)
    assert (events.given, recorder.busy) == ("aborted", 0)


@pytest.mark.parametrize("packed", [False, True])
def test_paths_of_the_machine_are_in_no_answer(tmp_path: Path, packed: bool) -> None:
    home, base = str(Path.home()), "/data sets/ann/lab"
    answer = {
        "directory": f"{home}/project",
        "command": ["../v/bin/python", "train.py", f"--out={base}/runs", "/tmp/x/çalışma/y"],
        "json": json.dumps({"path": f"{base}/run/dump"}),
        "stack": f"File {home}/project/net.py:11",
        f"{base}/a": base,
        "kept": ["./home/x", "https://a.example/home/x", "Default/home/op0", "1/2", "/job/rank_0"],
        "column": np.arange(1.0, 9.0) ** 2 if packed else [1.0, 4.0],
    }
    paths = Paths([base])
    kind = COLUMNS if packed else "application/json"
    hidden = paths.hidden_in(pack(answer) if packed else json.dumps(answer).encode(), kind)
    size = int.from_bytes(hidden[:4], "little")
    shown = json.loads(hidden[4 : 4 + size] if packed else hidden)
    assert shown.pop("column")
    assert shown == {
        "directory": "project",
        "command": ["../v/bin/python", "train.py", "--out=runs", "y"],
        "json": '{"path": "run/dump"}',
        "stack": "File project/net.py:11",
        "a": "lab",
        "kept": answer["kept"],
    }
    if packed:
        assert (4 + size) % 8 == 0
        assert np.array_equal(np.frombuffer(hidden[4 + size :]), np.asarray(answer["column"]))
    assert paths.hidden_in(b"\x89PNG /tmp/x/y", "image/png") == b"\x89PNG /tmp/x/y"


def test_the_frame_loads_its_own_files_only(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    write_frame(tmp_path, Recorder("http://127.0.0.1:1/", tmp_path / "answers"), 1)
    page = (tmp_path / "index.html").read_text()
    assert 'data-copy="answers"' in page
    assert "script-src 'self'" in page
    assert "v2/runs" not in page  # nothing is loaded ahead from a server
    assert "python -m http.server" in page
    index = json.loads((tmp_path / "answers" / "index.json").read_text())
    assert (index["runs"], index["answers"]) == (1, {})
    for address in ("scalar.html", "graph.html", "dump.html"):
        assert (tmp_path / address).is_file()
    assets = [part.split('"')[0] for part in page.split('href="')[1:] + page.split('src="')[1:]]
    missing = [name for name in assets if name.startswith("static/") and not (tmp_path / name).is_file()]
    assert missing == []


def test_an_answer_that_cannot_be_written_is_not_passed_over(tmp_path: Path) -> None:
    recorder = Recorder("http://127.0.0.1:1/", tmp_path / "missing")
    route: Any = Answered("http://127.0.0.1:1/v2/tags", {})
    recorder.handle(route)
    assert isinstance(recorder.failure, FileNotFoundError)
    assert (route.given, recorder.busy) == ("aborted", 0)
