"""Extensions that other distributions register as entry points, see `docs/extensions.md`.

An extension that cannot be loaded is named, and everything else works without it.
"""

from __future__ import annotations

import importlib.util
import logging
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS: Final = "mindinsight.kinds"
LAYOUTS: Final = "mindinsight.dump_layouts"
CHECKS: Final = "mindinsight.checks"
COMMANDS: Final = "mindinsight.commands"
GROUPS: Final = (KINDS, LAYOUTS, CHECKS, COMMANDS)

_VIEW: Final = "view"  # folder of the pages in the package of an entry point, each in one named as its kind

SECONDS: Final = 10.0  # in which an extension is loaded; the first request of v2 waits for it

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Extension:
    """One entry point of a group, by name, that was loaded or could not be.

    `value` is None with an `error`.
    """

    group: str
    name: str
    distribution: str  # name and version
    value: Any
    error: str
    seconds: float  # that loading took


def names(group: str) -> tuple[str, ...]:
    """Return the names of a group's entry points, sorted, without loading them."""
    return tuple(sorted({point.name for point in _points(group)}))


@cache
def loaded(group: str) -> tuple[Extension, ...]:
    """Return the loaded entry points of a group, by name. One that could not be loaded has an `error`. A
    process loads them once.
    """
    return tuple(_load(group, point) for point in _points(group))


def values(group: str, kind: type) -> tuple[tuple[str, Any], ...]:
    """Return name and value of the extensions of a group whose value is a `kind`."""
    return tuple((e.name, e.value) for e in loaded(group) if not e.error and isinstance(e.value, kind))


def views() -> tuple[tuple[str, Path], ...]:
    """Return name and folder of the pages of other distributions' kinds. No extension is loaded for it."""
    folders = ((point.name, _view_folder(point)) for point in _points(KINDS))
    return tuple((name, folder) for name, folder in folders if folder is not None and name.isidentifier())


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, by name. Their search is not needed before the first page."""
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=group), key=lambda point: point.name))


def _load(group: str, point: EntryPoint) -> Extension:
    """Load an entry point in a thread of its own, for `SECONDS` at most. A slower one is left out."""
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist is not None else ""
    begun = time.perf_counter()
    outcome: list[tuple[Any, str]] = []

    def load() -> None:
        try:
            outcome.append((point.load(), ""))
        except BaseException as error:  # also SystemExit: whatever it raises, the others are loaded
            outcome.append((None, f"{type(error).__name__}: {error}"))

    thread = threading.Thread(target=load, name=f"load {point.name}", daemon=True)
    thread.start()
    thread.join(SECONDS)
    value, error = outcome[0] if outcome else (None, f"it was not loaded within {SECONDS:g} s")
    if error:
        _log.warning("The extension %s of %s is left out: %s", point.name, distribution or group, error)
    return Extension(group, point.name, distribution, value, error, time.perf_counter() - begun)


def _view_folder(point: EntryPoint) -> Path | None:
    """Return the folder of a kind's page in the package of its entry point, or None. Nothing is imported."""
    top = point.module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / _VIEW / point.name
    return folder if folder.is_dir() else None
