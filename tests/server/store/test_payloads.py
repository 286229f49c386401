"""Payloads are read from the file they were found in, and within a budget."""

import os
from pathlib import Path

import pytest

from mindinsight.server.errors import Gone
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.store.payloads import MAX_PAYLOAD, read_payload
from mindinsight.server.types import Reference


def test_the_bytes_are_those_of_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    status = path.stat()
    assert read_payload(Reference(str(path), 3, 4), (status.st_dev, status.st_ino)) == b"3456"
    with pytest.raises(Gone, match="replaced"):
        read_payload(Reference(str(path), 3, 4), (status.st_dev, status.st_ino + 1))
    with pytest.raises(Gone, match="short"):
        read_payload(Reference(str(path), 8, 4))


def test_a_payload_beyond_the_budget_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.pb"
    path.touch()
    os.truncate(path, 1400 << 20)
    with pytest.raises(UnreadableError) as caught:
        read_payload(Reference(str(path), 0, MAX_PAYLOAD + 1))
    assert caught.value.reason == "payload.too_large"
