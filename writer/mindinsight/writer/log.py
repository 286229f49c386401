"""Logging configuration of the writer, by the environment variables of MindSpore's logging.

========================  ==================================================================  ========
variable                  meaning                                                             default
========================  ==================================================================  ========
GLOG_v                    lowest level: 0 DEBUG, 1 INFO, 2 WARNING, 3 ERROR, 4 CRITICAL        2
GLOG_logtostderr          1: to the screen, 0: to files                                        1
GLOG_log_dir              directory of the files, ``<dir>/rank_<N>/logs/``. Letters, digits,   none
                          ``-``, ``_`` and ``/``. Required for files
GLOG_stderrthreshold      lowest level that is also shown on the screen if there are files     2
logger_maxBytes           size at which a file is rolled over, in bytes                        52428800
logger_backupCount        number of rolled files that are kept                                 30
========================  ==================================================================  ========
"""

from __future__ import annotations

import logging
import logging.handlers
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

from mindinsight.writer.files.event_file import private_folder
from mindinsight.writer.ranks import rank_of

VARIABLES = (
    "GLOG_v",
    "GLOG_logtostderr",
    "GLOG_log_dir",
    "GLOG_stderrthreshold",
    "logger_maxBytes",
    "logger_backupCount",
)
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_LINE = (
    "[%(levelname)s] %(name)s(%(process)d,%(processName)s):%(asctime)s.%(msecs)03d"
    " [%(filename)s:%(lineno)d] %(message)s"
)


@dataclass(frozen=True)
class LogSettings:
    """Log settings of the environment variables: levels, and directory, size and number of files."""

    level: int = logging.WARNING
    directory: Path | None = None  # None: to the screen
    screen_level: int = logging.WARNING  # when there are files
    max_bytes: int = 50 << 20
    backups: int = 30

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> LogSettings:
        """Return the settings in ``environment``. Raises ValueError with the name of an invalid variable."""
        to_files = _number(environment, "GLOG_logtostderr", 1, largest=1) == 0
        return cls(
            _LEVELS[_number(environment, "GLOG_v", 2, largest=4)],
            _directory(environment) if to_files else None,
            _LEVELS[_number(environment, "GLOG_stderrthreshold", 2, largest=4)],
            _number(environment, "logger_maxBytes", cls.max_bytes),
            _number(environment, "logger_backupCount", cls.backups),
        )


def configure(environment: Mapping[str, str] = os.environ, logger_name: str = "mindinsight") -> None:
    """Configure the logger ``logger_name`` by the variables. Without any of them do nothing. Raises
    ValueError for an invalid value and OSError for a directory that cannot be written. A later call
    replaces the configuration."""
    if not any(name in environment for name in VARIABLES):
        return
    settings = LogSettings.of(environment)
    handlers = _handlers(settings, rank_of(environment).number)
    logger = logging.getLogger(logger_name)
    for handler in [handler for handler in logger.handlers if handler.get_name() == __name__]:
        logger.removeHandler(handler)
        handler.close()
    for handler in handlers:
        handler.set_name(__name__)
        handler.setFormatter(logging.Formatter(_LINE, "%Y-%m-%d-%H:%M:%S"))
        logger.addHandler(handler)
    logger.setLevel(settings.level)
    logger.propagate = False  # or a program's own handlers would show each line twice


def _handlers(settings: LogSettings, rank: int) -> list[logging.Handler]:
    screen = logging.StreamHandler()
    if settings.directory is None:
        return [screen]
    screen.setLevel(settings.screen_level)
    directory = private_folder(settings.directory / f"rank_{rank}" / "logs")
    path = directory / f"mindinsight.log.{os.getpid()}"
    return [screen, _PrivateRotatingFile(path, "a", settings.max_bytes, settings.backups, "utf-8")]


class _PrivateRotatingFile(logging.handlers.RotatingFileHandler):
    """Rotating log file with mode 0600, also after a rollover."""

    def _open(self) -> TextIOWrapper:
        file = super()._open()
        Path(self.baseFilename).chmod(0o600)
        return file


def _number(environment: Mapping[str, str], name: str, default: int, largest: int | None = None) -> int:
    text = environment.get(name, str(default))
    if not text.isdecimal() or (largest is not None and int(text) > largest):
        span = "0 or more" if largest is None else f"0 to {largest}"
        raise ValueError(f"{name} must be a number, {span}, got {text!r}")
    return int(text)


def _directory(environment: Mapping[str, str]) -> Path:
    text = environment.get("GLOG_log_dir", "")
    if not re.fullmatch(r"[A-Za-z0-9_/-]+", text):
        raise ValueError(f"GLOG_log_dir must be a path of letters, digits, '-', '_' and '/', got {text!r}")
    return Path(text)
