"""Whole studies: ``mindinsight tune`` on trainings of a few lines, read with Optuna's interface."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from mindinsight.server.tuning.published_study import read_published

from .conftest import optuna_study

BRANIN = (
    "(params.y - 5.1 / (4 * math.pi**2) * params.x**2 + 5 / math.pi * params.x - 6)**2"
    " + 10 * (1 - 1 / (8 * math.pi)) * math.cos(params.x) + 10"
)
SQUARE = {"x": {"bounds": [-5, 10], "type": "float"}, "y": {"bounds": [0, 15], "type": "float"}}


def states(report: Any) -> list[Any]:
    return [trial["state"] for trial in report["trials"]]


@pytest.mark.slow
def test_trials_are_those_of_plain_optuna(training: Any, tuning_file: Any, tune: Any, workspace: Any) -> None:
    """The trainings are processes, and their values go through event files, which keep 32 bits of them."""
    import math

    tuner = {"name": "tpe", "seed": 5, "args": {"n_startup_trials": 4}}
    file = tuning_file(training(BRANIN), SQUARE, tuner=tuner)
    code, report, err = tune(file, "--trials", 9, "--json")
    assert (code, report["end"]) == (0, "done"), err

    def objective(trial: Any) -> float:
        x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
        value = (y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6) ** 2
        return float(np.float32(value + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10))

    plain = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=5, n_startup_trials=4))
    plain.optimize(objective, 9)
    assert [trial["params"] for trial in report["trials"]] == [trial.params for trial in plain.trials]
    stored = optuna_study(workspace)  # the journal is Optuna's own
    assert [trial.values for trial in stored.trials] == [trial.values for trial in plain.trials]


def test_a_trial_is_a_run_of_its_own_that_is_given_its_values(
    training: Any, tuning_file: Any, tune: Any, tmp_path: Path
) -> None:
    before = (
        "assert sys.argv[1:] == ['--rate', str(params.rate), config.summary_dir, '{brace}'], sys.argv\n"
        "assert os.environ['MINDINSIGHT_PARAM_kind'] == params.kind\n"
        "assert set(config.custom_lineage_data) == {'rate', 'kind'} | set(params) - {'batch_size'}\n"
        "assert ('momentum' in params) == (params.kind == 'momentum')"
    )
    parameters = {
        "rate": {"bounds": [0.001, 1], "type": "float", "log": True},
        "batch_size": {"choice": [16, 32]},
        "kind": {"choice": ["sgd", "momentum"]},
        "momentum": {"choice": [0.8, 0.9], "when": {"kind": "momentum"}},
    }
    command = [*training("params.rate", before), "--rate", "{rate}", "{summary_dir}", "{brace}"]
    code, report, err = tune(tuning_file(command, parameters), "--trials", 5, "--json", "--jobs", 2)
    assert code == 0, (err, [trial["log"] for trial in report["trials"]])
    folders = [trial["run"] for trial in report["trials"]]
    assert folders == [str(tmp_path / "runs" / "probe" / f"trial_{i:04d}") for i in range(5)]
    for trial in report["trials"]:
        assert trial["values"] == [pytest.approx(trial["params"]["rate"])]
        assert list(Path(trial["run"]).glob("*_MS"))
    assert "{brace} is not a parameter and is not replaced" in err


def test_a_failed_trial_keeps_its_last_lines(training: Any, tuning_file: Any, tune: Any) -> None:
    command = training(before="print('about to fail'); raise SystemExit('no data')")
    code, report, err = tune(tuning_file(command), "--trials", 9, "--give-up-after", 2, "--json")
    assert (code, report["end"]) == (1, "gave_up")
    assert states(report) == ["failed", "failed"]
    assert report["trials"][0]["failure"] == {"reason": "exit", "code": 1}
    assert report["trials"][0]["log"] == ["about to fail", "no data"]
    assert "Trial 0 failed: exit code 1" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        (
            {"target": {"name": "accuracy", "group": "scalar"}},
            {"reason": "no_target", "target": "accuracy", "there": ["value"]},
        ),
        ({"value": "math.nan"}, {"reason": "not_finite", "target": "value", "value": "nan"}),
        ({"value": "math.inf"}, {"reason": "not_finite", "target": "value", "value": "inf"}),
        ({"before": "time.sleep(600)", "limits": {"trial": 3}}, {"reason": "timeout", "seconds": 3}),
        ({"command": ["/no/such/command"]}, None),
    ],
)
def test_what_is_no_result_is_a_failed_trial(
    changes: Any, failure: Any, training: Any, tuning_file: Any, tune: Any
) -> None:
    command = changes.pop("command", None) or training(changes.pop("value", "1"), changes.pop("before", ""))
    code, report, _ = tune(tuning_file(command, **changes), "--trials", 1, "--json")
    (trial,) = report["trials"]
    assert (code, trial["state"]) == (1, "failed")
    expected = {"reason": "cannot_start", "text": "/no/such/command: No such file or directory"}
    assert trial["failure"] == (failure or expected)


def test_lineage_is_a_target(training: Any, tuning_file: Any, tune: Any) -> None:
    body = (
        'record.add_value("train_lineage", "train", {"loss": params.x})\n'
        '    record.add_value("eval_lineage", "eval", {"metrics": {"Accuracy": 1 - params.x}})\n'
        "    record.record(1)"
    )
    targets = [{"name": "loss"}, {"name": "Accuracy", "group": "metric", "goal": "maximize"}]
    file = tuning_file(training(body=body), target=targets)
    code, report, err = tune(file, "--trials", 3, "--json")
    assert code == 0, err
    for trial in report["trials"]:
        x = trial["params"]["x"]
        assert trial["values"] == [pytest.approx(x), pytest.approx(1 - x)]
    best = min(report["trials"], key=lambda trial: trial["params"]["x"])
    assert report["front"] == [best["number"]]


@pytest.mark.slow
def test_a_trial_that_is_worse_than_the_others_is_pruned(
    training: Any, tuning_file: Any, tune: Any, workspace: Any
) -> None:
    body = (
        "for step in range(1, 11):\n"
        "        record.add_value('scalar', 'value', params.x + 1 / step)\n"
        "        record.record(step)\n"
        "        record.flush()\n"
        "    time.sleep(600 if params.x == 3 else 0)"
    )
    pruner = {"name": "median", "every": 2, "args": {"n_startup_trials": 1}}
    tuner = {"name": "grid", "seed": 1}  # the order is 1 or 2 first: see the assertion
    file = tuning_file(training(body=body), {"x": {"choice": [1, 2, 3]}}, pruner=pruner, tuner=tuner)
    code, report, err = tune(file, "--trials", 9, "--json")
    assert code == 0, err
    assert report["progress"]["wanted"] == 3
    by_value = {trial["params"]["x"]: trial for trial in report["trials"]}
    assert report["trials"][0]["params"]["x"] != 3
    assert by_value[3]["state"] == "pruned"
    assert by_value[1]["state"] == "complete"
    steps = optuna_study(workspace).trials[by_value[1]["number"]].intermediate_values
    assert steps == {step: pytest.approx(1 + 1 / step) for step in (2, 4, 6, 8, 10)}


@pytest.mark.slow
def test_hyperband_prunes_a_worse_trial_by_its_live_scalars(
    training: Any, tuning_file: Any, tune: Any, workspace: Any
) -> None:
    """One bracket with one rung, at step 4; the first trial only tells Hyperband how long trials are."""
    body = (
        "for step in range(1, 11):\n"
        "        record.add_value('scalar', 'value', params.x + 1 / step)\n"
        "        record.record(step)\n"
        "        record.flush()\n"
        "    time.sleep(600 if params.x == 4 else 0)"
    )
    pruner = {"name": "hyperband", "every": 4}
    tuner = {"name": "grid", "seed": 33}  # the order that the test asserts
    file = tuning_file(training(body=body), {"x": {"choice": [1, 2, 3, 4]}}, pruner=pruner, tuner=tuner)
    code, report, err = tune(file, "--trials", 4, "--json")
    assert code == 0, err
    assert [trial["params"]["x"] for trial in report["trials"]] == [2, 3, 4, 1]
    assert states(report) == ["complete", "complete", "pruned", "complete"]
    assert report["progress"]["pruned"] == 1
    stored = optuna_study(workspace).trials
    assert stored[2].intermediate_values == {4: pytest.approx(4.25)}
    assert stored[3].intermediate_values == {4: pytest.approx(1.25), 8: pytest.approx(1.125)}
    assert "trial 2: Pruned; x=4" in err


def test_hyperband_sorts_trials_of_any_length_as_plain_optuna_does(
    training: Any, tuning_file: Any, tune: Any, workspace: Any
) -> None:
    """The third trial is ten times as long as those by which Hyperband fixed its brackets.

    Trials that plain Optuna prunes wait to be pruned; when they are not, they fail after 30 seconds.
    """

    def rungs(trial: optuna.trial.FrozenTrial) -> dict[str, float]:
        return {key: value for key, value in trial.system_attrs.items() if key.startswith("completed_rung")}

    def objective(trial: optuna.Trial) -> float:
        x, length = trial.suggest_float("x", 0, 1), trial.suggest_categorical("length", [3, 30])
        for step in range(1, length + 1):
            trial.report(float(np.float32(x + 1 / step)), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(np.float32(x + 1 / length))

    plain = optuna.create_study(
        study_name="probe",
        sampler=optuna.samplers.RandomSampler(seed=8),
        pruner=optuna.pruners.HyperbandPruner(min_resource=1),
    )
    plain.optimize(objective, 6)
    assert [trial.params["length"] for trial in plain.trials] == [3, 3, 30, 3, 3, 30]
    pruned = [trial.params["x"] for trial in plain.trials if trial.state is optuna.trial.TrialState.PRUNED]
    assert len(pruned) == 2
    body = (
        "for step in range(1, params.length + 1):\n"
        "        record.add_value('scalar', 'value', params.x + 1 / step)\n"
        "        record.record(step)\n"
        "    record.flush()\n"
        f"    time.sleep(600 if params.x in {pruned} else 0)"
    )
    file = tuning_file(
        training(body=body),
        {"x": {"bounds": [0, 1], "type": "float"}, "length": {"choice": [3, 30]}},
        pruner={"name": "hyperband", "every": 1},
        tuner={"name": "random", "seed": 8},
        limits={"trial": 30},
    )
    code, _, err = tune(file, "--trials", 6, "--json")
    assert code == 0, err
    for ours, theirs in zip(optuna_study(workspace).trials, plain.trials, strict=True):
        assert (ours.params, ours.state, rungs(ours)) == (theirs.params, theirs.state, rungs(theirs))
        assert ours.intermediate_values == theirs.intermediate_values


def test_a_dry_run_prints_commands_and_does_nothing(
    training: Any, tuning_file: Any, tune: Any, tmp_path: Path, workspace: Any
) -> None:
    file = tuning_file([*training(), "{x}"], tuner={"name": "random", "seed": 3})
    code, out, _ = tune(file, "--dry-run")
    assert code == 0
    assert len(out.splitlines()) == 3
    assert not (tmp_path / "runs").exists()
    assert not workspace.exists()
    code, report, _ = tune(file, "--trials", 2, "--json")
    words = [line.split() for line in out.splitlines()]
    assert [line[-1] for line in words[:2]] == [str(trial["params"]["x"]) for trial in report["trials"]]
    given = json.loads(out.splitlines()[0].partition("=")[2].split("' ")[0].strip("'"))
    assert given["params"] == report["trials"][0]["params"]


@pytest.mark.slow
def test_past_runs_become_trials_once(training: Any, tuning_file: Any, tune: Any, tmp_path: Path) -> None:
    from mindinsight.writer import SummaryRecord

    past = [(0.25, 1.0, True), (0.5, 2.0, True), (7.0, 3.0, True), (0.1, 4.0, False)]
    for number, (x, value, whole) in enumerate(past):
        with SummaryRecord(str(tmp_path / "runs" / f"past_{number}")) as record:
            if whole:
                record.add_value("custom_lineage_data", "user", {"x": x})
            record.add_value("scalar", "value", value)
            record.record(1)
    file = tuning_file(training(), tuner={"name": "tpe", "seed": 1})
    code, report, err = tune(file, "--trials", 1, "--from-lineage", "--json")
    assert code == 0, err
    assert "2 past runs became trials" in err
    assert "1 with another x than the file allows" in err
    assert "1 without x" in err
    assert [(trial["state"], trial["params"]["x"]) for trial in report["trials"][:2]] == [
        ("imported", pytest.approx(0.25)),
        ("imported", pytest.approx(0.5)),
    ]
    assert report["progress"]["done"] == 1
    _, report, _ = tune(file, "--trials", 2, "--from-lineage", "--json")
    assert report["progress"] | {"left": 0} == report["progress"]
    assert (report["progress"]["imported"], report["progress"]["done"]) == (2, 2)


@pytest.mark.slow
def test_a_study_with_other_targets_or_choices_is_not_mixed(
    training: Any, tuning_file: Any, tune: Any
) -> None:
    choice = {"x": {"choice": [1, 2]}}
    assert tune(tuning_file(training(), choice), "--trials", 1)[0] == 0
    code, _, err = tune(tuning_file(training(), {"x": {"choice": [1, 3]}}), "--trials", 2)
    assert code == 1
    assert "has other choices of x than the file" in err
    goal = {"group": "scalar", "name": "value", "goal": "maximize"}
    code, _, err = tune(tuning_file(training(), choice, target=goal), "--trials", 2)
    assert code == 1
    assert "has other targets than the file. Choose another name: --study NAME." in err


def test_what_lies_in_the_way_of_a_run_is_left_alone(
    training: Any, tuning_file: Any, tune: Any, tmp_path: Path
) -> None:
    old = tmp_path / "runs" / "probe" / "trial_0000"
    old.mkdir(parents=True)
    (old / "kept").write_text("")
    _, report, _ = tune(tuning_file(training()), "--trials", 1, "--json")
    assert report["trials"][0]["run"] == f"{old}_2"
    assert [file.name for file in old.iterdir()] == ["kept"]


def test_a_study_is_published_beside_its_runs(
    training: Any, tuning_file: Any, tune: Any, tmp_path: Path
) -> None:
    parameters = {"x": {"bounds": [0, 1], "type": "float"}}
    code, report, err = tune(tuning_file(training("params.x"), parameters), "--trials", 2, "--json")
    assert code == 0, err
    (file,) = tmp_path.rglob("study.json")
    published = read_published(file)
    assert (published.ended, published.progress.done) == (True, 2)
    assert [trial.values for trial in published.trials] == [trial["values"] for trial in report["trials"]]
    assert all((file.parent.parent / str(trial.run)).is_dir() for trial in published.trials)
