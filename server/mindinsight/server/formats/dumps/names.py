"""Names of dump files, and the operators they stand for.

``{type}.{operator}.{task}.{stream}.{timestamp}.{input|output}.{slot}.{format}[.{dtype}].npy``: read from
the right, since operator names of older versions hold dots. Newer ones have ``/``, ``\\``, ``.`` and space
turned into ``_``, which cannot be undone, only looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from mindinsight.server.formats.dumps.types import FileDamage, RecordedStatistics

_NUMBER: Final = re.compile(r"-op(\d+)$")
_IO: Final = frozenset(("input", "output"))
_TIMESTAMP_DIGITS: Final = 12  # microseconds have 16 today; the context numbers of newer tools have few
# Of every line the fields, empty where it is no such name.
_NPY_NAMES: Final = re.compile(
    r"^(?:([^.\n]*)\.([^\n]*)\.(\d+)\.(\d+)\.(\d+)\.(input|output)\.(\d+)"
    r"\.([^.\n]*)(?:\.([^.\n]*))?\.npy|[^\n]*)$",
    re.MULTILINE,
)


class TensorFile(NamedTuple):
    """The fields of a name, and what else is known of the tensor before its operator is looked up."""

    type: str
    operator: str  # as recorded
    task: int
    stream: int
    timestamp: int  # microseconds since 1970
    io: str = ""  # input, output; "" for files that hold a whole operator
    slot: str = ""
    format: str = ""
    dtype: str = ""  # "" when the name has none
    path: str = ""  # "" when only statistics were recorded
    shape: tuple[int, ...] | None = None
    statistics: RecordedStatistics | None = None
    damage: FileDamage | None = None


def escaped(name: str) -> str:
    """A full operator name as file names have it. A tenth of the time that ``str.translate`` takes."""
    return name.replace("/", "_").replace("\\", "_").replace(".", "_").replace(" ", "_")


def parse_npy_names(names: Sequence[str], folder: str) -> list[TensorFile | None]:
    """``parse_npy_name`` of many names at once: one search through all of them takes a tenth of the time."""
    text = "\n".join(names)
    if text.count("\n") >= len(names):  # a name with a line in it
        return [parse_npy_name(name, f"{folder}/{name}") for name in names]
    found = _NPY_NAMES.findall(text)
    return [
        TensorFile(
            kind, operator, int(task), int(stream), int(time),
            io, slot, layout, dtype.lower(), f"{folder}/{name}",
        )
        if len(time) >= _TIMESTAMP_DIGITS
        else parse_npy_name(name, f"{folder}/{name}")
        for name, (kind, operator, task, stream, time, io, slot, layout, dtype) in zip(
            names, found, strict=True
        )
    ]  # fmt: skip


def parse_npy_name(name: str, path: str = "") -> TensorFile | None:
    """Fields of the name of a ``.npy`` file, or None when it is none of a dump."""
    parts = name.split(".")
    if len(parts) < 9 or parts[-1] != "npy":
        return None
    if parts[-4] in _IO:
        head, dtype = _parse_head(parts[:-4]), ""
        io, slot, layout = parts[-4:-1]
    else:
        head, dtype = _parse_head(parts[:-5]), parts[-2].lower()
        io, slot, layout = parts[-5:-2]
    if head is None or io not in _IO or not slot.isdecimal():
        return None
    return TensorFile(*head, io, slot, layout, dtype, path)


def parse_bin_name(name: str, path: str = "") -> TensorFile | None:
    """Fields of the name of a file with a whole operator: it ends with the timestamp."""
    head = _parse_head(name.split("."))
    return head and TensorFile(*head, path=path)


def _parse_head(parts: list[str]) -> tuple[str, str, int, int, int] | None:
    """Type, operator, task, stream, timestamp; four more numbers may follow for operators run in parts."""
    if len(parts) >= 9 and len(parts[-1]) < _TIMESTAMP_DIGITS <= len(parts[-5]):
        parts = parts[:-4]
    if len(parts) < 5:
        return None
    task, stream, timestamp = parts[-3:]
    if not (task.isdecimal() and stream.isdecimal() and timestamp.isdecimal()):
        return None
    name = parts[1] if len(parts) == 5 else ".".join(parts[1:-3])
    return (parts[0], name, int(task), int(stream), int(timestamp))


class Found(NamedTuple):
    """The operator behind a recorded name."""

    name: str
    order: int  # position in the execution order, -1 when it has none


class Names(dict[str, Found]):
    """Operators by recorded names; a name that stands for itself is not kept."""

    def __missing__(self, name: str) -> Found:
        return Found(name, -1)


def look_up(recorded: Iterable[str], order: Sequence[str], parameters: Iterable[str]) -> Names:
    """Full names behind recorded ones.

    ``order`` are full operator names in execution order. Looked for are: the escaped name; the last
    segment (names without scope); the name apart from ``-opN``, paired by rising N, since operators
    that are made anew between export and execution get other numbers. Nothing found: as recorded.
    """
    known: dict[str, Found] = {}
    for name in parameters:
        known.setdefault(escaped(name), Found(name, -1))
    for position, name in enumerate(order):
        known.setdefault(name.rpartition("/")[2], Found(name, position))
    known |= {escaped(name): Found(name, position) for position, name in reversed(list(enumerate(order)))}
    wanted = set(recorded)
    found = {name: known[name] for name in wanted & known.keys()}
    missing = wanted - found.keys()
    if known:
        found |= {name: known[key] for name in missing if (key := escaped(name)) in known}
    if order:
        found |= _paired(sorted(missing - found.keys()), order, {hit.name for hit in found.values()})
    return Names(found)


def _paired(missing: Iterable[str], order: Sequence[str], taken: set[str]) -> dict[str, Found]:
    """Names that differ in ``-opN`` only, paired in order of N."""
    free: dict[str, list[Found]] = {}
    for position, name in enumerate(order):
        if name not in taken:
            free.setdefault(_NUMBER.sub("", escaped(name)), []).append(Found(name, position))
    for found in free.values():
        found.sort(key=lambda hit: _number(hit.name))
    pairs = {}
    for name in sorted(missing, key=_number):
        candidates = free.get(_NUMBER.sub("", escaped(name)))
        if candidates:
            pairs[name] = candidates.pop(0)
    return pairs


def _number(name: str) -> int:
    found = _NUMBER.search(name)
    return int(found[1]) if found else -1
