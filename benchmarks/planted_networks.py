"""Networks whose edits are known: transformers, convolutional and recurrent ones, as MindSpore writes them.

Every operator has a key that it keeps in edited copies: two networks made with other options therefore know
which operator of one is which of the other. Weights pass through ``Load``, several outputs through
``TupleGetItem``; a training has a backward pass and an optimizer step for each parameter that is trained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.writer.graph import attribute_value, tensor_type, tuple_type

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape: TypeAlias = tuple[int, ...]
Input: TypeAlias = "str | tuple[str, object]"  # key of an operator, name of a parameter, or ("=", value)

TOKEN: Final = ("=", "U")
WIDTH: Final = 64


@dataclass
class Planted:
    """One operator. ``several`` is the number of its outputs, where there is more than one."""

    key: str  # identity, which is not written
    type: str
    scope: str
    inputs: tuple[Input, ...]
    shape: Shape
    attributes: dict[str, object] = field(default_factory=dict)
    several: int = 1


class PlantedNetwork:
    """Operators in the order of computation, and parameters by name; with a cursor for the current scope."""

    def __init__(
        self, root: str = "Default/network-WithLossCell/_backbone-Net", dtype: str = "float32"
    ) -> None:
        self.operators: list[Planted] = []
        self.parameters: dict[str, Shape] = {}
        self.frozen: set[str] = set()
        self.first_uses: dict[str, str] = {}  # keys of the operators that load the parameters
        self.dtype = dtype
        self._scope = [*root.split("/")] if root else []
        self._keys: list[str] = []

    @contextmanager
    def scope(self, name: str, key: str = "") -> Iterator[None]:
        """Operators made inside lie in a scope; ``key`` identifies it where its name does not."""
        self._scope.append(name)
        self._keys.append(key or name)
        yield
        self._scope.pop()
        self._keys.pop()

    def add(
        self,
        key: str,
        kind: str,
        *inputs: Input,
        shape: Shape,
        several: int = 1,
        scope: str = "",
        **attributes: object,
    ) -> str:
        """Append an operator; return its key."""
        full = "/".join([*self._keys, key])
        path = scope or "/".join(self._scope)
        self.operators.append(Planted(full, kind, path, inputs, shape, attributes, several))
        return full

    def weight(self, key: str, name: str, *shape: int, frozen: bool = False) -> str:
        """Load a parameter, which is declared with its first use; return the key of the Load."""
        self.parameters.setdefault(name, shape)
        self.first_uses.setdefault(name, "/".join([*self._keys, key]))
        if frozen:
            self.frozen.add(name)
        return self.add(f"load.{key}", "Load", name, TOKEN, shape=shape)

    def item(self, key: str, source: str, index: int, shape: Shape) -> str:
        """Take one of several outputs."""
        return self.add(f"{key}.item{index}", "TupleGetItem", source, ("=", index), shape=shape)


def encode_planted(network: PlantedNetwork) -> bytes:
    """Return the network as a GraphProto; operators are numbered by type over the whole graph."""
    proto = GraphProto(name="Net_construct")
    numbers: Counter[str] = Counter()
    ids = {operator.key: str(number) for number, operator in enumerate(network.operators, 1)}
    assert len(ids) == len(network.operators), "two operators have one key"
    constants: dict[tuple[str, str], str] = {}
    for operator in network.operators:
        node = proto.node.add(name=ids[operator.key], op_type=operator.type, scope=operator.scope)
        node.full_name = f"{operator.scope}/{operator.type}-op{numbers[operator.type]}"
        numbers[operator.type] += 1
        for source in operator.inputs:
            if isinstance(source, tuple):
                known = (type(source[1]).__name__, repr(source[1]))
                if known not in constants:
                    constants[known] = f"cst{len(constants) + 1}"
                    value = attribute_value(source[1])
                    if source == TOKEN:
                        value.dtype = 0
                    proto.const_vals.add(key=constants[known], value=value)
                node.input.add(name=constants[known])
            else:
                assert source in ids or source in network.parameters, f"{operator.key} uses {source}"
                node.input.add(name=ids.get(source, source))
        for name, setting in operator.attributes.items():
            node.attribute.add(name=name, value=attribute_value(setting))
        kind = tensor_type(operator.shape, network.dtype)
        several = [(operator.shape, network.dtype)] * operator.several
        node.output_type.CopyFrom(kind if operator.several == 1 else tuple_type(several))
    for name, shape in network.parameters.items():
        proto.parameters.add(name=name, type=tensor_type(shape, network.dtype))
    data: bytes = proto.SerializeToString()
    return data


@dataclass(frozen=True)
class GptOptions:
    """What two transformers may differ in."""

    layers: Sequence[int] = tuple(range(4))  # identities of the blocks, in order
    names: Sequence[int] = ()  # their numbers in the file; the identities where left out
    norm: str = "LayerNorm"
    activation: str = "GeLU"
    lora: tuple[str, ...] = ()  # of q, k, v, o
    rank: int = 8
    frozen: bool = False  # whether only LoRA's parameters are trained
    rewired: tuple[int, ...] = ()  # blocks whose second residual takes the block's input
    no_residual: tuple[int, ...] = ()  # blocks without the second residual
    fused: bool = False  # attention as one operator
    swapped: bool = False  # the second norm after the multi-layer perceptron
    tied: bool = False
    classes: int = 1000  # outputs of the head
    head: str = "lm"  # or "pooled": mean over the sequence and a classifier
    batch: int = 4
    hidden: int = 4
    gated: bool = False
    dropout: float = 0.9
    bias: bool = True
    dtype: str = "float32"
    root: str = "Default/network-WithLossCell/_backbone-GPT"
    prefix: str = ""  # of the names of parameters
    training: bool = True
    optimizer: str = "AdamWeightDecay"
    order: str = "qkv"  # in which the independent projections are computed
    joined: bool = False  # q, k and v as one projection that is split
    dropped: bool = False  # a dropout after the multi-layer perceptron
    scopes: tuple[str, str, str] = ("blocks-CellList", "attn-Attention", "mlp-MLP")


def gpt(options: GptOptions) -> PlantedNetwork:
    """Build a transformer."""
    return _Gpt(options).build()


class _Gpt:
    def __init__(self, options: GptOptions) -> None:
        self.o = options
        self.n = PlantedNetwork(options.root, options.dtype)
        self.shape: Shape = (options.batch, 32, WIDTH)
        self.tokens = options.batch * 32

    def build(self) -> PlantedNetwork:
        o, n, p = self.o, self.n, self.o.prefix
        n.parameters["input_ids"] = (o.batch, 32)
        n.frozen.add("input_ids")
        with n.scope("wte-Embedding"):
            table = n.weight("table", f"{p}wte.embedding_table", 1000, WIDTH, frozen=o.frozen)
            value = n.add("gather", "Gather", table, "input_ids", ("=", 0), shape=self.shape)
        position = n.weight("wpe", f"{p}wpe", 32, WIDTH, frozen=o.frozen)
        value = n.add("embed", "Add", value, position, shape=self.shape)
        names = o.names or o.layers
        with n.scope(o.scopes[0], "blocks-CellList"):
            for identity, number in zip(o.layers, names, strict=True):
                with n.scope(f"{number}-Block", f"block{identity}"):
                    value = self.block(value, f"{p}blocks.{number}", identity)
        value = self.norm(value, "ln_f", f"{p}ln_f")
        if o.head == "pooled":
            with n.scope("classifier-Dense"):
                value = n.add("mean", "ReduceMean", value, ("=", 1), shape=(o.batch, WIDTH))
                weight = n.weight("weight", f"{p}classifier.weight", o.classes, WIDTH)
                value = n.add("matmul", "MatMul", value, weight, shape=(o.batch, o.classes))
        else:
            with n.scope("head-Dense"):
                flat = n.add("flat", "Reshape", value, ("=", (-1, WIDTH)), shape=(self.tokens, WIDTH))
                tied = f"{p}wte.embedding_table"
                weight = (
                    n.weight("weight", tied, 1000, WIDTH, frozen=o.frozen)
                    if o.tied
                    else n.weight("weight", f"{p}head.weight", o.classes, WIDTH, frozen=o.frozen)
                )
                value = n.add(
                    "matmul", "MatMul", flat, weight, shape=(self.tokens, o.classes), transpose_b=True
                )
        if o.training:
            n.parameters["labels"] = (self.tokens,)
            n.frozen.add("labels")
            n._scope = ["Default", "network-WithLossCell", "_loss_fn-CrossEntropy"]
            loss = n.add("loss", "SparseSoftmaxCrossEntropyWithLogits", value, "labels", shape=())
            backward(n, loss, o.optimizer, o.prefix)
        return n

    def norm(self, value: str, name: str, parameter: str) -> str:
        o, n = self.o, self.n
        with n.scope(f"{name}-{o.norm}", name):
            gamma = n.weight("gamma", f"{parameter}.gamma", WIDTH, frozen=o.frozen)
            if o.norm == "LayerNorm":
                beta = n.weight("beta", f"{parameter}.beta", WIDTH, frozen=o.frozen)
                normed = n.add(
                    "norm", "LayerNorm", value, gamma, beta, shape=self.shape, several=3, epsilon=1e-5
                )
            else:
                normed = n.add("norm", "RmsNorm", value, gamma, shape=self.shape, several=2, epsilon=1e-5)
            return n.item("norm", normed, 0, self.shape)

    def dense(self, value: str, name: str, parameter: str, width: int, key: str = "") -> str:
        o, n = self.o, self.n
        lora = name in o.lora
        with n.scope(f"{name}-{'LoraDense' if lora else 'Dense'}", key or name):
            columns = WIDTH if name != "down" else o.hidden * WIDTH
            flat = n.add("flat", "Reshape", value, ("=", (-1, columns)), shape=(self.tokens, columns))
            weight = n.weight("weight", f"{parameter}.weight", width, columns, frozen=o.frozen)
            out = n.add("matmul", "MatMul", flat, weight, shape=(self.tokens, width), transpose_b=True)
            if o.bias:
                bias = n.weight("bias", f"{parameter}.bias", width, frozen=o.frozen)
                out = n.add("bias", "BiasAdd", out, bias, shape=(self.tokens, width))
            if lora:
                down = n.weight("lora_a", f"{parameter}.lora_a", o.rank, columns)
                low = n.add("lora_down", "MatMul", flat, down, shape=(self.tokens, o.rank), transpose_b=True)
                up = n.weight("lora_b", f"{parameter}.lora_b", width, o.rank)
                high = n.add("lora_up", "MatMul", low, up, shape=(self.tokens, width), transpose_b=True)
                scaled = n.add("lora_scale", "Mul", high, ("=", 2.0), shape=(self.tokens, width))
                out = n.add("lora_add", "Add", out, scaled, shape=(self.tokens, width))
            return n.add(
                "shape", "Reshape", out, ("=", (*self.shape[:2], width)), shape=(*self.shape[:2], width)
            )

    def attention(self, value: str, parameter: str) -> str:
        o, n = self.o, self.n
        heads = (o.batch, 8, 32, WIDTH // 8)
        scores = (o.batch, 8, 32, 32)
        with n.scope(o.scopes[1], "attn"):
            projected = self.joined(value, parameter) if o.joined else {}
            parts = {}
            for name in o.order:
                part = projected.get(name) or self.dense(value, name, f"{parameter}.{name}", WIDTH)
                shaped = n.add(f"heads_{name}", "Reshape", part, ("=", heads), shape=heads)
                parts[name] = n.add(f"split_{name}", "Transpose", shaped, ("=", (0, 2, 1, 3)), shape=heads)
            split = [parts[name] for name in "qkv"]
            if o.fused:
                mixed = n.add("flash", "FlashAttentionScore", *split, shape=heads, head_num=8)
            else:
                score = n.add("score", "BatchMatMul", *split[:2], shape=scores, transpose_b=True)
                score = n.add("scale", "Mul", score, ("=", 0.125), shape=scores)
                score = n.add("softmax", "Softmax", score, ("=", -1), shape=scores)
                mixed = n.add("mix", "BatchMatMul", score, split[2], shape=heads)
            merged = n.add("merge", "Transpose", mixed, ("=", (0, 2, 1, 3)), shape=heads)
            merged = n.add("join", "Reshape", merged, ("=", self.shape), shape=self.shape)
            return self.dense(merged, "o", f"{parameter}.o", WIDTH)

    def joined(self, value: str, parameter: str) -> dict[str, str]:
        """Append one projection for q, k and v, and the operators that split it."""
        n = self.n
        wide = self.dense(value, "qkv", f"{parameter}.qkv", 3 * WIDTH)
        split = n.add("split", "Split", wide, shape=self.shape, several=3, axis=-1, output_num=3)
        return {name: n.item(f"split.{name}", split, i, self.shape) for i, name in enumerate("qkv")}

    def block(self, value: str, parameter: str, identity: int) -> str:
        o, n = self.o, self.n
        normed = self.norm(value, "ln1", f"{parameter}.ln1")
        mixed = self.attention(normed, f"{parameter}.attn")
        with n.scope("drop-Dropout", "drop"):
            dropped = n.add("drop", "Dropout", mixed, ("=", o.dropout), shape=self.shape, several=2)
            dropped = n.item("drop", dropped, 0, self.shape)
        first = n.add("residual1", "Add", value, dropped, shape=self.shape)
        normed = first if o.swapped else self.norm(first, "ln2", f"{parameter}.ln2")
        hidden = (*self.shape[:2], o.hidden * WIDTH)
        with n.scope(o.scopes[2], "mlp"):
            wide = self.dense(normed, "up", f"{parameter}.mlp.up", hidden[2])
            with n.scope("act", "act"):
                active = n.add("act", o.activation, wide, shape=hidden)
            if o.gated:
                gate = self.dense(normed, "gate", f"{parameter}.mlp.gate", hidden[2])
                active = n.add("gated", "Mul", active, gate, shape=hidden)
            narrow = self.dense(active, "down", f"{parameter}.mlp.down", WIDTH)
        if o.dropped:
            with n.scope("drop2-Dropout", "drop2"):
                dropped = n.add("drop", "Dropout", narrow, ("=", o.dropout), shape=self.shape, several=2)
                narrow = n.item("drop", dropped, 0, self.shape)
        if o.swapped:
            narrow = self.norm(narrow, "ln2", f"{parameter}.ln2")
        if identity in o.no_residual:
            return narrow
        return n.add("residual2", "Add", value if identity in o.rewired else first, narrow, shape=self.shape)


def convolution(
    n: PlantedNetwork, name: str, value: str, sizes: tuple[int, int], kernel: int, side: int, stride: int = 1,
    norm: bool = True, activation: str = "ReLU", parameter: str = "",
) -> str:  # fmt: skip
    """Append a convolution, with batch normalisation and activation if asked for; return the last key."""
    parameter = parameter or name
    shape = (8, sizes[1], side, side)
    with n.scope(f"{name}-Conv2d", f"{name}.conv"):
        weight = n.weight("weight", f"{parameter}.weight", sizes[1], sizes[0], kernel, kernel)
        value = n.add(
            "conv", "Conv2D", value, weight, shape=shape, kernel_size=kernel, stride=stride, pad=kernel // 2
        )
    if norm:
        with n.scope(f"{name}_bn-BatchNorm2d", f"{name}.bn"):
            gamma, beta = (n.weight(part, f"{parameter}_bn.{part}", sizes[1]) for part in ("gamma", "beta"))
            value = n.add("bn", "BatchNorm", value, gamma, beta, shape=shape, several=5, epsilon=1e-5)
            value = n.item("bn", value, 0, shape)
    if activation:
        value = n.add(f"{name}.act", activation, value, shape=shape)
    return value


@dataclass(frozen=True)
class ResNetOptions:
    """What two convolutional networks may differ in."""

    blocks: Sequence[int] = (3, 4, 6, 3)
    kernel: int = 3
    activation: str = "ReLU"
    classes: int = 10
    dtype: str = "float32"
    training: bool = True
    squeeze: bool = False  # squeeze-and-excitation in each block
    rewired: tuple[str, ...] = ()  # blocks, as "1.2", whose shortcut skips the activation before


def resnet(options: ResNetOptions) -> PlantedNetwork:
    """Build a residual network."""
    n = PlantedNetwork("Default/network-WithLossCell/_backbone-ResNet", options.dtype)
    n.parameters["x"] = (8, 3, 64, 64)
    n.frozen.add("x")
    value = convolution(n, "stem", "x", (3, 16), 7, 32, activation=options.activation)
    channels, before = 16, value
    for stage, count in enumerate(options.blocks):
        width, side = 16 << stage, 32 >> stage
        with n.scope(f"layer{stage + 1}-SequentialCell"):
            for number in range(count):
                with n.scope(f"{number}-Block"):
                    skipped = f"{stage + 1}.{number}" in options.rewired
                    value, before = (
                        _residual(n, options, (value, before), (channels, width), side, skipped),
                        value,
                    )
                    channels = width
    value = n.add("pool", "ReduceMean", value, ("=", (2, 3)), shape=(8, channels))
    with n.scope("fc-Dense"):
        weight = n.weight("weight", "fc.weight", options.classes, channels)
        value = n.add("matmul", "MatMul", value, weight, shape=(8, options.classes), transpose_b=True)
        bias = n.weight("bias", "fc.bias", options.classes)
        value = n.add("bias", "BiasAdd", value, bias, shape=(8, options.classes))
    if options.training:
        _finish(n, value, "Momentum")
    return n


def _residual(
    n: PlantedNetwork,
    options: ResNetOptions,
    values: tuple[str, str],
    sizes: tuple[int, int],
    side: int,
    skipped: bool,
) -> str:
    value, earlier = values
    name = ".".join(part.split("-")[0] for part in n._scope[-2:])
    inner = convolution(n, "conv1", value, sizes, options.kernel, side, activation=options.activation,
                        parameter=f"{name}.conv1")  # fmt: skip
    inner = convolution(n, "conv2", inner, (sizes[1], sizes[1]), options.kernel, side, activation="",
                        parameter=f"{name}.conv2")  # fmt: skip
    shape = (8, sizes[1], side, side)
    if options.squeeze:
        with n.scope("se-Squeeze", "se"):
            pooled = n.add("pool", "ReduceMean", inner, ("=", (2, 3)), shape=(8, sizes[1]))
            weight = n.weight("weight", f"{name}.se.weight", sizes[1], sizes[1])
            pooled = n.add("matmul", "MatMul", pooled, weight, shape=(8, sizes[1]))
            pooled = n.add("gate", "Sigmoid", pooled, shape=(8, sizes[1]))
            inner = n.add("scale", "Mul", inner, pooled, shape=shape)
    shortcut = earlier if skipped else value
    if sizes[0] != sizes[1]:
        shortcut = convolution(n, "down", shortcut, sizes, 1, side, activation="", parameter=f"{name}.down")
    total = n.add("residual", "Add", inner, shortcut, shape=shape)
    return n.add("out", options.activation, total, shape=shape)


def alexnet(
    classes: int = 10, kernels: Sequence[int] = (11, 5, 3, 3, 3), training: bool = True
) -> PlantedNetwork:
    """Build AlexNet: five convolutions that differ, and three dense layers."""
    n = PlantedNetwork("Default/network-WithLossCell/_backbone-AlexNet")
    n.parameters["x"] = (8, 3, 224, 224)
    n.frozen.add("x")
    value, before = "x", 3
    for number, (width, side) in enumerate(
        zip((64, 192, 384, 256, 256), (55, 27, 13, 13, 13), strict=True), 1
    ):
        value = convolution(n, f"conv{number}", value, (before, width), kernels[number - 1], side, norm=False)
        before = width
        if number in (1, 2, 5):
            shape = (8, width, side // 2, side // 2)
            value = n.add(f"pool{number}", "MaxPool", value, shape=shape, kernel_size=3, strides=2)
    value = n.add("flatten", "Reshape", value, ("=", (8, -1)), shape=(8, 9216))
    before = 9216
    for number, width in enumerate((4096, 4096, classes), 1):
        with n.scope(f"fc{number}-Dense"):
            weight = n.weight("weight", f"fc{number}.weight", width, before)
            value = n.add("matmul", "MatMul", value, weight, shape=(8, width), transpose_b=True)
            bias = n.weight("bias", f"fc{number}.bias", width)
            value = n.add("bias", "BiasAdd", value, bias, shape=(8, width))
        if number < 3:
            value = n.add(f"relu{number}", "ReLU", value, shape=(8, width))
        before = width
    if training:
        _finish(n, value, "Momentum")
    return n


def recurrent(layers: int, cell: str = "LSTM", width: int = 128, training: bool = True) -> PlantedNetwork:
    """Build a recurrent network that classifies sequences."""
    n = PlantedNetwork("Default/network-WithLossCell/_backbone-Tagger")
    n.parameters["ids"] = (8, 20)
    n.frozen.add("ids")
    with n.scope("embedding-Embedding"):
        table = n.weight("table", "embedding.table", 5000, width)
        value = n.add("gather", "GatherV2", table, "ids", shape=(20, 8, width))
    for number in range(layers):
        with n.scope(f"rnn{number}-{cell}", f"rnn{number}"):
            weight = n.weight("weight", f"rnn{number}.weight", 4 * width, width)
            value = n.add("cell", cell, value, weight, shape=(20, 8, width), several=3, hidden_size=width)
            value = n.item("cell", value, 0, (20, 8, width))
            value = n.add("tanh", "Tanh", value, shape=(20, 8, width))
    with n.scope("tags-Dense"):
        weight = n.weight("weight", "tags.weight", 40, width)
        value = n.add("matmul", "BatchMatMulV2", value, weight, shape=(20, 8, 40))
        value = n.add("logits", "LogSoftmax", value, shape=(20, 8, 40))
    if training:
        _finish(n, value, "Momentum")
    return n


def _finish(n: PlantedNetwork, value: str, optimizer: str) -> None:
    n.parameters["labels"] = (8,)
    n.frozen.add("labels")
    n._scope = ["Default", "network-WithLossCell", "_loss_fn-CrossEntropy"]
    backward(n, n.add("loss", "SparseSoftmaxCrossEntropyWithLogits", value, "labels", shape=()), optimizer)


def backward(n: PlantedNetwork, loss: str, optimizer: str, prefix: str = "") -> None:
    """Append the gradients of every operator that a trained parameter reaches, and the optimizer's steps."""
    _Backward(n, prefix).build(loss, optimizer)


_UNARY: Final = {
    "Reshape": "Reshape",
    "Transpose": "Transpose",
    "ReduceMean": "Tile",
    "Gather": "UnsortedSegmentSum",
}
_TUPLES: Final = {"LayerNorm": 3, "RmsNorm": 2, "BatchNorm": 3, "LSTM": 2, "GRU": 2, "FlashAttentionScore": 3}


class _Backward:
    def __init__(self, network: PlantedNetwork, prefix: str) -> None:
        self.n = network
        self.prefix = prefix  # of the names of parameters; no part of keys
        self.shapes = {operator.key: operator.shape for operator in network.operators}
        self.gradients: dict[str, list[str]] = {}

    def build(self, loss: str, optimizer: str) -> None:
        n = self.n
        forward = n.operators[:]
        trained = {name for name in n.parameters if name not in n.frozen}
        reached: set[Input] = set(trained)
        for operator in forward:
            if any(source in reached for source in operator.inputs):
                reached.add(operator.key)
        self.gradients[loss] = [n.add("sens", "OnesLike", loss, shape=(), scope="Gradients/Default")]
        for operator in reversed(forward):
            incoming = self.gradients.get(operator.key)
            if not incoming or operator.key not in reached:
                continue
            self.scope = f"Gradients/{operator.scope}/grad{operator.type}"
            total = self._sum(operator.key, incoming, operator.shape)
            needed = [
                (slot, source)
                for slot, source in enumerate(operator.inputs)
                if isinstance(source, str) and source in reached
            ]
            for source, gradient in self._of(operator, total, needed):
                self.gradients.setdefault(source, []).append(gradient)
        self._optimizer([name for name in n.parameters if name in self.gradients], optimizer)

    def _sum(self, key: str, gradients: list[str], shape: Shape) -> str:
        if len(gradients) == 1:
            return gradients[0]
        packed = self.n.add(f"{key}:pack", "MakeTuple", *gradients, shape=shape, scope=self.scope)
        return self.n.add(f"{key}:sum", "AddN", packed, shape=shape, scope=self.scope, N=len(gradients))

    def _of(
        self, operator: Planted, total: str, needed: Iterable[tuple[int, str]]
    ) -> Iterator[tuple[str, str]]:
        """Yield each input of an operator with its gradient."""
        n, kind = self.n, operator.type
        made: dict[int, str] = {}

        def add(name: str, op_type: str, *inputs: Input, shape: Shape, **more: Any) -> str:
            return n.add(f"{operator.key}:{name}", op_type, *inputs, shape=shape, scope=self.scope, **more)

        joint = ""
        for slot, source in needed:
            shape = self.shapes.get(source, n.parameters.get(source, operator.shape))
            if (kind in ("Add", "Load", "TupleGetItem", "BiasAdd") and slot == 0) or kind == "Add":
                made[slot] = total
            elif kind == "BiasAdd":
                made[slot] = add("bias", "BiasAddGrad", total, shape=shape)
            elif kind in ("MatMul", "BatchMatMul", "BatchMatMulV2"):
                other = operator.inputs[1 - slot]
                made[slot] = add(f"grad{slot}", kind, total, other, shape=shape, transpose_a=bool(slot))
            elif kind == "Conv2D":
                name = ("Conv2DBackpropInput", "Conv2DBackpropFilter")[slot]
                made[slot] = add(f"grad{slot}", name, total, operator.inputs[1 - slot], shape=shape)
            elif kind in _TUPLES:
                joint = joint or add(
                    "grad",
                    f"{kind}Grad",
                    total,
                    *operator.inputs,
                    shape=operator.shape,
                    several=_TUPLES[kind],
                )
                made[slot] = add(f"item{slot}", "TupleGetItem", joint, ("=", slot), shape=shape)
            elif kind == "Dropout":
                mask = add("mask", "TupleGetItem", operator.key, ("=", 1), shape=shape)
                made[slot] = add("grad", "DropoutGrad", total, mask, operator.inputs[1], shape=shape)
            elif kind == "Softmax":
                product = add("product", "Mul", operator.key, total, shape=operator.shape)
                summed = add("summed", "ReduceSum", product, ("=", -1), shape=operator.shape)
                centred = add("centred", "Sub", total, summed, shape=operator.shape)
                made[slot] = add("grad", "Mul", operator.key, centred, shape=operator.shape)
            elif kind == "Mul":
                made[slot] = add(f"grad{slot}", "Mul", total, operator.inputs[1 - slot], shape=shape)
            elif kind in _UNARY:
                made[slot] = add("grad", _UNARY[kind], total, ("=", tuple(shape)), shape=shape)
            else:
                made[slot] = add(f"grad{slot}", f"{kind}Grad", total, operator.key, shape=shape)
        for slot, source in needed:
            yield source, made[slot]

    def _optimizer(self, names: list[str], optimizer: str) -> None:
        """Append a step for each parameter, in an order of side effects that UpdateState carries."""
        n, state = self.n, TOKEN
        token: Input = state
        scope = f"Default/optimizer-{optimizer}"
        moments = {"AdamWeightDecay": ("adam_m", "adam_v"), "Momentum": ("moments",), "SGD": ()}[optimizer]
        done = []
        for name in names:
            self.scope = scope
            path = n.first_uses.get(name, name)
            total = self._sum(f"optimizer {path}", self.gradients[name], n.parameters[name])
            extra = []
            for moment in moments:
                n.parameters[f"{moment}.{name}"] = n.parameters[name]
                extra.append(f"{moment}.{name}")
            rate = n.add(f"optimizer {path}:rate", "Load", self._rate(), token, shape=(), scope=scope)
            step = n.add(
                f"optimizer {path}", optimizer, name, *extra, rate, ("=", 0.9), total, token,
                shape=n.parameters[name], scope=scope,
            )  # fmt: skip
            token = n.add(f"optimizer {path}:state", "UpdateState", token, step, shape=(), scope=scope)
            done.append(step)
        if done:
            packed = n.add("optimizer:pack", "MakeTuple", *done, shape=(), scope=scope)
            n.add("optimizer:depend", "Depend", "loss", packed, shape=(), scope="Default")

    def _rate(self) -> str:
        self.n.parameters.setdefault("learning_rate", ())
        return "learning_rate"
