"""Routes of studies: what a page is told of a journal, and who may stop a tuner."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.server.tuning.published_study import Publisher
from mindinsight.server.tuning.study import (
    FAILURE,
    LOG,
    RUN,
    STOP,
    journal_path,
    lock_journal,
    open_study,
    quiet_optuna,
    read_study,
    store_plan,
)
from mindinsight.server.tuning.tuning_file import parse_config
from mindinsight.writer import SummaryRecord
from tests.waiting import until

FILE = """\
summary_base_dir: {base}
command: python train.py
study: probe
target: {target}
tuner: {{seed: 1}}
parameters:
  x: {{bounds: [0, 1], type: float}}
  kind: {{choice: [sgd, adam]}}
  depth: {{choice: [1, 2], when: {{kind: adam}}}}
"""
ONE = "{name: loss}"
TWO = "[{name: loss}, {name: accuracy, goal: maximize}]"


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., Any]:
    """make_study(values, target=ONE) -> journal path of a study with trials of these values."""

    def make(values: Any, target: Any = ONE, base: Any = None) -> Any:
        base = base or tmp_path / "base"
        base.mkdir(exist_ok=True)
        config = parse_config(FILE.format(base=base, target=target), "t")
        path = journal_path(tmp_path / "workspace", base, "probe")
        path.parent.mkdir(parents=True, exist_ok=True)
        with quiet_optuna():
            study = open_study(path, config, optuna.samplers.RandomSampler(seed=0))
            store_plan(study, config, len(values) + 2, 1)
            for value in values:
                trial = study.ask()
                trial.suggest_float("x", 0, 1)
                trial.suggest_categorical("kind", ("sgd", "adam"))
                trial.set_user_attr(RUN, str(base / f"trial_{trial.number}"))
                if value is None:
                    trial.set_user_attr(FAILURE, {"reason": "exit", "code": 3})
                    trial.set_user_attr(LOG, ["no <b>data</b>"])
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, value)
        return path

    return make


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    """serve(**settings) -> client of a server over the base of the studies."""
    clients = []

    def start(**settings: Any) -> Any:
        (tmp_path / "base").mkdir(exist_ok=True)
        app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1, **settings))
        client = TestClient(app, base_url="http://127.0.0.1")
        client.__enter__()
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


def test_a_server_without_studies(serve: Any) -> None:
    assert serve().get("v2/tuning/studies").json() == {"studies": [], "missing": None, "unreadable": 0}


def test_a_study_with_its_progress_and_its_best(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([3.0, None, 1.0, 2.0])
    client = serve()
    (entry,) = client.get("v2/tuning/studies").json()["studies"]
    assert (entry["id"], entry["name"], entry["tuned"]) == (path.stem, "probe", False)
    study = client.get("v2/tuning/study", params={"study": entry["id"]}).json()
    counts = {"wanted": 6, "done": 4, "complete": 3, "failed": 1, "pruned": 0, "running": 0}
    assert study["progress"] | counts == study["progress"]
    assert [(step["number"], step["value"]) for step in study["best"]] == [(0, 3.0), (2, 1.0)]
    assert study["trials"][1]["failure"] == {"reason": "exit", "code": 3}
    assert study["trials"][1]["log"] == ["no <b>data</b>"]
    assert "command" not in study


def test_what_was_tried_since_is_told_without_a_restart(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([3.0])
    client = serve()
    with quiet_optuna():
        read_study(path).add_trial(optuna.trial.create_trial(value=0.5))
    study = client.get("v2/tuning/study", params={"study": path.stem}).json()
    assert [trial["values"] for trial in study["trials"]] == [[3.0], [0.5]]
    with quiet_optuna():
        read_study(path).add_trial(optuna.trial.create_trial(value=0.25))
    study = client.get("v2/tuning/study", params={"study": path.stem}).json()
    assert study["best"][-1]["value"] == 0.25


def test_the_front_of_several_targets(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([(1.0, 0.5), (2.0, 0.9), (2.0, 0.4), (1.0, 0.5)], TWO)
    study = serve().get("v2/tuning/study", params={"study": path.stem}).json()
    assert study["front"] == [0, 1, 3]
    with quiet_optuna():
        assert [trial.number for trial in read_study(path).best_trials] == [0, 1, 3]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fanova", "ped_anova"])
def test_importance_is_that_of_optuna(method: str, make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([float(i % 5) for i in range(12)])
    answer = serve().get("v2/tuning/importance", params={"study": path.stem, "method": method}).json()
    evaluators: dict[str, Any] = {
        "fanova": lambda: optuna.importance.FanovaImportanceEvaluator(seed=0),
        "ped_anova": optuna.importance.PedAnovaImportanceEvaluator,
    }
    evaluator = evaluators[method]()
    with quiet_optuna():
        expected = optuna.importance.get_param_importances(
            read_study(path), evaluator=evaluator, params=["x", "kind"], target=lambda trial: trial.values[0]
        )
    assert (answer["method"], answer["trials"]) == (method, 12)
    assert answer["importance"] == pytest.approx(dict(expected))


def test_importance_by_correlation(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([float(i) for i in range(6)])
    answer = serve().get("v2/tuning/importance", params={"study": path.stem, "method": "correlation"}).json()
    assert set(answer["importance"]) <= {"x", "kind"}
    assert all(0 <= score <= 1 for score in answer["importance"].values())
    (claim,) = answer["claims"]
    assert (claim["key"], claim["verdict"]) == ("claim.lineage.few_trials", "unknown")


def test_suggestions_write_nothing(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([float(i) for i in range(12)])
    before = path.read_bytes()
    suggestions = (
        serve().get("v2/tuning/suggestions", params={"study": path.stem, "count": 2}).json()["suggestions"]
    )
    assert len(suggestions) == 2
    for values in suggestions:
        assert 0 <= values["x"] <= 1
        assert ("depth" in values) == (values["kind"] == "adam")
    assert path.read_bytes() == before


def test_only_a_tuner_at_work_can_be_stopped(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([1.0])
    client = serve()
    assert client.post("v2/tuning/stop", json={"study": path.stem}).json()["error"]["code"] == "not_tuned"
    with lock_journal(path):
        assert client.get("v2/tuning/study", params={"study": path.stem}).json()["tuned"]
        assert client.post("v2/tuning/stop", json={"study": path.stem}).json() == {"stopping": True}
    with quiet_optuna():
        assert read_study(path).user_attrs[STOP]


@pytest.mark.parametrize(
    ("settings", "may_stop"),
    [({}, True), ({"host": "0.0.0.0"}, False), ({"host": "0.0.0.0", "token": "t" * 9}, True)],
)
def test_who_may_stop(settings: Any, may_stop: bool, make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([1.0])
    client = serve(**settings)
    headers = {"Authorization": f"Bearer {settings.get('token', '')}"}
    answer = client.get("v2/tuning/study", params={"study": path.stem}, headers=headers)
    assert answer.json()["may_stop"] == may_stop
    with lock_journal(path):
        order = client.post("v2/tuning/stop", json={"study": path.stem}, headers=headers)
    assert order.status_code == (200 if may_stop else 403)


def test_studies_of_other_directories_are_not_shown(
    make_study: Callable[..., Any], serve: Any, tmp_path: Path
) -> None:
    path = make_study([1.0], base=tmp_path / "elsewhere")
    client = serve()
    assert client.get("v2/tuning/studies").json()["studies"] == []
    assert client.get("v2/tuning/study", params={"study": path.stem}).status_code == 404


def test_a_damaged_journal_takes_nothing_from_the_others(make_study: Callable[..., Any], serve: Any) -> None:
    path = make_study([1.0])
    path.with_name("other-00000000.journal").write_text("no journal\nat all\n")
    answer = serve().get("v2/tuning/studies").json()
    assert ([study["id"] for study in answer["studies"]], answer["unreadable"]) == ([path.stem], 1)


def test_without_the_extra_the_page_says_what_to_install(
    make_study: Callable[..., Any], tmp_path: Path
) -> None:
    """In a process of its own, in which neither Optuna nor PyYAML can be imported."""
    path = make_study([1.0])
    code = f"""
import sys
sys.modules |= dict.fromkeys(("optuna", "yaml", "sklearn", "cmaes"))
from pathlib import Path
from fastapi.testclient import TestClient
from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
app = create_app(Settings(Path({str(tmp_path / "base")!r}), Path({str(tmp_path / "workspace")!r}), workers=1))
with TestClient(app, base_url="http://127.0.0.1") as client:
    found = client.get("v2/tuning/studies").json()
    assert found["studies"] == [] and "pip install 'mindinsight[tune]'" in found["missing"], found
    answer = client.get("v2/tuning/study", params={{"study": {path.stem!r}}})
    assert (answer.status_code, answer.json()["error"]["key"]) == (503, "tuning.missing"), answer.json()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.fixture
def publish(make_study: Callable[..., Any], tmp_path: Path) -> Callable[..., Path]:
    """publish(values, ended=True) -> study.json of a study whose journal is in the workspace of another
    server; only its second trial has a run.
    """

    def write(values: Any, ended: bool = True) -> Path:
        path = make_study(values)
        base = tmp_path / "base"
        folder = base / "probe" / "trial_0001"
        folder.mkdir(parents=True)
        with SummaryRecord(str(folder)) as record:
            record.add_value("scalar", "loss", 1.0)
            record.record(1)
        with quiet_optuna():
            Publisher(base, "probe").write(read_study(path), ended)
        file = base / "probe" / "study.json"
        file.write_text(file.read_text().replace('"run":"trial_1"', '"run":"probe/trial_0001"'))
        path.rename(path.with_suffix(".elsewhere"))
        return file

    return write


def read(client: Any, runs: int = 1) -> None:
    """Wait until the server has read the runs."""
    until(lambda: len(client.get("v2/runs").json()["runs"]) == runs)


def test_a_study_of_another_workspace_is_shown_beside_its_runs(publish: Any, serve: Any) -> None:
    publish([3.0, 1.0, None])
    client = serve()
    read(client)
    (entry,) = client.get("v2/tuning/studies").json()["studies"]
    assert (entry["name"], entry["tuned"], entry["progress"]["done"]) == ("probe", False, 3)
    study = client.get("v2/tuning/study", params={"study": entry["id"]}).json()
    assert (study["published"], study["tuned"], study["may_stop"]) == (True, False, False)
    assert [trial["run"] for trial in study["trials"]] == [None, "./probe/trial_0001", None]
    assert study["trials"][2]["log"] == ["no <b>data</b>"]
    assert study["best"][-1]["value"] == 1.0
    suggested = client.get("v2/tuning/suggestions", params={"study": entry["id"]}).json()
    assert suggested == {"suggestions": None}
    answer = client.post("v2/tuning/stop", json={"study": entry["id"]})
    assert answer.json()["error"]["code"] == "study_elsewhere"


def test_whether_a_tuner_elsewhere_is_at_work_is_unknown(publish: Any, serve: Any) -> None:
    publish([3.0], ended=False)
    client = serve()
    read(client)
    assert client.get("v2/tuning/studies").json()["studies"][0]["tuned"] is None


def test_a_journal_in_the_workspace_comes_before_what_was_published(
    publish: Any, serve: Any, tmp_path: Path
) -> None:
    publish([3.0])
    (journal,) = (tmp_path / "workspace" / "studies").glob("*.elsewhere")
    journal = journal.rename(journal.with_suffix(".journal"))
    with quiet_optuna():
        read_study(journal).add_trial(optuna.trial.create_trial(value=0.5))
    client = serve()
    read(client)
    (entry,) = client.get("v2/tuning/studies").json()["studies"]
    assert (entry["id"], entry["progress"]["done"]) == (journal.stem, 2)


def test_what_was_published_takes_the_place_of_a_damaged_journal(
    publish: Any, serve: Any, tmp_path: Path
) -> None:
    publish([3.0])
    (journal,) = (tmp_path / "workspace" / "studies").glob("*.elsewhere")
    journal.with_suffix(".journal").write_text("no journal\nat all\n")
    client = serve()
    read(client)
    answer = client.get("v2/tuning/studies").json()
    assert ([study["name"] for study in answer["studies"]], answer["unreadable"]) == (["probe"], 1)


def test_a_damaged_published_study_is_counted_and_no_error(publish: Any, serve: Any) -> None:
    publish([3.0]).write_text('{"version": 1, "trials": "many"}')
    client = serve()
    read(client)
    assert client.get("v2/tuning/studies").json() == {"studies": [], "missing": None, "unreadable": 1}


def test_a_study_is_shown_without_optuna(publish: Any, tmp_path: Path) -> None:
    publish([float(i) for i in range(12)])
    code = f"""
import sys, time
sys.modules |= dict.fromkeys(("optuna", "yaml", "sklearn", "cmaes"))
from pathlib import Path
from fastapi.testclient import TestClient
from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
app = create_app(Settings(Path({str(tmp_path / "base")!r}), Path({str(tmp_path / "new")!r}), workers=1))
with TestClient(app, base_url="http://127.0.0.1") as client:
    for _ in range(600):
        found = client.get("v2/tuning/studies").json()
        if found["studies"]:
            break
        time.sleep(0.1)
    (entry,), missing = found["studies"], found["missing"]
    assert (entry["progress"]["done"], missing) == (12, None), found
    answer = client.get("v2/tuning/importance", params={{"study": entry["id"]}}).json()
    assert answer["method"] == "forest", answer
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
