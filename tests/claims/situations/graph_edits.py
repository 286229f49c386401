"""Edits that an engineer makes to a network of layers, as tools of PyTorch name its operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mindinsight.writer import GraphBuilder
from tests.claims.situations.graph import linear_stack, pair
from tests.claims.situations.states import nodes


@dataclass(frozen=True)
class Layers:
    """Blocks of a norm, a linear layer and an activation with a residual, then a head."""

    blocks: Sequence[int] = range(4)
    batch: int = 2
    dtype: str = "float32"
    prefix: str = ""
    norm: str = "layer_norm"
    linear: str = "linear"
    activation: str = "relu"
    attributes: tuple[tuple[str, Any], ...] = ()  # of the activations
    dropped: Sequence[int] = ()  # blocks with a dropout
    plain: Sequence[int] = ()  # blocks without a residual
    joined: int = 0  # inputs that block 1 concatenates to its activation
    flattened: bool = False
    unused: str = ""  # a parameter that no operator takes
    wrapper: str = ""  # class of a module around the linear layers
    gated: Sequence[int] = ()  # blocks with a module of three operators after the activation
    renamed: Sequence[int] = ()  # blocks with a norm of another name


def layers(**changes: Any) -> Callable[[], bytes]:
    """Return a generator of the network."""
    net = Layers(**changes)

    def generate() -> bytes:
        graph = GraphBuilder("net")
        shape = (net.batch, 8)
        value = graph.parameter("input", shape, net.dtype)
        if net.unused:
            graph.parameter(net.unused, (8,), net.dtype)
        for i in net.blocks:
            value = _block(graph, net, i, value)
        if net.flattened:
            value = graph.node("flatten", [value], shape, net.dtype)
        head = graph.parameter("head.weight", (4, 8), net.dtype)
        graph.output(graph.node(net.linear, [value, head], (net.batch, 4), net.dtype))
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


def _block(graph: GraphBuilder, net: Layers, i: int, value: str) -> str:
    shape, name = (net.batch, 8), f"{net.prefix}{i}"

    def weight(end: str, *size: int) -> str:
        return graph.parameter(f"{name}.{end}", size, net.dtype)

    with graph.scope(f"{name}-Block"):
        with graph.scope("ln-Norm" if i in net.renamed else f"norm-{'Norm' if net.norm != 'pow' else 'Rms'}"):
            branch = graph.node(net.norm, [value, weight("norm.weight", 8)], shape, net.dtype)
            for op_type in ("mean", "rsqrt") if net.norm == "pow" else ():
                branch = graph.node(op_type, [branch], shape, net.dtype)
        with graph.scope(f"fc-{net.wrapper or 'Linear'}"):
            branch = _linear(graph, net, f"{name}.fc", branch)
        branch = graph.node(net.activation, [branch], shape, net.dtype, dict(net.attributes))
        if i in net.gated:
            with graph.scope("gate-Gate"):
                for op_type in ("mean", "log", "exp"):
                    branch = graph.node(op_type, [branch], shape, net.dtype)
        if i in net.dropped:
            branch = graph.node("dropout", [branch], shape, net.dtype)
        if net.joined and i == 1:
            branch = graph.node("cat", [branch, *[value] * net.joined], shape, net.dtype)
        return branch if i in net.plain else graph.node("add", [value, branch], shape, net.dtype)


def _linear(graph: GraphBuilder, net: Layers, name: str, value: str) -> str:
    """Return a linear layer, one inside a ``Scaled`` or ``LoRA`` module, or two in a ``Twin``."""
    inner = {"Scaled": ["base"], "LoRA": ["base"], "Twin": ["first", "second"]}.get(net.wrapper, [])
    shape = (net.batch, 8)

    def weights(part: str) -> list[str]:
        sizes = ("weight", (8, 8)), ("bias", (8,))
        return [graph.parameter(f"{part}.{end}", size, net.dtype) for end, size in sizes]

    if not inner:
        return graph.node(net.linear, [value, *weights(name)], shape, net.dtype)
    down = value
    for part in inner:
        with graph.scope(f"{part}-Linear"):
            value = graph.node(net.linear, [value, *weights(f"{name}.{part}")], shape, net.dtype)
    if net.wrapper == "LoRA":
        for part, size in (("lora_A", (2, 8)), ("lora_B", (8, 2))):
            with graph.scope(f"{part}-Linear"):
                factor = graph.parameter(f"{name}.{part}.weight", size, net.dtype)
                down = graph.node(net.linear, [down, factor], (net.batch, size[0]), net.dtype)
        return graph.node("add", [value, down], shape, net.dtype)
    scale = graph.parameter(f"{name}.scale", (8,), net.dtype)
    value = graph.node("mul", [value, scale], shape, net.dtype)
    return graph.node("tanh", [value], shape, net.dtype)


def layered(name: str, truth: str, makes: Sequence[str], **changes: Any) -> None:
    """Declare the network and an edited copy, of which exactly ``makes`` is true."""
    pair(name, truth, layers(), layers(**changes), tuple(makes))


def biased(*without: int) -> Callable[[], bytes]:
    return lambda: linear_stack(without_bias=without)


pair("bias_lost", "One of six layers has no bias any more.", biased(), biased(3), ("input_removed",))
pair("bias_lost_everywhere", "Six layers, one edit.", biased(), biased(*range(6)), ("input_removed",))
pair("bias_gained", "Two layers have one now.", biased(1, 2), biased(), ("input_added",))
pair("bias_of_another_layer", "One has lost it, another one has it.", biased(1), biased(2),
     ("input_added", "input_removed"))  # fmt: skip
pair("value_joined_twice", "A concatenation takes one value more.", layers(joined=1), layers(joined=2),
     ("input_added",))  # fmt: skip
pair("value_joined_once_less", "The other way round.", layers(joined=2), layers(joined=1), ("input_removed",))
layered("layers_unchanged", "No edit.", ["identical"])
layered("dropout_in_one", "A dropout more.", ["added"], dropped=[1])
layered("dropout_in_all", "Four more.", ["added"], dropped=range(4))
layered("residual_of_one_removed", "An addition less.", ["removed"], plain=[2])
layered("residuals_removed", "Four additions less.", ["removed"], plain=range(4))
layered("flattened", "A flatten before the head.", ["added"], flattened=True)
layered("other_activation", "GELU for ReLU.", ["replaced"], activation="gelu")
layered("activation_in_place", "relu_ overwrites its input: no other spelling of relu.", ["replaced"],
        activation="relu_")  # fmt: skip
layered("activation_with_an_attribute", "An attribute more.", ["attribute"], attributes=(("inplace", True),))
layered("other_norm", "RMS norm for layer norm.", ["replaced"], norm="rms_norm")
layered("layer_appended", "A fifth block.", ["layers_added"], blocks=range(5))
layered("layer_in_the_middle_removed", "The third block is gone.", ["layers_removed"], blocks=[0, 1, 3])
layered("layers_reordered", "The second and third block are exchanged.", ["rewired"], blocks=[0, 2, 1, 3])
layered("larger_batch", "The input alone has another shape.", ["input_resized"], batch=16)
layered("half_precision", "All parameters.", ["retyped"], dtype="float16")
layered("half_precision_and_larger_batch", "Two edits explain everything that differs.",
        ["retyped", "input_resized"], dtype="float16", batch=4)  # fmt: skip
layered("wrapped_module", "A prefix of all names.", ["renamed", "renames"], prefix="module.")
layered("norm_of_one_block_renamed", "Another block keeps the name.", ["renamed"], renamed=[1])
layered("norms_renamed_and_not_their_weights", "Scopes and weights disagree.", ["renamed"], renamed=range(4))
layered("norms_of_another_class", "Three operators for one.", ["module_replaced"], norm="pow")
layered("gate_added", "A module of three operators more.", ["module_added"], gated=[2])
layered("linear_layers_wrapped", "They are inside a module with a scale.",
        ["module_wrapped", "parameters_added"], wrapper="Scaled")  # fmt: skip
layered("linear_layers_wrapped_with_lora", "Each is inside a module, beside two products of low rank.",
        ["lora"], wrapper="LoRA")  # fmt: skip
layered("linear_layers_doubled", "Which of the two was there before is unknown: a module replaces another.",
        ["module_replaced", "parameters_added", "parameters_removed"], wrapper="Twin")  # fmt: skip
pair("gate_removed", "The other way round.", layers(gated=[2]), layers(), ("module_removed",))
pair("linear_layers_unwrapped", "The other way round.", layers(wrapper="Scaled"), layers(),
     ("module_unwrapped", "parameters_removed"))  # fmt: skip
layered("other_export_tool", "Two tools spell the types differently.", ["respelled"], norm="LayerNorm",
        linear="Linear", activation="ReLU")  # fmt: skip
layered(
    "one_type_spelled_differently", "One replaced type is named by itself.", ["replaced"], norm="LayerNorm"
)
layered("unused_parameter", "A parameter that nothing takes: no operator differs.", ["only_changed"],
        unused="extra.weight")  # fmt: skip

nodes("nodes_without_a_bias", "It is the operator that differs, not one that follows.", ["same", "changed"],
      ["input_removed"], biased(), biased(3))  # fmt: skip
nodes("nodes_with_a_bias_more", "The other way round.", ["same", "changed"], ["input_added"], biased(3),
      biased())  # fmt: skip
nodes("nodes_behind_a_branch_that_is_gone", "The sum of fewer values follows the removed ones.",
      ["same", "left", "follows"], ["removed"], layers(dropped=[1]), layers())  # fmt: skip


def products(
    factor: float = 2.0, epsilon: float = 1e-5, dtype: str = "float32", weights: Sequence[str] = ("w1", "w2")
) -> Callable[[], bytes]:
    """Return a generator of an activation, a factor, a norm and two products without scopes."""

    def generate() -> bytes:
        graph = GraphBuilder("net")
        value = graph.node("ReLU", [graph.parameter("x", (4, 4), role="input")], (4, 4), dtype)
        value = graph.node("Mul", [value, graph.constant(factor)], (4, 4))
        value = graph.node("BatchNorm", [value], (4, 4), attributes={"epsilon": epsilon})
        known = {name: graph.parameter(name, (4, 4), role="weight") for name in sorted(set(weights))}
        for name in weights:
            value = graph.node("MatMul", [value, known[name]], (4, 4))
        graph.output(value)
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


def multiplied(name: str, truth: str, makes: Sequence[str], **changes: Any) -> None:
    pair(name, truth, products(), products(**changes), tuple(makes))


multiplied("numbered_weight_shared", "The second product takes w1.", ["rewired", "shared"],
           weights=("w1", "w1"))  # fmt: skip
pair("numbered_weight_no_longer_shared", "The other way round.", products(weights=("w1", "w1")), products(),
     ("rewired", "unshared"))  # fmt: skip
pair("numbered_weights_renamed", "Other numbers alone.", products(), products(weights=("w3", "w4")),
     ("renamed",))  # fmt: skip
multiplied("activation_of_another_type", "Its output alone is float16.", ["output"], dtype="float16")
multiplied("products_unchanged", "The same types.", ["identical"])
multiplied("constant_of_another_type", "2.0 became 2.", ["constant"], factor=2)
multiplied("attribute_in_the_eighth_digit", "1e-5 and 1.0000001e-5.", ["attribute"], epsilon=1.0000001e-5)


def applied(*order: int) -> Callable[[], bytes]:
    """Return a generator of layers of a norm and two products, applied by their numbers."""

    def generate() -> bytes:
        graph = GraphBuilder("net")
        value = graph.parameter("x", (4, 4), role="input")
        parts = ("layer_norm", "linear", "linear")
        weights = {i: [graph.parameter(f"h.{i}.w{k}", (4, 4)) for k in range(len(parts))]
                   for i in sorted({*order})}  # fmt: skip
        for i in order:
            with graph.scope(f"{i}-Block"):
                for kind, weight in zip(parts, weights[i], strict=True):
                    value = graph.node(kind, [value, weight], (4, 4))
                value = graph.node("gelu", [value], (4, 4))
        graph.output(value)
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


SIX = applied(0, 1, 2, 3, 4, 5)
pair("one_layer_for_six", "The weights of one layer are used six times.", SIX, applied(*[0] * 6),
     ("borrowed_weights",))  # fmt: skip
pair("six_layers_for_one", "The other way round.", applied(*[2] * 6), SIX, ("own_weights",))
pair("two_layers_in_turn", "Each is used three times.", SIX, applied(0, 1, 0, 1, 0, 1), ("borrowed_weights",))
pair("one_layer_for_four_of_six", "Two layers are gone as well.", SIX, applied(*[0] * 4),
     ("borrowed_weights", "layers_removed"))  # fmt: skip
pair("one_layer_of_six", "It is used once: no weight is shared.", SIX, applied(0), ("layers_removed",))


OTHER = {"ln1": "pre", "ln2": "mid", "attn": "mixer", "mlp": "ffn", "in": "first", "out": "second",
         "LayerNorm": "Norm", "Part": "Unit", "Block": "Layer", "head": "logits"}  # fmt: skip


def norms(*post: int, torn: bool = False, width: int = 8, other: bool = False) -> Callable[[], bytes]:
    """Return a generator of four blocks of two branches, of which ``post`` normalize the residual sums.

    ``torn``: the second branch of block 1 takes the input of the block. ``other``: other names.
    """

    def name(usual: str) -> str:
        return OTHER[usual] if other else usual

    def generate() -> bytes:
        graph = GraphBuilder("net")
        data_in = graph.parameter("x", (4, width), role="input")
        value = graph.node("view", [data_in], (4, width), attributes={"size": (4, width)})
        for i in range(4):
            with graph.scope(f"{i}-{name('Block')}"):
                start = value
                for norm, part in (("ln1", "attn"), ("ln2", "mlp")):

                    def normalized(source: str, own: str = name(norm), i: int = i) -> str:
                        with graph.scope(f"{own}-{name('LayerNorm')}"):
                            weight = graph.parameter(f"{i}.{own}.weight", (width,))
                            return graph.node("layer_norm", [source, weight], (4, width))

                    taken = start if torn and i == 1 else value
                    branch = taken if i in post else normalized(taken)
                    with graph.scope(f"{name(part)}-{name('Part')}"):
                        for end in ("in", "out"):
                            own = f"{i}.{name(part)}.{name(end)}.weight"
                            branch = graph.node(
                                "linear", [branch, graph.parameter(own, (width, width))], (4, width)
                            )
                    value = graph.node("add", [value, branch], (4, width))
                    value = normalized(value) if i in post else value
        head = graph.parameter(f"{name('head')}.weight", (8, width))
        graph.output(graph.node("linear", [value, head], (4, 8)))
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


pair("pre_norm_to_post_norm", "All norms move behind the sums: nothing else is rewired.", norms(),
     norms(*range(4)), ("pre_to_post_norm",))  # fmt: skip
pair("pre_norm_to_post_norm_in_one_block", "Those of one block.", norms(), norms(2), ("pre_to_post_norm",))
pair("post_norm_to_pre_norm", "The other way round.", norms(*range(4)), norms(), ("post_to_pre_norm",))
pair("branch_rewired_beside_post_norms", "A norm takes another value: no norm moved.", norms(0, 2, 3),
     norms(0, 2, 3, torn=True), ("rewired",))  # fmt: skip
pair("pre_norm_to_post_norm_and_a_branch_rewired", "Both edits.", norms(), norms(0, 2, 3, torn=True),
     ("pre_to_post_norm", "rewired"))  # fmt: skip
pair("post_norm_with_other_names", "Every name differs, and all norms move.", norms(),
     norms(*range(4), other=True), ("pre_to_post_norm", "names_differ", "renames"))  # fmt: skip
pair("other_names_alone", "Every name differs, and nothing else.", norms(), norms(other=True),
     ("renamed", "renames"))  # fmt: skip
layered("wrapped_module_with_another_activation", "A prefix alone: the names agree but for it.",
        ["replaced"], prefix="module.", activation="gelu")  # fmt: skip
pair("wider_network", "The width, in all parameters and in one attribute.", norms(), norms(width=10),
     ("sizes", "input_resized"))  # fmt: skip
pair("wider_network_with_other_names", "Weights are matched by their users alone.", norms(),
     norms(*range(4), width=10, other=True),
     ("sizes", "input_resized", "pre_to_post_norm", "names_differ", "renames"))  # fmt: skip
