"""Replacement of non-finite numbers, which JSON does not have."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

_EXACT: Final = 2**53  # all integers up to this are exact in float64


def non_finite_as_text(value: Any) -> Any:
    """Return ``value`` with non-finite numbers replaced by the text nan, inf or -inf, at any depth. Tuples
    become lists."""
    return _replaced(value, str)


def exact_as_text(value: Any) -> Any:
    """Return ``value`` as ``non_finite_as_text`` does, with integers beyond 2^53 as texts, too. A browser
    reads every number of JSON as a double, in which neighbours of such integers are equal."""
    if isinstance(value, int) and abs(value) > _EXACT:
        return str(value)
    if isinstance(value, Mapping):
        return {key: exact_as_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [exact_as_text(item) for item in value]
    return _replaced(value, str)


def non_finite_as_null(value: Any) -> Any:
    """Return ``value`` with non-finite numbers replaced by None, at any depth. Tuples become lists."""
    return _replaced(value, lambda number: None)


def _replaced(value: Any, replacement: Callable[[float], str | None]) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else replacement(value)
    if isinstance(value, Mapping):
        return {key: _replaced(item, replacement) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(item, replacement) for item in value]
    return value
