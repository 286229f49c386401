"""MindSpore adapter: facts about cells, optimizers and datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import mindspore
from mindspore import dataset as pipelines

from mindinsight.writer.frameworks.framework_values import DatasetFacts

# MindSpore's wrappers of a network, and the attribute with the wrapped cell.
_INSIDE = {"WithLossCell": "_backbone", "WithEvalCell": "_network"}


def learning_rates(optimizer: Any) -> list[float]:
    """Return one rate for each group. Of a schedule, return the rate of the last step."""
    rates = getattr(optimizer, "learning_rate", None)
    if rates is None:  # optimizers of mindspore.mint
        return [float(group["lr"]) for group in getattr(optimizer, "param_groups", ())]
    groups = rates if isinstance(rates, (list, tuple, mindspore.nn.CellList)) else [rates]
    return [_rate(rate, optimizer) for rate in groups]


def trained(network: mindspore.nn.Cell, optimizer: Any) -> Iterator[tuple[str, mindspore.Parameter]]:
    """Yield the parameters of the optimizer, or without one those that take gradients."""
    for parameter in getattr(optimizer, "parameters", None) or network.trainable_params():
        yield parameter.name, parameter


def backbone(network: mindspore.nn.Cell) -> mindspore.nn.Cell:
    """Return the user's cell inside the cells for loss, evaluation and one training step."""
    name = type(network).__name__
    attribute = _INSIDE.get(name, "network" if name.startswith("TrainOneStep") else "")
    inner = getattr(network, attribute, None) if attribute else None
    return network if inner is None else backbone(inner)


def dataset_facts(dataset: Any) -> DatasetFacts:
    """Return the serialised pipeline and its path and sizes."""
    if not isinstance(dataset, pipelines.Dataset):
        return DatasetFacts()
    batch_size = int(dataset.get_batch_size())
    return DatasetFacts(
        path=_path(dataset),
        samples=int(dataset.get_dataset_size()) * batch_size,
        batch_size=batch_size,
        pipeline=pipelines.serialize(dataset),
    )


def _rate(rate: Any, optimizer: Any) -> float:
    if isinstance(rate, mindspore.nn.Cell):  # a schedule. The step counter is one ahead after a step
        rate = rate(optimizer.global_step - 1)
    return float(rate.asnumpy().reshape(-1)[0]) if hasattr(rate, "asnumpy") else float(rate)


def _path(dataset: Any) -> str | None:
    """Return the directory of the first source of the pipeline that reads files, or None."""
    directory = getattr(dataset, "dataset_dir", None)
    if directory:
        return str(Path(directory).absolute())
    files = getattr(dataset, "dataset_files", None)
    if files:
        return str(Path(files if isinstance(files, str) else files[0]).absolute().parent)
    return next(filter(None, map(_path, getattr(dataset, "children", ()))), None)


def loss_function(
    model: Any, network: mindspore.nn.Cell, dataset: Any, metrics: Any, *, samples: int
) -> Callable[[Mapping[str, Any]], float]:
    """Return the metric ``Loss`` of ``model.eval`` as a function of the network's weights.

    ``model`` must have been made with ``metrics``. Raises ValueError if they have no ``Loss``.
    """
    if not isinstance(metrics, Mapping) or "Loss" not in metrics:
        raise ValueError("metrics must have a Loss under the key 'Loss'")
    batches = max(1, samples // int(dataset.get_batch_size()))
    part = dataset.take(batches) if batches < int(dataset.get_dataset_size()) else dataset
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}

    def loss(weights: Mapping[str, Any]) -> float:
        for name, value in weights.items():
            if name in parameters:
                parameters[name].set_data(mindspore.Tensor(value, parameters[name].dtype))
        return float(model.eval(part, dataset_sink_mode=False)["Loss"])

    return loss
