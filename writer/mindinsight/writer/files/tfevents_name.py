"""Names of TensorBoard's event files."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TfeventsName:
    """Name of a TensorBoard event file without its seconds.

    TensorBoard knows its files by ``tfevents`` in the name and reads those of a directory in their order. The
    process is in the name, as several may write into one directory.
    """

    directory: Path
    suffix: str = ""

    def at(self, seconds: int) -> Path:
        """The path of the file of this Unix second."""
        when_and_where = f"{seconds:010d}.{platform.node()}.{os.getpid()}.0"
        return self.directory / f"events.out.tfevents.{when_and_where}{self.suffix}"
