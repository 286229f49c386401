"""Callbacks of a training loop."""

from mindinsight.writer.callbacks.callback import Callback, CallbackList, RunArguments, RunContext
from mindinsight.writer.callbacks.checkpoints import CheckpointConfig, KeepBest, ModelCheckpoint
from mindinsight.writer.callbacks.monitors import LossMonitor, StopAfterTime, TimeMonitor

__all__ = [
    "Callback",
    "CallbackList",
    "CheckpointConfig",
    "KeepBest",
    "LossMonitor",
    "ModelCheckpoint",
    "RunArguments",
    "RunContext",
    "StopAfterTime",
    "TimeMonitor",
]
