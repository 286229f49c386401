"""Explanations of planted trainings: the cause comes first, with its line, then what followed.

That each sentence is made where it is true, and only there, is tested by the situations of ``tests/claims``.
"""

import inspect
import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.server.api.explanation import Part, explain_run, in_order
from mindinsight.server.claims import sentence
from mindinsight.server.report import Progress, ReportSource
from mindinsight.server.texts import language_texts
from mindinsight.writer import SummaryRecord
from mindinsight.writer.recorders import fault_signs
from mindinsight.writer.recorders.dump import Dump
from mindinsight.writer.recorders.flight_recorder import FlightRecorder
from tests.flight import NAMES, unpack
from tests.narrowing import require
from tests.server.debug.test_planted_faults import FAULTS


def explained(base: Path, run: str) -> list[Part | Progress]:
    summary = mindinsight.open(base)
    source = ReportSource(summary.run(run), summary.by_id(), summary.dump_path)
    return list(explain_run(source, time.time()))


def parts_of(base: Path, run: str) -> dict[str, Part]:
    return {part.topic: part for part in in_order(explained(base, run))}


def text_of(part: Part) -> str:
    return " ".join(map(sentence, part.claims))


@pytest.mark.parametrize(("name", "operator", "verdict", "cause", "code"), FAULTS)
def test_a_planted_fault_comes_first_with_its_cause_line_and_spread(
    name: str, operator: str, verdict: str, cause: str, code: str, tmp_path: Path
) -> None:
    unpack(name, tmp_path)
    parts = parts_of(tmp_path, f"./{name}")
    assert list(parts)[:2] == ["summary", "tensors"]
    text = text_of(parts["tensors"])
    assert text.startswith("Found first on rank 0, at step 25.")
    assert operator in text
    assert verdict in text
    assert cause in text
    assert "At step 25, NaN or infinity is in the outputs of" in text
    assert code in require(parts["tensors"].frame).code
    page, query = parts["tensors"].links[0]
    assert (page, query["dump"], query["step"]) == ("dump", f"./{name}/flight_dump", 25)
    expected = "loss is NaN or infinite from step 25 to its end: 5 of 30 values."
    assert text_of(parts["curves"]) == expected
    (curve,) = parts["curves"].curves
    assert (curve.tag, curve.newest) == ("loss", "NaN")
    assert curve.mark is not None


@pytest.mark.parametrize(
    ("name", "run", "topic", "text"),
    [
        ("dead_relu", "", "checks", "All values of Default/act-ReLU/relu-op0 output 0 are zero at step 25."),
        ("exploding_gradient", "", "end", "the loss jumped to 1.51719e+07, 7.92e+05 times its running mean"),
        ("nan_on_one_rank", "/rank_0", "tensors", "Found first on rank 1, at step 25."),
        ("wrong_reduction", "/rank_0", "tensors", "gives rank 1 another result than the other ranks"),
    ],
)
def test_faults_other_than_nan_are_told_too(
    name: str, run: str, topic: str, text: str, tmp_path: Path
) -> None:
    unpack(name, tmp_path)
    part = parts_of(tmp_path, f"./{name}{run}")[topic]
    assert text in text_of(part)
    assert part.faults


@pytest.mark.parametrize(
    ("scalars", "headline"),
    [
        ({"norm": [1.0] * 100 + [900.0] * 100, "loss": [1.0] * 150 + [99.0] * 50}, "claim.explain.jump"),
        ({"loss": [2.0] * 200, "val/accuracy": [0.9] * 100 + [0.1] * 100}, "claim.explain.collapse"),
        ({"loss": [1.0] * 60 + [99.0] + [1.0] * 60 + [float("nan")] * 79}, "claim.explain.jump"),
        ({"loss": [2 / (1 + step) for step in range(200)]}, ""),
    ],
)
def test_the_headline_is_the_earliest_fault_also_without_nan(
    scalars: dict[str, list[float]], headline: str, tmp_path: Path
) -> None:
    noise = 1 + 0.01 * np.random.default_rng(1).standard_normal(200)
    with SummaryRecord(str(tmp_path / "run")) as record:
        for step in range(200):
            for tag, values in scalars.items():
                record.add_value("scalar", tag, values[step] * noise[step], step=step)
    first, *rest = parts_of(tmp_path, "./run")["summary"].claims
    if headline:
        assert (first.key, rest[0].key) == (headline, "claim.explain.found")
    else:
        assert (first.key, first.verdict) == ("claim.explain.nothing", "clear")


def test_a_weight_that_changed_is_the_headline_of_a_dump_without_nan(tmp_path: Path) -> None:
    unpack("dead_relu", tmp_path)
    first, second, *_ = parts_of(tmp_path, "./dead_relu")["summary"].claims
    assert (first.key, second.key) == ("claim.growth.weight", "claim.explain.found")


@pytest.mark.parametrize(
    ("training", "expected"), [("half_overflow", True), ("logarithm", False), ("nan_in_data", False)]
)
def test_the_weight_that_grew_follows_a_fault_without_a_known_cause(
    training: str, expected: bool, tmp_path: Path
) -> None:
    """A negative logarithm and NaN that came in with the data have a cause."""
    norms = unpack(training, tmp_path) / "flight_dump" / "rank_0" / "health_25.json"
    weights = {"fc1.weight": 1.0, "fc2.weight": 1.0, "fc2.bias": 1.0}
    now = {**weights, "fc2.weight": 2.5e37}
    content = {"step": 25, "healthy_step": 20, "outputs": {}, "weights": weights, "weights_now": now}
    norms.unlink()
    norms.write_text(json.dumps(content))
    first, *others = parts_of(tmp_path, f"./{training}")["summary"].claims
    assert first.key.startswith("claim.explain.first")
    grown = [claim.key for claim in others[:2]] == ["claim.growth.place", "claim.growth.weight"]
    assert grown is expected


def test_a_weight_that_grew_since_the_healthy_step_is_linked(tmp_path: Path) -> None:
    unpack("exploding_gradient", tmp_path)
    part = parts_of(tmp_path, "./exploding_gradient")["growth"]
    assert "The weight fc2.weight changed: its norm was 0.8988 and is 9029, 10050 times as large." in text_of(
        part
    )
    assert "FlightRecorder of this version" in text_of(part)  # it did not write outputs then
    assert part.faults and part.as_json()["dump"] == "./exploding_gradient/flight_dump"
    ((page, query),) = part.links
    assert (page, query["operator"], query["tensor"], query["step"]) == (
        "dump",
        "fc2_weight",
        "parameter/0",
        25,
    )


def test_norms_of_the_first_recorded_step_and_of_that_of_the_fault_are_compared(tmp_path: Path) -> None:
    run = unpack("nan_in_weight", tmp_path)
    rank = run / "flight_dump" / "rank_0"
    norms = {"healthy_step": 10, "weights": {"fc1.bias": 1.0}, "weights_now": {"fc1.bias": 1e4}}
    (rank / "health_12.json").write_text(json.dumps(norms))
    (rank / "health_30.json").write_text(json.dumps(norms))
    growth = [part for part in explained(tmp_path, "./nan_in_weight") if isinstance(part, Part)]
    first, second = (text_of(part) for part in growth if part.topic == "growth")
    assert "at step 12" in first and "fc1.bias changed" in first
    assert "at step 25" in second and "fc2.weight is non-finite: its norm was 0.8988 and is NaN" in second


def test_the_rank_that_names_a_weight_is_shown(tmp_path: Path) -> None:
    run = unpack("wrong_reduction", tmp_path)
    path = run / "flight_dump" / "rank_2" / "health_25.json"
    norms = json.loads(path.read_text())
    norms["weights_now"]["fc1.bias"] *= 1e4
    path.write_text(json.dumps(norms))
    assert "Norms on rank 2 at step 25" in text_of(parts_of(tmp_path, "./wrong_reduction/rank_0")["growth"])


def test_every_planted_training_is_covered() -> None:
    named = {name for name, *_ in FAULTS}
    others = {"dead_relu", "exploding_gradient", "nan_on_one_rank", "wrong_reduction"}
    assert sorted(named | others) == NAMES


def test_a_healthy_run_has_one_sentence_that_tells_what_was_searched(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        for step in range(100):
            record.add_value("scalar", "loss", 1 / (1 + step), step=step)
    (summary,) = parts_of(tmp_path, "./run").values()
    assert text_of(summary).startswith(
        "No fault was found. Searched: 1 scalar for NaN and infinity, 1 loss or norm"
    )


def test_a_healthy_dump_has_no_part_of_its_own(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("scalar", "loss", 1.0, step=0)
    dump = Dump(tmp_path / "run" / "dump")
    for number in range(2):
        dump.iteration(number).output("Default/add-op0", np.arange(4, dtype=np.float32))
    (summary,) = parts_of(tmp_path, "./run").values()
    assert len(summary.claims) == 1
    assert text_of(summary).endswith("1 dump for NaN, infinity and the common faults.")


def test_dumps_of_unknown_trainings_do_not_follow_from_each_other(tmp_path: Path) -> None:
    """The first fault is at step 0 of one dump, and another dump has zeros later."""
    dumps = unpack("dead_relu", tmp_path)
    log = Dump(dumps / "a").iteration(0)
    log.output("Default/log-op0", np.array([1.0, np.nan], np.float32))
    checks = [part for part in explained(tmp_path, "./dead_relu") if isinstance(part, Part)]
    assert [part.after for part in checks if part.topic == "checks" and part.faults] == [True]
    for file in dumps.glob("*events*"):
        file.unlink()
    parts = [part for part in explained(tmp_path, "./dead_relu") if isinstance(part, Part)]
    assert [part.after for part in parts if part.topic == "checks" and part.faults] == [False]
    headline = next(part for part in parts if part.topic == "summary").claims[0]
    assert sentence(headline).startswith("In the dump dead_relu/a: First fault, at step 0 of rank 0")


def test_the_settings_since_the_last_healthy_run_are_no_fault(tmp_path: Path) -> None:
    for name, rate, values in (("a", 0.1, [1.0] * 11), ("b", 0.2, [1.0, np.nan])):
        with SummaryRecord(str(tmp_path / name)) as record:
            record.add_value("custom_lineage_data", "user", {"rate": rate, "seed": 1})
            record.record(0)
            for step, value in enumerate(values):
                record.add_value("scalar", "loss", value, step=step)
        time.sleep(1 - time.time() % 1 + 0.02)  # files are named by the second
    part = parts_of(tmp_path, "./b")["difference"]
    assert text_of(part).endswith("One setting differs: rate is 0.2 instead of 0.1.")
    assert part.faults == ()
    assert [page for page, _ in part.links] == ["align", "why"]


def test_a_job_with_a_fault_in_another_rank_is_no_healthy_run(tmp_path: Path) -> None:
    for job, last in (("a", 1.0), ("b", np.nan), ("c", np.nan)):
        for rank, value in enumerate((1.0, last)):
            with SummaryRecord(str(tmp_path / job / f"rank_{rank}")) as record:
                for step, loss in enumerate((*[1.0] * 10, value)):
                    record.add_value("scalar", "loss", loss, step=step)
    part = parts_of(tmp_path, "./c/rank_0")["difference"]
    assert "a/rank_0" in text_of(part) and "b/rank_0" not in text_of(part)


def test_the_curve_of_the_rank_at_fault_is_drawn_and_named(tmp_path: Path) -> None:
    for rank in range(3):
        with SummaryRecord(str(tmp_path / "job" / f"rank_{rank}")) as summary:
            for step in range(40):
                summary.add_value("scalar", "loss", np.nan if rank == 2 and step == 30 else 40.0 - step)
                summary.record(step)
    part = parts_of(tmp_path, "./job/rank_0")["curves"]
    (curve,) = part.curves
    assert (curve.run, curve.tag, len(curve.broken)) == ("job/rank_2", "loss", 1)
    assert part.links[0][1]["run"] == ["./job/rank_2"]


def test_progress_is_told_for_each_step_and_dump(tmp_path: Path) -> None:
    run = unpack("nan_in_data", tmp_path)
    shutil.copytree(run / "flight_dump", run / "second_dump")
    progress = [part for part in explained(tmp_path, "./nan_in_data") if isinstance(part, Progress)]
    assert [tuple(part) for part in progress] == [
        *[("explain.steps", 1, 1), ("explain.dumps", 1, 2)],
        *[("explain.steps", 1, 1), ("explain.dumps", 2, 2)],
    ]


def test_the_limits_that_an_explanation_states_are_those_of_the_recorder() -> None:
    jump = inspect.signature(FlightRecorder).parameters["jump"].default
    beyond = fault_signs._BEYOND_MAXIMUM * jump
    text = language_texts("en")["claim.explain.no_tensors"]
    stated = f"{jump:g} times their running mean or {beyond:g} times the largest of the last"
    assert f"{stated} {fault_signs._HISTORY} values" in text
    numbers = [
        float(number) for number in re.findall(r"\d+", language_texts("zh")["claim.explain.no_tensors"])
    ]
    assert numbers == [jump, fault_signs._HISTORY, beyond]


@pytest.mark.parametrize(("scale", "headline"), [(0.0, "initial"), (1.0, "dead")])
def test_a_weight_of_zeros_comes_before_what_it_makes_zero(
    scale: float, headline: str, tmp_path: Path
) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("scalar", "loss", 1.0, step=1)
    step = Dump(tmp_path / "run" / "dump").iteration(108)
    step.output("Default/relu-op0", np.zeros(64, np.float32))
    step.parameter("fc.weight", np.full((8, 8), scale, np.float32) * np.arange(64).reshape(8, 8))
    first, *_ = parts_of(tmp_path, "./run")["summary"].claims
    assert first.key == f"claim.check.{headline}"
