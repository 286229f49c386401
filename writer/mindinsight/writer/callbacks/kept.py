"""Which checkpoint files stay."""

from __future__ import annotations

import re
from pathlib import Path


class KeptFiles:
    """The files of one ModelCheckpoint, oldest first.

    Keeps the newest ``most`` files or, when that is 0, one file for each ``seconds`` seconds.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._files: list[tuple[float, Path]] = []

    def add(self, path: Path, now: float) -> None:
        """``path`` was written at ``now`` (seconds): remove what the rule no longer keeps."""
        self._files = [*(entry for entry in self._files if entry[1] != path), (now, path)]
        if self._most:
            while len(self._files) > self._most:
                self._drop(0)
        elif len(self._files) > 2 and self._files[-2][0] - self._files[-3][0] < self._seconds:
            self._drop(-2)  # it stood for a period that is not over yet

    def _drop(self, index: int) -> None:
        _, path = self._files.pop(index)
        path.unlink(missing_ok=True)


def free_prefix(directory: Path, prefix: str) -> str:
    """``prefix``, or ``<prefix>_<n>`` with the first n above all in use, when files of that prefix exist."""
    pattern = re.compile(rf"{re.escape(prefix)}(?:_(\d+))?-(?:\d+_\d+.*|graph\.meta)")
    used = [match[1] for entry in directory.iterdir() if (match := pattern.fullmatch(entry.name))]
    if not used:
        return prefix
    return f"{prefix}_{max(int(number or 0) for number in used) + 1}"
