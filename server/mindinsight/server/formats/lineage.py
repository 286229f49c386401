"""Decoder of lineage files: hyperparameters, data pipeline and results of a run."""

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeVar

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from mindinsight.proto import lineage_pb2
from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE
from mindinsight.server.files.opener import read_at
from mindinsight.server.formats.events.framing import verified_records
from mindinsight.server.formats.sanitizer import parse_json, safe_value
from mindinsight.server.types import Damage


def dataset_graph(graph: lineage_pb2.DatasetGraph) -> dict[str, Any]:
    """Return a data pipeline as JSON: settings of its last step, earlier steps in ``children``. The text
    "None" becomes null."""
    settings = _parameters(graph.parameter)
    settings["children"] = [dataset_graph(child) for child in graph.children]
    if graph.operations:
        settings["operations"] = [_operation(operation) for operation in graph.operations]
    if graph.HasField("sampler"):
        settings["sampler"] = _operation(graph.sampler)
    return settings


def shortest(value: float) -> float:
    """Round a float32 stored as double to the shortest decimal that denotes the same float32."""
    return float(str(np.float32(value)))


def _operation(operation: lineage_pb2.Operation) -> dict[str, Any]:
    """Return the settings of an operation as JSON."""
    settings = _parameters(operation.operationParam)
    if operation.size:
        settings["size"] = list(operation.size)
    if operation.weights:
        settings["weights"] = [shortest(weight) for weight in operation.weights]
    return settings


def _parameters(parameter: lineage_pb2.OperationParameter) -> dict[str, Any]:
    """Return the parameters of an operation by name."""
    settings: dict[str, Any] = {
        name: None if value == "None" else value for name, value in parameter.mapStr.items()
    }
    for name, texts in parameter.mapStrList.items():
        settings[name] = [text or None for text in texts.strValue]
    for values in (parameter.mapBool, parameter.mapInt, parameter.mapDouble):
        settings.update(values)
    return settings


MAX_BYTES: Final = 16 << 20  # read from a file; a training writes a few kilobytes
MAX_METRICS: Final = 1 << 20  # bytes of JSON text in one record
_LARGE: Final = re.compile(r"-?[1-9]\d{15,19}")  # an integer of 64 bits beyond 2^53
MAX_ITEMS: Final = 10_000  # metrics, or values defined by the user


@dataclass(frozen=True, slots=True)
class TrainLineage:
    """Training lineage: hyperparameters, data and model of a run. None if a value was not recorded."""

    network: str | None = None
    optimizer: str | None = None
    loss_function: str | None = None
    learning_rate: float | None = None
    loss: float | None = None  # the last one
    epoch: int | None = None
    batch_size: int | None = None
    device_num: int | None = None
    parallel_mode: str | None = None
    train_dataset_path: str | None = None
    train_dataset_size: int | None = None  # samples
    model_path: str | None = None  # the newest checkpoint
    model_size: int | None = None  # bytes


# Fields of a training with a column in tables: neither its result nor the path of a checkpoint.
TRAIN_FACTS: Final = tuple(
    name for item in fields(TrainLineage) if (name := item.name) not in ("loss", "model_path")
)


@dataclass(frozen=True, slots=True)
class EvaluationLineage:
    """Evaluation lineage: metrics, and the data they were measured on."""

    metric: dict[str, Any] = field(default_factory=dict)
    valid_dataset_path: str | None = None
    valid_dataset_size: int | None = None  # samples


@dataclass(frozen=True, slots=True)
class Lineage:
    """Lineage of one file, or of several merged: training, evaluation, data pipeline, user's facts."""

    train: TrainLineage | None = None
    evaluation: EvaluationLineage | None = None
    dataset_graph: dict[str, Any] | None = None  # MindInsight's JSON form
    user_defined: dict[str, Any] = field(default_factory=dict)
    damage: tuple[Damage, ...] = ()

    @property
    def metrics(self) -> dict[str, Any]:
        """Return the results by name: the last ``loss`` of the training and the metrics of the evaluation.
        If both have a loss, the loss of the evaluation is named ``eval/loss``."""
        metrics = dict(self.evaluation.metric) if self.evaluation is not None else {}
        if self.train is None or self.train.loss is None:
            return metrics
        if "loss" in metrics:
            metrics["eval/loss"] = metrics.pop("loss")
        return {"loss": self.train.loss, **metrics}

    pending: int = 0  # bytes of an incomplete record at the end
    end: int = 0  # offset in the file up to which it was read


# Names that trainings give to a setting which writers record as a fact of the training, too.
_NAMES: Final = {
    "learning_rate": ("lr", "learning_rate"),
    "batch_size": ("batch_size", "bsize", "per_device_train_batch_size"),
    "epoch": ("epoch", "epochs", "max_epochs", "num_train_epochs"),
    "optimizer": ("optimizer", "optim"),
    "loss_function": ("loss_function",),
    "network": ("model", "network"),
}


def repeated_facts(lineages: Iterable[Lineage]) -> set[str]:
    """Return the names of training facts that equal a setting of the user wherever they were recorded."""
    repeated: dict[str, bool] = {}
    for lineage in lineages:
        for name, names in _NAMES.items():
            value = getattr(lineage.train, name, None)
            if value is not None:
                settings = [v for path, v in lineage.user_defined.items() if path.rpartition(".")[2] in names]
                same = any(_is_same(value, setting) for setting in settings)
                repeated[name] = repeated.get(name, True) and same
    return {name for name, is_repeated in repeated.items() if is_repeated}


def _is_same(value: Any, setting: Any) -> bool:
    """Return True if two values are equal, numbers to the precision of float32, in which files have them."""
    if isinstance(value, int | float) and isinstance(setting, int | float):
        return math.isclose(value, setting, rel_tol=1e-6)
    return bool(value == setting)


def read_lineage_file(descriptor: int) -> Lineage:
    """Read the lineage of an open file, at most its first MAX_BYTES."""
    size = os.fstat(descriptor).st_size
    return decode_lineage(read_at(descriptor, 0, min(size, MAX_BYTES)), max(0, size - MAX_BYTES))


def decode_lineage(data: bytes, unread: int = 0) -> Lineage:
    """Decode the lineage in ``data``, the first MAX_BYTES of a file with ``unread`` bytes after them. A
    record with more than MAX_ITEMS values counts as damaged."""
    records = verified_records(data, at_end=not unread)
    lineage, damage = Lineage(), list(records.damage)
    for start, payload in zip(records.starts.tolist(), records.payloads(data), strict=True):
        try:
            lineage = _with_event(lineage, lineage_pb2.LineageEvent.FromString(payload))
        except (DecodeError, ValueError, RecursionError):
            damage.append(Damage(start, HEADER_SIZE + len(payload) + FOOTER_SIZE, "damage.unparsable"))
    if unread:
        damage.append(Damage(records.end, len(data) + unread - records.end, "damage.too_large"))
    damage.sort(key=lambda section: section.offset)
    pending = 0 if unread else len(data) - records.end
    return replace(lineage, damage=tuple(damage), pending=pending, end=len(data) + unread - pending)


def merge_lineages(lineages: Iterable[Lineage]) -> Lineage:
    """Merge the lineages of the files of a run, oldest first. A file with a training or its data replaces
    everything before it, except the damage. A file with only an evaluation adds to it."""
    merged = Lineage()
    for lineage in lineages:
        afresh = lineage.train is not None or lineage.dataset_graph is not None
        known = Lineage() if afresh else merged
        merged = Lineage(
            lineage.train or known.train,
            lineage.evaluation or known.evaluation,
            lineage.dataset_graph or known.dataset_graph,
            {**known.user_defined, **lineage.user_defined},
            merged.damage + lineage.damage,
            merged.pending + lineage.pending,
        )
    return merged


def with_settings(lineage: Lineage | None, settings: Mapping[str, Any]) -> Lineage:
    """Return a lineage, or an empty one for None, with `settings` added to the user's settings. A setting
    that the user or the training recorded under the same name stays as it is."""
    known = lineage or Lineage()
    added = {name: value for name, value in settings.items() if getattr(known.train, name, None) is None}
    return replace(known, user_defined={**safe_value(added), **known.user_defined})


def _with_event(lineage: Lineage, event: lineage_pb2.LineageEvent) -> Lineage:
    """Return the lineage with the content of an event added."""
    what = event.WhichOneof("what")
    if what == "train_lineage":
        train = event.train_lineage
        parts = (train.hyper_parameters, train.train_dataset, train.algorithm)
        model = {f"model_{name}": value for name, value in _set_fields(train.model).items()}
        model["model_path"] = _checkpoint(train.model.path)
        return replace(lineage, train=_filled(TrainLineage, *map(_set_fields, parts), model))
    if what == "evaluation_lineage":
        evaluation = event.evaluation_lineage
        metric = _metric(evaluation.metric) if evaluation.HasField("metric") else {}
        known = _set_fields(evaluation.valid_dataset)
        return replace(lineage, evaluation=_filled(EvaluationLineage, known, {"metric": metric}))
    if what == "dataset_graph":
        return replace(lineage, dataset_graph=safe_value(dataset_graph(event.dataset_graph)))
    if what == "user_defined_info":
        defined = {**lineage.user_defined, **safe_value(_user_defined(event.user_defined_info))}
        _check_count(defined)
        return replace(lineage, user_defined=defined)
    return lineage


_Facts = TypeVar("_Facts", TrainLineage, EvaluationLineage)


def _filled(kind: type[_Facts], *sources: dict[str, Any]) -> _Facts:
    """Return a dataclass with the fields found in ``sources``. Later sources take precedence."""
    known = {name: value for source in sources for name, value in source.items()}
    return kind(**{field.name: known[field.name] for field in fields(kind) if field.name in known})


def _set_fields(message: Message) -> dict[str, Any]:
    """Return the fields that are set, by name. A float32 is returned in its shortest form (0.01)."""
    return {
        descriptor.name: shortest(value)
        if descriptor.cpp_type == FieldDescriptor.CPPTYPE_FLOAT
        else safe_value(value)
        for descriptor, value in message.ListFields()
    }


def _checkpoint(text: str) -> str | None:
    """Return the path in ``{"ckpt": path or null}``, as MindSpore writes it, or None without a path. Other
    text is the path itself."""
    try:
        content = parse_json(text)
    except ValueError:
        return text or None
    path = content.get("ckpt") if isinstance(content, dict) else text
    return path if isinstance(path, str) else None


def _metric(text: str | bytes) -> dict[str, Any]:
    """Parse the metrics of an evaluation. Raises ValueError."""
    if len(text) > MAX_METRICS:
        raise ValueError(f"metrics of {len(text)} bytes")
    metric = parse_json(text)
    if not isinstance(metric, dict):
        raise ValueError("metrics must be a JSON object")
    _check_count(metric)
    return metric


def _check_count(values: Mapping[str, Any]) -> None:
    """Raise ValueError if there are more than MAX_ITEMS values."""
    if len(values) > MAX_ITEMS:
        raise ValueError(f"{len(values)} values are more than {MAX_ITEMS}")


def _integer_of(text: str) -> int | str:
    """Return the integer beyond 2^53 that a writer stored as text, or the text. Invalid UTF-8 is bytes."""
    is_large = isinstance(text, str) and _LARGE.fullmatch(text) is not None and abs(int(text)) > 1 << 53
    return int(text) if is_large else text


def _user_defined(info: lineage_pb2.UserDefinedInfo) -> dict[str, Any]:
    """Return the values that the user defined, by name."""
    values: dict[str, Any] = {}
    for part in info.user_info:
        values.update(_user_defined(part))
    values |= info.map_int32
    values.update({name: _integer_of(text) for name, text in info.map_str.items()})
    values |= info.map_double
    values.update({name: _user_defined(part) for name, part in info.map_dict.items()})
    return values
