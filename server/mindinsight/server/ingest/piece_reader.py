"""Reader of sections of files: pure functions of a request, for any thread, process or machine.

The decoders are imported with the first section, because after a restart there may be none to read.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mindinsight.server.files.opener import LinkError, SpecialFileError, opened, read_at
from mindinsight.server.types import DecodedSection

if TYPE_CHECKING:
    from mindinsight.server.formats.lineage import Lineage

_FINGERPRINT_BYTES: Final = 64  # bytes at each end; 64 include a checksum of any record
_REASONS: Final = {
    errno.EACCES: "file.permission",
    errno.EPERM: "file.permission",
    errno.ENOENT: "file.gone",
    errno.ESTALE: "file.gone",
}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Fingerprint of a file: bytes that identify it after its size, time or inode changed."""

    head: bytes
    tail: bytes  # the last bytes before the offset up to which the file was read


@dataclass(frozen=True, slots=True)
class SectionRequest:
    """Request to read a section of an event file, if the file was not replaced since its last read."""

    path: str
    offset: int
    size: int  # bytes; 0 only checks whether the file is still the same
    fingerprint: Fingerprint | None = None  # of the file up to ``offset``; None at the first read
    lineage: bool = False  # a lineage file: read whole
    tensorboard: bool = False  # an event file of TensorBoard


@dataclass(frozen=True, slots=True)
class SectionResult:
    """Result of reading one section of a file: the records read, or the reason why none could be."""

    section: DecodedSection | None = None
    lineage: Lineage | None = None
    fingerprint: Fingerprint | None = None
    replaced: bool = False  # the bytes before ``offset`` changed
    reason: str = ""  # a key of the locale files
    detail: str = ""  # for the log


def read_file_sections(requests: Sequence[SectionRequest]) -> list[SectionResult]:
    """Read several sections and return their results in order. An error in one does not affect the others."""
    return [read_file_section(request) for request in requests]


def read_file_section(request: SectionRequest) -> SectionResult:
    """Read one section, unless the file no longer begins with the bytes read before. Never raises. Errors
    are part of the result, and so is ``replaced``."""
    try:
        with opened(request.path) as descriptor:
            if request.lineage:
                return _read_lineage(descriptor)
            return _read_events(descriptor, request)
    except LinkError:
        return SectionResult(reason="file.link")
    except SpecialFileError:
        return SectionResult(reason="file.not_a_file")
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "file.unreadable")
        return SectionResult(reason=reason, detail=error.strerror or str(error))
    except MemoryError:
        return SectionResult(reason="file.memory")
    except Exception:
        return SectionResult(reason="file.undecodable", detail=traceback.format_exc())


def _read_events(descriptor: int, request: SectionRequest) -> SectionResult:
    """Return the events in a section of an open event file. Raises OSError."""
    if request.fingerprint is not None and _fingerprint_at(descriptor, request.offset) != request.fingerprint:
        return SectionResult(replaced=True)
    if not request.size:
        return SectionResult(DecodedSection(request.offset, 0, 0), fingerprint=request.fingerprint)
    from mindinsight.server.formats.events import read_section

    if request.tensorboard:
        from mindinsight.server.formats.tensorboard import TENSORBOARD

        section = read_section(descriptor, request.offset, request.size, TENSORBOARD)
    else:
        section = read_section(descriptor, request.offset, request.size)
    return SectionResult(section, fingerprint=_fingerprint_at(descriptor, section.next_offset))


def _read_lineage(descriptor: int) -> SectionResult:
    """Return the lineage in an open lineage file. Raises OSError."""
    from mindinsight.server.formats.lineage import read_lineage_file

    lineage = read_lineage_file(descriptor)
    return SectionResult(DecodedSection(lineage.end, lineage.pending, 0, damage=lineage.damage), lineage)


def _fingerprint_at(descriptor: int, read: int) -> Fingerprint:
    """Return the fingerprint of a file that was read up to ``read``."""
    start = max(0, read - _FINGERPRINT_BYTES)
    return Fingerprint(
        read_at(descriptor, 0, min(_FINGERPRINT_BYTES, read)), read_at(descriptor, start, read - start)
    )
