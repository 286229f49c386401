"""Values of a step by kind: which tags they have, and which parameters are chosen."""

import numpy as np
import pytest

from mindinsight.writer.collector.values import first, histograms, input_data, learning_rate, loss

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
