"""Error of the readers of arrays and dumps: a file, or a part of it, cannot be read."""

from __future__ import annotations


class UnreadableError(ValueError):
    """Something in a file cannot be read; what lies around it can.

    ``reason`` is a key of the locale files (``dump.truncated``, ``dump.too_large``, ...),
    ``detail`` says in English which part and with which figures.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[UnreadableError], tuple[str, str]]:
        """Travel through a process pool with both parts."""
        return (type(self), (self.reason, self.detail))
