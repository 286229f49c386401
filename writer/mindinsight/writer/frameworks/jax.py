"""JAX adapter: values that leave a compiled function, and the graph of a function."""

from __future__ import annotations

from collections.abc import Callable

import jax

from mindinsight.writer.frameworks.jax_graph import trace

__all__ = ["barrier", "deliver", "is_traced", "trace"]


def is_traced(value: object) -> bool:
    """Whether ``value`` stands for numbers that exist only when the compiled function runs."""
    return isinstance(value, jax.core.Tracer)


def deliver(put: Callable[[object], None], value: jax.Array) -> None:
    """Have ``put`` called with the numbers each time the compiled function runs."""
    jax.debug.callback(put, value)


def barrier() -> None:
    """Wait until every ``put`` of the functions called so far has been made."""
    jax.effects_barrier()
