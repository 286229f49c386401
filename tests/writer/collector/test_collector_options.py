from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.collector import SummaryCollector, collector_options
from tests.narrowing import require

INTERVALS = [[1, 2, 3]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"summary_dir": 3}, TypeError),
        ({"summary_dir": ""}, ValueError),
        ({"collect_freq": 0}, ValueError),
        ({"collect_freq": True}, TypeError),
        ({"collect_freq": 1.0}, TypeError),
        ({"collect_specified_data": []}, TypeError),
        ({"collect_specified_data": {"loss": True}}, ValueError),
        ({"collect_specified_data": {"collect_metric": 1}}, TypeError),
        ({"collect_specified_data": {"histogram_regular": 1}}, TypeError),
        ({"collect_specified_data": {"histogram_regular": "("}}, ValueError),
        ({"keep_default_action": 1}, TypeError),
        ({"custom_lineage_data": []}, TypeError),
        ({"custom_lineage_data": {"a": [1]}}, TypeError),
        ({"custom_lineage_data": {1: 1}}, TypeError),
        ({"collect_tensor_freq": 0}, ValueError),
        ({"max_file_size": 0}, ValueError),
        ({"max_file_size": 1.5}, TypeError),
        ({"export_options": {"x": 1}}, ValueError),
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(tmp_path: Path, arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        SummaryCollector(**{"summary_dir": str(tmp_path), **arguments})


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ([], TypeError),
        ({"unit": "step"}, TypeError),
        ({"intervals": [1, 2, 3]}, TypeError),
        ({"intervals": [[1, 2]]}, ValueError),
        ({"intervals": []}, ValueError),
        ({"intervals": [[1, 2, "3"]]}, TypeError),
        ({"intervals": INTERVALS, "sizes": 3}, ValueError),
        ({"intervals": INTERVALS, "landscape_size": 2}, ValueError),
        ({"intervals": INTERVALS, "landscape_size": 257}, ValueError),
        ({"intervals": INTERVALS, "unit": "second"}, ValueError),
        ({"intervals": INTERVALS, "num_samples": 0}, ValueError),
        ({"intervals": INTERVALS, "create_landscape": {"train": True}}, ValueError),
    ],
)
def test_a_landscape_that_cannot_be_meant_is_refused(given: Any, error: Any) -> None:
    if given == []:
        given = ["intervals"]
    with pytest.raises(error):
        collector_options.landscape(given)


def test_a_landscape_is_made_only_when_asked_for() -> None:
    assert collector_options.collected_kinds(None, True).collect_landscape is None
    assert collector_options.landscape({}) is None
    assert require(collector_options.landscape({"intervals": INTERVALS})).intervals == ((1, 2, 3),)


@pytest.mark.parametrize("keep", [True, False])
def test_keys_that_are_not_given_follow_the_default(keep: bool) -> None:
    collected = collector_options.collected_kinds({"collect_graph": not keep}, keep)
    assert collected.collect_metric is keep
    assert collected.collect_graph is not keep
    assert collected.histograms is keep


def test_what_is_given_counts_over_the_environment() -> None:
    environment = {"MINDINSIGHT_HYPER_CONFIG": '{"custom_lineage_data": {"a": 1, "b": 2}}'}
    assert collector_options.custom_lineage({"a": 3}, environment) == {"a": 3, "b": 2}


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"custom_lineage_data": 3}', '"' + "x" * 100_000 + '"'])
def test_a_configuration_that_is_none_is_said_and_left_out(
    text: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert collector_options.custom_lineage(None, {"MINDINSIGHT_HYPER_CONFIG": text}) == {}
    assert "MINDINSIGHT_HYPER_CONFIG" in caplog.text


def test_a_configuration_without_lineage_is_fine(caplog: pytest.LogCaptureFixture) -> None:
    assert collector_options.custom_lineage(None, {"MINDINSIGHT_HYPER_CONFIG": "{}"}) == {}
    assert not caplog.records
