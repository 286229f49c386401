"""Encoder of sounds: samples as a WAV file, or an encoded file (Summary.Audio)."""

from typing import Any, Final

from mindinsight.writer.encoding import media, wire
from mindinsight.writer.encoding.encoder import MessageEncoder


class AudioEncoder(MessageEncoder):
    """Encoder of pairs (samples, rate) and of the bytes of sound files."""

    def serialised(self, value: Any) -> bytes:
        """Return the sound as a serialised message. Raises TypeError for other objects and ValueError like
        ``media.sound``."""
        if isinstance(value, (bytes, bytearray, memoryview)):
            return wire.block(1, bytes(value))
        if isinstance(value, tuple) and len(value) == 2:
            return wire.block(1, media.sound(*value).wav)
        taken = "a pair (samples, rate) or the bytes of a sound file"
        raise TypeError(f"{self.kind} takes {taken}, got {type(value).__name__}")

    def facts(self, message: Any) -> dict[str, Any]:
        """Return the size of the file in bytes, as ``size``."""
        return {"size": len(message.encoded)}


ENCODER: Final = AudioEncoder("audio")
