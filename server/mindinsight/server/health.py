"""How the server is, in figures: whether it works, and what of the data is not shown."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import Any

from mindinsight.server.service import Service
from mindinsight.server.store.run import Snapshot


class Health:
    """What ``/health`` answers."""

    def __init__(self, service: Service) -> None:
        self._store = service.store

    @cached_property
    def _version(self) -> str:
        return version("mindinsight")

    def told(self) -> dict[str, Any]:
        """Names no file and no run."""
        snapshot = self._store.snapshot()
        return {
            "status": "ok",
            "service": "mindinsight",
            "version": self._version,
            "base_missing": snapshot.base_missing,
            **counts(snapshot),
        }


def counts(snapshot: Snapshot) -> dict[str, int]:
    """Runs, files and points there are, and what could not be read of them."""
    runs = snapshot.runs.values()
    files = [file for run in runs for file in run.files]
    return {
        "runs": len(runs),
        "runs_left_out": snapshot.left_out,
        "files": len(files),
        "files_unreadable": sum(bool(file.error) for file in files),
        "damaged_stretches": sum(len(file.damage) for file in files),
        "damaged_bytes": sum(one.size for file in files for one in file.damage),
        "records_skipped": sum(count for file in files for _, count in file.skipped),
        "bytes_read": sum(run.read for run in runs),
        "bytes_total": sum(run.total for run in runs),
        "points": sum(series.count for run in runs for series in run.scalars.values()),
    }
