"""Reader of payloads: the bytes that a reference names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mindinsight.server.errors import Gone
from mindinsight.server.files.opener import opened, read_at
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.types import Reference

MAX_PAYLOAD: Final = 512 << 20  # bytes that are read as one; larger tensors are read in parts


def make_sure(reference: Reference, identity: tuple[int, int]) -> None:
    """Raise ``Gone`` when the file is missing, too short or not the (device, inode) it was."""
    try:
        status = Path(reference.path).lstat()
    except OSError as error:
        raise Gone(f"the file cannot be read: {error.strerror}") from error
    if (status.st_dev, status.st_ino) != identity:
        raise Gone("the file was replaced")
    if status.st_size < reference.offset + reference.size:
        raise Gone("the file was cut short")


def read_payload(reference: Reference, identity: tuple[int, int] | None = None) -> bytes:
    """The bytes a reference names, at most MAX_PAYLOAD.

    ``identity`` is (device, inode) of the file in which the payload was found. Links are not followed.
    Raises ``Gone`` when the file is missing, too short or another one, ``UnreadableError`` for more bytes.
    """
    if reference.size > MAX_PAYLOAD:
        raise UnreadableError("payload.too_large", f"{reference.size} bytes are more than {MAX_PAYLOAD}")
    try:
        with opened(reference.path) as descriptor:
            status = os.fstat(descriptor)
            if identity is not None and (status.st_dev, status.st_ino) != identity:
                raise Gone("the file was replaced")
            if status.st_size < reference.offset + reference.size:
                raise Gone("the file was cut short")
            payload = read_at(descriptor, reference.offset, reference.size)
    except OSError as error:
        raise Gone(f"the file cannot be read: {error.strerror}") from error
    if len(payload) < reference.size:
        raise Gone("the file was cut short")
    return payload
