"""Lineage from the arguments of callbacks, where no framework says more."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.collector.collected_facts import (
    backbone,
    class_name,
    dataset_facts,
    evaluation,
    first,
    histograms,
    input_data,
    learning_rate,
    learning_rates,
    loss,
    newest_checkpoint,
    parameters,
    training,
    weights,
)


class Momentum:
    """Stands for an optimizer of a loop of one's own."""

    def __init__(self, **group: float) -> None:
        self.param_groups = [group]


def test_facts_of_a_loop_without_a_framework(tmp_path: Path) -> None:
    checkpoint = tmp_path / "net-1_2.ckpt"
    checkpoint.write_bytes(b"12345")
    facts = training(
        {
            "optimizer": Momentum(lr=0.1, initial_lr=0.5),
            "train_dataset_element": (np.zeros((32, 3)), np.zeros(32)),
            "batch_num": 10,
            "epoch_num": 3,
            "net_outputs": np.float32(0.25),
            "list_callback": [SimpleNamespace(latest_ckpt_file_name=str(checkpoint)), SimpleNamespace()],
        }
    )
    assert (facts["optimizer"], facts["learning_rate"], facts["epoch"]) == ("Momentum", 0.5, 3)
    assert (facts["batch_size"], facts["train_dataset_size"], facts["loss"]) == (32, 320, 0.25)
    assert (facts["model_path"], facts["model_size"]) == (str(checkpoint), 5)
    assert (facts["parallel_mode"], facts["device_num"]) == ("stand_alone", 1)


def test_of_nothing_nothing_is_known() -> None:
    facts = training({"net_outputs": "no numbers"})
    for name in ("optimizer", "learning_rate", "loss", "batch_size", "train_dataset_size", "model_path"):
        assert facts[name] is None, name
    assert facts["model_size"] == 0
    assert evaluation({}) == {"metrics": {}, "valid_dataset_path": None, "valid_dataset_size": None}


def test_a_count_beyond_what_lineage_holds_is_left_out() -> None:
    element = np.zeros((32, 1))
    assert training({"train_dataset_element": element, "batch_num": 1 << 30})["train_dataset_size"] is None


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_newest_file_is_that_of_the_last_callback_that_has_one(wrapped: bool) -> None:
    callbacks: Any = [SimpleNamespace(latest_ckpt_file_name=name) for name in ("a.ckpt", "b.ckpt", "")]
    arguments = {"list_callback": SimpleNamespace(_callbacks=callbacks) if wrapped else callbacks}
    assert newest_checkpoint(arguments) == Path("b.ckpt")
    assert newest_checkpoint({}) is None


NETWORK = {f"layer{number}": {"weight": np.ones(2), "bias": np.zeros(1)} for number in range(4)}


def test_the_loss_is_the_mean_of_the_first_output() -> None:
    assert list(loss({"net_outputs": (np.array([1.0, 3.0]), np.zeros(5))})) == [("scalar", "loss/auto", 2.0)]
    with pytest.raises(TypeError):
        list(loss({"net_outputs": None}))


def test_the_first_column_of_a_batch_is_the_picture() -> None:
    column = np.zeros((2, 3, 4, 4))
    ((plugin, tag, value),) = input_data({"train_dataset_element": {"image": [column], "label": np.ones(2)}})
    assert (plugin, tag, value is column) == ("image", "input_data/auto", True)
    assert list(input_data({})) == []
    assert first([]) == []


def test_without_a_pattern_the_first_five_parameters_are_chosen() -> None:
    tags = [tag for _, tag, _ in histograms({"network": NETWORK}, None)]
    assert tags[:2] == ["layer0/weight/auto", "layer0/bias/auto"]
    assert len(tags) == 5


def test_a_pattern_is_matched_from_the_start_of_the_name() -> None:
    tags = [tag for _, tag, _ in histograms({"network": NETWORK}, "layer[12]/w")]
    assert tags == ["layer1/weight/auto", "layer2/weight/auto"]
    assert list(histograms({"network": NETWORK}, "weight")) == []


def test_an_optimizer_that_cannot_be_asked_has_no_rate() -> None:
    assert list(learning_rate({"optimizer": object()})) == []


class Adam:
    """Stands for an optimizer that no framework knows."""


def test_weights_of_nested_arrays_have_paths_as_names() -> None:
    network = {"dense": {"w": np.ones(2), "b": np.zeros(1)}, "scale": np.ones(1)}
    for function in (weights, lambda tree: parameters(tree, None)):
        assert [name for name, _ in function(network)] == ["dense/w", "dense/b", "scale"]
    assert list(parameters(Adam(), None)) == []


@pytest.mark.parametrize(
    ("value", "expected"), [(Adam(), "Adam"), (Adam, "Adam"), (class_name, "class_name"), (None, None)]
)
def test_a_name_is_that_of_the_class_or_of_the_function_itself(value: object, expected: str | None) -> None:
    assert class_name(value) == expected


def test_what_is_of_no_framework_has_no_rates_and_is_its_own_backbone() -> None:
    optimizer = Adam()
    assert learning_rates(optimizer) == []
    assert backbone(optimizer) is optimizer
    assert dataset_facts([1, 2]).pipeline == {"op_type": "list"}
    assert dataset_facts(None).pipeline is None
