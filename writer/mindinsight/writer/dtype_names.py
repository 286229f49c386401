"""Element types under MindSpore's names for them."""

from __future__ import annotations

_STEMS = {"bfloat": "BFloat", "uint": "UInt"}


def camel(dtype: str) -> str:
    """``Float32`` for "float32", ``UInt8`` for "uint8", ``BFloat16`` for "bfloat16"."""
    stem = dtype.rstrip("0123456789")
    return _STEMS.get(stem, stem.title()) + dtype[len(stem) :]
