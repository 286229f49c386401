"""The table of lineage against what the samples' other reader found in the same files."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.plugins.lineage import row_of, stages
from mindinsight.writer import SummaryRecord

from ..conftest import wait_until_read

EVENTS = Path(__file__).parents[2] / "data" / "events"


def recorded(sample: Any, run: Any, kind: Any) -> Any:
    """The first message of a kind in the lineage files of a sample."""
    files = json.loads((EVENTS / sample / "expected.json").read_text())["runs"][run]["files"].values()
    return next(fields for file in files for name, fields in file.get("lineage", ()) if name == kind)


def table(client: Any, **params: Any) -> Any:
    answer = client.get("/v2/lineage/table", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def row(answer: Any, run: Any) -> Any:
    (values,) = [entry["values"] for entry in answer["rows"] if entry["run"] == run]
    return values


def searched(tmp_path: Any, runs: Any) -> None:
    """A base directory of runs, each with a learning rate, a seed and the loss it came to."""
    for number, (rate, seed, loss) in enumerate(runs):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            record.add_value("custom_lineage_data", "user", {"rate": rate, "seed": seed})
            record.add_value("eval_lineage", "eval", {"metrics": {"error": loss}})
            record.record(1)


def test_a_row_holds_what_was_recorded(shared_samples: Any) -> None:
    train = recorded("record_api", "lineage_and_graph", "train_lineage")
    values = row(table(shared_samples("record_api/lineage_and_graph")), "./lineage_and_graph")
    for name in ("optimizer", "loss_function", "epoch", "parallel_mode", "device_num", "batch_size"):
        assert values[f"train:{name}"] == train["hyper_parameters"][name]
    assert values["train:learning_rate"] == pytest.approx(train["hyper_parameters"]["learning_rate"])
    assert values["train:network"] == train["algorithm"]["network"]
    assert values["train:train_dataset_path"] == train["train_dataset"]["train_dataset_path"]
    assert values["train:model_size"] == train["model"]["size"]
    assert values["metric:loss"] == train["algorithm"]["loss"]
    assert values["metric:acc"] == 0.875
    assert values["metric:per_class"] == "[0.5, 1.0]"
    assert values["user:备注"] == "中文 value"


def test_the_losses_of_training_and_evaluation_are_two_columns(shared_samples: Any) -> None:
    values = row(table(shared_samples("lenet")), "./lenet")
    train = recorded("lenet", ".", "train_lineage")
    evaluation = json.loads(recorded("lenet", ".", "evaluation_lineage")["metric"])
    assert values["metric:loss"] == pytest.approx(train["algorithm"]["loss"], rel=1e-6)
    assert values["metric:eval/loss"] == evaluation["loss"]
    assert values["metric:Accuracy"] == evaluation["Accuracy"]


def test_columns_come_in_groups_and_say_whether_they_are_numbers(shared_samples: Any) -> None:
    answer = table(shared_samples("lenet", "record_api/lineage_and_graph"))
    groups = [column["key"].split(":")[0] for column in answer["columns"]]
    assert groups == sorted(groups, key=("user", "train", "data", "metric").index)
    numeric = {column["key"]: column["numeric"] for column in answer["columns"]}
    assert numeric["train:learning_rate"]
    assert not numeric["train:optimizer"]
    assert not numeric["metric:per_class"]
    assert {key for entry in answer["rows"] for key in entry["values"]} == set(numeric)


def test_only_the_runs_asked_for_and_of_those_only_the_known(shared_samples: Any) -> None:
    client = shared_samples("lenet", "record_api/lineage_and_graph")
    answer = table(client, run=["./lenet", "./none", "../base"])
    assert [entry["run"] for entry in answer["rows"]] == ["./lenet"]
    assert len(table(client)["rows"]) == 2


def test_an_objective_that_no_run_has_is_told(shared_samples: Any) -> None:
    answer = shared_samples("lenet").get("/v2/lineage/table", params={"objective": "metric:none"})
    assert answer.status_code == 404
    assert answer.json()["error"]["key"] == "error.unknown_column"


def test_runs_that_are_gone_have_no_objective(shared_samples: Any) -> None:
    answer = table(shared_samples("lenet"), run="./gone", objective="metric:loss")
    assert answer == {"columns": [], "rows": [], "objective": None, "scalars": [], "forks": []}


def test_the_pipeline_of_data_from_the_source_on(shared_samples: Any) -> None:
    client = shared_samples("lenet", "record_api/values")
    answer = client.get("/v2/lineage/dataset", params={"run": "./lenet"}).json()
    names = [stage["name"] for stage in answer["stages"]]
    assert names == ["MnistDataset", "Map", "Map", "Shuffle", "Batch"]
    assert row(table(client), "./lenet")["data:pipeline"] == " → ".join(names)
    parameters = answer["stages"][-1]["parameters"]
    recorded_last = recorded("lenet", ".", "dataset_graph")["parameter"]
    assert parameters["batch_size"] == recorded_last["batch_size"]
    assert client.get("/v2/lineage/dataset", params={"run": "./values"}).json()["stages"] == []
    assert client.get("/v2/lineage/dataset", params={"run": "../../etc"}).status_code == 404


def test_branches_of_a_pipeline_come_before_what_joins_them() -> None:
    graph = {
        "op_type": "Zip",
        "children": [{"op_type": "A"}, {"op_type": "B", "children": [{"op_type": "C"}]}],
    }
    order = [(stage["name"], stage["inputs"]) for stage in stages(graph)]
    assert order == [("A", 0), ("C", 0), ("B", 1), ("Zip", 2)]
    assert stages({}) == [{"name": "?", "inputs": 0, "parameters": {}}]


def test_numbers_that_json_does_not_have_go_as_text(samples: Any, tmp_path: Path) -> None:
    searched(tmp_path, [(math.nan, 1, math.inf)])
    client = samples()
    wait_until_read(client, 1)
    values = row(table(client), "./run_0")
    assert (values["user:rate"], values["metric:error"]) == ("nan", "inf")


@pytest.mark.parametrize(
    ("lineage", "expected"),
    [
        (Lineage(), {}),
        (Lineage(train=TrainLineage(loss=0.5)), {"loss": 0.5}),
        (Lineage(train=TrainLineage()), {}),
        (Lineage(evaluation=EvaluationLineage({"loss": 0.7})), {"loss": 0.7}),
        (Lineage(TrainLineage(), EvaluationLineage({"loss": 0.7})), {"loss": 0.7}),
        (
            Lineage(TrainLineage(loss=0.5), EvaluationLineage({"loss": 0.7, "a": 1})),
            {"loss": 0.5, "eval/loss": 0.7, "a": 1},
        ),
    ],
)
def test_metrics_of_a_run(lineage: Any, expected: Any) -> None:
    assert lineage.metrics == expected
    assert {key: value for key, value in row_of(lineage).items() if key.startswith("metric:")} == {
        f"metric:{name}": value for name, value in expected.items()
    }


def importance_of(client: Any, **params: Any) -> Any:
    return client.get("/v2/lineage/importance", params={"objective": "metric:error", **params})


def test_importance_of_the_chosen_runs(tmp_path: Path, samples: Any) -> None:
    searched(tmp_path, [(number % 7, number, (number % 7 - 3) ** 2) for number in range(28)])
    client = samples()
    wait_until_read(client, 28)
    answer = importance_of(client).json()
    assert answer["runs"] == 28
    (column,) = answer["columns"]  # the seed is none
    assert (column["key"], column["sign"], column["matters"], column["carried"]) == ("user:rate", 0, True, 28)
    assert 0.5 < column["low"] <= column["importance"] <= column["high"]
    assert answer["explained"] > 0.5
    few = importance_of(client, run=[f"./run_{number}" for number in range(6)]).json()
    assert (few["columns"], [claim["key"] for claim in few["claims"]]) == ([], ["claim.lineage.too_few"])
    assert importance_of(client, objective="metric:none").status_code == 404
    itself = importance_of(client, objective="user:rate").json()
    assert "user:rate" not in [column["key"] for column in itself["columns"]]


def test_the_last_value_of_a_scalar_is_an_objective(tmp_path: Path, samples: Any) -> None:
    """Shared scalars are offered; those of few runs and runs without it are not."""
    base = tmp_path / "base"
    for number in range(20):
        rate = 0.001 * (number + 1)
        with SummaryRecord(str(base / f"run_{number}")) as record:
            record.add_value("custom_lineage_data", "user", {"rate": rate, "seed": number})
            for step in range(3):
                record.add_value("scalar", "val/error", rate * 3 if step == 2 else 5.0)
                if number == 0:
                    record.add_value("scalar", "rare", 1.0)
                record.record(step)
    client = samples()
    wait_until_read(client, 20)
    plain = table(client)
    assert plain["scalars"] == ["val/error"]
    assert "scalar:val/error" not in [column["key"] for column in plain["columns"]]
    answer = table(client, objective="scalar:val/error")
    assert answer["columns"][-1] == {"key": "scalar:val/error", "numeric": True, "repeated": False}
    assert row(answer, "./run_4")["scalar:val/error"] == pytest.approx(0.015)
    importances = client.get("/v2/lineage/importance", params={"objective": "scalar:val/error"}).json()
    assert [column["key"] for column in importances["columns"] if column["matters"]] == ["user:rate"]
    missing = client.get("/v2/lineage/importance", params={"objective": "scalar:none"})
    assert missing.status_code == 404


def test_columns_that_repeat_a_setting_are_marked(tmp_path: Path, samples: Any) -> None:
    for number, rate in enumerate((0.1, 0.2)):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            record.add_value("custom_lineage_data", "user", {"lr": rate, "batch_size": 8 + number})
            record.add_value("train_lineage", "train", {"learning_rate": rate, "batch_size": 16})
            record.record(1)
    client = samples()
    wait_until_read(client, 2)
    repeated = {column["key"]: column["repeated"] for column in table(client)["columns"]}
    assert repeated["train:learning_rate"]
    assert not repeated["train:batch_size"]  # another value than the user's
    assert not repeated["user:lr"]
