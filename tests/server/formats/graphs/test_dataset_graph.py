"""Pipelines of a lineage file as JSON: settings, children, operations, samplers, and shortest decimals."""

import struct

import pytest

from mindinsight.proto.lineage_pb2 import DatasetGraph
from mindinsight.server.formats.graphs.dataset_graph import dataset_graph, shortest


def test_a_pipeline_is_its_last_step_with_those_before_it_inside() -> None:
    batch = DatasetGraph()
    batch.parameter.mapStr["op_type"] = "BatchDataset"
    batch.parameter.mapStr["num_parallel_workers"] = "None"
    batch.parameter.mapInt["batch_size"] = 32
    batch.parameter.mapBool["drop_remainder"] = True
    batch.parameter.mapDouble["share"] = 0.5
    batch.parameter.mapStrList["columns"].strValue.extend(["image", ""])
    source = batch.children.add()
    source.parameter.mapStr["op_type"] = "MnistDataset"
    assert dataset_graph(batch) == {
        "op_type": "BatchDataset",
        "num_parallel_workers": None,
        "batch_size": 32,
        "drop_remainder": True,
        "share": 0.5,
        "columns": ["image", None],
        "children": [{"op_type": "MnistDataset", "children": []}],
    }


def test_operations_and_samplers_have_sizes_and_weights() -> None:
    graph = DatasetGraph()
    operation = graph.operations.add()
    operation.operationParam.mapStr["tensor_op_name"] = "Resize"
    operation.size.extend([32, 32])
    graph.sampler.operationParam.mapStr["sampler_name"] = "WeightedRandomSampler"
    graph.sampler.weights.extend([0.1, 0.9])
    settings = dataset_graph(graph)
    assert settings["operations"] == [{"tensor_op_name": "Resize", "size": [32, 32]}]
    assert settings["sampler"] == {"sampler_name": "WeightedRandomSampler", "weights": [0.1, 0.9]}


@pytest.mark.parametrize("value", [0.1, 0.001, 1e-20, 3.0, 16777216.0])
def test_the_shortest_decimal_denotes_the_same_float32(value: float) -> None:
    stored = struct.unpack("<f", struct.pack("<f", value))[0]
    assert shortest(stored) == value
    assert struct.pack("<f", shortest(stored)) == struct.pack("<f", value)
