"""The place a function of PyTorch was called from: its line, and which arguments it named.

A function in Python that a mode intercepts has sorted its arguments anew by then, defaults included; the
instruction of the caller says how they were given.
"""

from __future__ import annotations

import dis
import inspect
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

import torch

_PACKAGE: Final = Path(torch.__file__).parent
_DISPATCH: Final = f"{_PACKAGE}{os.sep}overrides.py"
_FORWARDING: Final = f"{_PACKAGE}{os.sep}_jit_internal.py"  # functions that choose between two

_CALLS: Final = ("CALL", "CALL_KW", "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD")

Arguments = tuple[Sequence[Any], Mapping[str, Any]]


class CallShape(NamedTuple):
    """How the arguments of a call were given."""

    positional: int  # without the object of a method
    named: tuple[str, ...]


class CallSite:
    """Place of a call. ``frame`` is that of the code which called, None for no Python code."""

    def __init__(self, frame: FrameType | None, shapes: dict[tuple[CodeType, int], CallShape | None]) -> None:
        self.function: CodeType | None = None  # of the function itself, where it is Python code
        if frame is not None and frame.f_code.co_filename == _DISPATCH:
            frame = frame.f_back
            self.function = frame.f_code if frame is not None else None
            frame = frame.f_back if frame is not None else None
        while frame is not None and frame.f_code.co_filename == _FORWARDING:
            frame = frame.f_back
        self.frame = frame
        self._shapes = shapes

    def arguments(self, values: Sequence[Any], named: Mapping[str, Any], is_method: bool) -> Arguments:
        """Arguments as the caller gave them; as they came where the instruction does not say."""
        code = self.function
        if code is None or self.frame is None or code.co_flags & inspect.CO_VARARGS:
            return values, named
        key = (self.frame.f_code, self.frame.f_lasti)
        if key not in self._shapes:
            self._shapes[key] = _shape(*key)
        shape = self._shapes[key]
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        given = {**dict(zip(names, values, strict=False)), **named}
        if shape is None or len(values) > len(names):
            return values, named
        places = names[: shape.positional + is_method]
        if any(name not in given for name in (*places, *shape.named)):
            return values, named
        return tuple(given[name] for name in places), {name: given[name] for name in shape.named}


def _shape(code: CodeType, offset: int) -> CallShape | None:
    """How a call instruction gives its arguments; None for another one, or with ``*`` and ``**``.

    ``offset`` may lie in the cache behind the instruction.
    """
    names: tuple[str, ...] = ()
    shape: CallShape | None = None
    for instruction in dis.get_instructions(code):
        if instruction.offset > offset:
            break
        shape = None
        if instruction.opname in _CALLS:
            shape = CallShape((instruction.arg or 0) - len(names), names)
        elif instruction.opname in ("KW_NAMES", "LOAD_CONST"):  # until Python 3.12, and before CALL_KW
            constant = code.co_consts[instruction.arg or 0]
            names = constant if isinstance(constant, tuple) else ()
        elif instruction.opname not in ("PRECALL", "CACHE", "EXTENDED_ARG"):
            names = ()
    return shape
