"""Hooks that record gradients as histograms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.operators import HistogramSummary, deliver


def record_gradients(network: object, pattern: str = ".*", every: int = 1) -> Callable[[], None]:
    """Record each parameter's gradient as the histogram ``<parameter>/gradient``.

    For a PyTorch module, and for a MindSpore Cell in both modes if called before the network is compiled.
    After every ``every``-th backward pass the gradients wait for the next ``SummaryRecord.record``; in graph
    mode ``every`` is 1. ``pattern`` is a regular expression that must match the parameter's name from its
    start. Returns a function that ends it; a graph that is compiled goes on.
    Raises TypeError for a network of another framework, where gradients are values at hand, and
    ValueError for an invalid pattern or ``every``.
    """
    if every < 1:
        raise ValueError(f"every must be at least 1, got {every!r}")
    matches = _matcher(pattern)
    framework = framework_of(network)
    if framework is None or not hasattr(framework, "on_gradients"):
        kind = type(network).__name__
        raise TypeError(f"gradients can be watched in a PyTorch module or a MindSpore Cell, got {kind}")
    if every == 1 and hasattr(framework, "operate_on_gradients"):
        remove: Callable[[], None] = framework.operate_on_gradients(network, matches, HistogramSummary)
        return remove
    passes: Counter[str] = Counter()

    def put(name: str, gradient: object) -> None:
        if passes[name] % every == 0:
            deliver("histogram", f"{name}/gradient", gradient)
        passes[name] += 1

    end: Callable[[], None] = framework.on_gradients(network, matches, put)
    return end


def _matcher(pattern: str) -> Callable[[str], bool]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}") from error
    return lambda name: compiled.match(name) is not None
