"""Features that MindSpore's environment variables switch on; their modules are loaded only then."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mindinsight.writer.recorder.recorder import Run

_log: Final = logging.getLogger(__name__)


def configure_logging() -> None:
    """Logging as ``GLOG_*`` and ``logger_*`` say, if there are any; a wrong value is a warning."""
    if any(name.startswith(("GLOG_", "logger_")) for name in os.environ):
        from mindinsight.writer import log

        try:
            log.configure()
        except (ValueError, OSError) as error:  # no reason not to train
            _log.warning("messages go where they went before: %s", error)


def run_data_recorder(run: Run, error: BaseException | None) -> None:
    """The Running Data Recorder for a run that ended with ``error`` or well, if it is switched on."""
    if os.environ.get("MS_RDR_ENABLE", "0") != "0" or "mindspore" in sys.modules:  # or by its context
        from mindinsight.writer.recorder import leave_if_asked

        leave_if_asked(run, error)
