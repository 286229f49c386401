"""What loop and callbacks tell each other."""

import copy

import pytest

from mindinsight.writer.callbacks import RunArguments, RunContext


def test_arguments_are_items_and_attributes() -> None:
    arguments = RunArguments(cur_step_num=3)
    arguments.net_outputs = 0.5
    assert arguments.cur_step_num == 3
    assert arguments["net_outputs"] == 0.5


def test_an_argument_that_is_not_set_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="'metrics'"):
        _ = RunArguments().metrics
    assert not hasattr(RunArguments(), "metrics")


def test_arguments_can_be_copied() -> None:
    assert copy.deepcopy(RunArguments(mode="train")).mode == "train"


def test_the_loop_keeps_the_object_it_gave() -> None:
    arguments = RunArguments(cur_step_num=0)
    context = RunContext(arguments)
    arguments.cur_step_num += 1
    assert context.original_args() is arguments
    assert context.original_args()["cur_step_num"] == 1


def test_a_plain_dict_gains_attributes() -> None:
    context = RunContext({"mode": "eval"})
    context.original_args().metrics = {"acc": 1.0}
    assert context.original_args() == {"mode": "eval", "metrics": {"acc": 1.0}}
    assert context.original_args().mode == "eval"


def test_anything_else_is_refused() -> None:
    with pytest.raises(TypeError, match="dict, got list"):
        RunContext([("mode", "train")])  # type: ignore[arg-type]


def test_a_stop_is_remembered() -> None:
    context = RunContext({})
    assert not context.get_stop_requested()
    context.request_stop()
    assert context.get_stop_requested()
