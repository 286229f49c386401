"""Reading pieces of files: pure functions of what they are asked, for any thread, process or machine.

The decoders are loaded with the first piece there is to read: after a restart there may be none.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mindinsight.server.files.opener import LinkError, SpecialFileError, opened, read_at
from mindinsight.server.types import Stretch

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage

_PRINT: Final = 64  # bytes
_REASONS: Final = {
    errno.EACCES: "file.permission",
    errno.EPERM: "file.permission",
    errno.ENOENT: "file.gone",
    errno.ESTALE: "file.gone",
}


@dataclass(frozen=True, slots=True)
class Print:
    """Bytes by which a file is known again when its size, its time or its inode changed."""

    head: bytes
    tail: bytes  # the last bytes before the place up to which the file was read


@dataclass(frozen=True, slots=True)
class Request:
    """A piece of an event file that has not been read yet."""

    path: str
    offset: int
    size: int  # bytes; 0 to see only whether the file is still the same
    print: Print | None = None  # what stood in the file up to ``offset``; None when nothing is known
    lineage: bool = False  # a lineage file: read whole


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request found: a stretch, or why there is none."""

    stretch: Stretch | None = None
    lineage: Lineage | None = None
    print: Print | None = None
    replaced: bool = False  # other bytes stand where we have read before
    reason: str = ""  # a key of the locale files
    detail: str = ""  # for the log


def read_pieces(requests: Sequence[Request]) -> list[Answer]:
    """Read some pieces; whatever is wrong with one of them says nothing about the others."""
    return [read_piece(request) for request in requests]


def read_piece(request: Request) -> Answer:
    """Read one piece, after making sure that the file still begins with what was read before."""
    try:
        with opened(request.path) as descriptor:
            if request.lineage:
                return _read_lineage(descriptor)
            return _read_events(descriptor, request)
    except LinkError:
        return Answer(reason="file.link")
    except SpecialFileError:
        return Answer(reason="file.not_a_file")
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "file.unreadable")
        return Answer(reason=reason, detail=error.strerror or str(error))
    except MemoryError:
        return Answer(reason="file.memory")
    except Exception:
        return Answer(reason="file.undecodable", detail=traceback.format_exc())


def _read_events(descriptor: int, request: Request) -> Answer:
    if request.print is not None and _take_print(descriptor, request.offset) != request.print:
        return Answer(replaced=True)
    if not request.size:
        return Answer(Stretch(request.offset, 0, 0), print=request.print)
    from mindinsight.server.formats.events import read_stretch

    stretch = read_stretch(descriptor, request.offset, request.size)
    return Answer(stretch, print=_take_print(descriptor, stretch.next_offset))


def _read_lineage(descriptor: int) -> Answer:
    from mindinsight.server.formats.lineage import read_lineage_file

    lineage = read_lineage_file(descriptor)
    return Answer(Stretch(lineage.end, lineage.pending, 0, damage=lineage.damage), lineage)


def _take_print(descriptor: int, read: int) -> Print:
    start = max(0, read - _PRINT)
    return Print(read_at(descriptor, 0, min(_PRINT, read)), read_at(descriptor, start, read - start))
