"""Health report of the server, counts of its data, and the installed version."""

import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from mindinsight.server.http.service import Service
from mindinsight.server.store.run import Snapshot


def health_report(service: Service) -> dict[str, Any]:
    """Return status, version and counts of a server as JSON, without names of files or runs."""
    snapshot = service.store.snapshot()
    return {
        "status": "ok",
        "service": "mindinsight",
        "version": installed_version(),
        "base_missing": snapshot.base_missing,
        "workers_missing": service.workers_missing,
        "seconds_since_look": round(seconds_since_scan(service), 1),
        **counts(snapshot),
    }


def seconds_since_scan(service: Service) -> float:
    """Return the seconds since the base directory was last scanned. The value grows while the file system
    hangs."""
    return max(0.0, time.time() - (service.store.snapshot().scanned or service.started))


def counts(snapshot: Snapshot) -> dict[str, int]:
    """Return the numbers of runs (also those left out), files, bytes and points, and of unreadable data."""
    runs = snapshot.runs.values()
    files = [file for run in runs for file in run.files]
    return {
        "runs": len(runs),
        "runs_left_out": snapshot.left_out,
        "files": len(files),
        "files_unreadable": sum(bool(file.error) for file in files),
        "damaged_stretches": sum(len(file.damage) for file in files),
        "damaged_bytes": sum(section.size for file in files for section in file.damage),
        "records_skipped": sum(count for file in files for _, count in file.skipped),
        "bytes_read": sum(run.read for run in runs),
        "bytes_total": sum(run.total for run in runs),
        "points": sum(series.count for run in runs for series in run.scalars.values()),
    }


_NAME = "mindinsight"
_SUFFIX = ".dist-info"


@cache
def installed_version() -> str:
    """Return the version from the name of the metadata folder (PEP 376), or else from the metadata.
    Importing importlib.metadata takes longer than the rest of a first page."""
    for folder in map(Path, sys.path):
        for path in folder.glob(f"{_NAME}-*{_SUFFIX}"):
            return path.name[len(_NAME) + 1 : -len(_SUFFIX)]
    from importlib.metadata import version

    return version(_NAME)
