"""Lineage of a training or an evaluation, from the arguments of its callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.callbacks.loss import loss_of
from mindinsight.writer.collector import training_objects, values
from mindinsight.writer.ranks import rank_of

_LARGEST: Final = (1 << 31) - 1  # what the lineage file has room for in a count

Arguments = Mapping[str, Any]


def training(arguments: Arguments) -> dict[str, Any]:
    """Facts for ``lineage.train_lineage``; None where nothing is known."""
    optimizer = arguments.get("optimizer")
    dataset = training_objects.dataset_facts(arguments.get("train_dataset"))
    batch_size = dataset.batch_size or _length(arguments.get("train_dataset_element"))
    checkpoint = newest_checkpoint(arguments)
    return {
        "optimizer": training_objects.class_name(optimizer),
        "learning_rate": _learning_rate(optimizer),
        "loss_function": training_objects.class_name(arguments.get("loss_fn")),
        "epoch": arguments.get("epoch_num"),
        "parallel_mode": arguments.get("parallel_mode") or "stand_alone",
        "device_num": arguments.get("device_number") or rank_of().world,
        "batch_size": batch_size,
        "train_dataset_path": dataset.path,
        "train_dataset_size": _samples(dataset.samples, arguments.get("batch_num"), batch_size),
        "network": training_objects.class_name(training_objects.backbone(arguments.get("network"))),
        "loss": _loss(arguments.get("net_outputs")),
        "model_path": None if checkpoint is None else str(checkpoint.absolute()),
        "model_size": checkpoint.stat().st_size if checkpoint is not None and checkpoint.is_file() else 0,
    }


def evaluation(arguments: Arguments) -> dict[str, Any]:
    """Facts for ``lineage.evaluation_lineage``."""
    dataset = training_objects.dataset_facts(arguments.get("valid_dataset"))
    return {
        "metrics": arguments.get("metrics") or {},
        "valid_dataset_path": dataset.path,
        "valid_dataset_size": _samples(dataset.samples, arguments.get("batch_num"), dataset.batch_size),
    }


def newest_checkpoint(arguments: Arguments) -> Path | None:
    """Path of the newest file of the last ModelCheckpoint among the callbacks."""
    callbacks = arguments.get("list_callback") or ()
    callbacks = getattr(callbacks, "_callbacks", callbacks)
    names = [getattr(callback, "latest_ckpt_file_name", None) for callback in callbacks]
    return next((Path(name) for name in reversed(names) if name), None)


def _learning_rate(optimizer: Any) -> float | None:
    """The rate the training began with; None for one that a schedule of MindSpore's computes."""
    groups = getattr(optimizer, "param_groups", None)
    if groups and "initial_lr" in groups[0]:
        return float(groups[0]["initial_lr"])
    rates = [] if getattr(optimizer, "dynamic_lr", False) else training_objects.learning_rates(optimizer)
    return rates[0] if rates else None


def _samples(samples: int | None, batches: Any, batch_size: int | None) -> int | None:
    if samples is None and batches and batch_size:
        samples = int(batches) * batch_size
    return samples if samples is None or samples <= _LARGEST else None


def _length(element: Any) -> int | None:
    """Samples in a batch: the length of its first column."""
    shape = getattr(values.first(element), "shape", ())
    return int(shape[0]) if shape else None


def _loss(net_outputs: Any) -> float | None:
    try:
        return loss_of(net_outputs)
    except TypeError:
        return None
