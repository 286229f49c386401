"""Training-side API: recorders, callbacks, metrics, operators and dumps."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mindinsight.writer.callbacks import Callback as Callback
    from mindinsight.writer.callbacks import CallbackList as CallbackList
    from mindinsight.writer.callbacks import CheckpointConfig as CheckpointConfig
    from mindinsight.writer.callbacks import KeepBest as KeepBest
    from mindinsight.writer.callbacks import LossMonitor as LossMonitor
    from mindinsight.writer.callbacks import ModelCheckpoint as ModelCheckpoint
    from mindinsight.writer.callbacks import RunArguments as RunArguments
    from mindinsight.writer.callbacks import RunContext as RunContext
    from mindinsight.writer.callbacks import StopAfterTime as StopAfterTime
    from mindinsight.writer.callbacks import TimeMonitor as TimeMonitor
    from mindinsight.writer.collector import SummaryCollector as SummaryCollector
    from mindinsight.writer.graph import GraphBuilder as GraphBuilder
    from mindinsight.writer.hyper_config import HyperConfig as HyperConfig
    from mindinsight.writer.landscape import SummaryLandscape as SummaryLandscape
    from mindinsight.writer.metrics import F1 as F1
    from mindinsight.writer.metrics import Accuracy as Accuracy
    from mindinsight.writer.metrics import Fbeta as Fbeta
    from mindinsight.writer.metrics import Loss as Loss
    from mindinsight.writer.metrics import Metric as Metric
    from mindinsight.writer.metrics import Precision as Precision
    from mindinsight.writer.metrics import Recall as Recall
    from mindinsight.writer.network import graph_of as graph_of
    from mindinsight.writer.operators import HistogramSummary as HistogramSummary
    from mindinsight.writer.operators import ImageSummary as ImageSummary
    from mindinsight.writer.operators import Print as Print
    from mindinsight.writer.operators import ScalarSummary as ScalarSummary
    from mindinsight.writer.operators import TensorSummary as TensorSummary
    from mindinsight.writer.operators import record_gradients as record_gradients
    from mindinsight.writer.program import program_facts as program_facts
    from mindinsight.writer.record import SummaryRecord as SummaryRecord
    from mindinsight.writer.recorders.dump import Dump as Dump
    from mindinsight.writer.recorders.dump_recorder import DumpRecorder as DumpRecorder
    from mindinsight.writer.recorders.flight_recorder import FlightRecorder as FlightRecorder
    from mindinsight.writer.recorders.flight_recorder import TrainingFaultError as TrainingFaultError
    from mindinsight.writer.recorders.precision_debugger import MsprobeStep as MsprobeStep
    from mindinsight.writer.recorders.precision_debugger import PrecisionDebugger as PrecisionDebugger
    from mindinsight.writer.recorders.precision_debugger import seed_all as seed_all
    from mindinsight.writer.recorders.running_data_recorder import RecorderSettings as RecorderSettings
    from mindinsight.writer.recorders.running_data_recorder import RunningDataRecorder as RunningDataRecorder
    from mindinsight.writer.summary_writer import SummaryWriter as SummaryWriter

# Module -> public names. Looked up when used: a loop that records scalars does not load the other modules.
_NAMES: Final = {
    "callbacks": "Callback CallbackList CheckpointConfig KeepBest LossMonitor ModelCheckpoint RunArguments"
    " RunContext StopAfterTime TimeMonitor",
    "collector": "SummaryCollector",
    "graph": "GraphBuilder",
    "hyper_config": "HyperConfig",
    "landscape": "SummaryLandscape",
    "metrics": "F1 Accuracy Fbeta Loss Metric Precision Recall",
    "network": "graph_of",
    "operators": "HistogramSummary ImageSummary Print ScalarSummary TensorSummary record_gradients",
    "program": "program_facts",
    "record": "SummaryRecord",
    "recorders.dump": "Dump",
    "recorders.dump_recorder": "DumpRecorder",
    "recorders.flight_recorder": "FlightRecorder TrainingFaultError",
    "recorders.precision_debugger": "MsprobeStep PrecisionDebugger seed_all",
    "recorders.running_data_recorder": "RecorderSettings RunningDataRecorder",
    "summary_writer": "SummaryWriter",
}
_HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
