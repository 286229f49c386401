"""Histograms of gradients, without a line in the training loop."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.operators import deliver


def record_gradients(network: object, pattern: str = ".*", every: int = 1) -> Callable[[], None]:
    """Record each parameter's gradient as the histogram ``<parameter>/gradient``; for PyTorch.

    After every ``every``-th backward pass the gradients wait for the next ``SummaryRecord.record``.
    ``pattern`` is a regular expression that must match the parameter's name from its start. Returns a
    function that ends it.
    Raises TypeError for a network of another framework, where gradients are values at hand, and
    ValueError for an invalid pattern or ``every`` below 1.
    """
    if every < 1:
        raise ValueError(f"every must be at least 1, got {every!r}")
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
    framework = framework_of(network)
    if not hasattr(framework, "on_gradients"):
        raise TypeError(f"gradients can be watched in a PyTorch module, got {type(network).__name__}")
    passes: Counter[str] = Counter()

    def put(name: str, gradient: object) -> None:
        if passes[name] % every == 0:
            deliver("histogram", f"{name}/gradient", gradient)
        passes[name] += 1

    assert framework is not None
    end: Callable[[], None] = framework.on_gradients(network, lambda name: bool(wanted.match(name)), put)
    return end
