"""Names of operator types, spelled alike whatever framework recorded them."""

from __future__ import annotations

import re
from typing import Final

_SUMS: Final = frozenset(
    ["sum", "reducesum", "mean", "reducemean", "matmul", "mm", "bmm", "batchmatmul", "mv", "dot", "linear",
     "dense", "addmm", "baddbmm", "addmv", "conv1d", "conv2d", "conv3d", "convolution"]
)  # fmt: skip


def canonical(operator: str) -> str:
    """An operator type in lower case letters and digits: ``realdiv`` of "RealDiv", ``log`` of "at::log_"."""
    name = re.split(r"[.:/]", operator)[-1]
    return "".join(letter for letter in name.lower() if letter.isalnum())


def is_sum(operator: str) -> bool:
    """Whether an operator's results are sums or means, of elements or of products."""
    return canonical(operator) in _SUMS
