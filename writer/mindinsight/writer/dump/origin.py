"""Framework and device that a dumped tensor comes from, told without importing the framework."""

from __future__ import annotations

import sys
from typing import Any, Final, NamedTuple

_NAMES: Final = {"torch": "pytorch", "jaxlib": "jax"}  # package -> name of the framework, where they differ
_DEVICES: Final = {"cuda": "GPU", "rocm": "GPU", "npu": "Ascend"}  # MindSpore's names of devices


class Origin(NamedTuple):
    """Framework and device of a tensor."""

    framework: str  # mindspore, pytorch, jax, numpy, ...
    version: str
    device: str  # CPU, GPU, Ascend or what the framework calls it, in capitals


def origin_of(value: object) -> Origin:
    """The framework of ``value`` by the package of its class, or a base of it; numbers count for NumPy."""
    packages = [cls.__module__.partition(".")[0] for cls in type(value).__mro__]
    package = next((name for name in packages if name in ("mindspore", "torch", "jax", "jaxlib")), "numpy")
    framework = _NAMES.get(package, package)
    module = sys.modules.get("jax" if framework == "jax" else package)
    version = str(getattr(module, "__version__", "")).partition("+")[0]
    return Origin(framework, version, _device(framework, module, value))


def _device(framework: str, module: Any, value: Any) -> str:
    name = "cpu"
    if framework == "pytorch":
        name = value.device.type
    elif framework == "jax" and hasattr(value, "devices"):
        name = next(iter(value.devices())).platform
    elif framework == "mindspore":
        return str(module.get_context("device_target"))
    return _DEVICES.get(name, name.upper())
