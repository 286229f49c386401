"""Prints the lowest versions that pyproject.toml names for users, as constraints for pip.

python tests/lowest.py > lowest.txt
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_LIST = re.compile(r"^(dependencies|arrow|notebook|remote|tune) = \[(.*?)\]", re.MULTILINE | re.DOTALL)
_BOUND = re.compile(r'"([A-Za-z0-9_.-]+)>=([0-9.]+)')


def lowest() -> Iterator[str]:
    """``name==version`` for each dependency of users; Python 3.10 has no reader of TOML."""
    for match in _LIST.finditer(PROJECT.read_text(encoding="utf-8")):
        for name, version in _BOUND.findall(match[2]):
            yield f"{name}=={version}"


if __name__ == "__main__":
    print("\n".join(lowest()))
