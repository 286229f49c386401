import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.lineage_pb2 import DatasetGraph, EvaluationLineage, TrainLineage, UserDefinedInfo
from mindinsight.writer.encoding import lineage
from mindinsight.writer.encoding.lineage import LineageEncoder


def test_train_lineage_has_every_fact_in_its_place() -> None:
    message = lineage.train_lineage({
        "optimizer": "Adam", "learning_rate": 0.5, "loss_function": "CE", "epoch": 2,
        "parallel_mode": "stand_alone", "device_num": 1, "batch_size": 10,
        "train_dataset_path": "/data", "train_dataset_size": 300,
        "network": "LeNet", "loss": 0.25, "model_path": "/a.ckpt", "model_size": 1 << 40,
    })  # fmt: skip
    hyper = message.hyper_parameters
    assert (hyper.optimizer, hyper.learning_rate, hyper.loss_function, hyper.epoch) == ("Adam", 0.5, "CE", 2)
    assert (hyper.parallel_mode, hyper.device_num, hyper.batch_size) == ("stand_alone", 1, 10)
    dataset = message.train_dataset
    assert (dataset.train_dataset_path, dataset.train_dataset_size) == ("/data", 300)
    assert (message.algorithm.network, message.algorithm.loss) == ("LeNet", 0.25)
    assert (json.loads(message.model.path), message.model.size) == ({"ckpt": "/a.ckpt"}, 1 << 40)


def test_facts_nobody_knows_are_left_out() -> None:
    message = lineage.train_lineage({"optimizer": None, "loss": 1.0})
    assert not message.HasField("hyper_parameters")
    assert json.loads(message.model.path) == {"ckpt": None}


@pytest.mark.parametrize(
    ("build", "facts", "error"),
    [
        (lineage.train_lineage, {"optimiser": "Adam"}, ValueError),
        (lineage.train_lineage, {"train_dataset_size": 1 << 31}, ValueError),
        (lineage.train_lineage, {"epoch": "two"}, TypeError),
        (lineage.evaluation_lineage, {"metric": {}}, ValueError),
        (lineage.evaluation_lineage, {"metrics": {"acc": None}}, TypeError),
        (lineage.evaluation_lineage, {"metrics": "acc"}, TypeError),
        (lineage.user_defined_info, {"a": [1]}, TypeError),
        (lineage.user_defined_info, {1: "a"}, TypeError),
    ],
)
def test_what_cannot_be_a_fact_is_named(build: Any, facts: Any, error: Any) -> None:
    with pytest.raises(error, match=str(next(iter(facts))).rstrip("s")):
        build(facts)


def test_metrics_are_json_whatever_they_were() -> None:
    message = lineage.evaluation_lineage({
        "metrics": {"acc": np.float32(0.5), "recall": np.array([1.0, 0.5]), "nan": math.nan},
        "valid_dataset_path": "/data", "valid_dataset_size": 7,
    })  # fmt: skip
    metrics = json.loads(message.metric)
    assert (metrics["acc"], metrics["recall"]) == (0.5, [1.0, 0.5])
    assert math.isnan(metrics["nan"])
    dataset = message.valid_dataset
    assert (dataset.valid_dataset_path, dataset.valid_dataset_size) == ("/data", 7)


def facts_in(message: Any) -> Any:
    """Name to value as a reader of MindSpore's layout finds them."""
    facts: dict[Any, Any] = {}
    for entry in message.user_info:
        maps = [dict(getattr(entry, field)) for field in ("map_int32", "map_double", "map_str")]
        assert sum(map(len, maps)) == 1
        facts |= maps[0] | maps[1] | maps[2]
    return facts


simple = st.one_of(st.integers(-(1 << 31), (1 << 31) - 1), st.floats(allow_nan=False), st.text())


@given(st.dictionaries(st.text(), simple))
def test_custom_data_reads_back(facts: Any) -> None:
    assert facts_in(lineage.user_defined_info(facts)) == facts


@pytest.mark.parametrize(
    ("value", "recorded"),
    [
        (1 << 40, float(1 << 40)),
        (-(1 << 53), -float(1 << 53)),
        ((1 << 60) + 1, str((1 << 60) + 1)),
        (True, "True"),
        (False, "False"),
    ],
)
def test_custom_data_that_has_no_type_of_its_own_is_kept_without_loss(value: Any, recorded: Any) -> None:
    assert facts_in(lineage.user_defined_info({"x": value})) == {"x": recorded}


def test_a_pipeline_becomes_a_graph_as_mindspore_writes_it() -> None:
    message = lineage.dataset_graph({
        "op_type": "Batch", "batch_size": 10, "drop_remainder": True, "ratio": 0.5,
        "columns": ["image", None], "none": [], "options": {"a": 1}, "nothing": None, "large": 1 << 40,
        "children": [{
            "op_type": "Map",
            "operations": [{"tensor_op_name": "Resize", "tensor_op_params": {"size": [20, 20]},
                            "size": [2, 3], "weights": [0.5, 1]}],
            "children": [{"op_type": "Mnist", "sampler": {"sampler_name": "Sequential", "start_index": 0}}],
        }],
    })  # fmt: skip
    parameter = message.parameter
    assert dict(parameter.mapInt) == {"batch_size": 10}
    assert dict(parameter.mapBool) == {"drop_remainder": True}
    assert dict(parameter.mapDouble) == {"ratio": 0.5}
    assert list(parameter.mapStrList["columns"].strValue) == ['"image"', ""]
    assert dict(parameter.mapStr) == {
        "op_type": "Batch", "options": '{"a": 1}', "nothing": "None", "large": str(1 << 40),
    }  # fmt: skip
    (operation,) = message.children[0].operations
    assert operation.operationParam.mapStr["tensor_op_params"] == '{"size": [20, 20]}'
    assert (list(operation.size), list(operation.weights)) == ([2, 3], [0.5, 1])
    sampler = message.children[0].children[0].sampler.operationParam
    assert (sampler.mapStr["sampler_name"], sampler.mapInt["start_index"]) == ("Sequential", 0)


@dataclass
class Facts:
    network: str
    loss: float


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("train_lineage", {"loss": 1.0}, TrainLineage),
        ("train_lineage", Facts("LeNet", 1.0), TrainLineage),
        ("eval_lineage", {"metrics": {}}, EvaluationLineage),
        ("custom_lineage_data", {"a": 1}, UserDefinedInfo),
        ("dataset_graph", {"op_type": "Batch"}, DatasetGraph),
        ("dataset_graph", DatasetGraph(), DatasetGraph),
    ],
)
def test_a_kind_takes_its_message_or_a_dict(kind: str, value: Any, message: Any) -> None:
    message.FromString(LineageEncoder(kind).serialised(value))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("train_lineage", DatasetGraph()),
        ("train_lineage", 5),
        ("dataset_graph", DatasetGraph),
    ],
)
def test_and_nothing_else(kind: str, value: Any) -> None:
    with pytest.raises(TypeError, match=kind):
        LineageEncoder(kind).serialised(value)
