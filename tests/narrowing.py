"""Narrowing of optional values, for the type checker and for a clear failure."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def require(value: T | None) -> T:
    """``value``, which must not be None."""
    assert value is not None
    return value
