"""Recorders of dumps: they capture the tensors of a training loop operator by operator."""

from mindinsight.writer.capture.dump_recorder import DumpRecorder

__all__ = ["DumpRecorder"]
