"""Reader of dumps in any layout: finds dumps, lists their tensors and operators, reads single tensors.

Every module in ``layouts`` defines one layout (a subclass of ``dump_layout.Layout``). The layout that matches
a directory with the highest confidence reads it. A layout that raises is skipped and reported as damage. No
state is kept between calls: to follow a dump that is still being written, call again.
"""

import contextlib
import importlib
import os
import pkgutil
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Final, TypeVar, cast

import numpy as np

from mindinsight.server import extensions
from mindinsight.server.files.opener import folders_of, refused_in
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.dumps import dump_types, layouts
from mindinsight.server.formats.dumps.dump_layout import Layout
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.sanitizer import show_text

MAX_REFUSALS: Final = 100  # links and special files reported for one dump or step


def refused_outside_steps(
    path: str, folders: Iterable[dump_types.StepFolder]
) -> tuple[dump_types.FileDamage, ...]:
    """Return the links and special files of a dump outside its step folders, at most 100, as damage.
    Checked are the folders of ranks, graphs and steps, and the folders next to them."""
    steps = {Path(folder.path) for folder in folders}
    parents = {parent for step in steps for parent in step.parents if parent.is_relative_to(path)}
    parents.add(Path(path))
    siblings = {folder for parent in sorted(parents) for folder in folders_of(parent)} - parents - steps
    return _damage([*sorted(parents), *sorted(siblings)])


def refused_in_step(folder: dump_types.StepFolder) -> tuple[dump_types.FileDamage, ...]:
    """Return the links and special files in a step folder and its subfolders, at most 100, as damage."""
    path = Path(folder.path)
    return _damage([path, *folders_of(path)])


def _damage(folders: Iterable[Path]) -> tuple[dump_types.FileDamage, ...]:
    """Return the refused entries of folders as damage, at most MAX_REFUSALS."""
    refusals = (
        dump_types.FileDamage(show_text(str(folder / name)), f"dump.{reason}")
        for folder in folders
        for name, reason in refused_in(folder)
    )
    return tuple(islice(refusals, MAX_REFUSALS))


Item = TypeVar("Item")
SEARCH_DEPTH: Final = 6  # levels of folders searched for dumps
SEARCH_FOLDERS: Final = 20_000  # folders searched for dumps


def known_layouts() -> tuple[Layout, ...]:
    """Return all layouts: one for each module of the package ``layouts``, sorted by name, and those of other
    distributions.
    """
    own = sorted(module.name for module in pkgutil.iter_modules(layouts.__path__))
    further = (name for name in extensions.names(extensions.LAYOUTS) if name not in own)
    return tuple(layout for name in (*own, *further) if (layout := _layout_or_none(name)) is not None)


def find_layout(path: str | os.PathLike[str]) -> Layout | None:
    """Return the layout that matches a directory with the highest confidence, or None if it is no dump."""
    return _match_layout(Path(path))[0]


def open_dump(path: str | os.PathLike[str]) -> dump_types.Dump:
    """Return the dump in a directory: its ranks, steps and graphs. Raises UnreadableError
    (``dump.unknown_layout``) if no layout matches. No tensor is read. Call ``find_layout`` first if a
    directory without a dump is an expected outcome."""
    layout, skipped = _match_layout(Path(path))
    if layout is None:
        raise UnreadableError("dump.unknown_layout", str(path))
    dump = layout.open_dump(Path(path).absolute())
    refusals = refused_outside_steps(dump.path, dump.folders)
    return replace(dump, damage=_deduplicate(dump.damage + skipped + refusals))


def list_tensors(
    dump: dump_types.Dump, rank: int, step: int, graph: str | None = None
) -> dump_types.Listing[dump_types.TensorEntry]:
    """Return the tensors of a rank and step, of one graph or all, in the order they were written. The
    listing is empty if the dump has no such rank, step or graph. Files are listed, not opened."""
    layout = _load_layout(dump.layout)
    listings = []
    for folder in _select_folders(dump, rank, step, graph):
        listing = layout.tensors(folder)
        damage = _deduplicate(listing.damage + refused_in_step(folder))
        listings.append(dump_types.Listing(listing.items, damage))
    return _merge_listings(listings)


def list_operators(
    dump: dump_types.Dump, rank: int, step: int, graph: str | None = None
) -> dump_types.Listing[dump_types.Operator]:
    """Return the operators of a rank and step in execution order, with slots, inputs and call stacks. The
    listing is empty if the dump has no such rank, step or graph."""
    layout = _load_layout(dump.layout)
    return _merge_listings([layout.operators(folder) for folder in _select_folders(dump, rank, step, graph)])


def list_arguments(
    dump: dump_types.Dump, rank: int, step: int, graph: str | None = None
) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """Return the non-tensor arguments of operators that have any, by graph and recorded name."""
    layout = _load_layout(dump.layout)
    return {
        (folder.graph, name): arguments
        for folder in _select_folders(dump, rank, step, graph)
        for name, arguments in layout.arguments(folder)
    }


def list_overflows(dump: dump_types.Dump, rank: int, step: int) -> dump_types.Listing[dump_types.Overflow]:
    """Return the overflows that the device reported at a rank and step. The listing is empty if there are
    none, or no such rank or step."""
    layout = _load_layout(dump.layout)
    return _merge_listings([layout.overflows(folder) for folder in _select_folders(dump, rank, step, None)])


def describe_tensor(ref: dump_types.TensorRef) -> dump_types.TensorHeader:
    """Return shape, type and size in bytes of a tensor, read without its data. Raises UnreadableError."""
    return _load_layout(ref.layout).header(ref)


def read_tensor(ref: dump_types.TensorRef, window: dump_types.Window | None = None) -> dump_types.Array:
    """Read a tensor, or a window of it, in its own type. Raises UnreadableError. Bfloat16 and smaller
    floats are read as float32. Device formats with a known conversion are returned in host order (NCHW).
    Only the window is read if the file allows it."""
    return np.asarray(tensor_values(ref).part(window or ()))


def tensor_values(ref: dump_types.TensorRef) -> Values:
    """Return the lazy values of a tensor. Raises UnreadableError, as reading a part may."""
    return _load_layout(ref.layout).values(ref)


def compares_arguments(dump: dump_types.Dump) -> bool:
    """Return True if the layout records operator arguments in a form that can be compared."""
    return _load_layout(dump.layout).compares_arguments


def growing_paths(dump: dump_types.Dump, rank: int, step: int) -> list[Path]:
    """Return the paths of a rank and step with modification times that change as tensors are added."""
    names = _load_layout(dump.layout).growing
    return [Path(folder.path) / name for folder in _select_folders(dump, rank, step, None) for name in names]


def find_dump_dirs(base: str | os.PathLike[str]) -> tuple[dump_types.DumpDir, ...]:
    """Return the dumps at and below a directory, breadth first. Dumps inside dumps are not searched, and
    symbolic links are not followed. ``SEARCH_DEPTH`` and ``SEARCH_FOLDERS`` bound the search."""
    dumps: list[dump_types.DumpDir] = []
    level = [Path(base).absolute()]
    searched = 0
    for _ in range(SEARCH_DEPTH + 1):
        subfolders: list[Path] = []
        level = level[: SEARCH_FOLDERS - searched]
        for path in level:
            layout = find_layout(path)
            if layout is None:
                subfolders += folders_of(path)
            else:
                dumps.append(dump_types.DumpDir(str(path), layout.name))
        searched += len(level)
        level = subfolders
    return tuple(dumps)


def _match_layout(path: Path) -> tuple[Layout | None, tuple[dump_types.FileDamage, ...]]:
    """Return the best layout of a directory or None, and the layouts that failed as damage."""
    best: tuple[float, Layout | None] = (-1.0, None)
    skipped = []
    for layout in known_layouts():
        try:
            confidence = layout.match(path)
        except Exception as error:  # a layout is a plug-in: whatever it raises, the others are tried
            skipped.append(dump_types.FileDamage(str(path), "dump.layout_failed", f"{layout.name}: {error}"))
            continue
        if confidence >= 0 and confidence > best[0]:
            best = (confidence, layout)
    return best[1], tuple(skipped)


def _layout_or_none(name: str) -> Layout | None:
    """Return a layout, or None for one of another distribution that cannot be loaded."""
    try:
        return _load_layout(name)
    except UnreadableError:
        return None


@cache
def _load_layout(name: str) -> Layout:
    """Return the layout of this name, of our module or of another distribution. Raises UnreadableError if
    there is none."""
    path = f"{layouts.__name__}.{name}"
    if name.isidentifier():
        with contextlib.suppress(ModuleNotFoundError):
            for value in vars(importlib.import_module(path)).values():
                if isinstance(value, type) and issubclass(value, Layout) and value.__module__ == path:
                    return value()
    for known, layout in extensions.values(extensions.LAYOUTS, Layout):
        if known == name == layout.name:
            return cast(Layout, layout)
    raise UnreadableError("dump.unknown_layout", name)


def _select_folders(
    dump: dump_types.Dump, rank: int, step: int, graph: str | None
) -> list[dump_types.StepFolder]:
    """Return the step folders of a rank and step, of one graph or all."""
    return [f for f in dump.folders if f.rank == rank and f.step == step and graph in (None, f.graph)]


def _deduplicate(damage: Iterable[dump_types.FileDamage]) -> tuple[dump_types.FileDamage, ...]:
    """Return the damage with each pair of file and reason once."""
    return tuple({(entry.path, entry.reason): entry for entry in reversed(tuple(damage))}.values())[::-1]


def _merge_listings(parts: Sequence[dump_types.Listing[Item]]) -> dump_types.Listing[Item]:
    """Return the listings of several graphs as one, sorted by time if it was recorded, with tensors
    renumbered."""
    if len(parts) == 1:
        return parts[0]
    items = sorted(chain.from_iterable(parts), key=lambda item: getattr(item, "timestamp", 0))
    damage = tuple(chain.from_iterable(part.damage for part in parts))
    numbered = (
        item._replace(sequence=position) if isinstance(item, dump_types.TensorEntry) else item
        for position, item in enumerate(items)
    )
    return dump_types.Listing(tuple(numbered), damage)
