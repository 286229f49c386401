"""Reader of ``health_<step>.json``: norms of weights that the flight recorder saw before and at a fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mindinsight.server.formats.dumps.types import Dump
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.safe_values import parse_json
from mindinsight.server.formats.unreadable import UnreadableError

MAX_BYTES: Final = 64 << 20  # of a file that are read: norms of about a million parameters


@dataclass(frozen=True, slots=True)
class Health:
    """L2 norms of parameters by name at the last healthy check, at ``step``, and at the fault."""

    step: int
    weights: Mapping[str, float]
    weights_now: Mapping[str, float]


def read_health(dump: Dump, rank: int, step: int) -> Health | None:
    """Norms that were recorded with a step of a dump; None where there are none, or no healthy step."""
    roots = {folder.root for folder in dump.folders if (folder.rank, folder.step) == (rank, step)}
    for root in sorted(roots):
        try:
            with opened(Path(root) / f"health_{step}.json") as file:
                content = parse_json(file.read(MAX_BYTES))
        except (UnreadableError, OSError, ValueError, RecursionError):
            continue
        if isinstance(content, dict) and isinstance(content.get("healthy_step"), int):
            health = Health(
                content["healthy_step"], _norms(content.get("weights")), _norms(content.get("weights_now"))
            )
            return health if health.step >= 0 else None
    return None


def _norms(content: Any) -> Mapping[str, float]:
    """The numbers of an object; what else a file may hold is left out."""
    items = content.items() if isinstance(content, dict) else ()
    return {name: float(value) for name, value in items if isinstance(value, (int, float))}
