"""Graphs: what is folded, what two of them have in common, and which edit leads from one to the other."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from benchmarks import encoding
from benchmarks.planted_networks import (
    GptOptions,
    PlantedNetwork,
    ResNetOptions,
    alexnet,
    encode_planted,
    gpt,
    recurrent,
    resnet,
)
from mindinsight.proto.framing import encode_record
from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.writer import GraphBuilder
from mindinsight.writer.graph import ParameterRole
from tests.claims.situation import Question, situation

BASE = GptOptions(layers=range(4))
SMALL = replace(BASE, training=False)
COMPARED = (
    "identical", "renamed", "incomplete", "nothing_compared", "unrelated", "lora", "lora_places", "replaced",
    "residual_rewired", "rewired", "rewired_more", "layers_added", "layers_removed", "changed", "reordered",
    "added", "removed", "only_changed", "operands_swapped", "other_output", "retyped", "backward_added",
    "backward_removed", "lora_removed", "lora_removed_places", "shared", "unshared", "attribute", "constant",
    "resized", "input_resized", "respelled", "input_removed", "input_added", "output", "roles",
    "module_replaced", "module_wrapped", "module_unwrapped", "module_added", "module_removed",
    "modules_reordered", "pre_to_post_norm", "post_to_pre_norm", "renames",
    "parameters_added", "parameters_removed", "sizes", "names_differ",
    "borrowed_weights", "own_weights",
)  # fmt: skip

Write = Callable[[Path], Question]


def write_graph(folder: Path, run: str, network: PlantedNetwork | bytes) -> None:
    (folder / run).mkdir()
    data = network if isinstance(network, bytes) else encode_planted(network)
    event = b"\x09" + struct.pack("<d", 1_700_000_000.0) + encoding.message(4, data)
    (folder / run / "events.out.events.summary.1700000000.0.graph_MS").write_bytes(encode_record(event))


def compared(
    folder: Path, left: PlantedNetwork | bytes, right: PlantedNetwork | bytes, view: str = "recorded"
) -> Question:
    """Ask v2 and the page what is said of two graphs."""
    write_graph(folder, "left", left)
    write_graph(folder, "right", right)
    pair = "run=./left"
    return Question(
        base=folder,
        request=f"/v2/graph/compare/differences?{pair}&other_run=./right&view={view}",
        page=f"/graph?m=compare&{pair}&run2=./right&view={view}",
    )


def pair(
    name: str,
    truth: str,
    left: Callable[[], PlantedNetwork | bytes],
    right: Callable[[], PlantedNetwork | bytes],
    makes: tuple[str, ...],
    view: str = "recorded",
) -> None:
    """Declare two graphs of which exactly ``makes`` is true."""

    def generate(folder: Path) -> Question:
        return compared(folder, left(), right(), view)

    generate.__name__, generate.__doc__ = name, truth
    never = [f"claim.graph.{key}" for key in COMPARED if key not in makes]
    situation(makes=[f"claim.graph.{key}" for key in makes], never=never)(generate)


def edited(name: str, truth: str, makes: tuple[str, ...], view: str = "recorded", **changes: object) -> None:
    """Declare a transformer and an edited copy."""
    pair(name, truth, lambda: gpt(BASE), lambda: gpt(replace(BASE, **changes)), makes, view)  # type: ignore[arg-type]


def inferred(name: str, truth: str, makes: tuple[str, ...], **changes: object) -> None:
    """Declare a transformer without backward pass and an edited copy."""
    pair(name, truth, lambda: gpt(SMALL), lambda: gpt(replace(SMALL, **changes)), makes)  # type: ignore[arg-type]


edited("same_network", "Two equal graphs.", ("identical",))
edited("same_network_simplified", "Two equal graphs, simplified.", ("identical",), "simplified")
pair("same_resnet", "Two equal convolutional graphs.", lambda: resnet(ResNetOptions()),
     lambda: resnet(ResNetOptions()), ("identical",))  # fmt: skip
edited(
    "other_scope_names",
    "Only scopes have other names.",
    ("renamed", "renames"),
    root="Default/net-Step/model-Decoder",
)
inferred("other_parameter_names", "Only parameters have other names.", ("renamed",), prefix="model.")
edited("residual_rewired", "The second residual of block 2 takes the block's input.", ("residual_rewired",),
       rewired=(2,))  # fmt: skip
edited(
    "residual_rewired_simplified",
    "The same edit, simplified.",
    ("residual_rewired",),
    "simplified",
    rewired=(2,),
)
inferred(
    "residual_rewired_inference",
    "The same edit without a backward pass.",
    ("residual_rewired",),
    rewired=(1,),
)
edited(
    "two_residuals_rewired", "The residuals of two blocks are rewired.", ("residual_rewired",), rewired=(1, 2)
)
pair("shortcut_rewired", "A shortcut of a residual network is rewired.", lambda: resnet(ResNetOptions()),
     lambda: resnet(ResNetOptions(rewired=("3.4",))), ("residual_rewired",))  # fmt: skip
edited("residual_removed", "A residual is gone: nothing was rewired.", ("removed",), no_residual=(1,))
edited("dropout_inserted", "A dropout more in every block.", ("added",), dropped=True)
inferred("dropout_inserted_inference", "The same edit without a backward pass.", ("added",), dropped=True)
edited("norm_and_width", "Another norm, and a wider multi-layer perceptron.",
       ("replaced", "parameters_removed", "sizes"), norm="RmsNorm", hidden=8)  # fmt: skip
JOINED = "module_added", "module_removed", "parameters_added", "parameters_removed", "added"
edited("norm_and_joined_projections", "Another norm, and one projection.", ("replaced", *JOINED),
       norm="RmsNorm", joined=True)  # fmt: skip
edited("norm_and_fused_attention", "Another norm, and what no edit names.",
       ("replaced", "parameters_removed", "changed"), norm="RmsNorm", fused=True)  # fmt: skip
edited("projections_joined", "One projection for q, k and v, and a Split.", JOINED, joined=True)
edited("branches_in_another_order", "Independent branches are computed in another order.", ("reordered",),
       order="vqk")  # fmt: skip
inferred("branches_in_another_order_inference", "The same without side effects.", ("identical",), order="vqk")
edited(
    "blocks_numbered_from_one", "Blocks are counted from another number.", ("renamed",), names=(1, 2, 3, 4)
)
edited("wider_layers", "A wider multi-layer perceptron.", ("sizes",), hidden=8)
edited("blocks_swapped", "Two blocks are swapped: the stream was rewired, no residual.", ("rewired",),
       layers=(0, 2, 1, 3))  # fmt: skip
edited("norm_moved", "The second norm of every block comes after the MLP, in the same branch.",
       ("modules_reordered",), swapped=True)  # fmt: skip
edited("layernorm_to_rmsnorm", "LayerNorm became RmsNorm in all places: it has no beta.",
       ("replaced", "parameters_removed"), norm="RmsNorm")  # fmt: skip
edited(
    "layernorm_to_rmsnorm_simplified",
    "The same edit, simplified.",
    ("replaced", "parameters_removed"),
    "simplified",
    norm="RmsNorm",
)
edited("gelu_to_silu", "Another activation.", ("replaced",), activation="SiLU")
inferred(
    "gelu_to_silu_inference", "Another activation without a backward pass.", ("replaced",), activation="SiLU"
)
edited("adam_to_sgd", "Another optimizer.", ("replaced",), optimizer="SGD")
pair(
    "lstm_to_gru", "Another recurrent cell.", lambda: recurrent(2), lambda: recurrent(2, "GRU"), ("replaced",)
)
pair("relu_to_hswish", "Another activation in a residual network.", lambda: resnet(ResNetOptions()),
     lambda: resnet(ResNetOptions(activation="HSwish")), ("replaced",))  # fmt: skip
edited("lora", "LoRA of rank 8 on q and v.", ("lora",), lora=("q", "v"))
edited("lora_simplified", "The same edit, simplified.", ("lora",), "simplified", lora=("q", "v"))
edited("lora_frozen_base", "LoRA on q and v, the base frozen.", ("lora",), lora=("q", "v"), frozen=True)
edited(
    "lora_all", "LoRA on all projections, rank 4.", ("lora",), lora=("q", "k", "v", "o"), frozen=True, rank=4
)
edited("wide_beside_dense", "Products beside a layer that are as wide as it are no LoRA.",
       ("module_replaced", "parameters_added"), lora=("q",), rank=64)  # fmt: skip
pair("lora_rank", "LoRA of another rank: nothing was added.", lambda: gpt(replace(BASE, lora=("q", "v"))),
     lambda: gpt(replace(BASE, lora=("q", "v"), rank=16)), ("sizes",))  # fmt: skip
pair("lora_removed", "LoRA is gone: it was not added.", lambda: gpt(replace(SMALL, lora=("q", "v"))),
     lambda: gpt(SMALL), ("lora_removed",))  # fmt: skip
edited("block_removed", "A block is gone.", ("layers_removed",), layers=(0, 1, 3))
edited("blocks_added", "Two blocks more at the end.", ("layers_added",), layers=range(6))
edited("block_inserted", "A block more in the middle.", ("layers_added",), layers=(0, 1, 9, 2, 3))
pair("deeper_resnet", "The same family, deeper.", lambda: resnet(ResNetOptions()),
     lambda: resnet(ResNetOptions(blocks=(3, 4, 8, 3))), ("layers_added",))  # fmt: skip
edited("other_classes", "Another number of classes.", ("resized",), classes=17)
edited("other_dtype", "float16 instead of float32.", ("retyped",), dtype="float16")
edited("other_batch", "Another batch size.", ("input_resized", "constant"), batch=16)
edited("fused_attention", "Attention is one operator.", ("only_changed",), fused=True)
edited("tied_weights", "Embedding and head share a weight.", ("shared",), tied=True)
edited("no_biases", "No biases.", ("removed", "parameters_removed"), bias=False)
edited("other_dropout", "A constant differs.", ("constant",), dropout=0.5)
edited("training_and_inference", "The same network without its loss and backward pass.",
       ("backward_removed", "removed"), training=False)  # fmt: skip
inferred("inference_and_training", "The same network with its loss and backward pass.",
         ("backward_added", "added"), training=True)  # fmt: skip
pair("other_kernel", "Another kernel size.", lambda: resnet(ResNetOptions()),
     lambda: resnet(ResNetOptions(kernel=5)), ("sizes", "attribute"))  # fmt: skip
pair("gpt_and_resnet", "A transformer and a residual network.", lambda: gpt(BASE),
     lambda: resnet(ResNetOptions()), ("unrelated",))  # fmt: skip
pair("gpt_and_tagger", "A transformer and a recurrent network.", lambda: gpt(BASE), lambda: recurrent(3),
     ("unrelated",))  # fmt: skip
pair("alexnet_and_tagger", "A small convolutional and a recurrent network.", alexnet, lambda: recurrent(2),
     ("unrelated",))  # fmt: skip


def _joined(*order: str) -> Callable[[], PlantedNetwork]:
    """Return a generator of a network that concatenates two values in an order."""

    def generate() -> PlantedNetwork:
        network = PlantedNetwork()
        network.parameters["x"] = (4, 8)
        values = {kind: network.add(kind, kind, "x", shape=(4, 8)) for kind in ("Tanh", "Sigmoid")}
        packed = network.add("pack", "MakeTuple", *(values[kind] for kind in order), shape=(4, 8), several=2)
        network.add("join", "Concat", packed, shape=(4, 16), axis=1)
        return network

    return generate


pair("concatenated_in_another_order", "The order of what is concatenated matters.",
     _joined("Tanh", "Sigmoid"), _joined("Sigmoid", "Tanh"), ("only_changed",))  # fmt: skip


def stack(
    n: int = 6,
    swapped: int = -1,
    weights: tuple[int, ...] = (),
    dtype: str = "float32",
    returned: str = "",
    name: str = "x",
    last: str = "Sub",
    head: str = "",
    slope: float = 0.0,
) -> Callable[[], bytes]:
    """Return a generator of equal blocks ``block0-Block`` on an input ``name``.

    ``last`` is the type of the last operator of a block, ``head`` the parameter of a product after all.
    """

    def generate() -> bytes:
        graph = GraphBuilder("net")
        stream = graph.parameter(name, (8, 16), dtype)
        order = weights or tuple(range(n))
        if head:
            table = graph.parameter("table.w", (16, 16), dtype)
            stream = graph.node("MatMul", [stream, table], shape=(8, 16), dtype=dtype)
        known = [graph.parameter(f"block{i}.w", (16, 16), dtype) for i in range(n)]
        for i in range(n):
            with graph.scope(f"block{i}-Block"):
                product = graph.node("MatMul", [stream, known[order[i]]], shape=(8, 16), dtype=dtype)
                active = graph.node("ReLU", [product], (8, 16), dtype, {"negative_slope": slope})
                inputs = [stream, active] if i == swapped else [active, stream]
                stream = graph.node(last, inputs, shape=(8, 16), dtype=dtype)
        if head:
            final = table if head == "table.w" else graph.parameter(head, (16, 16), dtype)
            stream = graph.node("MatMul", [stream, final], shape=(8, 16), dtype=dtype)
        graph.output({"": stream, "product": product, "active": active}[returned])
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


pair("difference_turned_round", "r - h became h - r in a block.", stack(), stack(swapped=3),
     ("operands_swapped",))  # fmt: skip
pair("sum_turned_round", "h + r instead of r + h in a block is no difference.", stack(last="Add"),
     stack(last="Add", swapped=3), ("reordered",))  # fmt: skip
pair("tied_weight_untied", "The head takes its own parameter instead of the table.", stack(head="table.w"),
     stack(head="head.w"), ("rewired", "unshared"))  # fmt: skip
pair("untied_weight_tied", "The head takes the table, not its own parameter.", stack(head="head.w"),
     stack(head="table.w"), ("rewired", "shared"))  # fmt: skip
pair("head_renamed", "The parameter of the head has another name: nothing was rewired.", stack(head="head.w"),
     stack(head="out.w"), ("renamed", "renames"))  # fmt: skip
pair("weights_exchanged", "Two blocks use the weight of each other.", stack(),
     stack(weights=(0, 4, 2, 3, 1, 5)), ("rewired",))  # fmt: skip
pair("weights_of_many_exchanged", "More blocks than are named use the weight of the next one.", stack(24),
     stack(24, weights=(*range(1, 24), 0)), ("rewired", "rewired_more"))  # fmt: skip
pair("another_value_returned", "The last block's activation is returned.", stack(), stack(returned="active"),
     ("other_output",))  # fmt: skip
pair("block_with_a_word_appended", "A block more, whose number is behind a word.", stack(), stack(7),
     ("layers_added",))  # fmt: skip
pair("stack_in_half_precision", "float16 instead of float32.", stack(), stack(dtype="float16"),
     ("retyped",))  # fmt: skip
pair("other_slope", "Another slope of all activations.", stack(), stack(slope=0.1), ("attribute",))
pair("stack_unchanged", "The same blocks.", stack(returned="active"), stack(returned="active"),
     ("identical",))  # fmt: skip


def _difference(*order: str) -> Callable[[], bytes]:
    """Return a generator of one operator on two inputs."""

    def generate() -> bytes:
        graph = GraphBuilder("net")
        values = {name: graph.parameter(name, (4, 4)) for name in ("x", "y")}
        graph.output(graph.node("Sub", [values[name] for name in order], shape=(4, 4)))
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


pair("one_difference_turned_round", "x - y and y - x have all in common but the order.",
     _difference("x", "y"), _difference("y", "x"), ("operands_swapped",))  # fmt: skip


def _layer(
    role: ParameterRole | None = "weight",
    shape: tuple[float, ...] = (1, 2),
    half: str = "float32",
    low: str = "",
) -> Callable[[], bytes]:
    """Return a generator of a layer, whose adapter takes the layer's input or its output (``low``)."""

    def generate() -> bytes:
        graph = GraphBuilder("net")
        value = graph.node("ReLU", [graph.parameter("x", (4, 32))], shape=(4, 32), dtype="float32")
        weight = graph.parameter("w", (32, 32), role=role)
        out = graph.node("MatMul", [value, weight], shape=(4, 32), dtype="float32")
        if low:
            down, up = (graph.parameter(name, size) for name, size in (("a", (32, 4)), ("b", (4, 32))))
            narrow = graph.node("MatMul", [{"input": value, "output": out}[low], down], shape=(4, 4))
            out = graph.node("Add", [out, graph.node("MatMul", [narrow, up], shape=(4, 32))], shape=(4, 32))
        out = graph.node("Reshape", [out, graph.constant(shape)], shape=(4, 32), dtype="float32")
        graph.output(graph.node("Split", [out], several=[((2, 32), "float32"), ((2, 32), half)]))
        data: bytes = graph.model().graph.SerializeToString()
        return data

    return generate


pair("weight_became_buffer", "A weight became a buffer.", _layer(), _layer(role="buffer"), ("roles",))
pair("role_of_one_graph", "One graph does not say what its parameter is.", _layer(), _layer(role=None),
     ("identical",))  # fmt: skip
pair("lora_of_one_layer", "LoRA takes what the layer takes.", _layer(), _layer(low="input"), ("lora_places",))
pair("adapter_after_layer", "Two narrow products take the layer's output: no LoRA.", _layer(),
     _layer(low="output"), ("changed", "parameters_added"))  # fmt: skip
pair("constants_of_another_type", "A constant of (1, 2) became (1, 2.0).", _layer(), _layer(shape=(1, 2.0)),
     ("constant",))  # fmt: skip
pair("tuple_of_another_type", "The second half is float16.", _layer(), _layer(half="float16"), ("output",))


def _torn() -> bytes:
    """Return a graph with an input that refers to no node."""
    proto = GraphProto.FromString(encode_planted(gpt(SMALL)))
    proto.node[-1].input.add(name="nowhere")
    data: bytes = proto.SerializeToString()
    return data


pair("dangling_input", "Equal as far as they could be read.", _torn, _torn, ("incomplete",))


def _plain_lora() -> PlantedNetwork:
    """Return a transformer with LoRA on q in all blocks and on v in one: no regular set of layers."""
    network = gpt(replace(SMALL, lora=("q", "v")))
    bypass: dict[str, str] = {}
    remaining = []
    for operator in network.operators:
        if "/v/lora" in operator.key or "/v/load.lora" in operator.key:
            if "block0" in operator.key:
                remaining.append(operator)
            elif operator.type == "Add":
                bypass[operator.key] = str(operator.inputs[0])
            continue
        operator.inputs = tuple(
            bypass.get(source, source) if isinstance(source, str) else source for source in operator.inputs
        )
        remaining.append(operator)
    network.operators = remaining
    return network


pair("lora_in_some", "LoRA in places that form no whole set of layers.", lambda: gpt(SMALL), _plain_lora,
     ("lora_places",))  # fmt: skip
pair("lora_removed_in_some", "The same places without it.", _plain_lora, lambda: gpt(SMALL),
     ("lora_removed_places",))  # fmt: skip


def _empty() -> bytes:
    """Return a training that holds nothing but its optimizer, which the simplified view leaves out."""
    network = PlantedNetwork("Default/optimizer-SGD")
    network.parameters["w"] = (4,)
    network.add("step", "SGD", "w", shape=(4,))
    return encode_planted(network)


pair("nothing_left_to_compare", "One graph has no operator when simplified.", lambda: gpt(BASE), _empty,
     ("nothing_compared",), "simplified")  # fmt: skip


def card(folder: Path, network: PlantedNetwork) -> Question:
    """Ask v2 and the page for the model card."""
    write_graph(folder, "run", network)
    return Question(
        base=folder,
        request="/v2/graph/card?run=./run",
        page="/graph?run=./run&view=recorded",
    )


@situation(makes=["claim.graph.repeats"], never=["claim.graph.none"])
def repeated_blocks(folder: Path) -> Question:
    """Eight equal blocks in a row."""
    return card(folder, gpt(replace(SMALL, layers=range(8))))


@situation(makes=["claim.graph.repeats"])
def many_repeated_blocks(folder: Path) -> Question:
    """More equal blocks than a box holds."""
    return card(folder, gpt(replace(SMALL, layers=range(160))))


@situation(never=["claim.graph.repeats"])
def five_different_convolutions(folder: Path) -> Question:
    """AlexNet: five convolutions that differ in kernel and channels."""
    return card(folder, alexnet(training=False))


@situation(never=["claim.graph.repeats"])
def blocks_of_alternating_wiring(folder: Path) -> Question:
    """Blocks of equal operators, of which every second is wired otherwise."""
    return card(folder, gpt(replace(SMALL, layers=range(8), rewired=(1, 3, 5, 7))))


@situation(never=["claim.graph.repeats"])
def three_blocks(folder: Path) -> Question:
    """Three equal blocks are too few to be folded."""
    return card(folder, gpt(replace(SMALL, layers=range(3))))


def counted(folder: Path, network: bytes, counts: list[int]) -> Question:
    """Ask for the model card, whose claims of repeated layers have these numbers."""
    write_graph(folder, "run", network)

    def ask(client: TestClient) -> Any:
        answer = client.get("/v2/graph/card?run=./run").json()
        repeats = [claim for claim in answer["claims"] if claim["key"] == "claim.graph.repeats"]
        assert [claim["values"]["n"] for claim in repeats] == counts
        return answer

    return Question(base=folder, request=ask, page="/graph?run=./run&view=recorded")


@situation(makes=["claim.graph.repeats"])
def blocks_of_which_the_first_takes_the_input(folder: Path) -> Question:
    """The first of twelve equal blocks works on an input of the network: it is one of the twelve."""
    return counted(folder, stack(12)(), [12])


@situation(makes=["claim.graph.repeats"])
def blocks_of_which_the_first_differs(folder: Path) -> Question:
    """The first of twelve blocks subtracts the other way round: eleven are equal."""
    return counted(folder, stack(12, swapped=0)(), [11])


def linear_stack(without_bias: tuple[int, ...] = (), without_skip: tuple[int, ...] = ()) -> bytes:
    """Return a graph of six blocks with a normalization, a linear layer and a residual, as PyTorch exports.

    The layers of ``without_bias`` have no bias, the blocks of ``without_skip`` add a value to itself.
    """
    graph = GraphBuilder("net")
    shapes = {"a.weight": (8, 8), "a.bias": (8,), "n.weight": (8,), "n.bias": (8,)}
    names = {
        (i, name): graph.parameter(f"{i}.{name}", shape)
        for i in range(6)
        for name, shape in shapes.items()
        if name != "a.bias" or i not in without_bias
    }
    stream = graph.parameter("input", (2, 8))

    def layer(i: int, kind: str, name: str, value: str) -> str:
        weights = [names[i, f"{name}.{end}"] for end in ("weight", "bias") if (i, f"{name}.{end}") in names]
        return graph.node(kind, [value, *weights], shape=(2, 8))

    for i in range(6):
        with graph.scope(f"{i}-Blk"):
            with graph.scope("n-LayerNorm"):
                value = layer(i, "layer_norm", "n", stream)
            with graph.scope("a-Linear"):
                value = layer(i, "linear", "a", value)
            value = graph.node("gelu", [value], shape=(2, 8))
            stream = graph.node("add", [value if i in without_skip else stream, value], shape=(2, 8))
    graph.output(stream)
    data: bytes = graph.model().graph.SerializeToString()
    return data


@situation(never=["claim.graph.repeats"])
def blocks_of_which_one_has_no_bias(folder: Path) -> Question:
    """The linear layer of block 3 has no bias: the other five are not in a row."""
    return counted(folder, linear_stack(without_bias=(3,)), [])


@situation(makes=["claim.graph.repeats"])
def blocks_of_which_the_last_has_no_bias(folder: Path) -> Question:
    """The linear layer of the last of six blocks has no bias: five are equal."""
    return counted(folder, linear_stack(without_bias=(5,)), [5])


@situation(makes=["claim.graph.repeats"])
def blocks_that_all_have_a_bias(folder: Path) -> Question:
    """Six equal blocks."""
    return counted(folder, linear_stack(), [6])


def costs_card(folder: Path, network: GraphBuilder, **totals: int) -> Question:
    """Ask for the model card, whose network has these totals."""
    write_graph(folder, "run", network.model().graph.SerializeToString())

    def ask(client: TestClient) -> Any:
        answer = client.get("/v2/graph/card?run=./run").json()
        assert {name: answer["network"][name] for name in totals} == totals
        return answer

    return Question(base=folder, request=ask, page="/graph?run=./run&view=recorded")


@situation(never=["claim.graph.roles_guessed", "claim.graph.flops_unknown"])
def normalization_with_buffers(folder: Path) -> Question:
    """Running means are no parameters, nor is an input of any name. A weight called ``input_ids`` is one."""
    graph = GraphBuilder("net")
    data = graph.parameter("weightinput", (4, 8), role="input")
    ids = graph.parameter("input_ids", (8, 8), role="weight")
    value = graph.node("linear", [data, ids], shape=(4, 8))
    weights = [graph.parameter(f"bn.{name}", (8,), role="weight") for name in ("weight", "bias")]
    buffers = [graph.parameter(f"bn.running_{name}", (8,), role="buffer") for name in ("mean", "var")]
    graph.output(graph.node("batch_norm", [value, *weights, *buffers], shape=(4, 8)))
    return costs_card(folder, graph, parameters=64 + 16, bytes=4 * 80, flops=2 * 4 * 8 * 8)


@situation(makes=["claim.graph.roles_guessed"], never=["claim.graph.flops_unknown"])
def normalization_without_roles(folder: Path) -> Question:
    """A graph of MindSpore does not say what is a parameter, and what an input."""
    graph = GraphBuilder("net")
    value = graph.node("MatMul", [graph.parameter("x", (4, 8)), graph.parameter("w", (8, 8))], shape=(4, 8))
    graph.output(value)
    return costs_card(folder, graph, parameters=64, flops=2 * 4 * 8 * 8)


@situation(makes=["claim.graph.flops_unknown"], never=["claim.graph.roles_guessed"])
def product_of_unknown_length(folder: Path) -> Question:
    """One of two products has a length that is known only when the network runs."""
    graph = GraphBuilder("net")
    weight = graph.parameter("w", (8, 8), role="weight")
    first = graph.node("MatMul", [graph.parameter("a", (4, 8), role="input"), weight], shape=(4, 8))
    second = graph.node("MatMul", [graph.parameter("b", (-1, 8), role="input"), weight], shape=(-1, 8))
    graph.output(graph.node("Concat", [first, second], shape=(-1, 8)))
    return costs_card(folder, graph, parameters=64, flops=2 * 4 * 8 * 8, uncounted=1)


@situation(never=["claim.graph.flops_unknown", "claim.graph.roles_guessed"])
def transposed_convolution(folder: Path) -> Question:
    """A transposed convolution costs as much as the convolution it is the gradient of."""
    graph = GraphBuilder("net")
    data = graph.parameter("input", (2, 4, 5, 5), role="input")
    weights = [graph.parameter(f"0.{name}", shape, role="weight")
               for name, shape in (("weight", (4, 8, 3, 3)), ("bias", (8,)))]  # fmt: skip
    graph.output(graph.node("conv_transpose2d", [data, *weights], shape=(2, 8, 7, 7)))
    return costs_card(folder, graph, parameters=296, flops=28_800, uncounted=0)


@situation(makes=["claim.graph.none"])
def run_without_graph(folder: Path) -> Question:
    """A run that recorded scalars alone, beside one with a graph."""
    from mindinsight.writer.record import SummaryRecord

    with SummaryRecord(str(folder / "plain")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    write_graph(folder, "run", gpt(SMALL))
    return Question(base=folder, request="/v2/graph/graphs?run=./plain", page="/graph?run=./plain")


@situation(never=["claim.graph.none"])
def run_with_graph(folder: Path) -> Question:
    """A run that has a graph."""
    write_graph(folder, "run", gpt(SMALL))
    return Question(base=folder, request="/v2/graph/graphs?run=./run", page="/graph?run=./run")
