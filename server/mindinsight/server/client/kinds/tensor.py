"""Tensors: npy files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from mindinsight.server.client.kinds import Payload, with_ending
from mindinsight.server.formats.payloads.tensor_payloads import Tensor, tensor


def write(stem: Path, value: Tensor) -> Path:
    """Write `<step>.npy` with the recorded type and shape. Return the path."""
    target = with_ending(stem, ".npy")
    np.save(target, value.values, allow_pickle=False)
    return target


def rows(value: Tensor) -> Iterator[dict[str, Any]]:
    """Yield type and shape."""
    yield {"dtype": str(value.values.dtype), "shape": list(value.values.shape)}


PAYLOAD: Final = Payload(tensor, write, rows)
