"""Comparison of graphs against known edits: precision, recall and CPU seconds.

``python -m benchmarks.graph_edits`` prints Markdown. A transformer with backward pass and optimizer (some
20 000 nodes) is written as MindSpore does, edited at places chosen by chance, and compared with itself before
the edits. Which operator of one graph is which of the other is known, because both come from one list; the
names that the files carry count operators over the whole graph, so that every edit changes most of them.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, TypeAlias

import numpy as np

from benchmarks.networks import ROOT, WIDTH, Network, Operator, Shape, encode, transformer
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import compare
from mindinsight.server.graph.model.graph import Numbers
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.scopes.scope_tree import Tree

Edit: TypeAlias = Callable[[Network, random.Random], Network]

SHARE: Final = 0.01  # of the operators that an edit touches


def insert(network: Network, chance: random.Random) -> Network:
    """An operator more (a Cast) on one input of some operators."""
    operators = []
    for operator in network.operators:
        inner = [slot for slot, source in enumerate(operator.inputs) if source not in network.parameters]
        if inner and chance.random() < SHARE:
            slot = chance.choice(inner)
            cast = Operator(f"cast {operator.key}", "Cast", operator.scope, (operator.inputs[slot],))
            inputs = (*operator.inputs[:slot], cast.key, *operator.inputs[slot + 1 :])
            operators += [cast, replace(operator, inputs=inputs)]
        else:
            operators.append(operator)
    return replace(network, operators=operators)


def remove(network: Network, chance: random.Random) -> Network:
    """Some operators less; whoever used one takes its first input."""
    bypass: dict[str, str] = {}
    operators = []
    for operator in network.operators:
        inputs = tuple(bypass.get(source, source) for source in operator.inputs)
        if inputs and inputs[0] not in network.parameters and chance.random() < SHARE:
            bypass[operator.key] = inputs[0]
        else:
            operators.append(replace(operator, inputs=inputs))
    return replace(network, operators=operators)


def swap_norms(network: Network, _chance: random.Random) -> Network:
    """Every LayerNorm becomes an RmsNorm without beta, its gradients as well."""
    operators = []
    for operator in network.operators:
        if operator.type == "LayerNormGrad" and operator.key.endswith(":grad2"):
            continue
        if operator.type == "AdamWeightDecay" and operator.key.endswith(".beta"):
            continue
        if operator.type in ("LayerNorm", "LayerNormGrad"):
            inputs = operator.inputs[:2] if operator.type == "LayerNorm" else operator.inputs
            kind = operator.type.replace("LayerNorm", "RmsNorm")
            operators.append(replace(operator, type=kind, inputs=inputs))
        else:
            operators.append(operator)
    parameters = {name: shape for name, shape in network.parameters.items() if not name.endswith(".beta")}
    return Network(operators, parameters)


def swap_types(network: Network, chance: random.Random) -> Network:
    """Some operators become operators of another type."""
    operators = [
        replace(operator, type=f"{operator.type}V2") if chance.random() < SHARE else operator
        for operator in network.operators
    ]
    return replace(network, operators=operators)


def widen(network: Network, _chance: random.Random) -> Network:
    """Hidden layers of three times the width instead of four."""

    def narrower(shape: Shape) -> Shape:
        return tuple(3 * WIDTH if length == 4 * WIDTH else length for length in shape)

    operators = [replace(operator, shape=narrower(operator.shape)) for operator in network.operators]
    return Network(operators, {name: narrower(shape) for name, shape in network.parameters.items()})


def reorder(network: Network, chance: random.Random) -> Network:
    """Another order of execution that the inputs allow, chosen by chance."""
    users: dict[str, list[Operator]] = {}
    waiting = {}
    ready = []
    for operator in network.operators:
        inner = {source for source in operator.inputs if source not in network.parameters}
        waiting[operator.key] = len(inner)
        for source in inner:
            users.setdefault(source, []).append(operator)
        if not inner:
            ready.append(operator)
    operators = []
    while ready:
        operators.append(ready.pop(chance.randrange(len(ready))))
        for user in users.get(operators[-1].key, ()):
            waiting[user.key] -= 1
            if not waiting[user.key]:
                ready.append(user)
    return replace(network, operators=operators)


def drop_layer(network: Network, chance: random.Random) -> Network:
    """A layer less; the names of the others stay."""
    layers = {
        int(o.scope.rpartition("/")[2].split("-")[0]) for o in network.operators if o.scope.endswith("Block")
    }
    layer = chance.randrange(len(layers) - 1)
    gone = f"/blocks-CellList/{layer}-Block"
    below, here = (f"{ROOT}/blocks-CellList/{number}-Block:residual_2" for number in (layer - 1, layer))
    if not layer:
        below = f"{ROOT}/wte-Embedding:gather"
    operators = []
    for operator in network.operators:
        if gone + "/" in operator.scope + "/" or f"adam blocks.{layer}." in operator.key:
            continue
        operators.append(replace(operator, inputs=tuple(below if s == here else s for s in operator.inputs)))
    known = {operator.key for operator in operators} | set(network.parameters)
    operators = [replace(o, inputs=tuple(s for s in o.inputs if s in known)) for o in operators]
    parameters = {name: shape for name, shape in network.parameters.items() if f"blocks.{layer}." not in name}
    return Network(operators, parameters)


def rename(network: Network, _chance: random.Random) -> Network:
    """Other names for all parameters and for the scopes around the network."""

    def renamed(source: str) -> str:
        return f"model.{source}" if source in network.parameters else source

    operators = [
        replace(
            operator,
            scope=operator.scope.replace("_backbone-GPT", "model-Decoder"),
            inputs=tuple(map(renamed, operator.inputs)),
        )
        for operator in network.operators
    ]
    return Network(operators, {renamed(name): shape for name, shape in network.parameters.items()})


def everything(network: Network, chance: random.Random) -> Network:
    """All edits but the names, one after another."""
    for edit in (drop_layer, swap_norms, widen, insert, remove, reorder):
        network = edit(network, chance)
    return network


EDITS: Final[dict[str, Edit]] = {
    "insert an operator at 1 % of the operators": insert,
    "remove 1 % of the operators": remove,
    "LayerNorm → RmsNorm": swap_norms,
    "another type for 1 % of the operators": swap_types,
    "hidden width 4 × → 3 ×": widen,
    "another order of execution": reorder,
    "a layer less": drop_layer,
    "other names for parameters and scopes": rename,
    "all of these but the names": everything,
    "all of these": lambda network, chance: rename(everything(network, chance), chance),
}


@dataclass(frozen=True)
class Score:
    """Pairs of operators that the comparison made, beside those that the edits know."""

    precision: float
    recall: float
    cpu_seconds: float


def score(before: Network, after: Network) -> Score:
    """Compare two networks."""
    trees = folded_tree(read_graph(encode(before))), folded_tree(read_graph(encode(after)))
    began = time.process_time()
    comparison = compare(*trees)
    cpu_seconds = time.process_time() - began
    made = set(_pairs(trees, comparison.partners[0]))
    keys = {operator.key: number for number, operator in enumerate(after.operators)}
    known = {
        (number, keys[operator.key])
        for number, operator in enumerate(before.operators)
        if operator.key in keys
    }
    common = len(made & known)
    return Score(common / len(made), common / len(known), cpu_seconds)


def _pairs(trees: tuple[Tree, Tree], to_right: Numbers) -> Iterator[tuple[int, int]]:
    left, right = trees
    for index in np.flatnonzero((left.nodes >= 0) & (to_right >= 0)).tolist():
        yield int(left.nodes[index]), int(right.nodes[to_right[index]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=154)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    before = transformer(options.layers)
    print(f"{len(before.operators)} operators, {len(before.parameters)} parameters; {options.seeds} seeds\n")
    print("| edit | precision, worst | recall, worst | CPU s, median |\n|---|---|---|---|")
    for name, edit in EDITS.items():
        scores = [score(before, edit(before, random.Random(seed))) for seed in range(options.seeds)]
        print(
            f"| {name} | {min(result.precision for result in scores):.4f} "
            f"| {min(result.recall for result in scores):.4f} "
            f"| {median(result.cpu_seconds for result in scores):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
