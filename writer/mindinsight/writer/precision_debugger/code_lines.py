"""Lines of code that led to a call, as msprobe writes them."""

from __future__ import annotations

import linecache
import os
from pathlib import Path
from types import FrameType
from typing import Final

_OWN: Final = f"{Path(__file__).parent}{os.sep}"


def code_lines(frame: FrameType | None) -> list[str]:
    """``File PATH, line N, in FUNCTION, CODE``, innermost first, without the lines of this package."""
    lines: list[str] = []
    while frame is not None:
        code = frame.f_code
        path = code.co_filename
        if not path.startswith(_OWN):
            text = linecache.getline(path, frame.f_lineno).strip()
            lines.append(f"File {path}, line {frame.f_lineno}, in {code.co_name}, \n {text}")
        frame = frame.f_back
    return lines
