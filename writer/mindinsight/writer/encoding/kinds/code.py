"""Encoder of facts about the program that trains (Summary.Code in summary.proto)."""

import json
from collections.abc import Mapping
from typing import Any, Final

from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import MessageEncoder


class CodeEncoder(MessageEncoder):
    """Encoder of a program's facts, given as a dict of JSON values. Characters that UTF-8 cannot encode
    become escapes."""

    def serialised(self, value: Any) -> bytes:
        """Return the facts as a serialised message. Raises TypeError unless they are a dict of JSON values,
        ValueError for NaN or infinity in it."""
        if not isinstance(value, Mapping):
            raise TypeError(f"{self.kind} takes a dict, got {type(value).__name__}")
        facts = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
        return wire.block(1, facts.encode("utf-8", "backslashreplace"))

    def facts(self, message: Any) -> dict[str, Any]:
        """Return the size of the recorded facts in bytes, as `length`."""
        return {"length": len(message.facts)}


ENCODER: Final = CodeEncoder("code")
