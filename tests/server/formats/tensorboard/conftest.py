"""TensorFlow's messages by hand: only bytes, as no TensorFlow is installed here."""

import struct
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record


class Messages:
    @staticmethod
    def varint(number: Any) -> bytes:
        number &= (1 << 64) - 1
        octets = bytearray()
        while number >= 0x80:
            octets.append(number & 0x7F | 0x80)
            number >>= 7
        return bytes([*octets, number])

    def field(self, number: Any, content: Any) -> Any:
        """Length-delimited for bytes, a varint for an integer, eight bytes for a float."""
        if isinstance(content, bytes):
            return self.varint(number << 3 | 2) + self.varint(len(content)) + content
        if isinstance(content, int):
            return self.varint(number << 3) + self.varint(content)
        return self.varint(number << 3 | 1) + struct.pack("<d", content)

    def event(self, step: Any, *contents: Any, wall: Any = 1.7e9) -> Any:
        head = self.field(1, wall) + (self.field(2, step) if step is not None else b"")
        return encode_record(head + b"".join(contents))

    def record(self, step: Any, *values: Any, wall: Any = 1.7e9) -> Any:
        return self.event(step, self.field(5, b"".join(self.field(1, value) for value in values)), wall=wall)

    def scalar(self, tag: Any, number: Any) -> Any:
        return self.field(1, tag.encode()) + b"\x15" + struct.pack("<f", number)

    def plugin(self, name: Any, content: bytes = b"") -> Any:
        return self.field(9, self.field(1, self.field(1, name.encode()) + self.field(2, content)))

    def tensor(self, tag: Any, dtype: Any, shape: Any, *contents: Any, plugin: bytes = b"") -> Any:
        sizes = self.field(2, b"".join(self.field(2, self.field(1, size)) for size in shape))
        message = self.field(1, dtype) + sizes + b"".join(contents)
        return self.field(1, tag.encode()) + self.field(8, message) + plugin

    def session(self, step: Any, status: int = 1) -> Any:
        return self.event(step, self.field(7, self.field(1, status)))


@pytest.fixture
def tf() -> Messages:
    return Messages()


@pytest.fixture
def folder(tmp_path: Path) -> Any:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"
