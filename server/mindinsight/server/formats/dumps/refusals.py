"""Refused entries of a dump: links, pipes, sockets and devices, which are reported and never opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from mindinsight.server.files.folders import folders_of, refused_in
from mindinsight.server.formats.dumps.types import FileDamage, StepFolder
from mindinsight.server.formats.texts import show_text

MAX_REFUSALS: Final = 100  # reported for one dump or step


def refused_outside_steps(path: str, folders: Iterable[StepFolder]) -> tuple[FileDamage, ...]:
    """Refused entries of a dump outside its step folders: in and beside those of ranks, graphs and steps."""
    steps = {Path(folder.path) for folder in folders}
    parents = {parent for step in steps for parent in step.parents if parent.is_relative_to(path)}
    parents.add(Path(path))
    siblings = {folder for parent in sorted(parents) for folder in folders_of(parent)} - parents - steps
    return _damage([*sorted(parents), *sorted(siblings)])


def refused_in_step(folder: StepFolder) -> tuple[FileDamage, ...]:
    """Refused entries of a step folder and of its subfolders."""
    path = Path(folder.path)
    return _damage([path, *folders_of(path)])


def _damage(folders: Iterable[Path]) -> tuple[FileDamage, ...]:
    return tuple(islice(_refused(folders), MAX_REFUSALS))


def _refused(folders: Iterable[Path]) -> Iterator[FileDamage]:
    for folder in folders:
        for name, reason in refused_in(folder):
            yield FileDamage(show_text(str(folder / name)), f"dump.{reason}")
