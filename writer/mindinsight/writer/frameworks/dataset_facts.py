"""Facts about a dataset, the same for all frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class DatasetFacts:
    """None where the dataset does not tell."""

    path: str | None = None
    samples: int | None = None
    batch_size: int | None = None
    pipeline: Mapping[str, Any] | None = None  # for lineage.dataset_graph
