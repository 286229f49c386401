"""The Running Data Recorder."""

from mindinsight.writer.recorder.recorder import RunningDataRecorder, leave_if_asked
from mindinsight.writer.recorder.settings import RecorderSettings

__all__ = ["RecorderSettings", "RunningDataRecorder", "leave_if_asked"]
