"""Encoder of texts in Markdown (Summary.Text in summary.proto)."""

from __future__ import annotations

from typing import Any, Final

from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import MessageEncoder


class TextEncoder(MessageEncoder):
    """Encoder of str; what is no character of UTF-8 is written as its escape."""

    def serialised(self, value: Any) -> bytes:
        """The text as a message; TypeError for what is no str."""
        if not isinstance(value, str):
            raise TypeError(f"{self.kind} takes a str, got {type(value).__name__}")
        return wire.block(1, value.encode("utf-8", "backslashreplace"))

    def facts(self, message: Any) -> dict[str, Any]:
        """Characters of the text."""
        return {"length": len(message.content)}


ENCODER: Final = TextEncoder("text")
