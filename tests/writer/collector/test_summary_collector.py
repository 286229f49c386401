"""SummaryCollector in a loop of no framework; in MindSpore and PyTorch it runs under tests/interop."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.collector import SummaryCollector
from mindinsight.writer.collector.summary_collector import Schedule, everything
from mindinsight.writer.operators import ScalarSummary, TensorSummary


def steps_by_tag(reading: Any) -> Any:
    steps: dict[Any, Any] = {}
    for step, value in reading.values():
        steps.setdefault(value.tag, []).append(step)
    return steps


def test_loss_input_and_histograms_are_collected_at_the_first_step_and_every_few(
    tmp_path: Path, reading: Any, loop: Any
) -> None:
    loop.run(SummaryCollector(str(tmp_path), collect_freq=5))
    steps = [1, 5, 10, 15, 20]
    assert steps_by_tag(reading) == {
        "loss/auto": steps, "input_data/auto": steps, "fc/weight/auto": steps, "fc/bias/auto": steps,
        "scale/auto": steps,
    }  # fmt: skip
    assert reading.scalars()[0] == (1, "loss/auto", 2.0)


def test_a_step_is_one_event(tmp_path: Path, reading: Any, loop: Any) -> None:
    loop.run(SummaryCollector(str(tmp_path), collect_freq=10))
    assert [event.step for event in reading.events()] == [1, 10, 20]


def test_lineage_tells_what_was_trained(tmp_path: Path, reading: Any, loop: Any) -> None:
    loop.run(SummaryCollector(str(tmp_path), custom_lineage_data={"lr": 0.5}))
    dataset, custom, train = reading.lineage()
    assert dataset.dataset_graph.parameter.mapStr["op_type"] == "Digits"
    assert custom.user_defined_info.user_info[0].map_double["lr"] == 0.5
    lineage = train.train_lineage
    hyper = lineage.hyper_parameters
    assert (hyper.optimizer, hyper.loss_function) == ("Adam", "CrossEntropy")
    assert (hyper.epoch, hyper.batch_size) == (2, 4)
    assert lineage.train_dataset.train_dataset_size == 40
    assert lineage.algorithm.loss == pytest.approx(2 / 20)
    assert json.loads(lineage.model.path) == {"ckpt": None}


def test_the_run_that_it_continues(tmp_path: Path, reading: Any, loop: Any) -> None:
    loop.run(SummaryCollector(str(tmp_path), parent="before@20"))
    (custom,) = [event for event in reading.lineage() if event.HasField("user_defined_info")]
    assert custom.user_defined_info.user_info[0].map_str["parent_run"] == "before@20"
    with pytest.raises(ValueError, match="names a run and its last step"):
        SummaryCollector(str(tmp_path), parent="before")


def test_an_evaluation_leaves_its_metrics(tmp_path: Path, reading: Any, loop: Any) -> None:
    loop.evaluate(SummaryCollector(str(tmp_path)), metrics={"acc": 0.5})
    (event,) = reading.lineage()
    assert json.loads(event.evaluation_lineage.metric) == {"acc": 0.5}
    assert reading.files() == []


def test_an_evaluation_inside_a_training_does_so_too(tmp_path: Path, reading: Any, loop: Any) -> None:
    collector = SummaryCollector(str(tmp_path))

    def evaluate(step: Any) -> None:
        if step == 5:
            loop.evaluate(collector, metrics={"acc": step})

    loop.run(collector, at_step=evaluate)
    metrics = [event.evaluation_lineage.metric for event in reading.lineage()]
    assert [text for text in metrics if text] == ['{"acc": 5}']
    assert len(reading.files()) == 1


def test_metrics_that_a_loop_tells_at_the_end_of_an_epoch_are_taken(
    tmp_path: Path, reading: Any, loop: Any
) -> None:
    loop.run(SummaryCollector(str(tmp_path)), metrics={"acc": 0.25})
    assert [event.evaluation_lineage.metric for event in reading.lineage()[1:3]] == ['{"acc": 0.25}'] * 2


def test_graph_dataset_and_custom_data_are_told_once_however_often_it_is_used(
    tmp_path: Path, reading: Any, loop: Any
) -> None:
    collector = SummaryCollector(str(tmp_path), custom_lineage_data={"a": 1})
    loop.run(collector)
    loop.run(collector)
    kinds = [event.WhichOneof("what") for event in reading.lineage()]
    assert sorted(kinds) == ["dataset_graph", "train_lineage", "train_lineage", "user_defined_info"]


@pytest.mark.parametrize(
    ("changes", "kind", "missing"),
    [
        ({"net_outputs": "no number"}, "loss", "loss/auto"),
        ({"train_dataset_element": np.zeros((4, 10))}, "input data", "input_data/auto"),
    ],
)
def test_what_cannot_be_collected_is_said_once(
    tmp_path: Path,
    reading: Any,
    loop: Any,
    caplog: pytest.LogCaptureFixture,
    changes: Any,
    kind: str,
    missing: str,
) -> None:
    loop.run(SummaryCollector(str(tmp_path), collect_freq=1), **changes)
    assert missing not in steps_by_tag(reading)
    assert len(steps_by_tag(reading)["scale/auto"]) == 20
    assert caplog.text.count(f"{kind} is not collected") == 1


def test_a_lineage_that_fails_does_not_stop_the_training(
    tmp_path: Path, reading: Any, loop: Any, caplog: pytest.LogCaptureFixture
) -> None:
    loop.evaluate(SummaryCollector(str(tmp_path)), metrics={"acc": object()})
    assert "metric 'acc'" in caplog.text
    assert reading.lineage() == []


def test_only_what_is_asked_for_when_defaults_are_off(tmp_path: Path, reading: Any, loop: Any) -> None:
    collector = SummaryCollector(
        str(tmp_path), 10, collect_specified_data={"histogram_regular": "fc/b"}, keep_default_action=False
    )
    loop.run(collector)
    assert steps_by_tag(reading) == {"fc/bias/auto": [1, 10, 20]}
    assert reading.lineage() == []


def test_operators_are_recorded_with_the_step_and_tensors_more_rarely(
    tmp_path: Path, reading: Any, loop: Any
) -> None:
    scalar, tensor = ScalarSummary(), TensorSummary()

    def forward(step: Any) -> None:
        scalar("inner", step)
        tensor("features", np.full(3, step))

    collector = SummaryCollector(str(tmp_path), 2, collect_tensor_freq=5, keep_default_action=False)
    loop.run(collector, at_step=forward)
    steps = steps_by_tag(reading)
    assert steps["inner"] == [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert steps["features"] == [1, 5, 10, 15, 20]


def test_in_sink_mode_it_counts_epochs(tmp_path: Path, reading: Any, loop: Any) -> None:
    loop.run(SummaryCollector(str(tmp_path), 2), dataset_sink_mode=True, batch_num=1, epoch_num=6)
    assert steps_by_tag(reading)["loss/auto"] == [1, 2, 4, 6]


def test_a_loop_that_is_neither_training_nor_evaluation_is_refused(tmp_path: Path, loop: Any) -> None:
    with pytest.raises(ValueError, match="mode"):
        loop.run(SummaryCollector(str(tmp_path)), mode="test")


def test_a_rank_has_its_directory(tmp_path: Path, reading_of: Any, loop: Any) -> None:
    loop.run(SummaryCollector(str(tmp_path), rank=3))
    assert reading_of(tmp_path / "rank_3").values()


def test_alerts_are_at_the_current_step_whatever_the_frequency(
    tmp_path: Path, reading: Any, loop: Any
) -> None:
    collector = SummaryCollector(str(tmp_path), collect_freq=100)
    given: dict[int, Any] = {14: {"step": 14, "level": "error"}, 18: {}}
    loop.run(collector, at_step=lambda step: step in given and collector.alert(f"in {step}", **given[step]))
    alerts = [(event.step, event.alert.title) for event in reading.events() if event.HasField("alert")]
    assert alerts == [(14, "in 14"), (17, "in 18")]  # the 18th step has not ended


def collected(schedule: Any, plugin: Any, last: Any) -> list[Any]:
    """The counts up to ``last`` at which ``plugin`` is recorded."""
    wanted = [(count, schedule.plugins_at(count)) for count in range(1, last + 1)]
    return [count for count, plugins in wanted if plugins and plugins(plugin)]


def test_everything_but_tensors_comes_at_multiples() -> None:
    assert collected(Schedule(10, 7, None), "scalar", 35) == [10, 20, 30]


@pytest.mark.parametrize(
    ("every", "tensor_every", "total", "steps"),
    [
        (10, 7, None, [7, 14, 21, 28, 35]),
        (10, None, None, [10, 20, 30, 40]),
        (10, None, 40, [10, 20, 30, 40]),
        (1, None, 40, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38]),
        (1, None, 30, list(range(1, 21))),
        (1, None, 19, list(range(1, 41))),
    ],
)
def test_tensors_come_at_their_own_steps(every: int, tensor_every: Any, total: Any, steps: Any) -> None:
    assert collected(Schedule(every, tensor_every, total), "tensor", 40) == steps


@pytest.mark.parametrize("total", [100, 1000, 12345])
def test_tensors_come_at_most_twenty_times(total: int) -> None:
    assert 15 <= len(collected(Schedule(1, None, total), "tensor", total)) <= 20


def test_the_first_step_has_everything() -> None:
    assert everything("tensor")
    assert everything("scalar")
