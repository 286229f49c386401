"""Delegation of a dump to MindSpore's graph mode, by its own configuration file."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.capture.dump_config import VARIABLE, ConfigError, DumpConfig

_log: Final = logging.getLogger(__name__)

_FILE: Final = "data_dump.json"


def delegate_dump(
    config: DumpConfig, compiled: bool, device: str, environment: MutableMapping[str, str] = os.environ
) -> Path:
    """Write MindSpore's configuration and name it in its variable; the file that holds.

    MindSpore reads the variable when it compiles the first graph, so ``compiled`` has to be False: raises
    RuntimeError otherwise. A file that the variable names already holds as it is, unless it asks for another
    dump. Raises ConfigError for what MindSpore refuses.
    """
    present = environment.get(VARIABLE, "")
    if present and _is_file_of(present, config):
        _log.info("MindSpore writes this dump itself, as %s says", present)
        return Path(present)
    if compiled:
        raise RuntimeError(
            "MindSpore has compiled a graph already, and read its dump configuration then: start the "
            f"recorder before the first step, or set {VARIABLE} before the program begins"
        )
    if not re.fullmatch(r"[A-Za-z0-9_/-]+", str(config.path)):
        raise ConfigError(
            f"in path MindSpore takes letters, digits, '-', '_' and '/', got {str(config.path)!r}"
        )
    config.path.mkdir(parents=True, exist_ok=True)
    file = config.path / _FILE
    file.write_text(json.dumps(settings_of(config, device), indent=2), encoding="utf-8")
    environment[VARIABLE] = str(file)
    _log.warning("in graph mode MindSpore writes the dump itself: its configuration is %s", file)
    return file


def settings_of(config: DumpConfig, device: str) -> dict[str, Any]:
    """A configuration as MindSpore 2.10 reads it. On the CPU it writes tensors only, without statistics."""
    saved = "tensor" if device == "CPU" else config.saved_data
    if saved != config.saved_data:
        _log.warning("on the CPU MindSpore writes tensors, not saved_data %s", config.saved_data)
    common: dict[str, Any] = {
        "op_debug_mode": config.op_debug_mode,
        "dump_mode": config.dump_mode,
        "path": str(config.path),
        "net_name": config.net_name,
        "iteration": config.iteration,
        "saved_data": saved,
        "input_output": config.input_output,
        "kernels": list(config.kernels),
        "support_device": list(range(8)),
        "initial_iteration": config.initial_iteration,
    }
    if saved != "tensor":
        common["statistic_category"] = list(config.statistic_category)
    if config.op_debug_mode == 3:
        common["overflow_number"] = config.overflow_number
    return {"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}


def _is_file_of(path: str, config: DumpConfig) -> bool:
    try:
        return Path(path).read_text(encoding="utf-8") == config.source
    except OSError:
        return False
