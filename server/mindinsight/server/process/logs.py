"""Logs of the server, set up by MindSpore's variables: GLOG_v, GLOG_log_dir, GLOG_logtostderr, ...

Unlike in a training script the default is a file, at level INFO, as nobody watches the screen of a server.
"""

import logging
import os
import sys
import time
from io import FileIO, TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from mindinsight.server.errors import bad_settings, os_reason
from mindinsight.server.files.own_files import open_own
from mindinsight.server.settings import Settings

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_FORMAT = "[%(levelname)s] MI(%(process)d:%(threadName)s):%(asctime)s [%(name)s:%(lineno)d] %(message)s"
REPEAT_SECONDS = 60.0  # in which at most `REPEATS` messages of one place in the code are written
REPEATS = 5  # enough to see a pattern


def file_of(settings: Settings) -> Path:
    """Return the path of the log file, in `GLOG_log_dir` or below the workspace."""
    folder = os.environ.get("GLOG_log_dir")  # noqa: SIM112
    return (Path(folder) if folder else settings.log_dir) / f"mindinsight.{settings.port}.log"


def configure(settings: Settings) -> Path:
    """Set up the log of this process from the environment and return its file. Raises BadSettings if the file
    cannot be written or belongs to another user."""
    path = file_of(settings)
    for folder in (settings.workspace, path.parent):  # the mode is for the last part of a path only
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    largest, count = _number("logger_maxBytes", 50 * 1024 * 1024), _number("logger_backupCount", 30)
    try:
        file = PrivateFile(path, maxBytes=largest, backupCount=count, encoding="utf-8")
    except OSError as error:
        raise bad_settings("log", path=path, why=os_reason(error)) from error
    screen = logging.StreamHandler(sys.stderr)
    everything = os.environ.get("GLOG_logtostderr") == "1"  # noqa: SIM112
    screen.setLevel(logging.NOTSET if everything else _level("GLOG_stderrthreshold", 3))
    for output in (file, screen):
        output.setFormatter(logging.Formatter(_FORMAT))
        output.addFilter(Repeated())
        output.addFilter(OneLine())
    logging.basicConfig(level=_level("GLOG_v", 1), handlers=[file, screen], force=True)
    return path


def leave_screen() -> None:
    """Stop logging to the screen, because a background server has started."""
    root = logging.getLogger()
    for output in list(root.handlers):
        if not isinstance(output, PrivateFile):
            root.removeHandler(output)


class PrivateFile(RotatingFileHandler):
    """Rotating log file that only its user can read."""

    def _open(self) -> TextIOWrapper:
        handle = open_own(Path(self.baseFilename), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return TextIOWrapper(FileIO(handle, "a"), encoding="utf-8", write_through=True)


class OneLine(logging.Filter):
    """Filter that keeps a message on one line, so that a name in a file cannot imitate another message."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Escape line breaks in the message, and return True: the record is logged."""
        record.msg = record.getMessage().replace("\r", "\\r").replace("\n", "\\n")
        record.args = None
        return True


class Repeated(logging.Filter):
    """Logging filter that limits the rate of warnings. Logs a few per minute of each line of code, then the
    number suppressed."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[tuple[str, int], tuple[float, int]] = {}  # start of the minute and count by place

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a warning from a line of code that has logged `REPEATS` within
        `REPEAT_SECONDS`. The first warning after that time names the number suppressed. Records below a
        warning always pass."""
        if record.levelno < logging.WARNING:
            return True
        origin = (record.pathname, record.lineno)
        now = time.monotonic()
        start, count = self._counts.get(origin, (now, 0))
        if now - start >= REPEAT_SECONDS:
            if count > REPEATS and not record.__dict__.setdefault("counted", False):  # by another handler
                record.counted = True
                record.msg = f"{record.msg} ({count - REPEATS} more from here were not written)"
            start, count = now, 0
        self._counts[origin] = (start, count + 1)
        return count < REPEATS


def _level(name: str, default: int) -> int:
    return _LEVELS[min(_number(name, default), len(_LEVELS) - 1)]


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else default
