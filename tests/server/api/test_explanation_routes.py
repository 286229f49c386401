"""Routes of explanations: the parts of a run with a planted fault, and a run that does not exist."""

import time
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.writer import SummaryRecord
from tests.flight import unpack
from tests.server.conftest import wait_until_read


def test_the_parts_are_read_by_number_and_a_restarted_server_finds_them_again(tmp_path: Path) -> None:
    unpack("logarithm", tmp_path / "base")
    settings = Settings(tmp_path / "base", tmp_path / "workspace", workers=1)

    def ask(number: int | None) -> tuple[int, Any]:
        with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
            wait_until_read(client, 1)
            if number is None:
                started = client.post("/v2/explanation", params={"run": "./logarithm"})
                number = int(started.json()["explanation"])
            deadline = time.monotonic() + 60
            while not (answer := client.get(f"/v2/explanation/{number}").json())["done"]:
                assert "summary" not in [part["topic"] for part in answer["parts"][1:]]
                assert time.monotonic() < deadline
                time.sleep(0.05)
            return number, answer

    number, answer = ask(None)
    topics = [part["topic"] for part in answer["parts"]]
    assert topics == ["summary", "tensors", "growth", "checks", "curves", "end", "unknown"]
    assert (answer["error"], answer["progress"]) == ("", {"key": "explain.dumps", "done": 1, "total": 1})
    tensors = answer["parts"][1]
    assert tensors["frame"]["code"] == "return torch.log(scores)"
    assert tensors["links"][0]["query"]["operator"] == "Default_log-op0"
    assert answer["parts"][topics.index("curves")]["curves"][0]["broken"]
    assert ask(number) == (number, answer)


def test_a_dump_of_another_run_is_an_error(tmp_path: Path) -> None:
    unpack("logarithm", tmp_path / "base")
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        wait_until_read(client, 1)
        answer = client.post("/v2/explanation", params={"run": "./logarithm", "dump": "./x"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_dump")


def test_an_unknown_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.post("/v2/explanation", params={"run": "./nowhere"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_run")
        answer = client.get("/v2/explanation/77")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_explanation")


def test_two_runs_differ_in_settings(tmp_path: Path) -> None:
    for name, rate in (("a", 0.1), ("b", 0.2)):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            record.add_value("custom_lineage_data", "user", {"rate": rate, "seed": 1})
            record.record(0)
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        wait_until_read(client, 2)
        pair = {"run": "./b", "baseline": "./a"}
        claims = client.get("/v2/explanation/difference", params=pair).json()["claims"]
        (setting,) = claims[0]["values"]["settings"]
        assert setting["values"] == {"name": "rate", "now": 0.2, "before": 0.1}
        assert [(claim["key"], claim["verdict"]) for claim in claims] == [
            ("claim.explain.settings", "note"),
            ("claim.explain.no_code", "unknown"),
        ]
        answer = client.get("/v2/explanation/difference", params={**pair, "run": "./nowhere"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_run")
