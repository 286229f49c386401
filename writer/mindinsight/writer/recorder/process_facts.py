"""Facts about the process: command, variables, versions, traceback."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from mindinsight.writer.encoding.json_numbers import json_number

_PACKAGES = ("mindinsight", "numpy", "protobuf", "mindspore", "torch", "jax", "jaxlib")
# Variables that say how a training runs; the rest of an environment may hold secrets.
_SETTINGS = ("MS_", "GLOG_", "RANK", "DEVICE_", "WORLD_SIZE", "LOCAL_RANK", "OMP_NUM_THREADS", "CUDA_VISIBLE")


def versions() -> dict[str, str]:
    """Python, the platform, and the packages of ours and of the frameworks that are installed."""
    installed = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return installed


def settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The command, the variables of training, and ``arguments``: plain values, objects by their type."""
    environment = {name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)}
    return {
        "command": sys.argv,
        "directory": os.getcwd(),  # noqa: PTH109 - may be gone, which Path.cwd() does not tell better
        "process": os.getpid(),
        "environment": environment,
        "arguments": {str(name): _plain(value) for name, value in arguments.items()},
        "versions": versions(),
    }


def failure(error: BaseException) -> str:
    """The traceback as Python prints it, with the errors it came from."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return f"{type(value).__module__}.{type(value).__qualname__}"
