"""Series of checkpoints: files of one training, in the order they were saved, found by the numbers in names.

``net-1_100.ckpt`` and ``net-2_100.ckpt`` are one series (MindSpore: epoch and step within it), as are
``checkpoint-500/model.safetensors`` and ``checkpoint-1000/model.safetensors`` (Transformers). Numbers in
other folders (``rank_0``, ``run_3``) and of shards (``model-00001-of-00003``) tell files apart, not steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_NUMBER: Final = re.compile(r"\d{1,18}")
_STEP_FOLDER: Final = re.compile(r"(?:checkpoint|ckpt|epoch|step|iter|global_step)[-_=]?\d+", re.IGNORECASE)
_SHARD: Final = re.compile(r"(\d+)-of-(\d+)")
_EPOCH_AND_STEP: Final = 2  # numbers in a name of MindSpore's


@dataclass(frozen=True, slots=True)
class SavedStep:
    """One checkpoint of a series."""

    id: str
    label: str  # the numbers of its name: "2_100"
    step: int | None  # of the training, as far as the name says


@dataclass(frozen=True, slots=True)
class CheckpointSeries:
    """Checkpoints of one training; ``key`` is their name with ``#`` for the numbers."""

    key: str
    checkpoints: tuple[SavedStep, ...]


def find_series(ids: Iterable[str]) -> list[CheckpointSeries]:
    """Group file ids, with ``/`` between folders, into series; a file without a sibling is one by itself."""
    groups: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for file in ids:
        head, varying, tail = _split(file)
        key = head + _NUMBER.sub("#", varying) + tail
        groups.setdefault(key, []).append((tuple(map(int, _NUMBER.findall(varying))), file))
    return [_series(key, sorted(members)) for key, members in groups.items()]


def _split(file: str) -> tuple[str, str, str]:
    """What tells trainings apart, the part whose numbers tell steps, and what follows it."""
    folders, slash, name = file.rpartition("/")
    parent, outer, last = folders.rpartition("/")
    if _STEP_FOLDER.fullmatch(last):
        return parent + outer, last, slash + name
    if shard := _SHARD.search(name):
        return folders + slash, name[: shard.start()], name[shard.start() :]
    return folders + slash, name, ""


def _series(key: str, members: list[tuple[tuple[int, ...], str]]) -> CheckpointSeries:
    """Numbers that are the same in all names, such as 2 in ``gpt2-100.pt``, say nothing of the step."""
    numbers = [member for member, _ in members]
    count = len(numbers[0])
    varying = [at for at in range(count) if len(members) == 1 or len({row[at] for row in numbers}) > 1]
    if _written_by_mindspore(key) and count >= _EPOCH_AND_STEP:
        varying = [count - 2, count - 1]
    rows = [tuple(row[at] for at in varying) for row in numbers]
    longest = max((row[-1] for row in rows if row), default=0)
    return CheckpointSeries(
        key,
        tuple(
            SavedStep(file, "_".join(map(str, row)) or file.rpartition("/")[2], _step(row, longest))
            for row, (_, file) in zip(rows, members, strict=True)
        ),
    )


def _written_by_mindspore(key: str) -> bool:
    return key.endswith("-#_#.ckpt")


def _step(numbers: tuple[int, ...], longest: int) -> int | None:
    """Step of the training: the number, or by epoch and step within it, ``longest`` being an epoch."""
    if len(numbers) == 1:
        return numbers[0]
    if len(numbers) == _EPOCH_AND_STEP:
        return max(0, numbers[0] - 1) * longest + numbers[1]
    return None
