"""Names without what frameworks dress them with, so that MindSpore and PyTorch speak of the same thing."""

from __future__ import annotations

import re
from typing import Final

# Naming of msprobe: Cell.fc1.Dense.forward.0, Functional.add.0.forward, Primitive.matmul.MatMul.0.forward.
_MODULE: Final = re.compile(
    r"(?:Cell|Module)\.(?P<path>.+)\.[^.]+\.(?P<way>forward|backward|parameters_grad)\.(?P<n>\d+)"
)
_API: Final = re.compile(r"[A-Za-z]+\.(?P<api>.+)\.(?P<n>\d+)\.(?P<way>forward|backward)")
_NUMBER: Final = re.compile(r"-op\d+")
_PARAMETERS: Final = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}


def plain_name(name: str) -> str:
    """A name without class names, prefixes of APIs and numbers of operators.

    ``Cell.fc1.Dense.forward.0`` and ``Module.fc1.Linear.forward.0`` are one, ``Functional.add.0.forward``
    and ``Torch.add.0.forward`` too, and ``x/TopK-op0`` and ``x/TopK-op1``.
    """
    if module := _MODULE.fullmatch(name):
        return f"{module['path']}.{module['way']}.{module['n']}"
    if api := _API.fullmatch(name):
        return f".{api['api'].rpartition('.')[2].lower()}.{api['way']}.{api['n']}"
    return _NUMBER.sub("", name)


def plain_parameter(name: str) -> str:
    """The name PyTorch has for a parameter of a layer: ``gamma`` of MindSpore is its ``weight``."""
    return _PARAMETERS.get(name, name)
