"""Callbacks of a training loop."""

from mindinsight.writer.callbacks.base import Callback
from mindinsight.writer.callbacks.best import KeepBest
from mindinsight.writer.callbacks.checkpoint_config import CheckpointConfig
from mindinsight.writer.callbacks.checkpoints import ModelCheckpoint
from mindinsight.writer.callbacks.context import RunArguments, RunContext
from mindinsight.writer.callbacks.loop import CallbackList
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
