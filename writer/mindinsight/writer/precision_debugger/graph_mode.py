"""Delegation of msprobe's configuration to the dump that MindSpore writes in graph mode."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from mindinsight.writer.capture.delegated_dump import delegate_dump
from mindinsight.writer.capture.dump_config import DumpConfig, parse_config
from mindinsight.writer.precision_debugger.probe_config import ProbeConfig

_NET: Final = "Net"
_SIDES: Final = {frozenset({"input"}): 1, frozenset({"output"}): 2}  # of data_mode -> input_output


def delegate(config: ProbeConfig) -> bool:
    """Leave MindSpore its configuration; False in PyNative mode, where calls can be recorded.

    Raises RuntimeError after the first compilation, and ConfigError for a path MindSpore refuses.
    """
    mindspore = import_module("mindinsight.writer.capture.mindspore.operators")
    if not mindspore.delegates():
        return False
    delegate_dump(dump_config(config), mindspore.has_compiled(), mindspore.device())
    return True


def dump_config(config: ProbeConfig) -> DumpConfig:
    """The keys of msprobe's configuration that MindSpore's own dump has, too."""
    settings: dict[str, Any] = {
        "path": str(config.dump_path),
        "net_name": _NET,
        "iteration": "|".join(map(str, sorted(config.steps))) or "all",
        "saved_data": "tensor" if config.saves_tensors else "statistic",
        "input_output": _SIDES.get(config.sides, 0),
        "op_debug_mode": 3 if config.task == "overflow_check" else 0,
    }
    if config.names:
        settings |= {"dump_mode": 1, "kernels": list(config.names)}
    return parse_config(settings)
