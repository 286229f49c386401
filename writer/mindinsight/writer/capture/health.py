"""Record of the last healthy norms of weights and outputs, and what has changed since."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mindinsight.writer.files.directories import private_folder

_GROWN: Final = 10.0  # times the last healthy norm from which a weight is named


class HealthRecord:
    """L2 norms of parameters and of outputs of modules by name, as they were at the last healthy check."""

    def __init__(self) -> None:
        self.step = -1
        self.outputs: Mapping[str, float] = {}
        self.weights: Mapping[str, float] = {}

    def update(self, step: int, outputs: Mapping[str, float], weights: Mapping[str, float]) -> None:
        """Take the norms of a healthy step."""
        self.step, self.outputs, self.weights = step, outputs, weights

    def grown(self, now: Mapping[str, float]) -> str:
        """A sentence about the weight that grew most, "" where none has ten times its healthy norm."""
        healthy = [(name, norm) for name, norm in now.items() if self.weights.get(name)]
        for name, norm in healthy:
            if not math.isfinite(norm):
                before = f"it was {self.weights[name]:.3g} at step {self.step}"
                return f"The norm of the weight {name} is {norm}; {before}."
        ratios = [(norm / self.weights[name], name) for name, norm in healthy]
        if not ratios or max(ratios)[0] < _GROWN:
            return ""
        ratio, name = max(ratios)
        since = f"{self.weights[name]:.3g} at step {self.step}"
        return f"The weight {name} has norm {now[name]:.3g}, {ratio:.3g} times as much as {since}."

    def write(self, rank: Path, step: int, weights: Mapping[str, float]) -> None:
        """Write ``health_<step>.json`` into the folder of a rank: healthy norms, and weights as they are."""
        content = {
            "step": step,
            "healthy_step": self.step,
            "outputs": self.outputs,
            "weights": self.weights,
            "weights_now": weights,
        }
        file = private_folder(rank) / f"health_{step}.json"
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")
