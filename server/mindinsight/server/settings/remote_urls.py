"""URLs of remote stores in place of base directories: ``s3://bucket/summary``, ``https://host/runs``."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mindinsight.server.errors import BadSettings

MIRRORS: Final = "remote"  # folder of the workspace
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Schemes whose URLs name a user, or a container, before the @.
_WITH_USERS: Final = frozenset(("sftp", "ssh", "hdfs", "webhdfs", "smb", "ftp", "abfs", "abfss"))
_CHAIN: Final = "::"  # of fsspec: zip://inner::s3://bucket/archive.zip


def is_url(text: str) -> bool:
    """Whether a text names a store rather than a directory."""
    return _URL.match(text) is not None


def check_url(url: str) -> str:
    """The URL without slashes at its end.

    Raises BadSettings for one with a password, a query, a fragment, or a user where stores have none: whoever
    may look at the pages, at the log or at the list of processes would read them. Stores have means of
    their own to keep credentials.
    """
    for part in url.split(_CHAIN):
        try:
            split = urlsplit(part)
            user = split.username is not None and split.scheme not in _WITH_USERS
            secret = user or split.password is not None or bool(split.query or split.fragment)
        except ValueError as error:
            raise BadSettings(f"What was given for a store is no URL: {error}.") from None
        if secret:
            raise BadSettings(
                f"{split.scheme}://…: leave user, password, key, query and fragment out of the URL:"
                " pages and logs show it;"
                " keep credentials where the store's own tools look for them (environment, files, roles)."
            )
    return url.rstrip("/") if not url.endswith("://") else url


def mirror_of(url: str, workspace: Path) -> Path:
    """Folder in the workspace that holds the local copy of a store's event files."""
    outer = url.split(_CHAIN, maxsplit=1)[0]
    tail = urlsplit(outer if urlsplit(outer).path.strip("/") else url.rsplit(_CHAIN, maxsplit=1)[-1])
    name = tail.path.rstrip("/").rpartition("/")[2] or tail.netloc.rpartition("@")[2] or "remote"
    digest = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return workspace / MIRRORS / digest / (re.sub(r"[^\w.-]", "_", name).lstrip(".") or "remote")
