"""Requests of long jobs, so that any server on a workspace can do a job that another one was asked for.

A job's number is drawn at random, and its request is a small JSON file of that name. The server that was
asked holds the job itself; another one, or the same one started again, finds the request and performs it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.own_files import own_folder, read_own

_BITS: Final = 48  # of a number: every program reads it exactly
_KEPT: Final = 200  # requests; of older ones only the server that was asked knows
_LARGEST: Final = 4 << 20  # bytes of a request; no body is larger that a server takes

_log = logging.getLogger(__name__)


class JobRequests:
    """Requests by number, in a folder of the workspace; the newest are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, kind: str, body: dict[str, Any]) -> int:
        """Keep a request; returns its number, also where the workspace cannot be written."""
        number = secrets.randbits(_BITS)
        try:
            own_folder(self._folder)
            path = self._folder / f"{number}.json"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"kind": kind, "body": body}, file)
            self._trim()
        except OSError as error:
            _log.warning("Other servers will not know job %d: %s", number, error)
        return number

    def body(self, kind: str, number: int) -> dict[str, Any] | None:
        """The request of a number; None where there is none of this kind, or no longer."""
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
