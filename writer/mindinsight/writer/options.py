"""Validation of a recorder's arguments, with MindSpore's rules and exceptions."""

import logging
import math
import re
from collections.abc import Mapping
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import Any, Final

import numpy as np

_NAME_PART: Final = re.compile(r"\w+[0-9a-zA-Z_.]*", re.ASCII)
_log: Final = logging.getLogger(__name__)


_NAMES: Final = {bool: "a bool", int: "an int", str: "a str", Mapping: "a dict"}


def typed(value: Any, kind: Any, argument: str, *, optional: bool = False) -> Any:
    """Return ``value`` if it is a ``kind`` (bool, int, str or Mapping), or None with ``optional``. Raises
    TypeError with the name of the argument otherwise. A bool is no int."""
    if value is None and optional:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        wanted = f"{_NAMES[kind]}{' or None' if optional else ''}"
        raise TypeError(f"{argument} must be {wanted}, got {type(value).__name__}")
    return value


def directory(log_dir: Any) -> Path:
    """Return the absolute path of ``log_dir``. Raises TypeError unless it is text or a Path, ValueError if it
    is blank or a URL, NotADirectoryError for a file."""
    if not isinstance(log_dir, Path):
        typed(log_dir, str, "log_dir")
    if not str(log_dir).strip():
        raise ValueError("log_dir must not be blank")
    if "://" in str(log_dir):
        raise ValueError(
            f"log_dir: only SummaryRecord and SummaryCollector write to a URL, not this: {log_dir}"
        )
    path = Path(log_dir).expanduser().absolute()
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"log_dir is not a directory: {path}")
    return path


def name_part(value: str, argument: str) -> str:
    """Return ``value`` if it is a valid prefix or suffix of a file name: ASCII letters, digits, ``_`` and
    inner dots. Raises TypeError or ValueError otherwise."""
    if not _NAME_PART.fullmatch(typed(value, str, argument)):
        raise ValueError(f"{argument} must match {_NAME_PART.pattern}, got {value!r}")
    return value


def file_size(value: Any) -> int | None:
    """Return ``max_file_size`` in bytes, or None for no limit: for None, and with a warning for 0 and less.
    Raises TypeError unless it is an int or None."""
    size: int | None = typed(value, int, "max_file_size", optional=True)
    if size is not None and size <= 0:
        _log.warning("max_file_size is %d: files are not limited", value)
        return None
    return size


def tensor_format(export_options: Any) -> str | None:
    """Return the format for exported tensors, ``npy`` or None. Raises TypeError or ValueError for others."""
    if typed(export_options, Mapping, "export_options", optional=True) is None:
        return None
    if unknown := set(export_options) - {"tensor_format"}:
        raise ValueError(f"export_options takes 'tensor_format' only, got {sorted(map(str, unknown))}")
    chosen: str | None = typed(export_options.get("tensor_format"), str, "tensor_format", optional=True)
    if chosen not in (None, "npy"):
        raise ValueError(f"tensor_format must be 'npy' or None, got {chosen!r}")
    return chosen


def positive(value: Any, argument: str) -> float:
    """Return ``value`` if it is a finite number above zero, of Python or NumPy. Raises TypeError or
    ValueError otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{argument} must be a number, got {type(value).__name__}")
    if not value > 0:
        raise ValueError(f"{argument} must be above zero, got {value}")
    if value == math.inf:
        raise ValueError(f"{argument} must be finite, got {value}")
    return value if isinstance(value, (int, float)) else value.item()


def interval(value: Any, argument: str) -> float:
    """Return ``value`` if ``positive`` accepts it, or the longest time a thread can wait, if it is longer.
    Raises TypeError or ValueError otherwise."""
    return min(positive(value, argument), TIMEOUT_MAX)


def step(value: Any) -> int:
    """Return ``value`` as a signed 64-bit step. Raises TypeError unless it is an int or a NumPy integer,
    ValueError if it has more than 64 bits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"step must be an int, got {type(value).__name__}")
    number = int(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"step must fit 64 bits, got {number}")
    return number


def name_end(value: str, argument: str) -> str:
    """Return ``value`` if it is "" or has only letters, digits and ``_.+-``, as the end of a file name.
    Raises TypeError or ValueError otherwise."""
    if not re.fullmatch(r"[\w.+-]*", typed(value, str, argument)):
        raise ValueError(f"{argument} must be letters, digits and any of _.+-, got {value!r}")
    return value


def tag(name: Any) -> str:
    """Return ``name`` if it is non-empty, valid text. Raises ValueError otherwise."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"the name of a value must be a str and not empty, got {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the name of a value must be valid Unicode, got {name!r}") from error
    return name


_PARENT: Final = re.compile(r".+@[0-9]{1,18}", re.DOTALL)


def parent(value: Any) -> None:
    """Raise TypeError or ValueError unless ``value`` is "" or a run and its last step: ``run1@500``."""
    typed(value, str, "parent")
    if value and not _PARENT.fullmatch(value):
        raise ValueError(f"parent names a run and its last step, such as 'run1@500', got {value!r}")
