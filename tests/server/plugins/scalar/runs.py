"""Series and runs made by hand."""

from typing import Any

import numpy as np

from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarPart, ScalarSeries

WALL = 1_700_000_000.0


def part(steps: Any, values: Any, dtype: Any = np.float32) -> ScalarPart:
    steps = np.asarray(steps, np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(steps) < 0) + 1))
    return ScalarPart(
        steps, WALL + 0.5 * np.arange(len(steps), dtype=np.float64), np.asarray(values, dtype), starts
    )


def run(run_id: Any, job: Any = None, rank: Any = None, **tags: Any) -> Run:
    """A run whose parts were written one after the other."""
    scalars = {}
    for tag, parts in tags.items():
        following: list[ScalarPart] = []
        for written in parts:
            late = following[-1].walls[-1] + 0.5 - written.walls[0] if following else 0.0
            following.append(written._replace(walls=written.walls + max(late, 0.0)))
        scalars[tag] = ScalarSeries(tag, following, version=1)
    return Run(run_id, run_id[2:], "/x", job or run_id, rank, WALL, WALL, 1, scalars=scalars)
