"""Values common to the frameworks: symbolic values of a traced network, subclasses, datasets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mindinsight.writer.frameworks import framework_of


def with_numbers(value: object, put: Callable[[object], None]) -> Callable[[], None] | None:
    """Call ``put(value)`` once the numbers of ``value`` exist. Return None after a call now. In a function
    that JAX compiles, call ``put`` at each run, and return a function that waits for the calls made so
    far. A proxy of torch.fx or torch.export never has numbers, so None is returned without a call."""
    if is_symbolic(value):
        return None
    framework = framework_of(value)
    if framework is not None and hasattr(framework, "is_traced") and framework.is_traced(value):
        framework.deliver(put, value)
        barrier: Callable[[], None] = framework.barrier
        return barrier
    put(value)
    return None


def is_symbolic(value: object) -> bool:
    """Return True if ``value`` is a placeholder for a tensor while PyTorch traces a network."""
    return type(value).__module__.startswith(("torch.fx", "torch._subclasses"))


def mindspore_subclass(cls: type, module: str, name: str, own_name: str | None = None) -> type:
    """Return a subclass of ``cls`` and of MindSpore's class ``name``, or ``cls`` if ``module`` is not loaded.

    ``module`` is the module of MindSpore's class. MindSpore accepts only instances of its classes. The lookup
    happens at the time of use, so that either package may be imported first. ``own_name`` is the name of the
    new class, by default that of ``cls``.
    """
    base: type | None = getattr(sys.modules.get(module), name, None)
    return cls if base is None else _subclass(cls, base, own_name or cls.__name__)


@cache
def _subclass(cls: type, base: type, name: str) -> type:
    if issubclass(cls, base):
        return cls
    return type(name, (cls, base), {"__module__": cls.__module__})


@dataclass(frozen=True)
class DatasetFacts:
    """Path, numbers of samples in all and in a batch, and pipeline of a dataset. Unknown facts are None."""

    path: str | None = None
    samples: int | None = None
    batch_size: int | None = None
    pipeline: Mapping[str, Any] | None = None  # for lineage.dataset_graph
