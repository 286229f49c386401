"""The data pipeline of a lineage file, in the JSON form of MindInsight's interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindinsight.proto.lineage_pb2 import DatasetGraph, Operation, OperationParameter


def dataset_graph(graph: DatasetGraph) -> dict[str, Any]:
    """Settings of the last operation, ``children`` towards the source; the text ``None`` becomes null."""
    found = _parameters(graph.parameter)
    found["children"] = [dataset_graph(child) for child in graph.children]
    if graph.operations:
        found["operations"] = [_operation(operation) for operation in graph.operations]
    if graph.HasField("sampler"):
        found["sampler"] = _operation(graph.sampler)
    return found


def shortest(value: float) -> float:
    """A float32 read as double, as the shortest decimal number that stands for the same float32."""
    return float(str(np.float32(value)))


def _operation(operation: Operation) -> dict[str, Any]:
    found = _parameters(operation.operationParam)
    if operation.size:
        found["size"] = list(operation.size)
    if operation.weights:
        found["weights"] = [shortest(weight) for weight in operation.weights]
    return found


def _parameters(parameter: OperationParameter) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: None if value == "None" else value for name, value in parameter.mapStr.items()
    }
    for name, texts in parameter.mapStrList.items():
        found[name] = [text or None for text in texts.strValue]
    for plain in (parameter.mapBool, parameter.mapInt, parameter.mapDouble):
        found.update(plain)
    return found
