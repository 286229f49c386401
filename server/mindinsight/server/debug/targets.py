"""What a tensor is to a rule: any tensor, a weight, a gradient, an activation."""

from __future__ import annotations

import re
from typing import Final

from mindinsight.server.debug.conditions import Target
from mindinsight.server.formats.dumps.types import TensorEntry

ACTIVATIONS: Final = frozenset(
    [
        "celu", "elu", "fastgelu", "fast_gelu", "gelu", "hardsigmoid", "hardswish", "hardtanh",
        "hshrink", "hsigmoid", "hswish", "leakyrelu", "leaky_relu", "logsigmoid", "logsoftmax",
        "log_softmax", "mish", "prelu", "relu", "relu6", "reluv2", "seluext", "selu", "sigmoid", "silu",
        "softmax", "softplus", "softsign", "swish", "tanh",
    ]
)  # fmt: skip
# What optimizers keep beside a weight carries its name too: moments.conv1.weight, accum.fc.bias.
_STATE: Final = re.compile(r"(adam_)?(moments?\d?|accum|velocity|vhat|square_avg|exp_avg)[._]", re.I)
_WEIGHT: Final = re.compile(r"(^|[._/])(weight|bias|gamma|beta|embedding_table)$", re.I)
_GRADIENT: Final = re.compile(r"^gradients[/_]|(^|\.)(backward|parameters_grad)(\.|$)", re.I)


def targets(entry: TensorEntry) -> frozenset[Target]:
    """The classes a tensor belongs to; network inputs, constants and inputs of operators to none."""
    if entry.direction not in ("output", "parameter"):
        return _NOTHING
    if _GRADIENT.search(entry.operator) or _GRADIENT.search(entry.recorded):
        return _GRADIENT_OUTPUT
    if entry.direction == "parameter":
        return _WEIGHT_ONLY if is_weight(entry) else _NOTHING
    return _ACTIVATION_OUTPUT if is_activation(entry.type) else _OUTPUT


def is_weight(entry: TensorEntry) -> bool:
    """A parameter named as weights are, and not an optimizer's state."""
    if _STATE.match(entry.operator):
        return False
    return any(_WEIGHT.search(name) for name in (entry.operator, entry.slot))


def is_activation(operator_type: str) -> bool:
    """``ReLU``, ``Functional.relu``: the last part of the type decides."""
    return operator_type.rpartition(".")[2].lower() in ACTIVATIONS


_NOTHING: Final[frozenset[Target]] = frozenset()
_OUTPUT: Final[frozenset[Target]] = frozenset({"tensor"})
_ACTIVATION_OUTPUT: Final[frozenset[Target]] = frozenset({"tensor", "activation"})
_GRADIENT_OUTPUT: Final[frozenset[Target]] = frozenset({"tensor", "gradient"})
_WEIGHT_ONLY: Final[frozenset[Target]] = frozenset({"weight"})
