"""Dumps of equal blocks with their graph, as PyTorch records them: weights are inputs of operators."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump
from tests.claims.situation import Question, situation
from tests.claims.situations.dump_compare import AGREE, array, compared

Array = npt.NDArray[np.float32]
Weights = dict[str, Array]  # by path of the parameter

BLOCKS = 3


def weights_of(**changes: Array) -> Weights:
    """Weights of all blocks. ``changes`` are added, by name without dots: ``b2_weight``."""
    weights = {}
    for block in range(BLOCKS):
        for slot, values in (("weight", array(8, 8, seed=block)), ("bias", array(8, seed=9 + block) * 1e-3)):
            change = changes.get(f"b{block}_{slot}", np.float32(0))
            weights[f"blocks.{block}.fc1.{slot}"] = (values + change).astype(np.float32)
    return weights


def write_blocks(root: Path, weights: Weights) -> Path:
    """Write a dump of linear layers of which each passes its weight through a transposition."""
    graph, x = GraphBuilder("Net"), array(4, 8, seed=20)
    last = graph.parameter("x", x.shape, role="input")
    calls: list[tuple[str, list[Any], Any]] = []
    for block in range(BLOCKS):
        path, scope = f"blocks.{block}.fc1", f"blocks-ModuleList/{block}-Block/mlp-MLP/fc1-Linear"
        weight, bias = weights[f"{path}.weight"], weights[f"{path}.bias"]
        names = [
            graph.parameter(f"{path}.{slot}", weights[f"{path}.{slot}"].shape) for slot in ("weight", "bias")
        ]
        with graph.scope(scope):
            turned = graph.node("t", names[:1], shape=(8, 8))
            last = graph.node("addmm", [names[1], last, turned], shape=x.shape)
        y = (x @ weight.T + bias).astype(np.float32)
        calls.append((f"Default/{scope}/t-op{block}", [weight], weight.T))
        calls.append((f"Default/{scope}/addmm-op{block}", [bias, x, weight.T], y))
        x = y
    graph.output(last)
    step = Dump(root, graph=graph).iteration(0)
    for name, inputs, output in calls:
        for slot, value in enumerate(inputs):
            step.input(name, value, slot)
        step.output(name, output)
    for parameter, values in weights.items():
        step.parameter(parameter, values - np.float32(0.01))  # recorded after the optimizer changed it
    return root


def of_blocks(folder: Path, **changes: Array) -> Question:
    write_blocks(folder / "target", weights_of(**changes))
    write_blocks(folder / "reference", weights_of())
    return compared(folder)


def one_value(*shape: int, index: Any, by: float) -> Array:
    change = np.zeros(shape, np.float32)
    change[index] = by
    return change


@situation(
    ["claim.dump.weight_differs", "claim.dump.rest_follows"],
    ["claim.dump.input_differs", "claim.dump.largest_weight", "claim.dump.more_differ", *AGREE],
    1,
)
def a_weight_that_an_operator_receives(folder: Path) -> Question:
    """The graph says which parameter the input is, whose own tensor was recorded after the update."""
    return of_blocks(folder, b1_weight=one_value(8, 8, index=(3, 5), by=0.5))


NOISE = np.full(8, 2e-6, np.float32)  # 2 ‰ of a bias: after a step, the trainings have diverged


@situation(["claim.dump.weight_differs", "claim.dump.largest_weight", "claim.dump.more_differ"], AGREE, 1)
def a_changed_weight_after_the_noise_of_others(folder: Path) -> Question:
    """The first weight that differs does so by a rounding."""
    changes = {"b0_bias": NOISE, "b1_bias": NOISE, "b2_weight": one_value(8, 8, index=(3, 5), by=0.5)}
    return of_blocks(folder, **changes)


@situation(["claim.dump.weight_differs", "claim.dump.more_differ"], ["claim.dump.largest_weight", *AGREE], 1)
def a_changed_weight_before_the_noise_of_others(folder: Path) -> Question:
    """A bias near zero has the larger relative distance and is not what matters."""
    changes = {
        "b0_weight": one_value(8, 8, index=(3, 5), by=0.5),
        "b2_bias": np.full(8, 5e-3, np.float32) * 0.9,
    }
    return of_blocks(folder, **changes)
