"""Version of the installed package, without ``importlib.metadata``, which loads the parsers of mail."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

_NAME = "mindinsight"
_SUFFIX = ".dist-info"


@cache
def installed_version() -> str:
    """Version by the name of the metadata folder, which holds it (PEP 376); else by the metadata itself."""
    for folder in map(Path, sys.path):
        for path in folder.glob(f"{_NAME}-*{_SUFFIX}"):
            return path.name[len(_NAME) + 1 : -len(_SUFFIX)]
    from importlib.metadata import version

    return version(_NAME)
