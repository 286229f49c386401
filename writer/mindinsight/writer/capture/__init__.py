"""Recorders of dumps: they capture the tensors of a training loop operator by operator."""

from mindinsight.writer.capture.dump_recorder import DumpRecorder
from mindinsight.writer.capture.flight_recorder import FlightRecorder, TrainingFaultError

__all__ = ["DumpRecorder", "FlightRecorder", "TrainingFaultError"]
