"""Makes the landscapes of a run with several processes: run by a test with directory, output, devices."""

import sys
from typing import Any

import numpy as np

from mindinsight.writer.landscape import SummaryLandscape


def bowl(parameters: Any) -> float:
    """A loss whose lowest point is at weights of 1."""
    return float(np.mean((parameters["fc.weight"] - 1) ** 2))


def setup() -> Any:
    return bowl


if __name__ == "__main__":
    run, output, *devices = sys.argv[1:]
    SummaryLandscape(run).gen_landscapes_with_multi_process(
        setup, {"landscape_size": 3}, [int(device) for device in devices], output
    )
