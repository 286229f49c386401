"""What a tuner gives a training, as the training reads it."""

import json
import os
from typing import Any

import pytest

from mindinsight.optimizer import HyperConfig as TutorialHyperConfig
from mindinsight.writer import HyperConfig
from mindinsight.writer.hyper_config import HyperConfigError

GIVEN = {
    "summary_dir": "runs/trial_0001",
    "params": {"learning_rate": 0.01, "optimizer": "sgd", "items": 3},
    "custom_lineage_data": {"optimizer": "sgd"},
}


def given(content: Any = GIVEN) -> dict[Any, Any]:
    return {"MINDINSIGHT_HYPER_CONFIG": content if isinstance(content, str) else json.dumps(content)}


def test_values_have_names_of_attributes_and_of_items() -> None:
    config = HyperConfig(environment=given())
    assert config.tuned
    assert config.params.learning_rate == config.params["learning_rate"] == 0.01
    assert config.params["items"] == 3
    assert dict(config.params) == GIVEN["params"]
    assert config.params.get("momentum", 0.9) == 0.9
    assert config.summary_dir == os.path.realpath("runs/trial_0001")
    assert config.custom_lineage_data == {"optimizer": "sgd"}


def test_the_import_of_the_tutorial_is_the_same_class() -> None:
    assert TutorialHyperConfig is HyperConfig


def test_a_parameter_that_is_not_there_is_an_attribute_error_that_names_those_there_are() -> None:
    params = HyperConfig(environment=given()).params
    with pytest.raises(AttributeError, match="no parameter 'lr' in this trial; known are learning_rate"):
        params.lr  # noqa: B018
    with pytest.raises(AttributeError, match="read-only"):
        params.learning_rate = 1
    assert not hasattr(params, "__deepcopy__")


def test_a_training_by_hand_has_values_of_its_own_and_a_tuner_wins() -> None:
    own = HyperConfig({"learning_rate": 0.5, "width": 8}, "./here", {})
    assert (own.tuned, own.params.learning_rate, own.summary_dir) == (False, 0.5, os.path.realpath("here"))
    both = HyperConfig({"learning_rate": 0.5, "width": 8}, environment=given())
    assert (both.params.learning_rate, both.params.width) == (0.01, 8)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "is not set: run this by mindinsight tune"),
        (given("{"), "is not JSON"),
        (given("[" * 50_000), "is not JSON"),
        (given("[]"), "is not a JSON object"),
        (given(json.dumps(GIVEN) + " " * 100_000), "characters; 100000 are allowed"),
        (given({"params": {}}), "needs summary_dir, a text"),
        (given({"summary_dir": "a"}), "needs params, an object"),
        (given({"summary_dir": "a", "params": {"x": [1]}}), "'x' must be a number or a text"),
    ],
)
def test_what_no_tuner_gives_is_an_error(environment: Any, message: str) -> None:
    with pytest.raises(HyperConfigError, match=message):
        HyperConfig(environment=environment)
