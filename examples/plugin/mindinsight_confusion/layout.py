"""Layout of dumps: `step_<number>/<position>.<operator>.<input or output>.<slot>.npy`, and a file `steps.txt`
that tells such a directory from others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mindinsight.extension import (
    Dump,
    Layout,
    Listing,
    StepFolder,
    TensorEntry,
    TensorRef,
    files_of,
    folders_of,
)

NAME: Final = "npy_steps"
_STEP: Final = re.compile(r"step_(\d{1,9})")
_FILE: Final = re.compile(r"(\d{1,9})\.([\w-]+)\.(input|output)\.(\w+)\.npy")


class StepsLayout(Layout):
    """Layout of such a directory."""

    name = NAME

    def match(self, path: Path) -> float:
        """Return 0.8 for a directory with the file `steps.txt`."""
        return 0.8 if "steps.txt" in files_of(path) else -1.0

    def open_dump(self, path: Path) -> Dump:
        """Return its steps, as those of one rank."""
        steps = [
            StepFolder(0, int(match[1]), "", str(folder), str(path))
            for folder in folders_of(path)
            if (match := _STEP.fullmatch(folder.name))
        ]
        return Dump(str(path), NAME, tuple(sorted(steps, key=lambda step: step.step)), ((0, ""),))

    def tensors(self, folder: StepFolder) -> Listing[TensorEntry]:
        """Return the tensors of a step in the order of their positions."""
        matches = [match for name in files_of(Path(folder.path)) if (match := _FILE.fullmatch(name))]
        in_order = sorted(matches, key=lambda match: (int(match[1]), match[0]))
        return Listing([_entry(folder, position, match) for position, match in enumerate(in_order)])


def _entry(folder: StepFolder, position: int, match: re.Match[str]) -> TensorEntry:
    """Return the tensor of a file. Shape and type are read from the file when they are needed."""
    return TensorEntry(
        rank=folder.rank,
        step=folder.step,
        graph=folder.graph,
        operator=match[2],
        recorded=match[2],
        type=match[2],
        direction="input" if match[3] == "input" else "output",
        slot=match[4],
        sequence=position,
        order=int(match[1]),
        timestamp=0,
        shape=None,
        dtype="",
        format="",
        ref=TensorRef(NAME, str(Path(folder.path) / match[0])),
    )


LAYOUT = StepsLayout()
