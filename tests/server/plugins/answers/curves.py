"""Runs made by hand."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from fastapi.testclient import TestClient

from mindinsight.server.formats.lineage import Lineage
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarPart, ScalarSeries
from mindinsight.server.types import Doubles

WALL = 1_700_000_000.0
STEPS = np.arange(400)
COURSE = 0.5 + np.exp(-STEPS / 100)

Ask: TypeAlias = Callable[..., TestClient]


def run(name: str, tags: Mapping[str, Doubles], settings: dict[str, Any] | None = None) -> Run:
    parts = {
        tag: [
            ScalarPart(
                STEPS, WALL + STEPS.astype(np.float64), values.astype(np.float32), np.zeros(1, np.int64)
            )
        ]
        for tag, values in tags.items()
    }
    scalars = {tag: ScalarSeries(tag, part, version=1) for tag, part in parts.items()}
    record = Run(f"./{name}", name, "/x", f"./{name}", None, WALL, WALL, 1, scalars=scalars)
    return replace(record, lineage=Lineage(user_defined=settings)) if settings else record


def noisy(seed: int, above: float = 0.0, since: int = 0) -> Doubles:
    noise = 1 + 0.01 * np.random.default_rng(seed).standard_normal(len(STEPS))
    return COURSE * noise * (1 + above * np.clip((STEPS - since) / 40, 0, 1))
