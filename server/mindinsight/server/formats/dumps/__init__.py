"""Dumps of every layout: find them, list their tensors and operators, read one tensor.

Every module of the package ``layouts`` holds a layout (``layout.Layout``): all are asked,
the surest wins, one that raises is skipped and named. Nothing is kept between calls, so a dump
that is still being written is followed by asking again.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

import numpy as np

from mindinsight.server.files.folders import folders_of
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.formats.dumps import layouts
from mindinsight.server.formats.dumps.layout import Layout
from mindinsight.server.formats.dumps.recorder_files import read_log
from mindinsight.server.formats.dumps.refusals import refused_around, refused_inside
from mindinsight.server.formats.dumps.types import (
    Array,
    Dump,
    DumpDir,
    FileDamage,
    Listing,
    Operator,
    Overflow,
    StepFolder,
    TensorEntry,
    TensorHeader,
    TensorRef,
    Window,
)
from mindinsight.server.formats.unreadable import UnreadableError

__all__ = [
    "compares_arguments",
    "describe_tensor",
    "find_dump_dirs",
    "find_layout",
    "known_layouts",
    "list_operators",
    "list_overflows",
    "list_tensors",
    "open_dump",
    "read_log",
    "read_tensor",
    "tensor_values",
]

Thing = TypeVar("Thing")
SEARCH_DEPTH: Final = 6  # folders below the base in which a dump is looked for
SEARCH_FOLDERS: Final = 20_000


def known_layouts() -> tuple[Layout, ...]:
    """The layouts of all modules of the package ``layouts``, by name."""
    return tuple(
        _named(name) for name in sorted(each.name for each in pkgutil.iter_modules(layouts.__path__))
    )


def find_layout(path: str | os.PathLike[str]) -> Layout | None:
    """The layout that is surest of this directory, or None: not a dump."""
    return _surest(Path(path))[0]


def open_dump(path: str | os.PathLike[str]) -> Dump:
    """Open a directory that is a dump.

    Raises ``UnreadableError`` (``dump.unknown_layout``) when no layout knows it; ask
    ``find_layout`` first where that is an answer rather than a mistake.
    """
    layout, skipped = _surest(Path(path))
    if layout is None:
        raise UnreadableError("dump.unknown_layout", str(path))
    dump = layout.open_dump(Path(path).absolute())
    refused = refused_around(dump.path, dump.folders)
    return replace(dump, damage=_distinct(dump.damage + skipped + refused))


def list_tensors(dump: Dump, rank: int, step: int, graph: str | None = None) -> Listing[TensorEntry]:
    """Tensors of a step in the order they were written; files are listed, not opened."""
    layout = _named(dump.layout)
    return _joined([_checked(layout.tensors(folder), folder) for folder in _folders(dump, rank, step, graph)])


def list_operators(dump: Dump, rank: int, step: int, graph: str | None = None) -> Listing[Operator]:
    """Operators of a step in execution order, with their slots, sources and source lines."""
    layout = _named(dump.layout)
    return _joined([layout.operators(folder) for folder in _folders(dump, rank, step, graph)])


def list_overflows(dump: Dump, rank: int, step: int, graph: str | None = None) -> Listing[Overflow]:
    """Overflows the device reported in a step."""
    layout = _named(dump.layout)
    return _joined([layout.overflows(folder) for folder in _folders(dump, rank, step, graph)])


def describe_tensor(ref: TensorRef) -> TensorHeader:
    """Shape, type and bytes of a tensor without reading its data; raises ``UnreadableError``."""
    return _named(ref.layout).header(ref)


def read_tensor(ref: TensorRef, window: Window | None = None) -> Array:
    """A tensor, or a window of it, in its own type; bfloat16 and smaller floats come as float32.

    Device formats that are understood come in host order (NCHW). Of a window no more is read than
    lies in it, where the file allows it. Raises ``UnreadableError`` for this tensor alone.
    """
    return np.asarray(tensor_values(ref).part(window or ()))


def tensor_values(ref: TensorRef) -> Values:
    """A tensor to be read by parts; raises ``UnreadableError``, as reading the parts may."""
    return _named(ref.layout).values(ref)


def compares_arguments(dump: Dump) -> bool:
    """Whether arguments of operators stand in a dump in a form that can be compared."""
    return _named(dump.layout).compares_arguments


def find_dump_dirs(base: str | os.PathLike[str]) -> tuple[DumpDir, ...]:
    """Dumps below a directory, itself included; not inside another dump, and never through a link."""
    found: list[DumpDir] = []
    level = [Path(base).absolute()]
    looked = 0
    for _ in range(SEARCH_DEPTH + 1):
        below: list[Path] = []
        for path in level[: SEARCH_FOLDERS - looked]:
            layout = find_layout(path)
            if layout is None:
                below += folders_of(path)
            else:
                found.append(DumpDir(str(path), layout.name))
        looked += len(level)
        level = below
    return tuple(found)


def _surest(path: Path) -> tuple[Layout | None, tuple[FileDamage, ...]]:
    best: tuple[float, Layout | None] = (-1.0, None)
    skipped = []
    for layout in known_layouts():
        try:
            sure = layout.match(path)
        except Exception as error:  # a layout is a plug-in: whatever it raises, the others are asked
            skipped.append(FileDamage(str(path), "dump.layout_failed", f"{layout.name}: {error}"))
            continue
        if sure >= 0 and sure > best[0]:
            best = (sure, layout)
    return best[1], tuple(skipped)


@cache
def _named(name: str) -> Layout:
    """The layout in the module of a name. Raises ``UnreadableError`` where there is none."""
    path = f"{layouts.__name__}.{name}"
    if name.isidentifier():
        with contextlib.suppress(ModuleNotFoundError):
            for value in vars(importlib.import_module(path)).values():
                if isinstance(value, type) and issubclass(value, Layout) and value.__module__ == path:
                    return value()
    raise UnreadableError("dump.unknown_layout", name)


def _folders(dump: Dump, rank: int, step: int, graph: str | None) -> list[StepFolder]:
    return [f for f in dump.folders if f.rank == rank and f.step == step and graph in (None, f.graph)]


def _checked(listing: Listing[TensorEntry], folder: StepFolder) -> Listing[TensorEntry]:
    """The tensors of a folder, and what in it is not opened."""
    return Listing(listing.items, _distinct(listing.damage + refused_inside(folder)))


def _distinct(damage: Iterable[FileDamage]) -> tuple[FileDamage, ...]:
    """Damage, each file and reason once."""
    return tuple({(entry.path, entry.reason): entry for entry in reversed(tuple(damage))}.values())[::-1]


def _joined(parts: Sequence[Listing[Thing]]) -> Listing[Thing]:
    """One listing of several graphs: by time where it was recorded, numbered anew."""
    if len(parts) == 1:
        return parts[0]
    items = sorted(chain.from_iterable(parts), key=lambda item: getattr(item, "timestamp", 0))
    damage = tuple(chain.from_iterable(part.damage for part in parts))
    return Listing(tuple(_renumbered(items)), damage)


def _renumbered(items: Iterable[Thing]) -> Iterator[Thing]:
    for position, item in enumerate(items):
        yield item._replace(sequence=position) if isinstance(item, TensorEntry) else item
