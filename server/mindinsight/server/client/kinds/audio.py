"""Sounds: files as they were recorded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.client.kinds import Payload, write_encoded
from mindinsight.server.formats.media_types import sound_type
from mindinsight.server.formats.payloads.media_payloads import Sound, sound
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wav import wav


def write(stem: Path, value: Sound) -> Path:
    """Write `<step>.wav` with the bytes as recorded. Return the path."""
    return write_encoded(stem, value.encoded, sound_type(value.encoded))


def rows(value: Sound) -> Iterator[dict[str, Any]]:
    """Return media type and bytes, and of WAV files rate, channels, bits of a sample and frames."""
    kind = sound_type(value.encoded)
    facts: dict[str, Any] = dict.fromkeys(("rate", "channels", "bits", "frames"))
    try:
        header = wav(value.encoded)
    except UnreadableError:
        pass
    else:
        facts = {name: getattr(header, name) for name in facts}
    media_type = kind.media_type if kind else None
    yield {"type": media_type, **facts, "bytes": len(value.encoded), "label": value.label}


PAYLOAD: Final = Payload(sound, write, rows)
