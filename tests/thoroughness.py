"""How much is tried of what has no end: a share in ``make test``, all of it in ``make thorough``."""

import os
from collections.abc import Iterable
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

THOROUGH: Final = os.environ.get("THOROUGH") == "1"


def share(items: Iterable[T], one_in: int, start: int = 0) -> list[T]:
    """All of ``items``; in ``make test`` the one at ``start`` and every ``one_in``-th after it."""
    return list(items if THOROUGH else islice(items, start, None, one_in))


def amount(thorough: int, usual: int) -> int:
    """How many examples, bytes or rounds: ``usual`` ones in ``make test``."""
    return thorough if THOROUGH else usual
