"""Confusion matrix: what was predicted (columns) of what was true (rows)."""

from __future__ import annotations

from typing import Any

import numpy as np

PREFIX = "confusion/"  # of the tags that hold one


def summary(matrix: Any) -> dict[str, Any]:
    """Return the matrix as lists, its accuracy, and the recall of each class; None where a class is empty."""
    counts = np.asarray(matrix, np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"a confusion matrix is square, got shape {counts.shape}")
    total, right, rows = counts.sum(), np.diag(counts), counts.sum(axis=1)
    return {
        "matrix": counts.tolist(),
        "accuracy": float(right.sum() / total) if total else None,
        "recall": [float(r / n) if n else None for r, n in zip(right, rows, strict=True)],
    }
