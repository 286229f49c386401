"""Layout of msprobe dumps: ``step{S}/rank{R}/`` with ``dump.json``, stacks, module tree and tensor files.

The JSON is complete only after the tool has stopped, and tensor files are written while the program runs.
Tensors that are in only one of the two are listed as well. Rank folders are ``rank3``, ``rank`` or
``proc{pid}``.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mindinsight.server.files.opener import folders_of, names_of
from mindinsight.server.formats.arrays.element_types import count_of, element_type
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.dumps import dump_types
from mindinsight.server.formats.dumps.dump_layout import Layout
from mindinsight.server.formats.dumps.msprobe_folder import DATA, list_arguments, list_calls, list_tensors
from mindinsight.server.formats.dumps.npy_folder import npy_header, npy_values
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.text_files import read_text
from mindinsight.server.formats.weights.torch_files import TorchFile, open_torch, torch_values

NAME: Final = "msprobe"
_STEP: Final = re.compile(r"step(\d+)")
_RANK: Final = re.compile(r"rank(\d*)|proc(\d+)")
_INSIDE: Final = frozenset(("dump.json", "stack.json", "construct.json", "debug.json", DATA))
_CHECKED: Final = "checked"
_HEAD: Final = 10_000  # bytes of the file searched for the fields before the data


class MsprobeLayout(Layout):
    """Layout of the dumps of msprobe, for PyTorch and MindSpore."""

    name = NAME
    compares_arguments = True
    growing = ("", "dump.json", "stack.json", DATA)

    def match(self, path: Path) -> float:
        """Return 0.95 for steps with ranks, 0.6 for one step or one rank, else -1."""
        folders = _rank_folders(path)
        if not folders:
            return -1.0
        return 0.95 if folders[0].parent.parent == path else 0.6

    def open_dump(self, path: Path) -> dump_types.Dump:
        """Return steps and ranks. Framework, level and task are from the first ``dump.json`` that has
        them."""
        damage: list[dump_types.FileDamage] = []
        rank_folders = _rank_folders(path)
        numbers = _number_ranks({folder.name for folder in rank_folders})
        fields = next((head for head in map(_head, rank_folders) if head), {})
        folders = [
            dump_types.StepFolder(numbers[rank.name], _step(rank), "", str(rank), str(rank),
                                  checked=int(_head(rank).get(_CHECKED, 0)) if _CHECKED in fields else 0)
            for rank in rank_folders
        ]  # fmt: skip
        return dump_types.Dump(
            str(path),
            NAME,
            tuple(sorted(folders, key=lambda folder: (folder.rank, folder.step))),
            tuple(sorted((number, name) for name, number in numbers.items())),
            framework=fields.get("framework", ""),
            level=fields.get("level", ""),
            task=fields.get("task", ""),
            config=dump_types.read_or_report(path / "config.json", read_text, damage) or "",
            damage=tuple(damage),
        )

    def tensors(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.TensorEntry]:
        """Return the tensors of a rank and step in the order of their calls."""
        return list_tensors(folder, NAME)

    def operators(self, folder: dump_types.StepFolder) -> dump_types.Listing[dump_types.Operator]:
        """Return the calls of a rank and step, including modules and gradients."""
        return list_calls(folder)

    def arguments(self, folder: dump_types.StepFolder) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """Yield the names of calls with non-tensor arguments, and these arguments, from the JSON alone."""
        return list_arguments(folder)

    def header(self, ref: dump_types.TensorRef) -> dump_types.TensorHeader:
        """Return shape, type and size in bytes of a tensor file. Raises UnreadableError."""
        if ref.path.endswith(".npy"):
            return npy_header(ref)
        file = open_torch(Path(ref.path))
        tensor = file.tensors[_only_name(file)]
        return dump_types.TensorHeader(
            tensor.shape, tensor.dtype, element_type(tensor.dtype).size(count_of(tensor.shape))
        )

    def values(self, ref: dump_types.TensorRef) -> Values:
        """Return the values of a tensor file, read in parts if it is not compressed. Raises
        UnreadableError."""
        if ref.path.endswith(".npy"):
            return npy_values(ref)
        file = open_torch(Path(ref.path))
        return torch_values(file, _only_name(file))


def _only_name(file: TorchFile) -> str:
    """Return the name of the only tensor in a file. Raises UnreadableError for several."""
    if len(file.tensors) != 1:
        raise UnreadableError("dump.not_one_tensor", f"{len(file.tensors)} tensors")
    return next(iter(file.tensors))


def _rank_folders(path: Path) -> list[Path]:
    """Return the rank folders below a root or below a step, or the folder itself."""
    steps = [folder for folder in folders_of(path) if _STEP.fullmatch(folder.name)]
    ranks = [rank for step in steps for rank in _ranks(step)]
    return ranks or _ranks(path) or ([path] if _RANK.fullmatch(path.name) and _is_rank(path) else [])


def _ranks(step: Path) -> list[Path]:
    """Return the rank folders of a step."""
    return [folder for folder in folders_of(step) if _RANK.fullmatch(folder.name) and _is_rank(folder)]


def _is_rank(path: Path) -> bool:
    """Return True if a folder holds files of msprobe."""
    return not _INSIDE.isdisjoint(names_of(path))


def _step(rank: Path) -> int:
    """Return the step of a rank folder, 0 if it is in no step folder."""
    match = _STEP.fullmatch(rank.parent.name)
    return int(match[1]) if match else 0


def _number_ranks(names: set[str]) -> dict[str, int]:
    """Return the ranks by folder name. Process folders come last, numbered by rising process id."""
    numbers: dict[str, int] = {}
    processes = []
    for name in names:
        match = _RANK.fullmatch(name)
        if match and match[2]:
            processes.append((int(match[2]), name))
        elif match:
            numbers[name] = int(match[1] or 0)
    start = max(numbers.values(), default=-1) + 1
    return numbers | {name: start + position for position, (_, name) in enumerate(sorted(processes))}


def _head(rank: Path) -> dict[str, str]:
    """Return the texts and numbers before the data of ``dump.json``, empty if it cannot be read."""
    try:
        with opened(rank / "dump.json") as file:
            text = file.read(_HEAD).decode("utf-8", "replace").partition('"data":')[0]
    except UnreadableError:
        return {}
    strings = re.findall(r'"(\w+)"\s*:\s*"([^"\\]*)"', text)
    return dict([*strings, *re.findall(r'"(\w+)"\s*:\s*(\d+)', text)])
