"""msprobe of PyTorch and MindSpore: ``step{S}/rank{R}/`` with ``dump.json``, stacks, tree and tensor files.

The JSON is complete only when the tool has stopped; tensors come as they are made. What is in one of
them alone is shown as far as it goes. Rank folders are ``rank3``, ``rank`` or ``proc{pid}``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from mindinsight.server.files.folders import folders_of, names_of
from mindinsight.server.formats.arrays.element_types import count_of, element_type
from mindinsight.server.formats.arrays.npy import read_npy_header
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.msprobe_folder import DATA, list_calls, list_folder
from mindinsight.server.formats.dumps.npy_folder import npy_values
from mindinsight.server.formats.dumps.types import (
    Dump,
    FileDamage,
    Listing,
    Operator,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
)
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.text_files import read_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.weights.torch_files import TorchFile, open_torch, torch_values

NAME: Final = "msprobe"
_STEP: Final = re.compile(r"step(\d+)")
_RANK: Final = re.compile(r"rank(\d*)|proc(\d+)")
_INSIDE: Final = frozenset(("dump.json", "stack.json", "construct.json", "debug.json", DATA))
_HEAD: Final = 10_000  # bytes in which the fields before the data stand


class MsprobeLayout(Layout):
    """Dumps of msprobe."""

    name = NAME
    compares_arguments = True

    def match(self, path: Path) -> float:
        """Steps with ranks: sure. One step, or one rank: likely."""
        found = _rank_folders(path)
        if not found:
            return -1.0
        return 0.95 if found[0].parent.parent == path else 0.6

    def open_dump(self, path: Path) -> Dump:
        """Steps and ranks; framework, level and task from the first ``dump.json`` that names them."""
        damage: list[FileDamage] = []
        found = _rank_folders(path)
        numbers = _numbers({folder.name for folder in found})
        folders = [StepFolder(numbers[each.name], _step(each), "", str(each), str(each)) for each in found]
        about = next((head for head in map(_head, found) if head), {})
        return Dump(
            str(path),
            NAME,
            tuple(sorted(folders, key=lambda folder: (folder.rank, folder.step))),
            tuple(sorted((number, name) for name, number in numbers.items())),
            framework=about.get("framework", ""),
            level=about.get("level", ""),
            task=about.get("task", ""),
            config=_config(path, damage),
            damage=tuple(damage),
        )

    def tensors(self, folder: StepFolder) -> Listing[TensorEntry]:
        """Tensors of one rank and step in the order of their calls."""
        return list_folder(folder, NAME)

    def operators(self, folder: StepFolder) -> Listing[Operator]:
        """Calls of one rank and step, modules and gradients included."""
        return list_calls(folder)

    def header(self, ref: TensorRef) -> TensorHeader:
        """Shape and type of a tensor file."""
        if ref.path.endswith(".npy"):
            found = read_npy_header(Path(ref.path))
            return TensorHeader(found.shape, found.dtype, found.size)
        file = open_torch(Path(ref.path))
        tensor = file.tensors[_only(file)]
        return TensorHeader(
            tensor.shape, tensor.dtype, element_type(tensor.dtype).size(count_of(tensor.shape))
        )

    def values(self, ref: TensorRef) -> Values:
        """A tensor by parts, where it is not packed."""
        if ref.path.endswith(".npy"):
            return npy_values(ref)
        file = open_torch(Path(ref.path))
        return torch_values(file, _only(file))


def _only(file: TorchFile) -> str:
    """The name of the one tensor a file holds."""
    if len(file.tensors) != 1:
        raise UnreadableError("dump.not_one_tensor", f"{len(file.tensors)} tensors")
    return next(iter(file.tensors))


def _rank_folders(path: Path) -> list[Path]:
    """Folders of one rank and step below a root, below a step, or the folder itself."""
    steps = [folder for folder in folders_of(path) if _STEP.fullmatch(folder.name)]
    found = [rank for step in steps for rank in _ranks(step)]
    return found or _ranks(path) or ([path] if _RANK.fullmatch(path.name) and _is_rank(path) else [])


def _ranks(step: Path) -> list[Path]:
    return [folder for folder in folders_of(step) if _RANK.fullmatch(folder.name) and _is_rank(folder)]


def _is_rank(path: Path) -> bool:
    return not _INSIDE.isdisjoint(names_of(path))


def _step(rank: Path) -> int:
    found = _STEP.fullmatch(rank.parent.name)
    return int(found[1]) if found else 0


def _numbers(names: set[str]) -> dict[str, int]:
    """Rank of each folder name; processes without one follow by rising process id."""
    numbers: dict[str, int] = {}
    processes = []
    for name in names:
        found = _RANK.fullmatch(name)
        if found and found[2]:
            processes.append((int(found[2]), name))
        elif found:
            numbers[name] = int(found[1] or 0)
    start = max(numbers.values(), default=-1) + 1
    return numbers | {name: start + place for place, (_, name) in enumerate(sorted(processes))}


def _head(rank: Path) -> dict[str, str]:
    """Texts before the data of ``dump.json``."""
    try:
        with opened(rank / "dump.json") as file:
            text = file.read(_HEAD).decode("utf-8", "replace").partition('"data":')[0]
    except UnreadableError:
        return {}
    return dict(re.findall(r'"(\w+)"\s*:\s*"([^"\\]*)"', text))


def _config(path: Path, damage: list[FileDamage]) -> str:
    try:
        return read_text(path / "config.json")
    except UnreadableError as error:
        if error.reason != "dump.missing":
            damage.append(FileDamage(str(path / "config.json"), error.reason, error.detail))
        return ""
