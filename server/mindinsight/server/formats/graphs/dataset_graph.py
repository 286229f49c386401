"""JSON encoder of the data pipeline in a lineage file (DatasetGraph), in MindInsight's form."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindinsight.proto.lineage_pb2 import DatasetGraph, Operation, OperationParameter


def dataset_graph(graph: DatasetGraph) -> dict[str, Any]:
    """A pipeline as JSON: settings of its last step, those before it in ``children``; "None" becomes null."""
    settings = _parameters(graph.parameter)
    settings["children"] = [dataset_graph(child) for child in graph.children]
    if graph.operations:
        settings["operations"] = [_operation(operation) for operation in graph.operations]
    if graph.HasField("sampler"):
        settings["sampler"] = _operation(graph.sampler)
    return settings


def shortest(value: float) -> float:
    """Round a double that was a float32 to the shortest decimal that denotes the same float32."""
    return float(str(np.float32(value)))


def _operation(operation: Operation) -> dict[str, Any]:
    settings = _parameters(operation.operationParam)
    if operation.size:
        settings["size"] = list(operation.size)
    if operation.weights:
        settings["weights"] = [shortest(weight) for weight in operation.weights]
    return settings


def _parameters(parameter: OperationParameter) -> dict[str, Any]:
    settings: dict[str, Any] = {
        name: None if value == "None" else value for name, value in parameter.mapStr.items()
    }
    for name, texts in parameter.mapStrList.items():
        settings[name] = [text or None for text in texts.strValue]
    for values in (parameter.mapBool, parameter.mapInt, parameter.mapDouble):
        settings.update(values)
    return settings
