"""What lies in a dump and is never opened: links, pipes, sockets and devices, named one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from mindinsight.server.files.folders import folders_of, refused_in
from mindinsight.server.formats.dumps.types import FileDamage, StepFolder
from mindinsight.server.formats.texts import show_text

MAX_REFUSALS: Final = 100  # named of one dump or step


def refused_around(path: str, folders: Iterable[StepFolder]) -> tuple[FileDamage, ...]:
    """Refused entries of a dump outside its step folders: beside ranks, graphs and steps."""
    steps = {Path(folder.path) for folder in folders}
    inner = {parent for step in steps for parent in step.parents if parent.is_relative_to(path)}
    inner.add(Path(path))
    beside = {folder for parent in sorted(inner) for folder in folders_of(parent)} - inner - steps
    return _damage([*sorted(inner), *sorted(beside)])


def refused_inside(folder: StepFolder) -> tuple[FileDamage, ...]:
    """Refused entries of a step folder and of the folders in it."""
    path = Path(folder.path)
    return _damage([path, *folders_of(path)])


def _damage(folders: Iterable[Path]) -> tuple[FileDamage, ...]:
    return tuple(islice(_refused(folders), MAX_REFUSALS))


def _refused(folders: Iterable[Path]) -> Iterator[FileDamage]:
    for folder in folders:
        for name, reason in refused_in(folder):
            yield FileDamage(show_text(str(folder / name)), f"dump.{reason}")
