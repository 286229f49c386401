"""Comparison of graphs against pairs of networks with known edits: precision and recall of the matching.

``python -m benchmarks.planted_pairs`` prints Markdown. An operator of one network is that of the other if
both have its key (planted_networks.py). Unrelated networks have no operator in common.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Final, TypeAlias

import numpy as np

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
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import Comparison, compare
from mindinsight.server.graph.scopes.folding import folded_tree

Pair: TypeAlias = Callable[[GptOptions], tuple[PlantedNetwork, PlantedNetwork]]

LEAST: Final = 0.99  # of precision and recall, on every pair


def _edited(**changes: object) -> Pair:
    return lambda base: (gpt(base), gpt(replace(base, **changes)))  # type: ignore[arg-type]


def _between(before: dict[str, object], after: dict[str, object]) -> Pair:
    return lambda base: (gpt(replace(base, **before)), gpt(replace(base, **after)))  # type: ignore[arg-type]


def _fixed(left: Callable[[], PlantedNetwork], right: Callable[[], PlantedNetwork]) -> Pair:
    return lambda _base: (left(), right())


def _without_block(base: GptOptions) -> tuple[PlantedNetwork, PlantedNetwork]:
    remaining = tuple(layer for layer in base.layers if layer != len(base.layers) // 2)
    return gpt(base), gpt(replace(base, layers=remaining))


def _more_blocks(base: GptOptions) -> tuple[PlantedNetwork, PlantedNetwork]:
    return gpt(base), gpt(replace(base, layers=range(len(base.layers) * 5 // 4 + 1)))


def _inserted_block(base: GptOptions) -> tuple[PlantedNetwork, PlantedNetwork]:
    layers = list(base.layers)
    half = len(layers) // 2
    return gpt(base), gpt(replace(base, layers=[*layers[:half], 1_000, *layers[half:]]))


def _swapped_blocks(base: GptOptions) -> tuple[PlantedNetwork, PlantedNetwork]:
    layers = list(base.layers)
    layers[1], layers[2] = layers[2], layers[1]
    return gpt(base), gpt(replace(base, layers=layers))


def _rewired(base: GptOptions) -> tuple[PlantedNetwork, PlantedNetwork]:
    return gpt(base), gpt(replace(base, rewired=(len(base.layers) // 2,)))


def _bert(base: GptOptions) -> GptOptions:
    return replace(base, root="Default/network-WithLossCell/_backbone-Bert")


PAIRS: Final[dict[str, Pair]] = {
    "the same network": _edited(),
    "LayerNorm → RmsNorm": _edited(norm="RmsNorm"),
    "LoRA on q and v": _edited(lora=("q", "v")),
    "LoRA on q and v, frozen base": _edited(lora=("q", "v"), frozen=True),
    "LoRA on all, frozen base": _edited(lora=("q", "k", "v", "o"), frozen=True),
    "base frozen already, LoRA on q and v": _between(
        {"frozen": True, "training": False}, {"frozen": True, "lora": ("q", "v")}
    ),
    "LoRA of another rank": _between({"lora": ("q", "v")}, {"lora": ("q", "v"), "rank": 16}),
    "a residual rewired": _rewired,
    "a residual removed": _edited(no_residual=(1,)),
    "a block removed, names kept": _without_block,
    "blocks appended": _more_blocks,
    "a block inserted": _inserted_block,
    "two blocks swapped": _swapped_blocks,
    "norm after the MLP": _edited(swapped=True),
    "other number of classes": _edited(classes=17),
    "head replaced by a pooled classifier": _edited(head="pooled", classes=10),
    "GeLU → SiLU": _edited(activation="SiLU"),
    "GeLU → gated SiLU": _edited(activation="SiLU", gated=True),
    "float32 → float16": _edited(dtype="float16"),
    "attention fused": _edited(fused=True),
    "other names for scopes": _edited(root="Default/net-TrainOneStep/model-Decoder"),
    "other names for scopes and parameters": _edited(root="Default/net-Step/model-Decoder", prefix="model."),
    "tied weights": _edited(tied=True),
    "another batch size": _edited(batch=16),
    "hidden width 4 → 3": _edited(hidden=3),
    "no biases": _edited(bias=False),
    "another dropout": _edited(dropout=0.5),
    "SGD instead of Adam": _edited(optimizer="SGD"),
    "training against inference": _edited(training=False),
    "LayerNorm → RmsNorm, inference": _between({"training": False}, {"training": False, "norm": "RmsNorm"}),
    "RmsNorm, SiLU, gated, no biases": _edited(norm="RmsNorm", activation="SiLU", gated=True, bias=False),
    "RmsNorm, LoRA, a block more, other names": lambda base: (
        gpt(base),
        gpt(replace(base, norm="RmsNorm", lora=("q", "v"), layers=range(len(base.layers) + 1), prefix="m.")),
    ),
    "a dropout inserted in every block": _edited(dropped=True),
    "q, k and v joined": _edited(joined=True),
    "branches computed in another order": _edited(order="vqk"),
    "hidden width 4 → 8": _edited(hidden=8),
    "other names for blocks": _edited(scopes=("layers-ModuleList", "self_attn-MHA", "ffn-FeedForward")),
    "blocks numbered from 1": lambda base: (
        gpt(base),
        gpt(replace(base, names=[layer + 1 for layer in base.layers])),
    ),
    "kernel 3 → 5": _fixed(lambda: resnet(ResNetOptions()), lambda: resnet(ResNetOptions(kernel=5))),
    "ReLU → HSwish": _fixed(
        lambda: resnet(ResNetOptions()), lambda: resnet(ResNetOptions(activation="HSwish"))
    ),
    "residual network, 34 → 50 blocks": _fixed(
        lambda: resnet(ResNetOptions()), lambda: resnet(ResNetOptions(blocks=(3, 4, 12, 3)))
    ),
    "squeeze-and-excitation": _fixed(
        lambda: resnet(ResNetOptions()), lambda: resnet(ResNetOptions(squeeze=True))
    ),
    "shortcut rewired": _fixed(
        lambda: resnet(ResNetOptions()), lambda: resnet(ResNetOptions(rewired=("3.4",)))
    ),
    "AlexNet, other classes": _fixed(alexnet, lambda: alexnet(classes=100)),
    "AlexNet, other kernel": _fixed(alexnet, lambda: alexnet(kernels=(11, 5, 5, 3, 3))),
    "LSTM → GRU": _fixed(lambda: recurrent(2), lambda: recurrent(2, "GRU")),
    "a recurrent layer more": _fixed(lambda: recurrent(2), lambda: recurrent(3)),
}
EDITS: Final[tuple[dict[str, object], ...]] = (
    {"norm": "RmsNorm"}, {"activation": "SiLU"}, {"gated": True}, {"fused": True}, {"joined": True},
    {"dropped": True}, {"order": "vqk"}, {"order": "kvq"}, {"hidden": 3}, {"hidden": 8}, {"bias": False},
    {"dropout": 0.5}, {"batch": 16}, {"classes": 17}, {"dtype": "float16"}, {"tied": True},
    {"swapped": True}, {"optimizer": "SGD"}, {"training": False}, {"lora": ("q", "v")}, {"lora": ("o",)},
    {"lora": ("up", "down"), "rank": 4}, {"rewired": (1,)}, {"no_residual": (2,)}, {"prefix": "model."},
    {"root": "Default/net-Step/model-Decoder"}, {"head": "pooled", "classes": 10},
    {"scopes": ("layers-ModuleList", "self_attn-MHA", "ffn-FeedForward")},
)  # fmt: skip


def random_pairs(count: int, seed: int) -> dict[str, Pair]:
    """Return pairs of networks that differ in two to four edits drawn at random, and in their blocks.

    Blocks keep their numbers: which of several equal blocks was removed is unknown after renumbering.
    """
    pairs: dict[str, Pair] = {}
    for number in range(seed, seed + count):
        random = Random(number)
        edits = random.sample(EDITS, random.randint(2, 4))
        blocks = random.choice(["", "", "a block removed", "a block inserted"])
        position = random.random()

        def pair(
            base: GptOptions,
            edits: list[dict[str, object]] = edits,
            blocks: str = blocks,
            position: float = position,
        ) -> tuple[PlantedNetwork, PlantedNetwork]:
            layers = list(base.layers)
            at = int(position * len(layers))
            layers[at : at + (blocks == "a block removed")] = [1_000] if blocks == "a block inserted" else []
            changes = {name: value for edit in edits for name, value in edit.items()}
            right = replace(base, layers=layers, **changes)  # type: ignore[arg-type]
            return gpt(base), gpt(right)

        words = [f"{name} {value}" for edit in edits for name, value in edit.items()]
        words += [blocks] if blocks else []
        pairs[f"{number}: {', '.join(words)}"] = pair
    return pairs


UNRELATED: Final[dict[str, Pair]] = {
    "transformer, residual network": lambda base: (gpt(base), resnet(ResNetOptions())),
    "residual network, transformer for inference": lambda base: (
        resnet(ResNetOptions(training=False)),
        gpt(replace(base, training=False)),
    ),
    "transformer, recurrent network": lambda base: (gpt(base), recurrent(3)),
    "AlexNet, recurrent network": _fixed(alexnet, lambda: recurrent(2)),
}


@dataclass(frozen=True)
class Score:
    """Agreement of the pairs that a comparison made with those that are known."""

    operators: tuple[int, int]
    precision: float
    recall: float
    cpu_seconds: float
    wrong: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


def compare_planted(left: PlantedNetwork, right: PlantedNetwork) -> tuple[Comparison, float]:
    """Compare two networks; return the comparison and its CPU seconds."""
    trees = folded_tree(read_graph(encode_planted(left))), folded_tree(read_graph(encode_planted(right)))
    began = time.process_time()
    comparison = compare(*trees)
    return comparison, time.process_time() - began


def score(left: PlantedNetwork, right: PlantedNetwork, related: bool = True) -> Score:
    """Compare two networks, and the pairs with those of equal keys."""
    comparison, seconds = compare_planted(left, right)
    trees = comparison.trees
    leaves = np.flatnonzero((trees[0].nodes >= 0) & (comparison.partners[0] >= 0))
    partners = comparison.partners[0][leaves]
    keys = [[operator.key for operator in network.operators] for network in (left, right)]
    made = {
        (keys[0][int(trees[0].nodes[leaf])], keys[1][int(trees[1].nodes[partner])])
        for leaf, partner in zip(leaves.tolist(), partners.tolist(), strict=True)
    }
    known = {(key, key) for key in set(keys[0]) & set(keys[1])} if related else set()
    common = len(made & known)
    precision = common / len(made) if made else 1.0
    recall = common / len(known) if known else 1.0
    wrong = tuple(f"{a} ~ {b}" for a, b in sorted(made - known))
    missed = tuple(a for a, _ in sorted(known - made))
    return Score((len(keys[0]), len(keys[1])), precision, recall, seconds, wrong, missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--only", default="", help="part of the name of a pair")
    parser.add_argument("--random", type=int, default=0, help="pairs with edits drawn at random instead")
    parser.add_argument("--seed", type=int, default=0, help="of the first random pair")
    parser.add_argument("--show", type=int, default=0, help="wrong and missed pairs to print")
    options = parser.parse_args()
    base = GptOptions(layers=range(options.layers))
    print("| pair | operators | precision | recall | CPU s |\n|---|---|---|---|---|")
    drawn = random_pairs(options.random, options.seed)
    for related, pairs in ((True, drawn or PAIRS), (False, {} if drawn else UNRELATED)):
        for name, pair in pairs.items():
            if options.only not in name:
                continue
            result = score(*pair(base), related)
            failed = " **" if min(result.precision, result.recall) < LEAST else ""
            print(
                f"| {name}{failed} | {result.operators[0]}, {result.operators[1]} | {result.precision:.4f} "
                f"| {result.recall:.4f} | {result.cpu_seconds:.2f} |",
                flush=True,
            )
            for text in (
                *result.wrong[: options.show],
                *(f"missed {key}" for key in result.missed[: options.show]),
            ):
                print(f"    {text}")


if __name__ == "__main__":
    main()
