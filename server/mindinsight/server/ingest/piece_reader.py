"""Reader of pieces of files: pure functions of a request, for any thread, process or machine.

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

_FINGERPRINT_BYTES: Final = 64  # bytes
_REASONS: Final = {
    errno.EACCES: "file.permission",
    errno.EPERM: "file.permission",
    errno.ENOENT: "file.gone",
    errno.ESTALE: "file.gone",
}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Fingerprint of a file: bytes by which it is known again when its size, time or inode changed."""

    head: bytes
    tail: bytes  # the last bytes before the place up to which the file was read


@dataclass(frozen=True, slots=True)
class PieceRequest:
    """A piece of an event file that has not been read yet."""

    path: str
    offset: int
    size: int  # bytes; 0 to see only whether the file is still the same
    fingerprint: Fingerprint | None = None  # of the file up to ``offset``; None when nothing is known
    lineage: bool = False  # a lineage file: read whole
    tensorboard: bool = False  # an event file of TensorBoard


@dataclass(frozen=True, slots=True)
class PieceResult:
    """What a request found: a stretch, or why there is none."""

    stretch: Stretch | None = None
    lineage: Lineage | None = None
    fingerprint: Fingerprint | None = None
    replaced: bool = False  # other bytes stand where we have read before
    reason: str = ""  # a key of the locale files
    detail: str = ""  # for the log


def read_pieces(requests: Sequence[PieceRequest]) -> list[PieceResult]:
    """Read some pieces; whatever is wrong with one of them says nothing about the others."""
    return [read_piece(request) for request in requests]


def read_piece(request: PieceRequest) -> PieceResult:
    """Read one piece, after making sure that the file still begins with what was read before."""
    try:
        with opened(request.path) as descriptor:
            if request.lineage:
                return _read_lineage(descriptor)
            return _read_events(descriptor, request)
    except LinkError:
        return PieceResult(reason="file.link")
    except SpecialFileError:
        return PieceResult(reason="file.not_a_file")
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "file.unreadable")
        return PieceResult(reason=reason, detail=error.strerror or str(error))
    except MemoryError:
        return PieceResult(reason="file.memory")
    except Exception:
        return PieceResult(reason="file.undecodable", detail=traceback.format_exc())


def _read_events(descriptor: int, request: PieceRequest) -> PieceResult:
    if request.fingerprint is not None and _fingerprint_at(descriptor, request.offset) != request.fingerprint:
        return PieceResult(replaced=True)
    if not request.size:
        return PieceResult(Stretch(request.offset, 0, 0), fingerprint=request.fingerprint)
    from mindinsight.server.formats.events import read_stretch

    if request.tensorboard:
        from mindinsight.server.formats.tensorboard import TENSORBOARD

        stretch = read_stretch(descriptor, request.offset, request.size, TENSORBOARD)
    else:
        stretch = read_stretch(descriptor, request.offset, request.size)
    return PieceResult(stretch, fingerprint=_fingerprint_at(descriptor, stretch.next_offset))


def _read_lineage(descriptor: int) -> PieceResult:
    from mindinsight.server.formats.lineage import read_lineage_file

    lineage = read_lineage_file(descriptor)
    return PieceResult(Stretch(lineage.end, lineage.pending, 0, damage=lineage.damage), lineage)


def _fingerprint_at(descriptor: int, read: int) -> Fingerprint:
    start = max(0, read - _FINGERPRINT_BYTES)
    return Fingerprint(
        read_at(descriptor, 0, min(_FINGERPRINT_BYTES, read)), read_at(descriptor, start, read - start)
    )
