"""Symbolic values, which a framework passes through a network while it traces or compiles it."""

from __future__ import annotations

from collections.abc import Callable

from mindinsight.writer.frameworks import framework_of


def with_numbers(value: object, put: Callable[[object], None]) -> Callable[[], None] | None:
    """Call ``put(value)``: now, or when its numbers exist.

    In a function that JAX compiles that is each time the function runs; then the answer is a function that
    waits for the calls made so far. A stand-in of torch.fx or torch.export never has numbers.
    """
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
    """Whether ``value`` stands in for a tensor while PyTorch follows a network."""
    return type(value).__module__.startswith(("torch.fx", "torch._subclasses"))
