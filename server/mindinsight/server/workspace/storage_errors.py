"""What can go wrong while something is kept under a name, as an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mindinsight.server.errors import ApiError, not_kept


@contextmanager
def answered(refusals: Mapping[type[Exception], ApiError]) -> Iterator[None]:
    """``refusals`` says what is answered to what is raised; that nothing could be written is said of all."""
    try:
        yield
    except tuple(refusals) as error:
        raise refusals[type(error)] from None
    except OSError as error:
        raise not_kept(error) from error
