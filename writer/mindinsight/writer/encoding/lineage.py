"""Encoder of lineage messages (lineage.proto) from plain dicts.

The messages have MindSpore's content, so lineage tables combine old and new runs.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from google.protobuf.message import Message

from mindinsight.proto import lineage_pb2
from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.encoding.encoder import MessageEncoder, serialised

# Name of a fact -> the part of TrainLineage it belongs to.
_TRAIN_FACTS: Final = {
    "optimizer": "hyper_parameters",
    "learning_rate": "hyper_parameters",
    "loss_function": "hyper_parameters",
    "epoch": "hyper_parameters",
    "parallel_mode": "hyper_parameters",
    "device_num": "hyper_parameters",
    "batch_size": "hyper_parameters",
    "train_dataset_path": "train_dataset",
    "train_dataset_size": "train_dataset",
    "network": "algorithm",
    "loss": "algorithm",
    "model_path": "model",
    "model_size": "model",
}
_EVALUATION_FACTS: Final = ("metrics", "valid_dataset_path", "valid_dataset_size")
_INT32: Final = 1 << 31  # beyond the largest


class LineageEncoder(MessageEncoder):
    """Encoder of the messages of a lineage file, one instance for each key of LINEAGE_FIELDS."""

    def serialised(self, value: Any) -> bytes:
        """Return the bytes of a message. ``value`` is the message, or a dict or dataclass of its facts.
        Raises TypeError for anything else, ValueError for an unknown or invalid fact."""
        name, build = _MESSAGES[self.kind]
        return serialised(self.kind, value, name, build)


def train_lineage(facts: Mapping[str, Any]) -> lineage_pb2.TrainLineage:
    """Return a TrainLineage of these facts, without those that are None. Raises ValueError for an unknown
    name, TypeError or ValueError for a value that does not fit its field.

    ``optimizer``, ``loss_function``, ``network``: class names. ``learning_rate``, ``loss``: numbers.
    ``epoch``, ``device_num``, ``batch_size``, ``train_dataset_size`` (samples), ``model_size`` (bytes): ints.
    ``parallel_mode``, ``train_dataset_path``, ``model_path`` (the newest checkpoint): text.
    """
    _check_names(facts, _TRAIN_FACTS)
    message = lineage_pb2.TrainLineage()
    for name, value in facts.items():
        if value is not None and name != "model_path":
            part = getattr(message, _TRAIN_FACTS[name])
            _set(part, "size" if name == "model_size" else name, value)
    message.model.path = json.dumps({"ckpt": facts.get("model_path")})
    return message


def evaluation_lineage(facts: Mapping[str, Any]) -> lineage_pb2.EvaluationLineage:
    """Return an EvaluationLineage of metrics, path and size of the dataset. Raises TypeError unless
    ``metrics`` is a dict of numbers and arrays. Other names and values raise like ``train_lineage``.

    ``metrics`` is a dict name -> number or array, ``valid_dataset_path`` text and ``valid_dataset_size`` a
    number of samples.
    """
    _check_names(facts, _EVALUATION_FACTS)
    message = lineage_pb2.EvaluationLineage()
    metrics = facts.get("metrics") or {}
    if not isinstance(metrics, Mapping):
        raise TypeError(f"'metrics' of eval_lineage must be a dict from name to number, got {metrics!r}")
    message.metric = json.dumps({name: _metric(name, value) for name, value in metrics.items()})
    for name in _EVALUATION_FACTS[1:]:
        if facts.get(name) is not None:
            _set(message.valid_dataset, name, facts[name])
    return message


def user_defined_info(facts: Mapping[str, int | float | str | bool]) -> lineage_pb2.UserDefinedInfo:
    """Return a UserDefinedInfo with one entry for each fact about a run. Raises TypeError for names that
    are no text and for other values. An int beyond 32 bits becomes a double if that is exact, otherwise
    text. Bools become text."""
    message = lineage_pb2.UserDefinedInfo()
    for name, value in facts.items():
        if not isinstance(name, str):
            raise TypeError(f"names of custom lineage data must be str, got {name!r}")
        entry = message.user_info.add()
        if isinstance(value, float):
            entry.map_double[name] = value
        elif isinstance(value, str) or value is True or value is False:
            entry.map_str[name] = str(value)
        elif isinstance(value, int):
            _set_integer(entry, name, value)
        else:
            raise TypeError(f"custom lineage data '{name}' must be a number or text, got {value!r}")
    return message


def dataset_graph(operator: Mapping[str, Any]) -> lineage_pb2.DatasetGraph:
    """Return the DatasetGraph of a pipeline, from its last operator back to the source.

    ``operator`` has its settings by name, including ``op_type``. ``children`` are the operators before it.
    ``operations`` are applied by a map, each a dict with ``tensor_op_name`` and ``tensor_op_params``.
    ``sampler`` has settings. This is the form of MindSpore's serialised pipelines.
    """
    message = lineage_pb2.DatasetGraph()
    for name, value in operator.items():
        if name == "children":
            message.children.extend(map(dataset_graph, value))
        elif name == "operations":
            message.operations.extend(map(_operation, value))
        elif name == "sampler" and value:
            message.sampler.CopyFrom(_operation(value))
        elif name != "sampler":
            _put(message.parameter, name, value)
    return message


def _operation(settings: Mapping[str, Any]) -> lineage_pb2.Operation:
    message = lineage_pb2.Operation()
    for name, value in settings.items():
        if isinstance(value, list) and all(type(item) is int for item in value):
            message.size.extend(value)
        elif isinstance(value, list) and all(isinstance(item, (int, float)) for item in value):
            message.weights.extend(value)
        else:
            _put(message.operationParam, name, value)
    return message


def _put(parameters: lineage_pb2.OperationParameter, name: str, value: Any) -> None:
    """Store a setting under the map of its type. Other types become JSON text. An empty list is skipped."""
    if isinstance(value, bool):
        parameters.mapBool[name] = value
    elif isinstance(value, int) and -_INT32 <= value < _INT32:
        parameters.mapInt[name] = value
    elif isinstance(value, float):
        parameters.mapDouble[name] = value
    elif isinstance(value, list):
        for item in value:
            text = "" if item is None else json.dumps(item, default=str)
            parameters.mapStrList[name].strValue.append(text)
    elif isinstance(value, str) or value is None:
        parameters.mapStr[name] = str(value)
    else:
        parameters.mapStr[name] = json.dumps(value, default=str)


def _set_integer(entry: lineage_pb2.UserDefinedInfo, name: str, value: int) -> None:
    if -_INT32 <= value < _INT32:
        entry.map_int32[name] = value
    elif abs(value) <= 1 << 53:
        entry.map_double[name] = value
    else:
        entry.map_str[name] = str(value)


def _set(message: Message, name: str, value: Any) -> None:
    try:
        setattr(message, name, value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"lineage fact '{name}' cannot be {value!r}: {error}") from error


def _metric(name: str, value: Any) -> Any:
    try:
        return value if isinstance(value, (int, float, str)) else to_numpy(value).values.tolist()
    except TypeError as error:
        raise TypeError(f"metric '{name}': {error}") from error


def _check_names(facts: Mapping[str, Any], names: Any) -> None:
    unknown = set(facts) - set(names)
    if unknown:
        raise ValueError(f"unknown lineage facts {sorted(map(str, unknown))}; known are {', '.join(names)}")


_MESSAGES: Final[dict[str, tuple[str, Callable[[Mapping[str, Any]], Message]]]] = {
    "train_lineage": ("TrainLineage", train_lineage),
    "eval_lineage": ("EvaluationLineage", evaluation_lineage),
    "custom_lineage_data": ("UserDefinedInfo", user_defined_info),
    "dataset_graph": ("DatasetGraph", dataset_graph),
}
