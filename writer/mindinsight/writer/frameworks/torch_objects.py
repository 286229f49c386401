"""PyTorch adapter: facts about modules, optimizers and data loaders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from mindinsight.writer.frameworks.framework_values import DatasetFacts

_SETTINGS = (bool, int, float, str)


def learning_rates(optimizer: torch.optim.Optimizer) -> list[float]:
    """Return one rate for each parameter group."""
    return [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]


def trained(network: torch.nn.Module, optimizer: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the named parameters of the optimizer, or all without one."""
    groups = getattr(optimizer, "param_groups", None)
    trained = None if groups is None else {id(tensor) for group in groups for tensor in group["params"]}
    for name, tensor in network.named_parameters():
        if trained is None or id(tensor) in trained:
            yield name, tensor


def backbone(network: torch.nn.Module) -> torch.nn.Module:
    """Return the module inside DataParallel, DistributedDataParallel and torch.compile."""
    for attribute in ("module", "_orig_mod"):
        inner = getattr(network, attribute, None)
        if isinstance(inner, torch.nn.Module) and type(network).__module__.startswith("torch."):
            return backbone(inner)
    return network


def dataset_facts(dataset: Any) -> DatasetFacts:
    """Return a DataLoader as a pipeline of two operators: the loader and its dataset."""
    source = dataset.dataset if isinstance(dataset, DataLoader) else dataset
    root = getattr(source, "root", None)
    pipeline: dict[str, Any] = {"op_type": type(source).__name__, **_settings(source)}
    if isinstance(dataset, DataLoader):
        loader = {name: getattr(dataset, name) for name in ("batch_size", "num_workers", "drop_last")}
        sampler = {"sampler_name": type(dataset.sampler).__name__}
        pipeline = {"op_type": "DataLoader", **loader, "children": [{**pipeline, "sampler": sampler}]}
    return DatasetFacts(
        path=None if root is None else str(root),
        samples=len(source) if hasattr(source, "__len__") else None,
        batch_size=getattr(dataset, "batch_size", None),
        pipeline=pipeline,
    )


def _settings(source: Any) -> dict[str, Any]:
    """Return the plain attributes of a dataset: its directory, its split, its sizes."""
    plain = vars(source) if hasattr(source, "__dict__") else {}
    return {name: value for name, value in plain.items() if name[0] != "_" and isinstance(value, _SETTINGS)}
