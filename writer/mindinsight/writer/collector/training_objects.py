"""Accessors of networks, optimizers and datasets, whatever framework they are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.frameworks.dataset_facts import DatasetFacts


def learning_rates(optimizer: Any) -> list[float]:
    """The rates of the optimizer's parameter groups at the last step; empty if it cannot be asked."""
    framework = _objects_of(optimizer)
    return [] if framework is None else framework.learning_rates(optimizer)


def parameters(network: Any, optimizer: Any) -> Iterator[tuple[str, Any]]:
    """Name and array of what is trained. ``network`` may be a dict of arrays, nested or not, as in JAX."""
    framework = _objects_of(network)
    if framework is not None:
        yield from framework.trained(network, optimizer)
    elif isinstance(network, Mapping):
        yield from _leaves(network, "")


def weights(network: Any) -> Iterator[tuple[str, Any]]:
    """Name and array of everything that makes up ``network``, trained or not."""
    framework = framework_of(network)
    named = getattr(framework, "parameters", None)
    yield from named(network) if named else parameters(network, None)


def dataset_facts(dataset: Any) -> DatasetFacts:
    """Path, size and pipeline of ``dataset``; the name of its class if it is of no framework."""
    framework = _objects_of(dataset)
    if framework is not None:
        facts: DatasetFacts = framework.dataset_facts(dataset)
        return facts
    return DatasetFacts(pipeline=None if dataset is None else {"op_type": class_name(dataset)})


def backbone(network: Any) -> Any:
    """The user's network inside what a framework wrapped around it."""
    framework = _objects_of(network)
    return network if framework is None else framework.backbone(network)


def class_name(value: Any) -> str | None:
    """The name of ``value`` itself if it is a class or function, of its class otherwise."""
    if value is None:
        return None
    name: str = getattr(value, "__name__", None) or type(value).__name__
    return name


def _objects_of(value: Any) -> ModuleType | None:
    framework = framework_of(value)
    if framework is None or framework.__name__.endswith(".jax"):
        return None
    return import_module(f"{framework.__name__}_objects")


def _leaves(tree: Mapping[Any, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{name}/")
        else:
            yield f"{path}{name}", value
