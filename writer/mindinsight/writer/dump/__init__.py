"""Tensors of single operators on disk, for a debugger."""

from mindinsight.writer.dump.dump import Dump, DumpStep

__all__ = ["Dump", "DumpStep"]
