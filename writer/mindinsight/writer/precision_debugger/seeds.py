"""Seeds of every random generator that a training uses."""

from __future__ import annotations

import os
import random
import sys
from typing import Any

import numpy as np


def seed_all(seed: int = 1234, mode: bool = False) -> None:
    """Seed Python, NumPy and, where they are loaded, PyTorch and MindSpore.

    With ``mode`` operators that have a deterministic form use it (``use_deterministic_algorithms`` in
    PyTorch, ``deterministic="ON"`` in MindSpore); one that has none then raises in PyTorch. Raises TypeError
    and ValueError for a seed that is no integer of 32 bits from 0.
    """
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"seed is an integer, got {seed!r}")
    if not 0 <= seed < 1 << 32:
        raise ValueError(f"seed lies from 0 to 4294967295, got {seed}")
    if not isinstance(mode, bool):
        raise TypeError(f"mode is True or False, got {mode!r}")
    os.environ["PYTHONHASHSEED"] = str(seed)  # of processes that are started from here on
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get("torch"):
        _seed_torch(torch, seed, mode)
    if mindspore := sys.modules.get("mindspore"):
        mindspore.set_seed(seed)
        if mode:
            mindspore.set_context(deterministic="ON")


def _seed_torch(torch: Any, seed: int, mode: bool) -> None:
    torch.manual_seed(seed)  # of all devices
    if mode:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(mode)
    torch.backends.cudnn.deterministic = mode
    if mode:
        torch.backends.cudnn.benchmark = False
