"""Classification of tensors as targets of rules: tensor, weight, gradient, activation."""

import re
from collections.abc import Collection, Iterable
from typing import Final, Literal, TypeAlias

from mindinsight.server.claims import Claim
from mindinsight.server.debug.conditions import Target
from mindinsight.server.debug.operator_links import is_constant, is_view
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

ParameterKind: TypeAlias = Literal["weight", "state", "data"]

ACTIVATIONS: Final = frozenset(
    [
        "celu", "elu", "fastgelu", "fast_gelu", "gelu", "hardsigmoid", "hardswish", "hardtanh",
        "hshrink", "hsigmoid", "hswish", "leakyrelu", "leaky_relu", "logsigmoid", "logsoftmax",
        "log_softmax", "mish", "prelu", "relu", "relu6", "reluv2", "seluext", "selu", "sigmoid", "silu",
        "softmax", "softplus", "softsign", "swish", "tanh",
    ]
)  # fmt: skip
# Optimizers name their state by a prefix and the weight: moments.conv1.weight.
_STATE: Final = re.compile(
    r"(?:adam_[mv]|lamb_[mv]|moments?\d?|moment_[12]|accum(?:_update)?|accu_grads|grad_accumulation|velocity"
    r"|vhat|mean_square|mean_grad|square_avg|(?:max_)?exp_avg(?:_sq)?|exp_inf|step_size|momentum_buf)[._/]",
    re.I,
)
# These prefixes can be layers too: linear.weight is a weight, linear.fc1.weight the state of fc1.weight.
_STATE_OR_LAYER: Final = re.compile(r"(?:linear|stat|prev|ax_?)[._/](?P<weight>.+[._/].+)", re.I)
_WEIGHT: Final = re.compile(r"(^|[._/])(weight|bias|gamma|beta|embedding_table)$", re.I)
_SHIFT: Final = re.compile(r"(^|[._/])(bias|beta)$", re.I)  # parameters that start with zeros by design
_GRADIENT: Final = re.compile(r"^gradients[/_]|(^|\.)(backward|parameters_grad)(\.|$)", re.I)


def targets(
    entry: TensorEntry, parameters: Collection[str] = (), forward: Collection[tuple[str, str]] = ()
) -> frozenset[Target]:
    """Return the classes of a tensor, of "tensor", "weight", "gradient" and "activation". Network inputs,
    constants and inputs of operators have none.

    ``parameters`` are the names of all parameters of the step (see ``parameter_names`` and ``is_state``).
    ``forward`` are the operators of the backward pass that return no gradients (see ``forward_views``).
    """
    if entry.direction not in ("output", "parameter"):
        return _NOTHING
    if is_gradient(entry):  # a constant that the backward pass fills in, as where does, is none
        viewed = (entry.graph, entry.operator) in forward
        return _OUTPUT if viewed or is_constant(entry.type) else _GRADIENT_OUTPUT
    if entry.direction == "parameter":
        named = any(is_weight(name, parameters) for name in (entry.operator, entry.slot))
        return _WEIGHT_ONLY if named and not is_state(entry.operator, parameters) else _NOTHING
    return _ACTIVATION_OUTPUT if is_activation(entry.type) else _OUTPUT


def tensor_in_words(entry: TensorEntry) -> str | Claim:
    """Return the name of a tensor for a sentence: a parameter's, or operator, direction and slot."""
    if entry.type == "Parameter":
        return entry.operator
    values = {"operator": entry.operator, "slot": entry.slot}
    return Claim(
        "claim.part.tensor", "note", values | {"side": Claim(f"dump.direction.{entry.direction}", "note")}
    )


def is_discrete(entry: TensorEntry) -> bool:
    """Return True if the values of a tensor are integers or flags."""
    return entry.dtype == "bool" or "int" in entry.dtype


def is_gradient(entry: TensorEntry) -> bool:
    """Return True if a tensor belongs to an operator of a backward pass."""
    return is_backward(entry.operator) or is_backward(entry.recorded)


def is_backward(name: str) -> bool:
    """Return True if an operator with this name, full or as recorded, is one of a backward pass."""
    return bool(_GRADIENT.search(name))


def forward_views(operators: Iterable[Operator]) -> frozenset[tuple[str, str]]:
    """Return the graph and the name of each operator of the backward pass that views a forward value. A
    transposed weight is an example. ``operators`` are those of a step, in execution order."""
    views: set[tuple[str, str]] = set()
    for operator in operators:
        if len(operator.sources) == 1 and is_view(operator.type) and is_backward(operator.name):
            source = operator.sources[0]
            if (operator.graph, source) in views or not is_backward(source):
                views.add((operator.graph, operator.name))
    return frozenset(views)


def is_update(entry: TensorEntry) -> bool:
    """Return True if a tensor belongs to an operator of an optimizer."""
    return is_optimizer(entry.operator)


def is_optimizer(name: str) -> bool:
    """Return True if a scope or the full name of an operator belongs to an optimizer."""
    return "optimizer-" in name


def parameter_names(entries: Iterable[TensorEntry]) -> frozenset[str]:
    """Return the names of the parameters among the tensors."""
    return frozenset(entry.operator for entry in entries if entry.direction == "parameter")


def is_weight(name: str, parameters: Collection[str] = ()) -> bool:
    """Return True if a parameter has the name of a weight and not of an optimizer's state."""
    return bool(_WEIGHT.search(name)) and not is_state(name, parameters)


def is_shift(name: str) -> bool:
    """Return True if a parameter has the name of a bias."""
    return bool(_SHIFT.search(name))


def is_state(name: str, parameters: Collection[str] = ()) -> bool:
    """Return True if a parameter is the state of an optimizer: a prefix followed by the name of a weight.
    A prefix that can also be a layer (``linear``) counts if the rest is one of ``parameters``, or if these
    are unknown."""
    if _STATE.match(name):
        return True
    layer = _STATE_OR_LAYER.fullmatch(name)
    return bool(layer and (not parameters or layer["weight"] in parameters))


def parameter_kind(name: str, parameters: Collection[str]) -> ParameterKind:
    """Return the kind of a parameter by its name: "weight", "state" of an optimizer, or "data"."""
    if is_state(name, parameters):
        return "state"
    return "weight" if is_weight(name, parameters) else "data"


def is_activation(operator_type: str) -> bool:
    """Return True if the last part of an operator type (``ReLU``, ``Functional.relu``) is an activation
    function."""
    return operator_type.rpartition(".")[2].lower() in ACTIVATIONS


_NOTHING: Final[frozenset[Target]] = frozenset()
_OUTPUT: Final[frozenset[Target]] = frozenset({"tensor"})
_ACTIVATION_OUTPUT: Final[frozenset[Target]] = frozenset({"tensor", "activation"})
_GRADIENT_OUTPUT: Final[frozenset[Target]] = frozenset({"tensor", "gradient"})
_WEIGHT_ONLY: Final[frozenset[Target]] = frozenset({"weight"})
