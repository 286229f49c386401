"""Outputs of layers that grow from layer to layer, as in a deep net that is badly initialized."""

import math
import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.operator_links import canonical
from mindinsight.server.debug.tensor_targets import is_gradient

# Operators that multiply with a weight, as PyTorch, MindSpore and msprobe call them.
_LAYERS: Final = ("addmm", "mm", "matmul", "linear", "dense", "convolution", "conv1d", "conv2d", "conv3d")
_FEWEST: Final = 6  # layers: fewer may differ in what they are for
# From the first layer to the largest. Residual streams without normalization grow tenfold to a hundredfold.
_LIMIT: Final = 1e3
_OUTSIDE: Final = re.compile(r"[^/_]+[/_][^/_]+")  # Default/mm-op0, in no module: what prepares the data
_STEADY: Final = 0.8  # of the layers up to the largest have a larger output than the layer before


@dataclass
class DepthGrowth:
    """Mean magnitudes of the outputs of layers, by rank and step, in execution order."""

    _layers: dict[tuple[int, int], list[tuple[str, str, float]]] = field(default_factory=dict)

    def add(self, result: TensorResult) -> None:
        """Record the mean magnitude of a layer's output. Other tensors, and outputs that are unknown,
        non-finite or zero, are left out."""
        entry, measured = result.entry, result.measurement
        statistics = measured.statistics if measured else None
        if entry.direction != "output" or is_gradient(entry) or canonical(entry.type) not in _LAYERS:
            return
        if _OUTSIDE.fullmatch(entry.operator):
            return
        if statistics is not None and statistics.finite and statistics.absolute_mean:
            layers = self._layers.setdefault((entry.rank, entry.step), [])
            layers.append((entry.graph, entry.operator, statistics.absolute_mean))

    def claims(self) -> list[Claim]:
        """Return the claim about the first step and rank at which outputs grow by far with depth, or []."""
        for (rank, step), layers in sorted(self._layers.items(), key=lambda item: item[0][::-1]):
            sizes = np.log([size for _, _, size in layers])
            at = int(np.argmax(sizes))
            rises = float(np.mean(np.diff(sizes[: at + 1]) > 0)) if at else 0.0
            if at + 1 >= _FEWEST and sizes[at] - sizes[0] >= math.log(_LIMIT) and rises >= _STEADY:
                (_, first, low), (graph, last, high) = layers[0], layers[at]
                facts = {"first": first, "last": last, "low": low, "high": high, "n": at + 1, "step": step}
                facts |= {"factor": float(f"{high / low:.2g}"), "limit": _LIMIT}
                evidence = {"rank": rank, "steps": [step], "graph": graph, "operator": last}
                return [Claim("claim.check.depth", "found", facts, (evidence,))]
        return []
