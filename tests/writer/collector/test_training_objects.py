"""Facts of networks and datasets that are of no framework: nested arrays, classes, functions."""

import numpy as np
import pytest

from mindinsight.writer.collector.training_objects import (
    backbone,
    class_name,
    dataset_facts,
    learning_rates,
    parameters,
    weights,
)


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
