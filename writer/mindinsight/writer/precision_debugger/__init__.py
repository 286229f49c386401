"""Recorder of dumps in msprobe's layout: names, statistics and tensors of calls and modules."""

from mindinsight.writer.precision_debugger.debugger import PrecisionDebugger
from mindinsight.writer.precision_debugger.seeds import seed_all
from mindinsight.writer.precision_debugger.step_callback import MsprobeStep

__all__ = ["MsprobeStep", "PrecisionDebugger", "seed_all"]
