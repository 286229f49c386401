"""Settings of the Running Data Recorder, from the variables and the file that MindSpore documents."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RecorderSettings:
    """``mode`` 1 records a run that fails, 2 one that ends well too. ``path`` None: the run's directory."""

    enable: bool = False
    mode: int = 1
    path: Path | None = None

    def __post_init__(self) -> None:
        if self.mode not in (1, 2):
            raise ValueError(f"the mode of the recorder is 1 or 2, got {self.mode!r}")

    def wants(self, error: BaseException | None) -> bool:
        """Whether a run that ended with ``error``, or well, is to be recorded."""
        return self.enable and (error is not None or self.mode == 2)

    @classmethod
    def of(
        cls, environment: Mapping[str, str] = os.environ, config_path: str | Path | None = None
    ) -> RecorderSettings:
        """``MS_RDR_ENABLE``, ``MS_RDR_MODE`` and ``MS_RDR_PATH``, or what the file says instead.

        The file is JSON, ``{"rdr": {"enable": true, "mode": 1, "path": "/abs/dir"}}``; without "rdr" in it
        the variables hold. ``config_path`` defaults to the ``env_config_path`` of MindSpore's context, if
        MindSpore is loaded. Raises ValueError for values that cannot be used and OSError for a file that
        cannot be read.
        """
        path = config_path or _context_path()
        if path and (section := _section(Path(path))) is not None:
            return cls._checked(section.get("enable", False), section.get("mode", 1), section.get("path"))
        enable, mode = environment.get("MS_RDR_ENABLE", "0"), environment.get("MS_RDR_MODE", "1")
        if enable not in ("0", "1") or mode not in ("1", "2"):
            raise ValueError(f"MS_RDR_ENABLE is 0 or 1 and MS_RDR_MODE 1 or 2, got {enable!r} and {mode!r}")
        return cls._checked(enable == "1", int(mode), environment.get("MS_RDR_PATH"))

    @classmethod
    def _checked(cls, enable: object, mode: Any, path: object) -> RecorderSettings:
        if not isinstance(enable, bool):
            raise ValueError(f"'enable' of the recorder is true or false, got {enable!r}")
        if path is not None and (not isinstance(path, str) or not Path(path).is_absolute()):
            raise ValueError(f"the path of the recorder is absolute, got {path!r}")
        return cls(enable, mode, None if path is None else Path(str(path)))


def _context_path() -> str | None:
    """The file named by ``mindspore.set_context(env_config_path=...)``."""
    if "mindspore" not in sys.modules:
        return None
    from mindinsight.writer.frameworks import mindspore

    return mindspore.env_config_path()


def _section(path: Path) -> Mapping[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    section = content.get("rdr") if isinstance(content, dict) else None
    if section is not None and not isinstance(section, dict):
        raise ValueError(f"'rdr' in {path} is an object, got {section!r}")
    return section
