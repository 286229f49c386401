"""Recorder of dumps in msprobe's layout: names, statistics and tensors of calls and modules."""

from mindinsight.writer.precision_debugger.debugger import MsprobeStep, PrecisionDebugger, seed_all

__all__ = ["MsprobeStep", "PrecisionDebugger", "seed_all"]
