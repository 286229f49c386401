from typing import Any

import numpy as np
import pytest

from mindinsight.server.api.v1.targets import targets_answer

ROWS = [
    {"summary_dir": "./1", "learning_rate": 0.1, "loss": 1.0, "metric/acc": 0.5, "user_defined/trial": 1,
     "user_defined/kind": "a", "user_defined/fixed": 2, "device_num": 1},
    {"summary_dir": "./2", "learning_rate": 0.2, "loss": 2.0, "metric/acc": 0.4, "user_defined/trial": None,
     "user_defined/kind": "b", "user_defined/fixed": 2, "device_num": 1},
    {"summary_dir": "./3", "learning_rate": 0.4, "loss": 4.0, "metric/acc": 0.1, "user_defined/trial": 3,
     "user_defined/kind": "c", "user_defined/fixed": 2, "device_num": 1},
]  # fmt: skip


@pytest.fixture
def answer() -> Any:
    return targets_answer(ROWS)


def test_objectives_are_metrics_and_loss(answer: Any) -> None:
    assert [target["name"] for target in answer["targets"]] == ["[M]acc", "loss"]
    assert answer["metadata"]["train_ids"] == ["./1", "./2", "./3"]


def test_importance_is_the_absolute_correlation(answer: Any) -> None:
    loss = answer["targets"][1]["hyper_parameters"]
    assert loss[0] == {"name": "learning_rate", "importance": pytest.approx(1.0)}
    accuracy = answer["targets"][0]["hyper_parameters"][0]
    assert accuracy["importance"] == pytest.approx(abs(np.corrcoef([0.1, 0.2, 0.4], [0.5, 0.4, 0.1])[0, 1]))


def test_reasons_are_given_where_importance_cannot_be(answer: Any) -> None:
    by_name = {parameter["name"]: parameter for parameter in answer["targets"][1]["hyper_parameters"]}
    assert by_name["[U]trial"]["reason_code"] == 2
    assert by_name["[U]fixed"]["reason_code"] == 3
    assert answer["metadata"]["unrecognized_params"] == [
        {"name": "[U]kind", "unselected": True, "reason_code": 1}
    ]


def test_a_gap_turns_the_column_into_floats(answer: Any) -> None:
    data = {
        parameter["name"]: parameter["data"] for parameter in answer["metadata"]["possible_hyper_parameters"]
    }
    assert data["[U]trial"] == [1.0, None, 3.0]
    assert all(isinstance(value, float) for value in data["[U]trial"] if value is not None)
    assert data["[U]fixed"] == [2, 2, 2]
    assert "device_num" not in data


def test_objective_values_are_counted_in_five_buckets(answer: Any) -> None:
    buckets = answer["targets"][1]["buckets"]
    assert len(buckets) == 5
    assert sum(count for _, _, count in buckets) == 3


def test_no_rows_give_empty_lists() -> None:
    empty = targets_answer([])
    assert empty["targets"] == []
    assert empty["metadata"]["train_ids"] == []


def test_texts_of_missing_numbers_count_as_missing() -> None:
    rows = [
        {"summary_dir": "./1", "user_defined/x": "nan", "loss": float("nan")},
        {"summary_dir": "./2", "user_defined/x": 1, "loss": 3.0},
    ]
    data = targets_answer(rows)
    assert data["metadata"]["possible_hyper_parameters"] == [{"name": "[U]x", "data": [None, 1.0]}]
    assert data["targets"][0]["data"] == [None, 3.0]
