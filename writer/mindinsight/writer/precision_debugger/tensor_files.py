"""File of one PyTorch tensor."""

from __future__ import annotations

from pathlib import Path

import torch


def save_tensor(path: Path, tensor: torch.Tensor) -> None:
    """Write a tensor with ``torch.save``; its directory is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(tensor, path)
