"""Simulation of searches: how often a setting is named that does nothing, and how often one that does is not.

    python -m benchmarks.importance                  # into benchmarks/results/importance.md
    python -m benchmarks.importance --searches 8     # fewer searches of each sort, printed only

Deterministic: every search has its own seed.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from mindinsight.server.curves.importance import Importance, importance
from mindinsight.server.types import Doubles

Generator: TypeAlias = np.random.Generator
Columns: TypeAlias = dict[str, list[Any]]
Design: TypeAlias = Callable[[Generator, int], Columns]  # settings of a number of runs

RUNS: Final = (16, 30, 100)
SEARCHES: Final = 20
RESULT: Final = Path(__file__).parent / "results" / "importance.md"
OPTIMIZERS: Final = ("adam", "sgd", "lion")


def few_settings(generator: Generator, runs: int) -> Columns:
    """Return a learning rate, a dropout and an optimizer."""
    return {
        "lr": (10 ** generator.uniform(-5, -1, runs)).tolist(),
        "dropout": generator.uniform(0, 0.5, runs).tolist(),
        "optimizer": generator.choice(OPTIMIZERS, runs).tolist(),
    }


def many_settings(generator: Generator, runs: int) -> Columns:
    """Return 15 settings: numbers of each scale, a few values, texts, truth values, and missing values."""
    columns = few_settings(generator, runs)
    columns |= {f"size_{n}": generator.choice((16, 32, 64, 128), runs).tolist() for n in range(4)}
    columns |= {f"share_{n}": generator.uniform(size=runs).tolist() for n in range(4)}
    columns |= {f"text_{n}": generator.choice([*"abcdefg"[: 2 + n]], runs).tolist() for n in range(2)}
    columns["switch"] = (generator.random(runs) < 0.2).tolist()
    columns["rare"] = [0.1 if generator.random() < 0.6 else None for _ in range(runs)]
    return columns


def grid(generator: Generator, runs: int) -> Columns:
    """Return a grid of four settings, in its order."""
    values = product((1e-4, 1e-3, 1e-2, 1e-1), (16, 32, 64), (0.0, 0.1, 0.3), OPTIMIZERS)
    chosen = sorted(generator.permutation(108)[:runs].tolist())
    every = list(values)
    rows = [every[number] for number in chosen]
    names = ("lr", "batch", "dropout", "optimizer")
    return {name: [row[number] for row in rows] for number, name in enumerate(names)}


def tied(generator: Generator, runs: int) -> Columns:
    """Return settings of which three follow the learning rate more or less."""
    columns = few_settings(generator, runs)
    logarithm = np.log10(np.array(columns["lr"]))
    for number, noise in enumerate((0.5, 1.0, 2.0)):
        columns[f"tied_{number}"] = (logarithm + noise * generator.standard_normal(runs)).tolist()
    return columns


def repeated(generator: Generator, runs: int) -> Columns:
    """Return settings that each are tried with four random seeds."""
    columns = many_settings(generator, math.ceil(runs / 4))
    return {name: [value for value in column for _ in range(4)][:runs] for name, column in columns.items()}


DESIGNS: Final[dict[str, Design]] = {
    "3 settings": few_settings,
    "15 settings": many_settings,
    "grid of 4 settings": grid,
    "settings that follow the rate": tied,
    "15 settings, 4 seeds each": repeated,
}


def noise(generator: Generator, runs: int) -> Doubles:
    return 3 + generator.standard_normal(runs)


def diverging(generator: Generator, runs: int) -> Doubles:
    """Return noise, and about one run in ten at a huge loss."""
    values = noise(generator, runs)
    return np.where(generator.random(runs) < 0.1, 10 ** generator.uniform(3, 30, runs), values)


def failing(generator: Generator, runs: int) -> Doubles:
    """Return noise, and NaN in about one run in ten."""
    return np.where(generator.random(runs) < 0.1, np.nan, noise(generator, runs))


def failing_often(generator: Generator, runs: int) -> Doubles:
    """Return noise, and NaN in four runs of ten."""
    return np.where(generator.random(runs) < 0.4, np.nan, noise(generator, runs))


def discrete(generator: Generator, runs: int) -> Doubles:
    """Return an accuracy of few values, as on a small test set."""
    return generator.binomial(4, 0.8, runs) / 4


OBJECTIVES: Final[dict[str, Callable[[Generator, int], Doubles]]] = {
    "noise": noise,
    "a tenth diverges": diverging,
    "a tenth is NaN": failing,
    "four tenths are NaN": failing_often,
    "few values": discrete,
}


def logarithm(columns: Columns) -> Doubles:
    return np.log10(np.array(columns["lr"], np.float64))


def inner(columns: Columns) -> Doubles:
    return (logarithm(columns) + 3) ** 2


def both(columns: Columns) -> Doubles:
    """Return the rate's effect and two more that are smaller."""
    drop = np.array(columns["dropout"])
    optimizer = np.array(columns["optimizer"]) == "sgd"
    return np.asarray(inner(columns) / inner(columns).std() + 0.7 * drop / drop.std() + optimizer, np.float64)


def together(columns: Columns) -> Doubles:
    """Return an effect of the rate and the dropout, each of which has none by itself."""
    drop = np.array(columns["dropout"])
    return np.asarray(2.0 * ((logarithm(columns) > -3) ^ (drop > 0.25)), np.float64)


# The effect of settings, the settings that have one, and the noise besides in its standard deviations.
EFFECTS: Final[dict[str, tuple[Callable[[Columns], Doubles], tuple[str, ...], float]]] = {
    "the logarithm of the rate, noise 0.5": (logarithm, ("lr",), 0.5),
    "the logarithm of the rate, noise 1": (logarithm, ("lr",), 1.0),
    "an optimum inside the rates, noise 0.3": (inner, ("lr",), 0.3),
    "an optimum inside the rates, noise 0.7": (inner, ("lr",), 0.7),
    "rate, dropout and optimizer, noise 0.3": (both, ("lr", "dropout", "optimizer"), 0.3),
    "rate and dropout together only, noise 0.3": (together, ("lr", "dropout"), 0.3),
}


def named(answer: Importance) -> set[str]:
    """Return the settings that claims say the objective, or its absence, depends on."""
    names: set[str] = set()
    for claim in answer.claims:
        if claim.key in ("claim.lineage.matters", "claim.lineage.pair", "claim.lineage.failing"):
            names |= {str(entry["setting"]) for entry in claim.evidence}
    return names


def doubtful(answer: Importance) -> set[str]:
    """Return the settings of which claims say that these or others may be what matters."""
    together = [claim.values for claim in answer.claims if claim.key == "claim.lineage.together"]
    return {name for values in together for name in (values["setting"], *values["others"])}


def by_chance(design: str, objective: str, runs: int, seed: int) -> bool:
    """Return True if a setting is named though none has an effect."""
    generator = np.random.default_rng([seed, runs, 5])
    columns = DESIGNS[design](generator, runs)
    return bool(named(importance("loss", columns, OBJECTIVES[objective](generator, runs).tolist())))


def with_effect(design: str, effect: str, runs: int, seed: int) -> tuple[float, bool]:
    """Return the share of the settings with an effect that are named, and whether another one is."""
    generator = np.random.default_rng([seed, runs, 6])
    columns = DESIGNS[design](generator, runs)
    function, names, size = EFFECTS[effect]
    values = function(columns)
    values = values + size * values.std() * generator.standard_normal(runs)
    answer = importance("loss", columns, values.tolist())
    settings, other = named(answer), doubtful(answer)
    return len((settings | other) & {*names}) / len(names), bool(settings - other - {*names})


def report(searches: int) -> str:
    head = " | ".join(f"{runs} runs" for runs in RUNS)
    lines = [
        "# Importance: settings named by chance, and settings missed\n",
        f"`python -m benchmarks.importance`: {searches} simulated searches of each sort. A setting is named",
        "if a claim says that the objective depends on it, alone or with another, or that runs fail by it.\n",
        "## Searches in which no setting has an effect and one is named\n",
        "Promise: at most 3 % of all.\n",
        f"| settings, objective | {head} |\n|---|" + "--:|" * len(RUNS),
    ]
    everything = []
    for design, objective in product(DESIGNS, OBJECTIVES):
        shares = [
            np.mean([by_chance(design, objective, runs, seed) for seed in range(searches)]) for runs in RUNS
        ]
        everything += shares
        lines.append(f"| {design}, {objective} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
    lines += [
        f"\nAll together: {np.mean(everything):.2%} of {len(everything) * searches:,} searches.",
        "\n## Searches in which settings have an effect: share of them that is named / another is named\n",
        f"| settings, effect | {head} |\n|---|" + "--:|" * len(RUNS),
    ]
    for design, effect in product(DESIGNS, EFFECTS):
        cells = []
        for runs in RUNS:
            results = [with_effect(design, effect, runs, seed) for seed in range(searches // 2)]
            shares = np.mean(results, axis=0)
            cells.append(f"{shares[0]:.0%} / {shares[1]:.1%}")
        lines.append(f"| {design}, {effect} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--searches", type=int, default=SEARCHES)
    options = parser.parse_args()
    text = report(options.searches)
    print(text)
    if options.searches == SEARCHES:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
