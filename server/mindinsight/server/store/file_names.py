"""Parser of names of files and folders: role, time and device, without opening anything.

A summary file has ``summary.<digits>`` anywhere in its name, and its ending decides the role. Prefix, host
name and suffix are free. MindSpore 1.x wrote no device id. TensorBoard's files have ``tfevents`` in their
names, usually followed by the time.
"""

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["summary", "lineage", "explain", "graph"]
Order: TypeAlias = tuple[float, tuple[tuple[int, str], ...], str]

STUDY: Final = "study.json"  # beside the trials of a study

_SUMMARY: Final = re.compile(r"summary\.(\d+)(?:\.(\d+)\.)?")
_TENSORBOARD: Final = re.compile(r"tfevents(?:\.(\d+))?")
_MEMORY: Final = re.compile(r"memory_usage_\d+\.pb")
_BULKY: Final = re.compile(r"\..*|ckpt_dir|export_\d+|profiler.*|__pycache__|node_modules")
_PROFILE: Final = "profiler"
_PROFILE_OF_A_RANK: Final = re.compile(r"profiler_info_\d+\.json")
_CONSOLE: Final = re.compile(r"console\.(\d{1,12})\.(\d{1,10})\.(\d{1,6})\.log")
_NUMBERS: Final = re.compile(r"(\d+)")
_MAX_SECONDS: Final = 100_000_000_000  # larger numbers are milliseconds or finer


def is_tensorboard(name: str) -> bool:
    """Return True if an event file is TensorBoard's by its name."""
    return _SUMMARY.search(name) is None and _TENSORBOARD.search(name) is not None


@lru_cache(maxsize=4096)  # called repeatedly while a file is found, sorted and read
def role(name: str) -> Role | None:
    """Return the role of a file by its name: graph, lineage, explain or summary, or None if it has no role
    in a run. Hidden files, which are incomplete copies, have none."""
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
    """Return the Unix seconds in the name of an event file, or None if it has none. Numbers of 13 and more
    digits are milliseconds or finer."""
    match = _SUMMARY.search(name) or _TENSORBOARD.search(name)
    if match is None or match[1] is None:
        return None
    digits = int(match[1][:30])
    while digits >= _MAX_SECONDS:
        digits //= 1000
    return float(digits)


def device(name: str) -> int | None:
    """Return the device id in the name of an event file, or None if it has none, as TensorBoard's. In a
    distributed training it is the rank."""
    match = _SUMMARY.search(name)
    return int(match[2]) if match and match[2] and len(match[2]) < 10 else None


def order(name: str) -> Order:
    """Return the key that sorts files oldest first: by time, then by name with numeric parts."""
    pieces = [(0, piece) for piece in _NUMBERS.split(name)]
    pieces[1::2] = [(int(digits), "") for _, digits in pieces[1::2]]
    return created(name) or 0.0, tuple(pieces), name


def console_part(name: str) -> tuple[int, int, int] | None:
    """Return start (Unix seconds), process id and number in the name of a console file, else None."""
    match = _CONSOLE.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def bulky(name: str) -> bool:
    """Return True if no run is searched in a folder of this name: hidden, checkpoints, exports, profiles."""
    return _BULKY.fullmatch(name) is not None


def is_profile(name: str) -> bool:
    """Return True if a folder, by its name, may hold output of MindSpore's profiler."""
    return name.startswith(_PROFILE)


def is_profile_of_rank(name: str) -> bool:
    """Return True if a file, by its name, is the profiler's information about a rank."""
    return _PROFILE_OF_A_RANK.fullmatch(name) is not None


def shown(name: str) -> str:
    """Return a name of the file system as text that can be encoded as UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
