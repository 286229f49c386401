"""Dump of the tensors of single operators, for a debugger."""

from mindinsight.writer.dump.dump import Dump, DumpStep

__all__ = ["Dump", "DumpStep"]
