"""Folders for what a training leaves."""

from __future__ import annotations

from pathlib import Path


def private_folder(path: Path) -> Path:
    """``path``, made with everything above it that is missing for this user alone (mode 0700)."""
    if not path.is_dir():
        private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path
