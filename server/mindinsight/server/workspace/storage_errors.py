"""Errors of the stores as errors of a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mindinsight.server.errors import ApiError, not_kept


@contextmanager
def storing(refusals: Mapping[type[Exception], ApiError]) -> Iterator[None]:
    """Context in which something is stored: raises ``refusals[type]`` for those, ``not_kept`` for OSError."""
    try:
        yield
    except tuple(refusals) as error:
        raise refusals[type(error)] from None
    except OSError as error:
        raise not_kept(error) from error
