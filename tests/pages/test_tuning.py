"""Studies on the lineage page: while a tuner is at work, when it has ended, and what may be done."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from optuna.trial import TrialState
from playwright.sync_api import Page, expect

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

FILE = """\
summary_base_dir: {base}
command: python train.py
study: {name}
target: {target}
tuner: {{name: random, seed: 1}}
parameters:
  rate: {{bounds: [0.001, 1], type: float, log: true}}
  kind: {{choice: [sgd, adam]}}
"""
ONE = "{name: loss}"
TWO = "[{name: loss}, {name: accuracy, goal: maximize}]"
FAILED, PRUNED, RUNNING = "failed", "pruned", "running"


@pytest.fixture
def make_study(tmp_path: Path) -> Callable[..., Any]:
    """make_study(results, target=ONE, name="probe") -> the journal of a study of such trials."""

    def make(results: Any, target: Any = ONE, name: str = "probe", wanted: int = 10) -> Any:
        base = tmp_path / "base"
        config = parse_config(FILE.format(base=base, target=target, name=name), "t")
        path = journal_path(tmp_path / "workspace", base, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with quiet_optuna():
            study = open_study(path, config)
            store_plan(study, config, wanted, 1)
            for result in results:
                add_trial(study, base, name, result)
        return path

    return make


def add_trial(study: Any, base: Any, name: Any, result: Any) -> None:
    trial = study.ask()
    values = {
        "rate": trial.suggest_float("rate", 0.001, 1, log=True),
        "kind": trial.suggest_categorical("kind", ("sgd", "adam")),
    }
    folder = base / name / f"trial_{trial.number}"
    with SummaryRecord(str(folder)) as record:
        record.add_value("custom_lineage_data", "user", values)
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    trial.set_user_attr(RUN, str(folder))
    if result == FAILED:
        trial.set_user_attr(FAILURE, {"reason": "exit", "code": 3})
        trial.set_user_attr(LOG, ["Traceback", "<b>no data</b>"])
        study.tell(trial, state=TrialState.FAIL)
    elif result == PRUNED:
        trial.report(9.0, 1)
        study.tell(trial, state=TrialState.PRUNED)
    elif result != RUNNING:
        study.tell(trial, result)


def panel(page: Any) -> Any:
    return page.get_by_role("region", name="Tuning")


def trial_rows(page: Any) -> Any:
    return panel(page).locator(".study-trials tbody tr")


def test_a_study_with_all_that_came_out(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    make_study([3.0, 1.0, FAILED, PRUNED, 2.0, 4.0])
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(panel(page)).to_contain_text("6 of 10 trials")
    for count in ("4 complete", "1 pruned", "1 failed"):
        expect(panel(page)).to_contain_text(count)
    expect(panel(page).locator(".study-best")).to_contain_text("Lowest loss 1 trial 1")
    expect(panel(page).locator(".badge").first).to_have_text("Stopped")
    expect(panel(page).get_by_text("fANOVA (Optuna)")).to_be_attached()
    expect(panel(page).locator(".importance tr")).to_have_count(0)  # four trials are too few
    expect(panel(page).get_by_role("heading", name="Next suggestions")).to_be_visible()
    expect(panel(page).get_by_role("button", name="Stop study")).to_have_count(0)
    expect(trial_rows(page)).to_have_count(6)
    expect(trial_rows(page).locator("nth=0")).to_contain_text("Complete")
    panel(page).get_by_role("button", name="loss").click()
    expect(trial_rows(page).first).to_contain_text("1")
    expect(panel(page).locator("tr.pruned")).to_have_count(1)
    grey = page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--line-strong').trim()"
    )
    expect(page.locator(".axes path[data-run='./probe/trial_3']")).to_have_attribute("stroke", grey)


def test_the_last_lines_of_a_failed_trial(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    make_study([FAILED])
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    panel(page).get_by_role("button", name="exit code 3").click()
    dialog = page.get_by_role("dialog", name="Trial 0 failed")
    expect(dialog.locator("pre")).to_have_text("Traceback\n<b>no data</b>")


def test_importance_names_its_method(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    make_study([3.0, 1.0, 2.0, 4.0, 5.0] * 4, wanted=30)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(panel(page).locator(".importance tr.muted")).to_have_count(2)  # the values follow no parameter
    expect(panel(page)).to_contain_text("Grey bars: no effect beyond chance was shown.")
    expect(panel(page).get_by_label("Method")).to_have_value("forest")  # of which the claims are
    panel(page).get_by_label("Method").select_option("ped_anova")
    expect(panel(page)).to_contain_text("Share of each parameter in what sets the better trials apart.")
    expect(page).to_have_url(re.compile("importance=ped_anova"))
    expect(panel(page).locator(".importance tr")).to_have_count(2)


def test_a_study_is_chosen_and_the_address_keeps_it(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    first = make_study([3.0], name="first")
    make_study([1.0, 2.0], name="second")
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(panel(page)).to_contain_text("2 of 10 trials")
    panel(page).get_by_label("Study").select_option("first")
    expect(panel(page)).to_contain_text("1 of 10 trials")
    expect(page).to_have_url(re.compile(f"study={first.stem}"))
    page.reload()
    expect(panel(page)).to_contain_text("1 of 10 trials")


def test_several_targets_have_a_front(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    make_study([(1.0, 0.5), (2.0, 0.9), (3.0, 0.2)], TWO)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(panel(page)).to_contain_text("2 trials on the Pareto front")
    expect(panel(page).get_by_role("img", name="Pareto front")).to_be_visible()
    expect(panel(page).locator("tr.best")).to_have_count(2)


def test_the_axes_show_the_trials_until_all_runs_are_wanted(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    make_study([3.0, 1.0, 2.0])
    with SummaryRecord(str(tmp_path / "base" / "other")) as record:
        record.add_value("custom_lineage_data", "user", {"depth": 3})
        record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(page.locator(".axes .run")).to_have_count(3)
    page.locator(".field", has_text="Trials of probe").locator("select").select_option("All runs")
    expect(page.locator(".axes .run")).to_have_count(4)
    expect(page).to_have_url(re.compile("among=all"))
    page.reload()
    expect(page.locator(".axes .run")).to_have_count(4)
    page.locator(".field", has_text="Trials of probe").locator("select").select_option("Trials of probe")
    expect(page.locator(".axes .run")).to_have_count(3)


def test_a_value_that_only_failed_trials_have_is_named(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    path = make_study([])
    with quiet_optuna():
        study = read_study(path)
        for result in [1.0, FAILED] * 5:
            study.enqueue_trial({"rate": 0.1, "kind": "sgd" if result == FAILED else "adam"})
            add_trial(study, tmp_path / "base", "probe", result)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(panel(page)).to_contain_text("All 5 failed trials have kind = sgd. None of the 5 others has it.")


def test_a_tuner_at_work_is_followed_and_stopped(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    path = make_study([3.0, RUNNING])
    with lock_journal(path):
        page.goto(f"{serve(tmp_path / 'base')}lineage")
        expect(panel(page).locator(".badge").first).to_have_text("Running")
        expect(panel(page)).to_contain_text("left")
        with quiet_optuna():
            add_trial(read_study(path), tmp_path / "base", "probe", 0.5)
        expect(panel(page).locator(".study-best")).to_contain_text("Lowest loss 0.5")
        panel(page).get_by_role("button", name="Stop study").click()
        page.get_by_role("dialog").get_by_role("button", name="Stop study").click()
        expect(panel(page).locator(".badge").first).to_have_text("Stopping")
        with quiet_optuna():
            assert read_study(path).user_attrs[STOP]
    expect(panel(page).locator(".badge").first).to_have_text("Interrupted")
    expect(panel(page).get_by_role("button", name="Stop study")).to_have_count(0)


def test_without_studies_there_is_no_section(page: Any, serve: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        record.add_value("custom_lineage_data", "user", {"rate": 1.0})
        record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(page.locator("table tr[data-run]")).to_have_count(1)
    expect(panel(page)).to_be_hidden()


@pytest.mark.parametrize("target", [ONE, TWO])
def test_axe_finds_nothing(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any], target: Any
) -> None:
    values = [3.0, 1.0, 2.0, 4.0] if target == ONE else [(1.0, 0.5), (2.0, 0.9), (3.0, 0.2), (0.5, 0.1)]
    make_study([*values * 4, FAILED, RUNNING], target, wanted=30)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
        expect(panel(page).locator(".importance tr")).to_have_count(2)
        rules = Axe().run(page).response["violations"]
        assert {rule["id"]: [node["html"][:160] for node in rule["nodes"]] for rule in rules} == {}


def test_a_study_of_another_workspace(
    page: Any, serve: Any, tmp_path: Path, make_study: Callable[..., Any]
) -> None:
    path = make_study([3.0, 1.0, 2.0, 4.0, RUNNING])
    base = tmp_path / "base"
    for number in range(5):  # the name that tuners give
        (base / "probe" / f"trial_{number}").rename(base / "probe" / f"trial_{number:04d}")
    with quiet_optuna():
        Publisher(base, "probe").write(read_study(path), ended=False)
    file = base / "probe" / "study.json"
    file.write_text(re.sub(r"probe/trial_(\d)", r"probe/trial_000\1", file.read_text()))
    path.unlink()
    page.goto(f"{serve(base)}lineage")
    expect(panel(page).locator(".badge").first).to_have_text(re.compile(r"As of 20\d\d-"))
    expect(panel(page)).to_contain_text("Whether the tuner is still running is not known here.")
    expect(panel(page)).to_contain_text("4 of 10 trials")
    expect(panel(page).locator(".study-best")).to_contain_text("Lowest loss 1 trial 1")
    expect(panel(page).get_by_role("heading", name="Next suggestions")).to_be_hidden()
    expect(panel(page).get_by_role("button", name="Stop study")).to_have_count(0)
    page.get_by_role("link", name="trial 1").first.click()
    expect(page).to_have_url(re.compile("overview.*trial_0001"))


def test_the_target_of_the_study_is_the_objective_and_its_names_are_those_of_the_page(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    """Runs have an accuracy, too; pruned ones do not count for the importance, and are listed once."""
    base = tmp_path / "base"
    rates = [10 ** (number / 8 - 3) for number in range(24)]
    with quiet_optuna():
        target = "{group: scalar, name: unseen/loss}"
        text = FILE.replace("rate:", "learning_rate:").format(base=base, target=target, name="probe")
        config = parse_config(text, "t")
        path = journal_path(tmp_path / "workspace", base, "probe")
        path.parent.mkdir(parents=True)
        study = open_study(path, config)
        store_plan(study, config, 24, 1)
        for number, rate in enumerate(rates):
            study.enqueue_trial({"learning_rate": rate, "kind": "sgd" if number % 2 else "adam"})
            trial = study.ask()
            trial.suggest_float("learning_rate", 0.001, 1, log=True)
            trial.suggest_categorical("kind", ("sgd", "adam"))
            folder = base / "probe" / f"trial_{number:04d}"
            with SummaryRecord(str(folder)) as record:
                record.add_value("train_lineage", "train", {"learning_rate": rate})
                record.add_value("custom_lineage_data", "user", {"kind": trial.params["kind"]})
                if number < 20:
                    record.add_value("eval_lineage", "eval", {"metrics": {"accuracy": 1.0}})
                record.add_value("scalar", "unseen/loss", 1.0 + number)
                record.record(1)
            trial.set_user_attr(RUN, str(folder))
            if number < 20:
                study.tell(trial, 1.0 + number)
            else:
                trial.report(1.0 + number, 1)
                study.tell(trial, state=TrialState.PRUNED)
    page.goto(f"{serve(base)}lineage")
    expect(page.get_by_role("combobox", name="Objective")).to_have_value("scalar:unseen/loss")
    expect(page.locator(".importance-panel")).to_be_hidden()  # the panel of the study has it
    expect(page.get_by_role("button", name="Move the axis learning_rate")).to_be_visible()
    expect(page.get_by_text("Learning rate", exact=True)).to_have_count(0)
    rows = page.locator("table tr[data-run]")
    expect(rows.first).to_be_hidden()
    page.locator("summary").filter(has_text="The same trials as runs").click()
    expect(rows.first).to_have_attribute("data-run", "./probe/trial_0000")  # the lowest loss
    expect(page.get_by_role("columnheader", name="unseen/loss (last value)")).to_have_attribute(
        "aria-sort", "ascending"
    )
    page.get_by_role("combobox", name="Objective").select_option("metric:accuracy")
    without = "Without 4 pruned trials."
    expect(page.locator(".importance-panel")).to_contain_text(without)
    page.reload()
    expect(panel(page)).to_contain_text("20 complete")
    expect(page.get_by_role("combobox", name="Objective")).to_have_value("metric:accuracy")
