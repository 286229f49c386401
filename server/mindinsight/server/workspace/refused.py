"""What can go wrong while something is kept under a name, as an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mindinsight.server.errors import ApiError, not_kept
from mindinsight.server.workspace.kept import Full, Taken


@contextmanager
def answered(kind: str, name: str = "", *, to: str = "", most: int) -> Iterator[None]:
    """``kind`` is what is kept, such as "view": it makes ``unknown_view``, ``view_taken`` and ``many_views``.

    ``to`` is the name that it is to have; ``most`` how many there may be.
    """
    try:
        yield
    except KeyError:
        raise ApiError(404, f"unknown_{kind}", f"There is no {kind} {name!r}.", **{kind: name}) from None
    except Taken:
        raise ApiError(409, f"{kind}_taken", f"There is a {kind} {to!r} already.", **{kind: to}) from None
    except Full:
        raise ApiError(409, f"many_{kind}s", f"No more than {most} {kind}s are kept.", n=most) from None
    except OSError as error:
        raise not_kept(error) from error
