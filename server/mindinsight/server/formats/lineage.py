"""Decoder of lineage files: what a run was trained with, its data pipeline, and what came out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeVar

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE
from mindinsight.proto.lineage_pb2 import (
    DatasetGraph,
    LineageEvent,
    Operation,
    OperationParameter,
    UserDefinedInfo,
)
from mindinsight.server.files.opener import opened, read_at
from mindinsight.server.formats.events.framing import verified_records
from mindinsight.server.formats.sanitizer import parse_json, safe_value
from mindinsight.server.types import Damage


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


MAX_BYTES: Final = 16 << 20  # of a file that are read; a training writes a few kilobytes
MAX_METRICS: Final = 1 << 20  # bytes of JSON text in one record
MAX_ITEMS: Final = 10_000  # metrics, or values that the user defined


@dataclass(frozen=True, slots=True)
class TrainLineage:
    """Training lineage: hyperparameters, data and model of a run; None where nothing was recorded."""

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


# Of a training, what tables have columns for: not its result, nor the path of a checkpoint.
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
    """The lineage of one file, or of several merged."""

    train: TrainLineage | None = None
    evaluation: EvaluationLineage | None = None
    dataset_graph: dict[str, Any] | None = None  # MindInsight's JSON form
    user_defined: dict[str, Any] = field(default_factory=dict)
    damage: tuple[Damage, ...] = ()

    @property
    def metrics(self) -> dict[str, Any]:
        """What came out, by name: the training's last ``loss``, and what the evaluation found.

        Two losses are two facts: where the evaluation found one too, it is ``eval/loss``.
        """
        metrics = dict(self.evaluation.metric) if self.evaluation is not None else {}
        if self.train is None or self.train.loss is None:
            return metrics
        if "loss" in metrics:
            metrics["eval/loss"] = metrics.pop("loss")
        return {"loss": self.train.loss, **metrics}

    pending: int = 0  # bytes of a record at the end that is cut
    end: int = 0  # offset in the file up to which it was read


def read_lineage(path: str) -> Lineage:
    """The lineage in the file, empty when there is none. Raises OSError when it cannot be read."""
    with opened(path) as descriptor:
        return read_lineage_file(descriptor)


def read_lineage_file(descriptor: int) -> Lineage:
    """The lineage in an open file; of one that is too large, in its beginning."""
    size = os.fstat(descriptor).st_size
    return decode_lineage(read_at(descriptor, 0, min(size, MAX_BYTES)), max(0, size - MAX_BYTES))


def decode_lineage(data: bytes, left_out: int = 0) -> Lineage:
    """The lineage in the first MAX_BYTES of a file, or in all of it; ``left_out`` bytes were not read.

    A record with more than MAX_ITEMS values counts as damaged.
    """
    records = verified_records(data, at_end=not left_out)
    lineage, damage = Lineage(), list(records.damage)
    for start, payload in zip(records.starts.tolist(), records.payloads(data), strict=True):
        try:
            lineage = _with_event(lineage, LineageEvent.FromString(payload))
        except (DecodeError, ValueError, RecursionError):
            damage.append(Damage(start, HEADER_SIZE + len(payload) + FOOTER_SIZE, "damage.unparsable"))
    if left_out:
        damage.append(Damage(records.end, len(data) + left_out - records.end, "damage.too_large"))
    damage.sort(key=lambda stretch: stretch.offset)
    pending = 0 if left_out else len(data) - records.end
    return replace(lineage, damage=tuple(damage), pending=pending, end=len(data) + left_out - pending)


def merge_lineages(lineages: Iterable[Lineage]) -> Lineage:
    """The lineage of a run from that of its files, oldest first.

    A file that tells of a training or its data starts afresh; one that tells only of an evaluation adds
    that to what was known.
    """
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


def _with_event(lineage: Lineage, event: LineageEvent) -> Lineage:
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
    known = {name: value for source in sources for name, value in source.items()}
    return kind(**{field.name: known[field.name] for field in fields(kind) if field.name in known})


def _set_fields(message: Message) -> dict[str, Any]:
    """Fields that are set, by name; float32 in the shortest form that tells it (0.01, not 0.0099999998)."""
    return {
        descriptor.name: shortest(value)
        if descriptor.cpp_type == FieldDescriptor.CPPTYPE_FLOAT
        else safe_value(value)
        for descriptor, value in message.ListFields()
    }


def _checkpoint(text: str) -> str | None:
    """The path in ``{"ckpt": path or null}``, as MindSpore writes it; other text is the path itself."""
    try:
        content = parse_json(text)
    except ValueError:
        return text or None
    path = content.get("ckpt") if isinstance(content, dict) else text
    return path if isinstance(path, str) else None


def _metric(text: str | bytes) -> dict[str, Any]:
    if len(text) > MAX_METRICS:
        raise ValueError(f"metrics of {len(text)} bytes")
    metric = parse_json(text)
    if not isinstance(metric, dict):
        raise ValueError("metrics are a JSON object")
    _check_count(metric)
    return metric


def _check_count(values: Mapping[str, Any]) -> None:
    if len(values) > MAX_ITEMS:
        raise ValueError(f"{len(values)} values are more than {MAX_ITEMS}")


def _user_defined(info: UserDefinedInfo) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in info.user_info:
        values.update(_user_defined(part))
    for plain in (info.map_int32, info.map_str, info.map_double):
        values.update(plain)
    values.update({name: _user_defined(part) for name, part in info.map_dict.items()})
    return values
