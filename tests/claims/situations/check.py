"""Dumps of several steps with a planted weakness, or none: what a check of common faults may say."""

from __future__ import annotations

import json
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from fastapi.testclient import TestClient

from mindinsight.server.claims import Claim
from mindinsight.server.debug.check_findings import group_hits
from mindinsight.server.debug.watchpoints import Hit, Tally, check_and_count, check_claims, common_faults
from mindinsight.server.formats.dumps import open_dump
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, situation

Array = npt.NDArray[Any]
Values = Callable[[int], Mapping[str, Array]]  # of an iteration, by operator or parameter

SAMPLES = Path(__file__).parents[2] / "data" / "dumps" / "samples"
KINDS = [
    f"claim.check.{name}"
    for name in (
        *("non_finite", "overflowed", "exploding", "dead", "inactive", "vanishing", "saturated"),
        *("frozen", "tolerated", "slow", "initial", "condition", "none", "unknown", "more", "failed"),
        *(
            "depth",
            "cancelled",
            "small",
            "few",
            "begins_zero",
            "idle",
            "equal",
            "begins_small",
            "frozen_module",
            "frozen_modules",
            "frozen_network",
        ),
    )
]


def except_for(*names: str) -> list[str]:
    return [key for key in KINDS if key.removeprefix("claim.check.") not in names]


def noise(step: int, size: int = 64, scale: float = 1.0) -> Array:
    return (scale * np.random.default_rng(step).normal(size=size)).astype(np.float32)


def checked(
    folder: Path,
    outputs: Values | None = None,
    parameters: Values | None = None,
    steps: Sequence[int] = (0, 1, 2),
    conditions: Sequence[str] = (),
) -> Question:
    """Write a dump and ask the command and the interface to check it."""
    dump = Dump(folder / "dump")
    return check_of(folder, dump, outputs, parameters, steps, conditions)


def check_of(
    folder: Path,
    dump: Dump,
    outputs: Values | None = None,
    parameters: Values | None = None,
    steps: Sequence[int] = (0, 1, 2),
    conditions: Sequence[str] = (),
) -> Question:
    for number in steps:
        step = dump.iteration(number)
        for name, value in (outputs(number) if outputs else {"Default/Add-op0": noise(number)}).items():
            step.output(name, value)
        for name, value in (parameters(number) if parameters else {}).items():
            step.parameter(name, value)
    options = [part for condition in conditions for part in ("--condition", condition)]

    def ask(client: TestClient) -> Any:
        return check_through(client, [limits_of(condition) for condition in conditions])

    return Question(
        command=["dump", "check", str(folder / "dump"), "--json", *options], base=folder, request=ask
    )


def limits_of(text: str) -> dict[str, Any]:
    name, _, limits = text.partition(":")
    pairs = (part.split("=") for part in limits.split(",") if part)
    return {"condition": name, "limits": {key: float(value) for key, value in pairs}}


def check_through(client: TestClient, watchpoints: Sequence[Mapping[str, Any]]) -> Any:
    """Start a check once the dump is known, and return its answer when it is done."""
    deadline = time.monotonic() + 30
    body = {"dump": "./dump", "watchpoints": list(watchpoints)}
    while (started := client.post("v2/dump/check", json=body)).status_code == 404:
        assert time.monotonic() < deadline, started.text
        time.sleep(0.05)
    while not (answer := client.get(f"v2/dump/check/{started.json()['check']}").json())["done"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return answer


@situation(makes=["claim.check.none", "claim.check.checked"], never=except_for("none"), exit_code=0)
def healthy_outputs_and_weights(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": 1 + 0.01 * noise(step)})


@situation(makes=["claim.check.dead"], never=except_for("dead"), exit_code=1)
def an_output_of_zeros(folder: Path) -> Question:
    return checked(folder, lambda step: {"Default/Mul-op0": np.zeros(64, np.float32)})


@situation(makes=["claim.check.none"], never=["claim.check.dead", "claim.check.more"], exit_code=0)
def the_norm_of_a_bias_that_starts_with_zeros(folder: Path) -> Question:
    names = "_foreach_norm", "linalg_vector_norm", "LpNorm"
    zero = np.zeros((), np.float32)
    return checked(folder, lambda step: {f"Default/{name}-op0": zero for name in names})


@situation(makes=["claim.check.dead", "claim.check.more"], never=["claim.check.none"], exit_code=1)
def outputs_of_normalizations_are_no_norms(folder: Path) -> Question:
    zeros = np.zeros(64, np.float32)
    return checked(
        folder, lambda step: {f"Default/{name}-op0": zeros for name in ("LayerNorm", "group_norm")}
    )


@situation(makes=["claim.check.none"], never=["claim.check.dead"], exit_code=0)
def a_test_that_finds_nothing(folder: Path) -> Question:
    """Is any value NaN, and which class is it: flags and indices are often all zero."""
    values = {"Default/IsNan-op0": np.zeros(64, bool), "Default/Argmax-op0": np.zeros(64, np.int32)}
    return checked(folder, lambda step: values)


@situation(makes=["claim.check.dead"], never=except_for("dead"), exit_code=1)
def flags_of_zeros_and_a_chosen_limit(folder: Path) -> Question:
    """Who chooses the condition is told of it."""
    limits = ["tensor_all_zero:zero_percentage_ge=100"]
    return checked(folder, lambda step: {"Default/IsNan-op0": np.zeros(64, bool)}, conditions=limits)


@situation(makes=["claim.check.dead"], never=except_for("dead"), exit_code=1)
def a_dead_relu_is_named_once(folder: Path) -> Question:
    """All values are zero, so that they lie in the inactive range as well: said once."""
    return checked(folder, lambda step: {"Default/ReLU-op0": np.zeros(64, np.float32)})


def of_recurrence(folder: Path, state: str) -> Question:
    """Check a recurrent layer with its graph: the first state is made by the operator ``state``."""
    graph = GraphBuilder("Net")
    first = graph.node(state, shape=(4, 8))
    graph.output(graph.node("t", [graph.node("mm", [first, graph.parameter("w", (8, 8))], shape=(4, 8))]))
    zeros = np.zeros((4, 8), np.float32)
    outputs = {f"Default/{state}-op0": zeros, "Default/mm-op0": zeros, "Default/t-op0": zeros.T}
    return check_of(folder, Dump(folder / "dump", graph=graph), lambda step: outputs)


@situation(makes=["claim.check.none"], never=["claim.check.dead", "claim.check.more"], exit_code=0)
def an_initial_state_of_zeros(folder: Path) -> Question:
    """The product of constant zeros and a weight is zero, and so is its transposition."""
    return of_recurrence(folder, "zeros")


@situation(makes=["claim.check.dead", "claim.check.more"], never=["claim.check.none"], exit_code=1)
def an_initial_state_that_died(folder: Path) -> Question:
    """The transposition is no tensor of its own: two tensors are zero."""
    return of_recurrence(folder, "relu")


def of_transposed(folder: Path, source: str) -> Question:
    """Check a backward pass that transposes the small output of ``source``, a path of an operator."""
    graph = GraphBuilder("Net")
    scope, _, operator = source.rpartition("/")
    with graph.scope(f"/{scope}"):
        given = graph.node(operator.partition("-")[0], [graph.parameter("fc.weight", (8, 8))], shape=(8, 8))
    with graph.scope("/Gradients/Default/fc-Linear"):
        graph.output(graph.node("t", [graph.node("t", [given], shape=(8, 8))], shape=(8, 8)))
    names = [source, *(f"Gradients/Default/fc-Linear/t-op{n}" for n in (0, 1))]
    small = noise(0, scale=1e-12).reshape(8, 8)
    return check_of(folder, Dump(folder / "dump", graph=graph), lambda step: dict.fromkeys(names, small))


@situation(makes=["claim.check.none"], never=except_for("none"), exit_code=0)
def a_small_weight_that_the_backward_pass_transposes(folder: Path) -> Question:
    """It is a weight, in whichever pass, and no gradient."""
    return of_transposed(folder, "Default/fc-Linear/relu-op0")


@situation(makes=["claim.check.vanishing"], never=["claim.check.none"], exit_code=1)
def a_small_gradient_that_the_backward_pass_transposes(folder: Path) -> Question:
    return of_transposed(folder, "Gradients/Default/fc-Linear/mm-op0")


@situation(makes=["claim.check.dead"], never=["claim.check.more", "claim.check.none"], exit_code=1)
def a_transposed_tensor_of_zeros(folder: Path) -> Question:
    """The view of a dead tensor is named with it, and not beside it."""
    graph = GraphBuilder("Net")
    graph.output(graph.node("t", [graph.node("relu", shape=(4, 8))], shape=(8, 4)))
    outputs = {
        "Default/relu-op0": np.zeros((4, 8), np.float32),
        "Default/t-op0": np.zeros((8, 4), np.float32),
    }
    return check_of(folder, Dump(folder / "dump", graph=graph), lambda step: outputs)


@situation(makes=["claim.check.none"], never=["claim.check.dead", "claim.check.inactive"], exit_code=0)
def a_relu_with_one_living_unit_in_ten(folder: Path) -> Question:
    living = np.where(np.arange(100) % 10 == 0, 1, 0).astype(np.float32)
    return checked(folder, lambda step: {"Default/ReLU-op0": living * (step + 1)})


@situation(makes=["claim.check.inactive"], never=except_for("inactive"), exit_code=1)
def a_relu_with_one_living_unit_in_ten_thousand(folder: Path) -> Question:
    nearly_dead = np.zeros(10_000, np.float32)
    nearly_dead[7] = 1
    return checked(folder, lambda step: {"Default/ReLU-op0": nearly_dead * (step + 1)})


@situation(makes=["claim.check.saturated"], never=except_for("saturated"), exit_code=1)
def a_tanh_of_ones(folder: Path) -> Question:
    return checked(folder, lambda step: {"Default/Tanh-op0": np.ones(64, np.float32)})


def of_saturation(folder: Path, share: float) -> Question:
    values = np.linspace(-0.9, 0.9, 200, dtype=np.float32)
    values[: int(200 * share)] = -1
    return checked(folder, lambda step: {"Default/Tanh-op0": values})


@situation(
    makes=["claim.check.saturated", "claim.check.saturation_limit"],
    never=except_for("saturated"),
    exit_code=1,
)
def a_tanh_of_which_19_of_20_values_are_one(folder: Path) -> Question:
    return of_saturation(folder, 0.95)


@situation(
    makes=["claim.check.none", "claim.check.saturation_limit"], never=["claim.check.saturated"], exit_code=0
)
def a_tanh_of_which_half_the_values_are_one(folder: Path) -> Question:
    return of_saturation(folder, 0.5)


@situation(makes=["claim.check.none"], never=["claim.check.saturated", "claim.check.saturation_limit"])
def a_check_without_an_activation(folder: Path) -> Question:
    return checked(folder, lambda step: {"Default/Add-op0": noise(step)})


@situation(makes=["claim.check.none"], never=["claim.check.saturated"], exit_code=0)
def a_tanh_near_one(folder: Path) -> Question:
    return checked(folder, lambda step: {"Default/Tanh-op0": np.full(64, 0.99, np.float32) + 0.001 * step})


@situation(makes=["claim.check.frozen"], never=except_for("frozen"), exit_code=1)
def a_weight_that_does_not_change(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": noise(0)})


@situation(makes=["claim.check.none"], never=["claim.check.frozen", "claim.check.slow"], exit_code=0)
def a_weight_seen_at_one_step_alone(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": noise(0)}, steps=[0])


def of_updates(folder: Path, gradient: Array | None, kind: str = "float16") -> Question:
    """A weight of ones that an optimizer may have updated by the gradient, in the steps of a training."""
    dump, name = Dump(folder / "dump"), "Default/optimizer-SGD/add_-op0"
    graph = GraphBuilder("Net")
    if gradient is not None:
        with graph.scope("/Default/optimizer-SGD"):
            weight = graph.parameter("fc.weight", (64,))
            graph.node("add_", [weight, graph.parameter("inputs0", (64,))], shape=(64,), number=0)
    dump.graph(graph)
    weights = np.ones(64, kind)
    for number in range(3):
        step = dump.iteration(number)
        step.output("Default/Add-op0", noise(number))
        if gradient is not None:
            step.input(name, weights, 0)
            step.input(name, gradient, 1)
            step.output(name, weights)
        step.parameter("fc.weight", weights)
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.rounding"],
    never=["claim.part.frozen.purpose", "claim.part.frozen.either"],
    exit_code=1,
)
def updates_that_half_precision_loses(folder: Path) -> Question:
    return of_updates(folder, np.full(64, 1e-4, np.float16))


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.either"],
    never=["claim.part.frozen.purpose", "claim.part.frozen.rounding"],
    exit_code=1,
)
def half_precision_and_a_gradient_of_zeros(folder: Path) -> Question:
    return of_updates(folder, np.zeros(64, np.float16))


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.either"],
    never=["claim.part.frozen.purpose", "claim.part.frozen.rounding"],
    exit_code=1,
)
def half_precision_and_no_optimizer_in_the_dump(folder: Path) -> Question:
    return of_updates(folder, None)


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.purpose"],
    never=["claim.part.frozen.either", "claim.part.frozen.rounding"],
    exit_code=1,
)
def single_precision_and_no_change(folder: Path) -> Question:
    return of_updates(folder, None, "float32")


def of_linear(folder: Path, trained: bool, size: float = 1.0) -> Question:
    """A weight [8, 8] that stands still. The gradient of the input has its shape, too."""
    graph, shape = GraphBuilder("Net"), (8, 8)
    with graph.scope("/Default"):
        given = graph.node("Relu", shape=shape)
    with graph.scope("/Default/fc-Linear"):
        transposed = graph.node("t", [graph.parameter("fc.weight", shape)], shape=shape)
        graph.node("mm", [given, transposed], shape=shape)
    with graph.scope("/Gradients/Default"):
        above = graph.node("MulGrad", shape=shape)
    with graph.scope("/Gradients/Default/fc-Linear"):
        names = [graph.node("mm", [above, transposed], shape=shape)]
        names += [graph.node("mm", [above, given], shape=shape)] if trained else []
    dump = Dump(folder / "dump", graph=graph)
    for number in range(2):
        step = dump.iteration(number)
        for at, name in enumerate(("Relu-op0", "fc-Linear/t-op0", "fc-Linear/mm-op0")):
            step.output(f"Default/{name}", noise(10 * at + 2 + number).reshape(shape))
        for at, _ in enumerate(names):
            gradient = noise(4 + number, scale=size).reshape(shape)
            step.output(f"Gradients/Default/fc-Linear/mm-op{at + 1}", gradient)
        step.parameter("fc.weight", noise(0).reshape(shape))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


def of_backbone(folder: Path, stem_gradient: str) -> Question:
    """A weight that stands still, and one behind it that is trained. The backward operator of the first makes
    no gradient, that of the "weight", or that of the "input", which has the same shape."""
    graph, shape = GraphBuilder("Net"), (8, 8)
    with graph.scope("/Default"):
        value = graph.node("Relu", shape=shape)
    values, weights = {}, {}
    for layer in ("stem", "head"):
        with graph.scope(f"/Default/{layer}-Linear"):
            values[layer], weights[layer] = value, graph.parameter(f"{layer}.weight", shape)
            value = graph.node("mm", [value, weights[layer]], shape=shape)
    trained = ["head", "stem"] if stem_gradient else ["head"]
    for layer in trained:
        with graph.scope(f"/Gradients/Default/{layer}-Linear"):
            factor = weights[layer] if (layer, stem_gradient) == ("stem", "input") else values[layer]
            graph.node("mm", [value, factor], shape=shape)
    dump = Dump(folder / "dump", graph=graph)
    for number in range(2):
        step = dump.iteration(number)
        names = ["Default/Relu-op0", "Default/stem-Linear/mm-op0", "Default/head-Linear/mm-op1"]
        names += [f"Gradients/Default/{layer}-Linear/mm-op{at + 2}" for at, layer in enumerate(trained)]
        for at, name in enumerate(names):
            step.output(name, noise(10 * at + 2 + number).reshape(shape))
        step.parameter("stem.weight", noise(0).reshape(shape))
        step.parameter("head.weight", (noise(1) * np.float32(1 + 0.01 * number)).reshape(shape))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.untrained", "claim.check.none"], never=["claim.check.frozen"], exit_code=0)
def a_backbone_without_gradients(folder: Path) -> Question:
    return of_backbone(folder, stem_gradient="")


@situation(makes=["claim.check.untrained", "claim.check.none"], never=["claim.check.frozen"], exit_code=0)
def a_frozen_layer_that_passes_a_gradient_on(folder: Path) -> Question:
    return of_backbone(folder, stem_gradient="input")


@situation(makes=["claim.check.frozen"], never=["claim.check.untrained", "claim.check.none"], exit_code=1)
def a_backbone_with_gradients_that_stands_still(folder: Path) -> Question:
    return of_backbone(folder, stem_gradient="weight")


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.gradient"],
    never=["claim.part.frozen.purpose", "claim.part.frozen.either", "claim.part.frozen.vanished"],
    exit_code=1,
)
def a_weight_with_a_gradient_that_the_optimizer_lacks(folder: Path) -> Question:
    return of_linear(folder, trained=True)


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.vanished"],
    never=["claim.part.frozen.gradient", "claim.part.frozen.either"],
    exit_code=1,
)
def a_weight_whose_gradient_has_vanished(folder: Path) -> Question:
    return of_linear(folder, trained=True, size=1e-13)


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.zero"],
    never=["claim.part.frozen.gradient", "claim.part.frozen.vanished"],
    exit_code=1,
)
def a_weight_behind_a_dead_unit(folder: Path) -> Question:
    return of_linear(folder, trained=True, size=0.0)


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.purpose"],
    never=["claim.part.frozen.gradient", "claim.part.frozen.either", "claim.part.frozen.zero"],
    exit_code=1,
)
def a_weight_without_gradient_in_a_layer_that_passes_one_on(folder: Path) -> Question:
    return of_linear(folder, trained=False)


def of_backbone_that_requires(folder: Path, required: bool, steps: int = 2) -> Question:
    """A backbone without gradients, and whether the recorder says that it is to have one."""
    question = of_backbone(folder, stem_gradient="")
    for number in range(steps):
        facts = json.dumps({"stem_weight": required, "head_weight": True})
        (folder / "dump" / "rank_0" / "Net" / "0" / str(number) / "requires_grad.json").write_text(facts)
    return question


_WITHOUT_GRADIENT = [f"claim.check.{name}" for name in ("untrained", "set_frozen", "unreached", "frozen")]


@situation(
    makes=["claim.check.set_frozen", "claim.check.none"],
    never=[key for key in _WITHOUT_GRADIENT if key != "claim.check.set_frozen"],
    exit_code=0,
)
def a_backbone_that_was_frozen_on_purpose(folder: Path) -> Question:
    return of_backbone_that_requires(folder, required=False)


@situation(
    makes=["claim.check.unreached"],
    never=[key for key in _WITHOUT_GRADIENT if key != "claim.check.unreached"] + ["claim.check.none"],
    exit_code=2,
)
def a_backbone_that_was_cut_off_from_the_loss(folder: Path) -> Question:
    return of_backbone_that_requires(folder, required=True)


def of_loss(folder: Path, loss: float, gradient: float, metric: bool = False) -> Question:
    """A forward pass that ends with a loss, and the gradient that a layer receives. A ``metric`` of zero is
    computed in between."""
    graph, shape = GraphBuilder("Net"), (8, 8)
    with graph.scope("/Default/fc-Linear"):
        given = graph.parameter("x", shape)
        value = graph.node("mm", [given, graph.parameter("fc.weight", shape)], shape)
    with graph.scope("/Default"):
        made = graph.node("mse_loss", [value], ())
        graph.node("mean", [value], ())
        graph.node("ones_like", [made], ())
    with graph.scope("/Gradients/Default"):
        made = graph.node("mse_loss_backward", [value], shape)
    with graph.scope("/Gradients/Default/fc-Linear"):
        graph.node("mm", [made, given], shape)
    dump = Dump(folder / "dump", graph=graph)
    for number in range(3):
        step = dump.iteration(number)
        step.output("Default/fc-Linear/mm-op0", noise(number).reshape(shape))
        step.output("Default/mse_loss-op0", np.float32(loss))
        if metric:
            step.output("Default/mean-op0", np.float32(0))
            step.output("Default/ones_like-op0", np.float32(1))
        values = noise(number, scale=gradient).reshape(shape)
        step.output("Gradients/Default/mse_loss_backward-op0", values)
        step.output("Gradients/Default/fc-Linear/mm-op1", values)
        step.parameter("fc.weight", noise(9).reshape(shape))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


_FADED = ["claim.check.dead", "claim.check.vanishing", "claim.check.frozen", "claim.check.frozen_module"]


@situation(makes=["claim.check.finished"], never=[*_FADED, "claim.check.no_update"], exit_code=2)
def a_loss_of_zero_and_what_follows_from_it(folder: Path) -> Question:
    return of_loss(folder, 0.0, 0.0)


@situation(makes=["claim.check.finished"], never=_FADED, exit_code=2)
def a_tiny_loss_with_tiny_gradients(folder: Path) -> Question:
    return of_loss(folder, 4e-9, 1e-11)


@situation(makes=["claim.check.vanishing"], never=["claim.check.finished"], exit_code=1)
def a_loss_of_one_with_tiny_gradients(folder: Path) -> Question:
    return of_loss(folder, 1.0, 1e-11)


@situation(makes=["claim.check.vanishing"], never=["claim.check.finished"], exit_code=1)
def a_metric_of_zero_behind_the_loss(folder: Path) -> Question:
    return of_loss(folder, 1.0, 1e-11, metric=True)


def of_adapter(folder: Path, begins: int, steps: int = 3) -> Question:
    """A product with a parameter that is zero up to some step."""
    graph, shape = GraphBuilder("Net"), (8, 8)
    with graph.scope("/Default/fc-Lora"):
        graph.node(
            "mm",
            [graph.parameter("x", shape), graph.node("t", [graph.parameter("fc.B", shape)], shape)],
            shape,
        )
    dump = Dump(folder / "dump", graph=graph)
    for number in range(steps):
        step, size = dump.iteration(number), float(number >= begins)
        step.output("Default/fc-Lora/t-op0", size * noise(2 + number).reshape(shape))
        step.output("Default/fc-Lora/mm-op0", size * noise(4 + number).reshape(shape))
        step.parameter("fc.B", noise(6 + number).reshape(shape))  # after the update of the step
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.none"], never=["claim.check.dead"], exit_code=0)
def an_adapter_that_begins_with_zeros(folder: Path) -> Question:
    return of_adapter(folder, 1)


@situation(makes=["claim.check.dead"], never=["claim.check.none"], exit_code=1)
def an_adapter_that_is_zero_at_the_second_dumped_step_too(folder: Path) -> Question:
    return of_adapter(folder, 2)


@situation(makes=["claim.check.begins_zero", "claim.check.none"], never=["claim.check.dead"], exit_code=0)
def an_adapter_whose_zeros_end_after_two_of_many_steps(folder: Path) -> Question:
    """The gradient of a branch that begins with zeros is zero as well if the last layer does, too."""
    return of_adapter(folder, 2, steps=5)


@situation(makes=["claim.check.dead"], never=["claim.check.begins_zero", "claim.check.none"], exit_code=1)
def an_adapter_that_is_zero_at_three_of_many_steps(folder: Path) -> Question:
    return of_adapter(folder, 3, steps=6)


@situation(makes=["claim.check.slow"], never=except_for("slow"), exit_code=1)
def a_weight_that_hardly_changes(folder: Path) -> Question:
    return checked(
        folder,
        parameters=lambda step: {"fc.weight": noise(0) * np.float32(1 + 0.001 * step)},
        conditions=["weight_change_too_small:abs_mean_update_ratio_lt=0.1"],
    )


@situation(makes=["claim.check.exploding"], never=except_for("exploding"), exit_code=1)
def a_weight_that_grows_tenfold(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": noise(0) * np.float32(10**step)})


@situation(makes=["claim.check.exploding", "claim.part.worst_step"], exit_code=1)
def a_weight_that_grows_faster_and_faster(folder: Path) -> Question:
    """The figure is that of the last step, in which it grows most."""
    question = checked(folder, parameters=lambda step: {"fc.weight": noise(0) * np.float32(4**step**2)})
    dump = open_dump(folder / "dump")
    hits = [hit for hit in check_and_count(dump, common_faults()) if isinstance(hit, Hit) and hit.verdict.hit]
    (claim,) = (finding.claim for finding in group_hits(hits) if finding.kind == "exploding")
    last = max(dump.steps())
    assert float(str(claim.values["actual"])) > 4 ** (2 * last - 1) / 2
    assert isinstance(claim.values["steps"], Claim) and claim.values["steps"].values["step"] == last
    return question


@situation(makes=["claim.check.exploding"], never=["claim.part.worst_step"], exit_code=1)
def a_weight_that_grows_in_one_step(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": noise(0) * np.float32(10 if step else 1)})


@situation(makes=["claim.check.none"], never=["claim.check.exploding"], exit_code=0)
def a_weight_that_grows_by_half(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": noise(0) * np.float32(1.5**step)})


@situation(makes=["claim.check.initial"], never=["claim.check.none", "claim.check.dead"], exit_code=1)
def a_weight_that_starts_at_zero_and_stays_there(folder: Path) -> Question:
    return checked(folder, parameters=lambda _: {"fc.weight": noise(0) * np.float32(0)})


@situation(makes=["claim.check.non_finite"], never=except_for("non_finite"), exit_code=1)
def nan_in_one_output(folder: Path) -> Question:
    values = noise(0)
    values[3] = np.nan
    return checked(folder, lambda step: {"Default/Add-op0": values if step == 1 else noise(step)})


@situation(makes=["claim.check.condition"], never=except_for("condition"), exit_code=1)
def a_chosen_limit_is_exceeded(folder: Path) -> Question:
    return checked(
        folder,
        parameters=lambda step: {"fc.weight": noise(step)},
        conditions=["weight_too_large:max_gt=0.001"],
    )


@situation(makes=["claim.check.none"], never=except_for("none"), exit_code=0)
def a_chosen_limit_is_kept(folder: Path) -> Question:
    return checked(
        folder,
        parameters=lambda step: {"fc.weight": noise(step)},
        conditions=["weight_too_large:max_gt=1000"],
    )


@situation(makes=["claim.check.vanishing"], never=["claim.check.dead", "claim.check.none"], exit_code=1)
def a_gradient_that_vanishes(folder: Path) -> Question:
    name = "Gradients/Default/fc-Dense/MatMul-op0"
    return checked(folder, lambda step: {name: noise(step, scale=1e-12)})


@situation(makes=["claim.check.none"], never=["claim.check.vanishing"], exit_code=0)
def flags_that_the_backward_pass_computes(folder: Path) -> Question:
    """The backward pass of a norm compares with zero: flags are no gradients."""
    flags, gradient = "Gradients/Default/eq-op0", "Gradients/Default/fc-Linear/mm-op0"
    return checked(folder, lambda step: {flags: np.zeros(4, bool), gradient: noise(step)})


def _of_loss(folder: Path, slot: int) -> Question:
    """Write a loss whose output of a number is zero at all steps."""
    dump = Dump(folder / "dump")
    for number in range(3):
        step = dump.iteration(number)
        for own in range(2):
            values = np.zeros((), np.float32) if own == slot else np.abs(noise(number))
            step.output("Default/nll_loss_forward-op0", values, slot=own)
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.none"], never=["claim.check.dead"], exit_code=0)
def the_total_weight_of_a_loss_that_is_not_averaged(folder: Path) -> Question:
    return _of_loss(folder, 1)


@situation(makes=["claim.check.dead"], never=["claim.check.none"], exit_code=1)
def a_loss_that_is_zero(folder: Path) -> Question:
    return _of_loss(folder, 0)


@situation(makes=["claim.check.none"], never=["claim.check.vanishing"], exit_code=0)
def a_zero_that_the_backward_pass_fills_in(folder: Path) -> Question:
    """The backward pass of PyTorch's where makes a constant zero: no gradient vanishes."""
    names = {"Gradients/Default/scalar_tensor-op0": 0.0, "Gradients/Default/fc-Linear/mm-op0": 1.0}
    return checked(
        folder, lambda step: {name: np.array(number, np.float32) for name, number in names.items()}
    )


@situation(
    makes=["claim.check.non_finite", "claim.check.undecided"],
    never=["claim.check.none", "claim.check.unknown"],
)
def a_non_finite_tensor_cannot_be_checked_for_more(folder: Path) -> Question:
    return checked(folder, lambda step: {"Default/ReLU-op0": np.full(4, np.nan, np.float32)})


@situation(makes=["claim.check.none"], never=["claim.check.undecided"])
def every_check_was_decided(folder: Path) -> Question:
    return checked(folder, lambda step: {"Default/ReLU-op0": np.abs(noise(step))})


@situation(makes=["claim.check.failed", "claim.check.none"], never=["claim.check.no_data"])
def a_check_of_an_extension_that_raised_an_error(folder: Path) -> Question:
    return Question(direct=lambda: tallied({"other.check": "ValueError: no norm"}))


@situation(makes=["claim.check.no_data", "claim.check.none"], never=["claim.check.failed"])
def a_check_of_an_extension_that_had_nothing_to_judge(folder: Path) -> Question:
    return Question(direct=lambda: tallied({}))


def tallied(failed: dict[str, str]) -> list[Claim]:
    """The claims of two checks, of which the other distribution's judged nothing."""
    requested = {"tensor_overflow": True, "other.check": True}
    return check_claims([], Tally(Counter(tensor_overflow=3), requested, 1, 0, failed))


@situation(
    makes=["claim.check.overflowed", "claim.check.non_finite"],
    never=["claim.check.none", "claim.check.dead"],
    exit_code=1,
)
def an_overflow_that_the_device_reported(folder: Path) -> Question:
    """An asynchronous dump of Ascend: finite values, and a report of the device beside them."""
    with zipfile.ZipFile(SAMPLES / "async_synthetic.zip") as archive:
        archive.extractall(folder)
    return Question(command=["dump", "check", str(folder / "async_SYNTHETIC" / "npy"), "--json"])


@situation(makes=["claim.check.condition"], never=except_for("condition"), exit_code=1)
def half_zeros_and_a_limit_of_half(folder: Path) -> Question:
    """The chosen limit is reached. Not all values are zero."""
    half = np.where(np.arange(64) % 2 == 0, 1, 0).astype(np.float32)
    limits = ["tensor_all_zero:zero_percentage_ge=50"]
    return checked(folder, lambda step: {"Default/Mul-op0": half * (step + 1)}, conditions=limits)


@situation(makes=["claim.check.dead", "claim.check.more"], never=["claim.check.vanishing"], exit_code=1)
def what_follows_from_a_dead_relu_is_told_with_it(folder: Path) -> Question:
    zeros = np.zeros(64, np.float32)
    names = ("Default/ReLU-op0", "Default/Mul-op0", "Gradients/Default/fc-Dense/MatMul-op0")
    return checked(folder, lambda step: dict.fromkeys(names, zeros))


@situation(makes=["claim.check.condition"], never=except_for("condition"), exit_code=1)
def a_chosen_range_of_a_tanh(folder: Path) -> Question:
    """No value lies in the chosen range, and all lie where the function is active."""
    chosen = "activation_range:range_start_inclusive=-0.1,range_end_inclusive=0.1,range_percentage_lt=50"
    values = np.full(64, 0.5, np.float32)
    return checked(folder, lambda step: {"Default/Tanh-op0": values}, conditions=[chosen])


@situation(makes=["claim.check.condition"], never=except_for("condition"), exit_code=1)
def a_chosen_width_of_a_tanh(folder: Path) -> Question:
    chosen = "activation_range:max_min_gt=0.5"
    return checked(folder, lambda step: {"Default/Tanh-op0": np.tanh(noise(step))}, conditions=[chosen])


@situation(makes=["claim.check.condition"], never=except_for("condition", "more"), exit_code=1)
def a_leaky_relu_below_zero(folder: Path) -> Question:
    """A leaky ReLU has a gradient below zero: it is not inactive there."""
    return checked(folder, lambda step: {"Default/LeakyReLU-op0": -0.01 * np.abs(noise(step))})


@situation(makes=["claim.check.condition"], never=except_for("condition"), exit_code=1)
def a_chosen_maximum_of_a_gradient(folder: Path) -> Question:
    """What is small is the maximum, not the mean magnitude."""
    name = "Gradients/Default/fc-Dense/MatMul-op0"
    return checked(
        folder, lambda step: {name: noise(step) - 100}, conditions=["gradient_vanishing:max_lt=-1"]
    )


@situation(makes=["claim.check.none"], never=except_for("none"), exit_code=0)
def a_bias_that_starts_with_zeros(folder: Path) -> Question:
    """As nearly all do. A change from zero is not many times what it was."""
    return checked(
        folder, parameters=lambda step: {"fc.bias": np.full(8, 0.1 * min(step, 1) + 0.05 * step, np.float32)}
    )


@situation(makes=["claim.check.none"], never=except_for("none"), exit_code=0)
def a_weight_that_leaves_zero(folder: Path) -> Question:
    """It is trained, as the last layer of a residual branch, and a change from zero is no explosion."""
    grown = np.arange(1, 9, dtype=np.float32)
    return checked(folder, parameters=lambda step: {"fc.weight": grown * np.float32(step and 1 + 0.1 * step)})


@situation(makes=["claim.check.none"], never=except_for("none"), exit_code=0)
def a_weight_that_changes_by_a_thousandth(folder: Path) -> Question:
    return checked(folder, parameters=lambda step: {"fc.weight": noise(0) * np.float32(1 + 0.001 * step)})


@situation(makes=["claim.check.none"], never=["claim.check.frozen", "claim.check.slow"], exit_code=0)
def a_small_weight_that_grows(folder: Path) -> Question:
    """It changes by less than 1e-8, which is much of itself."""
    return checked(
        folder, parameters=lambda step: {"fc.weight": noise(0, scale=3e-11) * np.float32(1.2**step)}
    )


@situation(makes=["claim.check.tolerated"], never=except_for("tolerated"), exit_code=1)
def a_small_weight_within_a_chosen_tolerance(folder: Path) -> Question:
    """Of a condition with an absolute tolerance the sentence names it."""
    return checked(
        folder,
        parameters=lambda step: {"fc.weight": noise(0, scale=1e-11) * np.float32(1.2**step)},
        conditions=["weight_not_changed:rtol=0.00001,atol=0.00000001"],
    )


@situation(makes=["claim.check.none"], never=["claim.check.tolerated"], exit_code=0)
def a_weight_beyond_a_chosen_tolerance(folder: Path) -> Question:
    return checked(
        folder,
        parameters=lambda step: {"fc.weight": noise(0) * np.float32(1.2**step)},
        conditions=["weight_not_changed:rtol=0.00001,atol=0.00000001"],
    )


@situation(makes=["claim.check.unknown"], never=["claim.check.checked", "claim.check.none"])
def nothing_that_could_be_checked(folder: Path) -> Question:
    return checked(
        folder, parameters=lambda step: {"fc.weight": noise(step)}, conditions=["gradient_vanishing:max_lt=1"]
    )


@situation(makes=["claim.check.no_data"], never=["claim.check.unknown"], exit_code=0)
def one_step_without_weights(folder: Path) -> Question:
    """Of the common faults only those of outputs can be judged; nobody asked for the others by name."""
    return checked(folder, steps=[0])


@situation(makes=["claim.check.no_data", "claim.check.none"], never=["claim.check.frozen"], exit_code=2)
def a_condition_that_was_asked_for_and_has_no_data(folder: Path) -> Question:
    return checked(
        folder, steps=[0], conditions=["tensor_all_zero", "weight_not_changed", "operator_overflow"]
    )


@situation(makes=["claim.check.none", "claim.check.checked"], never=["claim.check.no_data"], exit_code=0)
def all_that_was_asked_for_has_data(folder: Path) -> Question:
    return checked(
        folder,
        parameters=lambda step: {"fc.weight": noise(step)},
        conditions=["tensor_all_zero", "weight_not_changed"],
    )


def of_a_bias(folder: Path, terms: Array, graph_named: bool = True) -> Question:
    """Check two steps of a linear layer: a bias that does not change, whose gradient is the sum of terms."""
    graph = GraphBuilder("Net")
    with graph.scope("/Gradients/Default/attn-Attn/k-Linear"):
        graph.node("view", [graph.node("sum", [graph.node("mm", shape=(64, 8))], shape=(1, 8))], shape=(8,))
    dump = Dump(folder / "dump", graph=graph if graph_named else None)
    total = terms.sum(axis=0, dtype=np.float32, keepdims=True)
    scope = "Gradients/Default/attn-Attn/k-Linear"
    for number in range(2):
        step = dump.iteration(number)
        step.output(f"{scope}/mm-op0", terms)
        step.output(f"{scope}/sum-op0", total)
        step.output(f"{scope}/view-op0", total[0])
        step.parameter("attn.k.bias", noise(0, 8))
        step.parameter("attn.k.weight", noise(0) * np.float32(1 + 0.01 * number))
    ask = Question(command=["dump", "check", str(folder / "dump"), "--json"], base=folder)
    return replace(ask, request=lambda client: check_through(client, []))


def cancelling(scale: float = 1e-4) -> Array:
    """Return terms [64, 8] whose sums are zero up to rounding, as those of a bias of keys are."""
    half = noise(1, 32 * 8, scale).reshape(32, 8)
    return np.concatenate([half, -half * np.float32(1 + 1e-7)])


@situation(makes=["claim.check.cancelled", "claim.check.none"], never=["claim.check.vanishing"], exit_code=0)
def a_bias_of_keys_before_a_softmax(folder: Path) -> Question:
    return of_a_bias(folder, cancelling())


@situation(makes=["claim.check.vanishing", "claim.check.frozen"], never=["claim.check.cancelled"])
def a_bias_whose_terms_vanish(folder: Path) -> Question:
    """The gradient is dead before it reaches the bias."""
    return of_a_bias(folder, noise(1, 64 * 8, 1e-13).reshape(64, 8))


@situation(makes=["claim.check.vanishing", "claim.check.frozen"], never=["claim.check.cancelled"])
def a_bias_whose_dead_terms_cancel_too(folder: Path) -> Question:
    return of_a_bias(folder, cancelling(1e-12))


@situation(makes=["claim.check.vanishing", "claim.check.frozen"], never=["claim.check.cancelled"])
def a_bias_whose_terms_are_unknown(folder: Path) -> Question:
    """Without a graph it is not known what was summed."""
    return of_a_bias(folder, cancelling(), graph_named=False)


def of_changes(folder: Path, change: float, others: float) -> Question:
    """Check three weights, of which two change by ``others`` of themselves and one by ``change``."""

    def weights(step: int) -> dict[str, Array]:
        rates = {"a.weight": others, "b.weight": others, "ln.weight": change}
        return {name: np.float32(1 + rate * step) * noise(7) for name, rate in rates.items()}

    return checked(folder, parameters=weights, steps=[0, 1])


@situation(makes=["claim.check.small", "claim.check.none"], never=["claim.check.slow"], exit_code=0)
def a_weight_that_changes_as_by_a_small_learning_rate(folder: Path) -> Question:
    return of_changes(folder, 5e-5, 0.01)


@situation(makes=["claim.check.slow"], never=["claim.check.small", "claim.check.none"], exit_code=1)
def a_weight_that_changes_far_less_than_the_others(folder: Path) -> Question:
    return of_changes(folder, 3e-5, 0.1)


def of_zeros(folder: Path, steps: int) -> Question:
    """Check the product of a scale with a value, which is zero at as many of three steps."""
    dump = Dump(folder / "dump")
    for number in range(3):
        step = dump.iteration(number)
        step.input("Default/mul-op0", noise(number))
        step.output("Default/mul-op0", noise(number + 5) * np.float32(number >= steps))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.begins_zero", "claim.check.none"], never=["claim.check.dead"], exit_code=0)
def a_branch_that_begins_with_zeros(folder: Path) -> Question:
    return of_zeros(folder, 1)


@situation(makes=["claim.check.dead"], never=["claim.check.begins_zero", "claim.check.none"], exit_code=1)
def a_branch_of_zeros_at_two_steps(folder: Path) -> Question:
    return of_zeros(folder, 2)


def of_a_first_convolution(folder: Path, sums: float) -> Question:
    """Check a bias that stands still, whose gradient, sums of ``sums`` each, is behind that of the weight."""
    graph, shape = GraphBuilder("Net"), (8, 4, 4)
    with graph.scope("/Default/conv-Conv2d"):
        weights = [graph.parameter("conv.weight", (4, 3)), graph.parameter("conv.bias", (4,))]
        value = graph.node("convolution", [graph.parameter("inputs0", shape), *weights], shape)
    with graph.scope("/Gradients/Default/conv-Conv2d"):
        graph.node(
            "convolution_backward",
            [value, "inputs0", weights[0]],
            (4, 3),
            several=[((4, 3), "float32"), ((4,), "float32")],
        )
    dump = Dump(folder / "dump", graph=graph)
    for number in range(2):
        step = dump.iteration(number)
        step.output("Default/conv-Conv2d/convolution-op0", noise(number, 128).reshape(shape))
        terms = np.tile(np.array([1, -1], np.float32), 64).reshape(shape) * noise(3, 1)
        name = "Gradients/Default/conv-Conv2d/convolution_backward-op0"
        step.input(name, terms + np.float32(sums / 32))
        step.output(name, noise(number + 5, 12).reshape(4, 3), 0)
        step.output(name, np.full(4, sums or 1e-9, np.float32), 1)
        step.parameter("conv.weight", (np.float32(1 + 0.01 * number) * noise(1, 12)).reshape(4, 3))
        step.parameter("conv.bias", noise(2, 4))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.cancelled", "claim.check.none"], never=["claim.check.frozen"], exit_code=0)
def a_bias_of_a_convolution_before_a_normalization(folder: Path) -> Question:
    return of_a_first_convolution(folder, 0.0)


@situation(
    makes=["claim.check.frozen", "claim.part.frozen.gradient"],
    never=["claim.check.cancelled", "claim.check.none"],
    exit_code=1,
)
def a_bias_of_a_convolution_that_the_optimizer_lacks(folder: Path) -> Question:
    return of_a_first_convolution(folder, 3.0)


def of_few_rows(folder: Path, change: float) -> Question:
    """Check an embedding of which one row of a hundred changes, and a weight that changes by a tenth."""
    table = noise(3, 800).reshape(100, 8)

    def weights(step: int) -> dict[str, Array]:
        used = table.copy()
        used[7] *= np.float32(1 + change * step)
        return {"e.weight": used, "b.weight": np.float32(1 + 0.1 * step) * noise(7)}

    return checked(folder, parameters=weights, steps=[0, 1])


@situation(makes=["claim.check.few", "claim.check.none"], never=["claim.check.slow"], exit_code=0)
def an_embedding_of_which_few_rows_are_used(folder: Path) -> Question:
    return of_few_rows(folder, 2e-3)


@situation(makes=["claim.check.slow"], never=["claim.check.few", "claim.check.none"], exit_code=1)
def an_embedding_whose_used_rows_hardly_change(folder: Path) -> Question:
    return of_few_rows(folder, 5e-5)


@situation(makes=["claim.check.none"], never=except_for("none"), exit_code=0)
def a_bias_that_grows_from_nearly_zero(folder: Path) -> Question:
    """It was recorded after its first update, and each doubles it."""
    return checked(
        folder,
        parameters=lambda step: {
            "ln.weight": 1 + 0.01 * noise(step),
            "ln.bias": noise(0, scale=1e-4) * np.float32(2**step + 0.1 * step),
        },
    )


def of_an_adapter(folder: Path, first: float, grown: float) -> Question:
    """Check a weight that its layer received with the magnitude ``first``, recorded after each update."""
    graph = GraphBuilder("Net")
    graph.output(graph.node("t", [graph.parameter("b.weight", (64,))], shape=(64,)))
    return check_of(
        folder,
        Dump(folder / "dump", graph=graph),
        lambda step: {"Default/t-op0": noise(0, scale=1e-4 * 2.2**step if step else first)},
        lambda step: {"a.weight": 1 + 0.01 * noise(step), "b.weight": noise(0, scale=1e-4 * grown**step)},
    )


@situation(makes=["claim.check.none"], never=["claim.check.exploding", "claim.check.dead"], exit_code=0)
def a_weight_that_grows_from_zero(folder: Path) -> Question:
    """As the second matrix of an adapter does. Its layer received zeros at the first step."""
    return of_an_adapter(folder, 0, 2.2)


@situation(makes=["claim.check.exploding"], exit_code=1)
def a_weight_that_grows_from_zero_beyond_the_others(folder: Path) -> Question:
    return of_an_adapter(folder, 0, 500)


@situation(makes=["claim.check.none"], never=["claim.check.exploding"], exit_code=0)
def a_small_weight_that_doubles(folder: Path) -> Question:
    """It may have begun at zero before the first dumped step, as the last scale of a residual branch."""
    return of_an_adapter(folder, 1e-4, 2.2)


@situation(makes=["claim.check.exploding"], never=["claim.check.none"], exit_code=1)
def a_small_weight_that_becomes_as_large_as_others(folder: Path) -> Question:
    return of_an_adapter(folder, 1e-4, 5e3)


@situation(makes=["claim.check.exploding"], never=["claim.check.none"], exit_code=1)
def a_bias_that_jumps_beyond_its_weight(folder: Path) -> Question:
    return checked(
        folder,
        parameters=lambda step: {
            "ln.weight": 1 + 0.01 * noise(step),
            "ln.bias": noise(0, scale=1e-4) if step < 2 else np.full(64, -50, np.float32),
        },
    )


@situation(makes=["claim.check.exploding"], never=["claim.check.none"], exit_code=1)
def a_bias_that_doubles_without_a_weight_beside_it(folder: Path) -> Question:
    """In which units its change counts is unknown."""
    return checked(folder, parameters=lambda step: {"ln.bias": noise(0, scale=1e-4) * np.float32(2.2**step)})


def of_layers(folder: Path, factor: float, count: int = 8, layer: str = "Linear/addmm") -> Question:
    """Check the outputs of layers, each of which is larger than the one before by a factor."""

    def outputs(step: int) -> dict[str, Array]:
        names = [f"Default/layers-Seq/{at}-{layer}-op{at}" for at in range(count)]
        return {name: noise(step + at, scale=factor**at) for at, name in enumerate(names)}

    return checked(folder, outputs)


@situation(makes=["claim.check.depth"], never=except_for("depth"), exit_code=1)
def outputs_that_grow_threefold_from_layer_to_layer(folder: Path) -> Question:
    return of_layers(folder, 3.0)


@situation(makes=["claim.check.none"], never=["claim.check.depth"], exit_code=0)
def outputs_that_grow_by_a_half_from_layer_to_layer(folder: Path) -> Question:
    return of_layers(folder, 1.5)


@situation(makes=["claim.check.none"], never=["claim.check.depth"], exit_code=0)
def five_layers_with_outputs_ten_times_those_before(folder: Path) -> Question:
    return of_layers(folder, 10.0, 5)


@situation(makes=["claim.check.none"], never=["claim.check.depth"], exit_code=0)
def outputs_of_exponentials_that_grow(folder: Path) -> Question:
    return of_layers(folder, 3.0, layer="Exp/exp")


@situation(makes=["claim.check.none"], never=["claim.check.exploding"], exit_code=0)
def a_weight_that_doubles_between_dumped_steps_far_apart(folder: Path) -> Question:
    return checked(
        folder, parameters=lambda step: {"fc.weight": noise(0) * (1 + step // 100)}, steps=[5, 300]
    )


@situation(makes=["claim.check.exploding"], never=["claim.check.none"], exit_code=1)
def a_weight_that_doubles_within_a_step(folder: Path) -> Question:
    return checked(
        folder, parameters=lambda step: {"fc.weight": noise(0) * (1 + 3 * (step // 6))}, steps=[5, 6]
    )


def of_blocks(folder: Path, still: Sequence[str], count: int = 2) -> Question:
    """Check three steps of two layers in each of some blocks, of which some weights do not change."""
    graph = GraphBuilder("Net")
    names = [f"blocks.{block}.{layer}.weight" for block in range(count) for layer in ("fc1", "fc2")]
    for name in names:
        graph.output(graph.node("relu", [graph.parameter(name, (64,))], shape=(64,)))

    def weights(step: int) -> dict[str, Array]:
        return {name: noise(0) * np.float32(1 if name in still else 1 + 0.01 * step) for name in names}

    return check_of(folder, Dump(folder / "dump", graph=graph), parameters=weights)


@situation(makes=["claim.check.frozen_module"], never=except_for("frozen_module"), exit_code=1)
def a_block_that_stands_still(folder: Path) -> Question:
    return of_blocks(folder, ["blocks.1.fc1.weight", "blocks.1.fc2.weight"])


@situation(makes=["claim.check.frozen_modules"], never=except_for("frozen_modules"), exit_code=1)
def two_blocks_of_three_that_stand_still(folder: Path) -> Question:
    return of_blocks(folder, [f"blocks.{block}.fc{layer}.weight" for block in (0, 2) for layer in (1, 2)], 3)


@situation(
    makes=["claim.check.frozen", "claim.check.more"],
    never=["claim.check.frozen_module", "claim.check.frozen_modules", "claim.check.frozen_network"],
    exit_code=1,
)
def a_layer_of_each_block_that_stands_still(folder: Path) -> Question:
    return of_blocks(folder, ["blocks.0.fc1.weight", "blocks.1.fc2.weight"])


@situation(
    makes=["claim.check.frozen", "claim.check.more"], never=["claim.check.frozen_network"], exit_code=1
)
def a_network_that_stands_still_but_for_its_adapters(folder: Path) -> Question:
    """Their names say neither weight nor bias."""
    still = {"fc1.weight": noise(0), "fc2.weight": noise(1)}
    return checked(folder, parameters=lambda step: {**still, "fc1.B": noise(2) * np.float32(1 + 0.01 * step)})


@situation(
    makes=["claim.check.no_update", "claim.check.none"], never=["claim.check.frozen_network"], exit_code=0
)
def a_network_that_is_updated_every_other_step(folder: Path) -> Question:
    names = [f"blocks.{block}.fc.weight" for block in range(3)]
    return checked(
        folder,
        parameters=lambda step: {name: noise(0) * np.float32(1 + 0.01 * (step // 2)) for name in names},
        steps=range(6),
    )


def _adversaries(folder: Path, updates: Sequence[int], damaged: int = -1) -> Question:
    """Check two networks over six steps: one is updated at every step, the other at some. Its weights of the
    ``damaged`` step cannot be read."""
    names = [f"{net}.fc{layer}.{kind}" for net in "dg" for layer in (1, 2) for kind in ("weight", "bias")]

    def weights(step: int) -> dict[str, Array]:
        count = {"g": step, "d": sum(update <= step for update in updates)}
        return {name: noise(0) * np.float32(1 + 0.01 * count[name[0]]) for name in names}

    graph = GraphBuilder("Net")
    for name in names:
        graph.output(graph.node("relu", [graph.parameter(name, (64,))], shape=(64,)))
    question = check_of(folder, Dump(folder / "dump", graph=graph), parameters=weights, steps=range(6))
    for file in (folder / "dump" / "rank_0" / "Net" / "0" / str(damaged)).glob("Parameter.d_*"):
        file.write_bytes(file.read_bytes()[:-8])
    return question


@situation(
    makes=["claim.check.no_update_in_turns", "claim.check.none"],
    never=["claim.check.frozen_module", "claim.check.frozen", "claim.check.no_update"],
    exit_code=0,
)
def a_network_that_is_trained_in_turns(folder: Path) -> Question:
    return _adversaries(folder, [2, 4])


@situation(
    makes=["claim.check.frozen_module"],
    never=["claim.check.no_update_in_turns", "claim.check.none"],
    exit_code=1,
)
def a_network_that_stops_being_trained(folder: Path) -> Question:
    return _adversaries(folder, [1, 2])


@situation(
    makes=["claim.check.frozen_module", "claim.check.unread"], never=["claim.check.no_update_in_turns"]
)
def a_frozen_network_with_a_step_that_cannot_be_read(folder: Path) -> Question:
    """What is not known of that step is no update."""
    return _adversaries(folder, [], damaged=3)


@situation(
    makes=["claim.check.frozen_network"],
    never=["claim.check.frozen_module", "claim.check.frozen", "claim.check.more", "claim.check.no_update"],
    exit_code=1,
)
def a_network_that_stands_still(folder: Path) -> Question:
    return of_blocks(folder, [f"blocks.{block}.fc{layer}.weight" for block in (0, 1) for layer in (1, 2)])


def of_experts(folder: Path, chosen: Sequence[int], multiplied: bool = True) -> Question:
    """Check an expert that receives samples at ``chosen`` of four steps, as flags say."""
    graph = GraphBuilder("Net")
    with graph.scope("/Default"):
        values = graph.parameter("inputs0", (64,))
        flags = graph.node("eq", [values], (64,), dtype="bool")
        cast = graph.node("_to_copy", [flags], (64,))
        graph.node("mul", [cast, values] if multiplied else [values], (64,))
    dump = Dump(folder / "dump", graph=graph)
    for number in range(4):
        step, on = dump.iteration(number), number in chosen
        step.output("Default/eq-op0", np.full(64, on))
        step.output("Default/_to_copy-op0", np.full(64, on or not multiplied, np.float32))
        step.output("Default/mul-op0", noise(number) * np.float32(on))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.idle", "claim.check.none"], never=["claim.check.dead"], exit_code=0)
def an_expert_that_receives_no_sample_at_some_steps(folder: Path) -> Question:
    return of_experts(folder, [1])


@situation(makes=["claim.check.dead"], never=["claim.check.idle", "claim.check.none"], exit_code=1)
def an_expert_that_never_receives_a_sample(folder: Path) -> Question:
    """Flags that are zero all the time, such as a mask of padding only, are a fault."""
    return of_experts(folder, [])


@situation(makes=["claim.check.dead"], never=["claim.check.idle", "claim.check.none"], exit_code=1)
def values_that_become_zero_beside_flags(folder: Path) -> Question:
    return of_experts(folder, [0, 1], multiplied=False)


def of_difference(folder: Path, other: float) -> Question:
    """Check a difference of zeros, of two tensors of which the second is moved by ``other``."""
    dump = Dump(folder / "dump")
    for number in range(3):
        step = dump.iteration(number)
        step.input("Default/sub-op0", noise(number))
        step.input("Default/sub-op0", noise(number) + np.float32(other), 1)
        step.output("Default/sub-op0", np.zeros(64, np.float32))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.equal", "claim.check.none"], never=["claim.check.dead"], exit_code=0)
def the_ratio_of_a_policy_before_its_first_update(folder: Path) -> Question:
    return of_difference(folder, 0.0)


@situation(makes=["claim.check.dead"], never=["claim.check.equal", "claim.check.none"], exit_code=1)
def a_difference_of_zeros_from_different_values(folder: Path) -> Question:
    return of_difference(folder, 1.0)


def of_exponential(folder: Path, value: float) -> Question:
    """Check the exponential of ``value`` everywhere, which is zero."""
    dump = Dump(folder / "dump")
    for number in range(3):
        step = dump.iteration(number)
        step.input("Default/exp-op0", np.full(64, value, np.float32))
        step.output("Default/exp-op0", np.zeros(64, np.float32))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(never=["claim.check.dead"])
def a_running_maximum_that_begins_with_minus_infinity(folder: Path) -> Question:
    return of_exponential(folder, -np.inf)


@situation(makes=["claim.check.dead"], never=["claim.check.none"], exit_code=1)
def an_exponential_that_underflows_everywhere(folder: Path) -> Question:
    return of_exponential(folder, -1e4)


def of_small_gradients(folder: Path, small: Sequence[int]) -> Question:
    """Check a gradient that is tiny at some of four steps."""
    dump = Dump(folder / "dump")
    for number in range(4):
        step = dump.iteration(number)
        scale = 3e-10 if number in small else 1e-3
        step.output("Gradients/Default/fc/mm-op0", noise(number, scale=scale))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(
    makes=["claim.check.begins_small", "claim.check.none"], never=["claim.check.vanishing"], exit_code=0
)
def a_gradient_that_is_tiny_where_the_recording_begins(folder: Path) -> Question:
    return of_small_gradients(folder, [0])


@situation(
    makes=["claim.check.vanishing"], never=["claim.check.begins_small", "claim.check.none"], exit_code=1
)
def a_gradient_that_is_tiny_later(folder: Path) -> Question:
    return of_small_gradients(folder, [0, 2])


def of_last_token(folder: Path, whole: bool) -> Question:
    """Check a part of a gradient that is zero, of a whole that is zero, too, or is not."""
    graph = GraphBuilder("Net")
    with graph.scope("/Gradients/Default"):
        given = graph.node("mm", [graph.parameter("inputs0", (64,))], (64,))
        graph.node("select", [given], (64,))
    dump = Dump(folder / "dump", graph=graph)
    for number in range(3):
        step = dump.iteration(number)
        step.output("Gradients/Default/mm-op0", noise(number) * np.float32(not whole))
        step.output("Gradients/Default/select-op0", np.zeros(64, np.float32))
    return Question(command=["dump", "check", str(folder / "dump"), "--json"])


@situation(makes=["claim.check.none"], never=["claim.check.dead"], exit_code=0)
def the_gradient_of_a_token_without_a_target(folder: Path) -> Question:
    return of_last_token(folder, False)


@situation(makes=["claim.check.dead"], never=["claim.check.none"], exit_code=1)
def a_gradient_of_zeros_and_its_part(folder: Path) -> Question:
    return of_last_token(folder, True)
