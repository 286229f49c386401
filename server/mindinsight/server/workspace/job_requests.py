"""Requests of long jobs, so that any server on a workspace can run a job requested from another one.

A job's number is random, and its request is a small JSON file of that name. The server that received the
request holds the job. Another one, or the same one after a restart, finds the request and runs it again.
"""

import contextlib
import json
import logging
import os
import secrets
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.own_files import own_folder, read_own

_BITS: Final = 48  # of a number, so that it is exact in float64
_KEPT: Final = 200  # newest requests; older jobs exist only in the server that received them
_LARGEST: Final = 4 << 20  # bytes of a stored request; larger files are not ours

_log = logging.getLogger(__name__)


class JobRequests:
    """Requests by number, in a folder of the workspace. Only the newest are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, kind: str, body: dict[str, Any]) -> int:
        """Store a request and return its random number, even if the workspace cannot be written."""
        number = secrets.randbits(_BITS)
        try:
            own_folder(self._folder)
            path = self._folder / f"{number}.json"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"kind": kind, "body": body}, file)
            self._trim()
        except OSError as error:
            _log.warning("Cannot store job %d for other servers: %s", number, error)
        return number

    def body(self, kind: str, number: int) -> dict[str, Any] | None:
        """Return the body of the request with a number. None if there is none of this kind, if it is
        unreadable, or if newer requests have replaced it."""
        path = self._folder / f"{number}.json"
        try:
            if not 0 <= number < 1 << _BITS or path.stat().st_size > _LARGEST:
                return None
            request = json.loads(read_own(path))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(request, dict) or request.get("kind") != kind:
            return None
        body = request.get("body")
        return body if isinstance(body, dict) else None

    def _trim(self) -> None:
        with os.scandir(self._folder) as entries:
            paths = [entry for entry in entries if entry.name.endswith(".json")]
            ages: list[tuple[int, str]] = []
            for entry in paths:
                with contextlib.suppress(OSError):  # another server removed it
                    ages.append((entry.stat().st_mtime_ns, entry.path))
        for _, path in sorted(ages)[:-_KEPT]:
            with contextlib.suppress(OSError):
                Path(path).unlink()
