"""Training-side API: recorders, callbacks, metrics, operators and dumps."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mindinsight.writer.callbacks import (
        Callback,
        CallbackList,
        CheckpointConfig,
        KeepBest,
        LossMonitor,
        ModelCheckpoint,
        RunArguments,
        RunContext,
        StopAfterTime,
        TimeMonitor,
    )
    from mindinsight.writer.collector import SummaryCollector
    from mindinsight.writer.graph import GraphBuilder
    from mindinsight.writer.hyper_config import HyperConfig
    from mindinsight.writer.landscape import SummaryLandscape
    from mindinsight.writer.metrics import F1, Accuracy, Fbeta, Loss, Metric, Precision, Recall
    from mindinsight.writer.network import graph_of
    from mindinsight.writer.operators import (
        HistogramSummary,
        ImageSummary,
        Print,
        ScalarSummary,
        TensorSummary,
        record_gradients,
    )
    from mindinsight.writer.record import SummaryRecord
    from mindinsight.writer.recorders.dump import Dump
    from mindinsight.writer.recorders.dump_recorder import DumpRecorder
    from mindinsight.writer.recorders.flight_recorder import FlightRecorder, TrainingFaultError
    from mindinsight.writer.recorders.precision_debugger import MsprobeStep, PrecisionDebugger, seed_all
    from mindinsight.writer.recorders.running_data_recorder import RecorderSettings, RunningDataRecorder
    from mindinsight.writer.summary_writer import SummaryWriter

# Public name -> its module. Looked up when used: a loop that records scalars does not load the rest.
_HOMES: Final = {
    "Accuracy": "metrics",
    "Callback": "callbacks",
    "CallbackList": "callbacks",
    "CheckpointConfig": "callbacks",
    "Dump": "recorders.dump",
    "DumpRecorder": "recorders.dump_recorder",
    "F1": "metrics",
    "Fbeta": "metrics",
    "FlightRecorder": "recorders.flight_recorder",
    "GraphBuilder": "graph",
    "HistogramSummary": "operators",
    "HyperConfig": "hyper_config",
    "ImageSummary": "operators",
    "KeepBest": "callbacks",
    "Loss": "metrics",
    "LossMonitor": "callbacks",
    "Metric": "metrics",
    "ModelCheckpoint": "callbacks",
    "MsprobeStep": "recorders.precision_debugger",
    "Precision": "metrics",
    "PrecisionDebugger": "recorders.precision_debugger",
    "Print": "operators",
    "Recall": "metrics",
    "RecorderSettings": "recorders.running_data_recorder",
    "RunArguments": "callbacks",
    "RunContext": "callbacks",
    "RunningDataRecorder": "recorders.running_data_recorder",
    "ScalarSummary": "operators",
    "StopAfterTime": "callbacks",
    "SummaryCollector": "collector",
    "SummaryLandscape": "landscape",
    "SummaryRecord": "record",
    "SummaryWriter": "summary_writer",
    "TensorSummary": "operators",
    "TimeMonitor": "callbacks",
    "TrainingFaultError": "recorders.flight_recorder",
    "graph_of": "network",
    "record_gradients": "operators",
    "seed_all": "recorders.precision_debugger",
}

__all__ = [
    "F1",
    "Accuracy",
    "Callback",
    "CallbackList",
    "CheckpointConfig",
    "Dump",
    "DumpRecorder",
    "Fbeta",
    "FlightRecorder",
    "GraphBuilder",
    "HistogramSummary",
    "HyperConfig",
    "ImageSummary",
    "KeepBest",
    "Loss",
    "LossMonitor",
    "Metric",
    "ModelCheckpoint",
    "MsprobeStep",
    "Precision",
    "PrecisionDebugger",
    "Print",
    "Recall",
    "RecorderSettings",
    "RunArguments",
    "RunContext",
    "RunningDataRecorder",
    "ScalarSummary",
    "StopAfterTime",
    "SummaryCollector",
    "SummaryLandscape",
    "SummaryRecord",
    "SummaryWriter",
    "TensorSummary",
    "TimeMonitor",
    "TrainingFaultError",
    "graph_of",
    "record_gradients",
    "seed_all",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
