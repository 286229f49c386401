"""A transformer as a list of operators, written as MindSpore writes graphs.

Every operator has a key by which it is known in edited copies of the network; the names in the file count
operators over the whole graph.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from mindinsight.proto.graph_pb2 import GraphProto

Shape: TypeAlias = tuple[int, ...]

WIDTH: Final = 512
ROOT: Final = "Default/network-WithLossCell/_backbone-GPT"


@dataclass(frozen=True)
class Operator:
    """An operator; inputs are keys of operators or names of parameters."""

    key: str  # identity, which is not written
    type: str
    scope: str
    inputs: tuple[str, ...]
    shape: Shape = (8, 128, WIDTH)
    attributes: tuple[tuple[str, int], ...] = ()


@dataclass
class Network:
    """Operators in file order, and the shapes of the parameters."""

    operators: list[Operator] = field(default_factory=list)
    parameters: dict[str, Shape] = field(default_factory=dict)

    def add(self, scope: str, key: str, kind: str, *inputs: str, shape: Shape = (8, 128, WIDTH)) -> str:
        """Append an operator; its key."""
        self.operators.append(Operator(f"{scope}:{key}", kind, scope, inputs, shape))
        return f"{scope}:{key}"

    def parameter(self, name: str, *shape: int) -> str:
        """Declare a parameter; its name."""
        self.parameters[name] = shape
        return name


def transformer(layers: int) -> Network:
    """A network of ``layers`` layers, forward, backward, and one optimizer step for each parameter."""
    network = Network()
    value = network.add(
        f"{ROOT}/wte-Embedding", "gather", "Gather", network.parameter("wte.table", 50257, WIDTH)
    )
    for layer in range(layers):
        value = _layer(network, layer, value)
    value = _norm(network, f"{ROOT}/ln_f-LayerNorm", "ln_f", value)
    value = network.add(f"{ROOT}/head-Dense", "matmul", "MatMul", value, "wte.table", shape=(1024, 50257))
    network.add("Default/network-WithLossCell/_loss_fn", "loss", "SoftmaxCrossEntropy", value, shape=())
    _backward(network)
    return network


def _layer(network: Network, layer: int, value: str) -> str:
    scope, name = f"{ROOT}/blocks-CellList/{layer}-Block", f"blocks.{layer}"
    normed = _norm(network, f"{scope}/ln_1-LayerNorm", f"{name}.ln_1", value)
    heads = []
    for head in ("query", "key", "value"):
        projected = _dense(network, f"{scope}/attention/{head}-Dense", f"{name}.attention.{head}", normed, 1)
        heads.append(network.add(f"{scope}/attention", f"split_{head}", "Transpose", projected))
    scores = network.add(f"{scope}/attention", "scores", "BatchMatMul", *heads[:2], shape=(8, 8, 128, 128))
    scores = network.add(f"{scope}/attention", "scale", "Mul", scores, shape=(8, 8, 128, 128))
    scores = network.add(f"{scope}/attention", "mask", "Add", scores, shape=(8, 8, 128, 128))
    scores = network.add(f"{scope}/attention", "softmax", "Softmax", scores, shape=(8, 8, 128, 128))
    mixed = network.add(f"{scope}/attention", "mix", "BatchMatMul", scores, heads[2])
    mixed = _dense(network, f"{scope}/attention/out-Dense", f"{name}.attention.out", mixed, 1)
    value = network.add(scope, "residual_1", "Add", value, mixed)
    normed = _norm(network, f"{scope}/ln_2-LayerNorm", f"{name}.ln_2", value)
    wide = _dense(network, f"{scope}/mlp/up-Dense", f"{name}.mlp.up", normed, 4)
    wide = network.add(f"{scope}/mlp", "gelu", "GeLU", wide, shape=(8, 128, 4 * WIDTH))
    narrow = _dense(network, f"{scope}/mlp/down-Dense", f"{name}.mlp.down", wide, 1)
    return network.add(scope, "residual_2", "Add", value, narrow)


def _norm(network: Network, scope: str, name: str, value: str) -> str:
    gamma, beta = (network.parameter(f"{name}.{part}", WIDTH) for part in ("gamma", "beta"))
    normed = network.add(scope, "norm", "LayerNorm", value, gamma, beta)
    return network.add(scope, "item", "TupleGetItem", normed)


def _dense(network: Network, scope: str, name: str, value: str, factor: int) -> str:
    shape = (8, 128, factor * WIDTH)
    flat = network.add(scope, "flatten", "Reshape", value, shape=(1024, WIDTH))
    weight = network.add(scope, "load", "Load", network.parameter(f"{name}.weight", factor * WIDTH, WIDTH))
    product = network.add(scope, "matmul", "MatMul", flat, weight, shape=(1024, factor * WIDTH))
    bias = network.parameter(f"{name}.bias", factor * WIDTH)
    biased = network.add(scope, "bias", "BiasAdd", product, bias, shape=(1024, factor * WIDTH))
    return network.add(scope, "shape", "Reshape", biased, shape=shape)


def _backward(network: Network) -> None:
    """Append a gradient operator for each input of each operator, last first, and the optimizer."""
    forward = network.operators[:]
    incoming: dict[str, str] = {}
    weights: dict[str, str] = {}
    for operator in reversed(forward):
        scope = f"Gradients/{operator.scope}"
        gradient = incoming.get(operator.key, operator.key)
        for slot, source in enumerate(operator.inputs):
            key = network.add(
                scope, f"{operator.key}:grad{slot}", f"{operator.type}Grad", gradient, operator.key, source,
                shape=operator.shape,
            )  # fmt: skip
            if source in network.parameters:
                weights[source] = key
            elif source in incoming:
                incoming[source] = network.add(
                    scope, f"{operator.key}:sum{slot}", "AddN", incoming[source], key
                )
            else:
                incoming[source] = key
    for name, gradient in weights.items():
        moments = [network.parameter(f"{moment}.{name}", *network.parameters[name]) for moment in ("m", "v")]
        network.add("Default/optimizer-Adam", f"adam {name}", "AdamWeightDecay", name, *moments, gradient)


def encode(network: Network) -> bytes:
    """The network as MindSpore writes it: operators numbered by type over the whole graph."""
    proto = GraphProto(name="Net_construct")
    numbers: Counter[str] = Counter()
    ids = {operator.key: str(number) for number, operator in enumerate(network.operators, 1)}
    for operator in network.operators:
        node = proto.node.add(name=ids[operator.key], op_type=operator.type, scope=operator.scope)
        node.full_name = f"{operator.scope}/{operator.type}-op{numbers[operator.type]}"
        numbers[operator.type] += 1
        for source in operator.inputs:
            node.input.add(name=ids.get(source, source))
        _set_type(node.output_type, operator.shape)
    for name, shape in network.parameters.items():
        _set_type(proto.parameters.add(name=name).type, shape)
    data: bytes = proto.SerializeToString()
    return data


def _set_type(proto: object, shape: Shape) -> None:
    proto.data_type = 14  # type: ignore[attr-defined]
    proto.tensor_type.elem_type = 11  # type: ignore[attr-defined]
    for length in shape:
        proto.tensor_type.shape.dim.add(size=length)  # type: ignore[attr-defined]
