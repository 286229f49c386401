"""Parser of names of files and folders: role, time and device, before anything is opened.

Rules: a summary file has ``summary.<digits>`` anywhere in its name, and what it ends in says the rest.
Prefix, host name and suffix are free. MindSpore 1.x wrote no device id. TensorBoard's files have ``tfevents``
in their names, and after it mostly the time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["summary", "lineage", "explain", "graph"]
Order: TypeAlias = tuple[float, tuple[tuple[int, str], ...], str]

_SUMMARY: Final = re.compile(r"summary\.(\d+)(?:\.(\d+)\.)?")
_TENSORBOARD: Final = re.compile(r"tfevents(?:\.(\d+))?")
_MEMORY: Final = re.compile(r"memory_usage_\d+\.pb")
_BULKY: Final = re.compile(r"\..*|ckpt_dir|export_\d+|profiler.*|__pycache__|node_modules")
_PROFILE: Final = "profiler"
_PROFILE_OF_A_RANK: Final = re.compile(r"profiler_info_\d+\.json")
_NUMBERS: Final = re.compile(r"(\d+)")
_LARGEST_SECONDS: Final = 100_000_000_000  # above: milliseconds or finer


def is_tensorboard(name: str) -> bool:
    """Whether an event file is TensorBoard's by its name."""
    return _SUMMARY.search(name) is None and _TENSORBOARD.search(name) is not None


@lru_cache(maxsize=4096)  # asked for again and again as a file is found, told apart, sorted and read
def role(name: str) -> Role | None:
    """What a file is read as, or None when it is not ours; hidden names are copies that are not finished."""
    if name.startswith("."):
        return None
    if name.endswith(".pb"):
        return None if _MEMORY.fullmatch(name) else "graph"
    if not _SUMMARY.search(name):
        return "summary" if _TENSORBOARD.search(name) else None
    if name.endswith("_lineage"):
        return "lineage"
    return "explain" if name.endswith("_explain") else "summary"


def created(name: str) -> float | None:
    """Unix seconds in the name of an event file; 13 digits and more are taken as milliseconds and finer."""
    match = _SUMMARY.search(name) or _TENSORBOARD.search(name)
    if match is None or match[1] is None:
        return None
    digits = int(match[1][:30])
    while digits >= _LARGEST_SECONDS:
        digits //= 1000
    return float(digits)


def device(name: str) -> int | None:
    """Device id in the name of an event file: the rank in a distributed training."""
    match = _SUMMARY.search(name)
    return int(match[2]) if match and match[2] and len(match[2]) < 10 else None


def order(name: str) -> Order:
    """Sorts files oldest first: by the number in the name, then by name with its numbers as numbers."""
    pieces = [(0, piece) for piece in _NUMBERS.split(name)]
    pieces[1::2] = [(int(digits), "") for _, digits in pieces[1::2]]
    return created(name) or 0.0, tuple(pieces), name


def bulky(name: str) -> bool:
    """Whether a folder is full of other things: hidden, checkpoints, exports, profiles."""
    return _BULKY.fullmatch(name) is not None


def is_profile(name: str) -> bool:
    """Whether a folder may hold what MindSpore's profiler wrote."""
    return name.startswith(_PROFILE)


def is_profile_of_rank(name: str) -> bool:
    """Whether a file is what the profiler writes about each rank: a folder with one holds a profile."""
    return _PROFILE_OF_A_RANK.fullmatch(name) is not None


def shown(name: str) -> str:
    """A file system's name as text that every encoder takes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
