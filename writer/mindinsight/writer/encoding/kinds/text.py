"""Encoder of texts in Markdown (Summary.Text in summary.proto)."""

from typing import Any, Final

from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import MessageEncoder


class TextEncoder(MessageEncoder):
    """Encoder of Python strings as text messages. Characters that UTF-8 cannot encode become escapes."""

    def serialised(self, value: Any) -> bytes:
        """Return the text as a serialised message. Raises TypeError unless it is a str."""
        if not isinstance(value, str):
            raise TypeError(f"{self.kind} takes a str, got {type(value).__name__}")
        return wire.block(1, value.encode("utf-8", "backslashreplace"))

    def facts(self, message: Any) -> dict[str, Any]:
        """Return the number of characters, as ``length``."""
        return {"length": len(message.content)}


ENCODER: Final = TextEncoder("text")
