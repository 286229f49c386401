"""TensorFlow's messages by hand: only bytes, as no TensorFlow is installed here."""

import struct

import pytest

from mindinsight.proto.framing import encode_record


class Messages:
    @staticmethod
    def varint(number):
        number &= (1 << 64) - 1
        octets = bytearray()
        while number >= 0x80:
            octets.append(number & 0x7F | 0x80)
            number >>= 7
        return bytes([*octets, number])

    def field(self, number, content):
        """Length-delimited for bytes, a varint for an integer, eight bytes for a float."""
        if isinstance(content, bytes):
            return self.varint(number << 3 | 2) + self.varint(len(content)) + content
        if isinstance(content, int):
            return self.varint(number << 3) + self.varint(content)
        return self.varint(number << 3 | 1) + struct.pack("<d", content)

    def event(self, step, *contents, wall=1.7e9):
        head = self.field(1, wall) + (self.field(2, step) if step is not None else b"")
        return encode_record(head + b"".join(contents))

    def record(self, step, *values, wall=1.7e9):
        return self.event(step, self.field(5, b"".join(self.field(1, value) for value in values)), wall=wall)

    def scalar(self, tag, number):
        return self.field(1, tag.encode()) + b"\x15" + struct.pack("<f", number)

    def plugin(self, name, content=b""):
        return self.field(9, self.field(1, self.field(1, name.encode()) + self.field(2, content)))

    def tensor(self, tag, dtype, shape, *contents, plugin=b""):
        sizes = self.field(2, b"".join(self.field(2, self.field(1, size)) for size in shape))
        message = self.field(1, dtype) + sizes + b"".join(contents)
        return self.field(1, tag.encode()) + self.field(8, message) + plugin

    def session(self, step, status=1):
        return self.event(step, self.field(7, self.field(1, status)))


@pytest.fixture
def tf():
    return Messages()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"
