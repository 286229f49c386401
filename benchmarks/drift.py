"""Simulation of pairs of runs that should agree, with drifts of known onset and without.

    python -m benchmarks.drift                  # all of it, into benchmarks/results/drift.md
    python -m benchmarks.drift --pairs 40       # fewer pairs of each sort
    python -m benchmarks.drift --groups         # only what is said of groups of runs
    python -m benchmarks.drift --single         # only what is said of a single bad run

Deterministic: every pair has its own seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.alignment import Alignment, align
from mindinsight.server.curves.curve_comparison import compare_groups

Values: TypeAlias = npt.NDArray[np.float64]
Generator: TypeAlias = np.random.Generator

LENGTHS: Final = (200, 1000, 5000)
PAIRS: Final = 400
TOLERANCE: Final = 1e-3
NOISE: Final = 1e-3  # usual relative difference of two runs
RESULT: Final = Path(__file__).parent / "results" / "drift.md"


def white(generator: Generator, length: int) -> Values:
    return generator.standard_normal(length)


def heavy_tailed(generator: Generator, length: int) -> Values:
    """Student's t with three degrees of freedom."""
    return generator.standard_t(3, length)


def correlated(generator: Generator, length: int) -> Values:
    """AR(1) with 0.8."""
    noise = generator.standard_normal(length)
    for step in range(1, length):
        noise[step] = 0.8 * noise[step - 1] + 0.6 * noise[step]
    return noise


def calming(generator: Generator, length: int) -> Values:
    """Three times as large at the start as at the end."""
    return generator.standard_normal(length) * (1 + 2 * np.exp(-5 * np.arange(length) / length))


def spiky(generator: Generator, length: int) -> Values:
    """One step in a hundred is 30 times as far out."""
    return generator.standard_normal(length) * np.where(generator.random(length) < 0.01, 30, 1)


def biased(generator: Generator, length: int) -> Values:
    """A constant difference besides the noise, from the first step on."""
    return 4 + generator.standard_normal(length)


def rounding(generator: Generator, length: int) -> Values:
    """No difference beyond float32's."""
    return np.asarray(1e-4 * generator.standard_normal(length), np.float64)


NOISES: Final[dict[str, Callable[[Generator, int], Values]]] = {
    "white": white,
    "heavy tails": heavy_tailed,
    "autocorrelated": correlated,
    "calming down": calming,
    "spiky": spiky,
    "biased": biased,
    "rounding": rounding,
}


def step(generator: Generator, since: Values) -> Values:
    return np.where(since > 0, 5.0, 0.0)


def ramp(generator: Generator, since: Values) -> Values:
    return 100 * since


def bend(generator: Generator, since: Values) -> Values:
    return 300 * since**2


def saturating(generator: Generator, since: Values) -> Values:
    return 20 * (1 - np.exp(-20 * since))


def exponential(generator: Generator, since: Values) -> Values:
    """Doubles about every twentieth of the length."""
    return np.expm1(14 * since)


def walk(generator: Generator, since: Values) -> Values:
    """A random walk, as of weights that have parted."""
    count = len(since)
    return np.cumsum(np.where(since > 0, generator.standard_normal(count), 0.0)) * 100 / np.sqrt(count)


def louder(generator: Generator, since: Values) -> Values:
    """To both sides: noise ten times as large."""
    return np.where(since > 0, 10 * generator.standard_normal(len(since)), 0.0)


def episode(generator: Generator, since: Values) -> Values:
    """A tenth of the length, then it agrees again."""
    return np.where((since > 0) & (since <= 0.1), 10.0, 0.0)


DRIFTS: Final[dict[str, Callable[[Generator, Values], Values]]] = {
    "step": step,
    "ramp": ramp,
    "bend": bend,
    "saturating": saturating,
    "exponential": exponential,
    "random walk": walk,
    "louder noise": louder,
    "episode": episode,
}


def constant(time: Values) -> tuple[Values, Values]:
    return np.ones(len(time)), np.full(len(time), 0.004)


def falling(time: Values) -> tuple[Values, Values]:
    """Five-fold, under a noise that stays."""
    return 2 * np.exp(-2.7 * time) + 0.5, np.full(len(time), 0.004)


def falling_far(time: Values) -> tuple[Values, Values]:
    """Fifty-fold, to ten times the noise."""
    return 2 * np.exp(-6 * time) + 0.04, np.full(len(time), 0.004)


def stepping_up(time: Values) -> tuple[Values, Values]:
    """The noise is four times as large from three eighths on."""
    return np.ones(len(time)), np.where(time >= 0.375, 0.02, 0.005)


def growing(time: Values) -> tuple[Values, Values]:
    """The noise grows eleven-fold."""
    return np.ones(len(time)), 0.001 * (1 + 10 * time)


def stepping_down(time: Values) -> tuple[Values, Values]:
    return np.ones(len(time)), np.where(time >= 0.5, 0.005, 0.02)


def proportional(time: Values) -> tuple[Values, Values]:
    """Heteroscedastic: 2 % of a falling loss."""
    mean = 2 * np.exp(-2.6 * time) + 0.5
    return mean, 0.02 * mean


def from_zero(time: Values) -> tuple[Values, Values]:
    """An accuracy."""
    return 1 - np.exp(-6.6 * time), np.full(len(time), 0.02)


# Means and noise of two runs whose noise is independent, so that no difference is one of the runs.
SHAPES: Final[dict[str, Callable[[Values], tuple[Values, Values]]]] = {
    "constant": constant,
    "falls five-fold": falling,
    "falls fifty-fold": falling_far,
    "noise steps up": stepping_up,
    "noise grows": growing,
    "noise steps down": stepping_down,
    "noise 2 % of a falling loss": proportional,
    "rises from zero": from_zero,
}
TOLERANCES: Final = (1e-3, 1e-2)
SHAPED_LENGTHS: Final = (200, 400, 1000)


def independent_pair(
    shape: str, length: int, seed: int, tolerance: float, size: float
) -> tuple[Alignment, int]:
    """Two runs of a shape, of which one has a step of ``size`` noise levels; the alignment and its onset."""
    generator = np.random.default_rng([seed, length, 2])
    steps = np.arange(length)
    mean, noise = SHAPES[shape](steps / length)
    onset = int(generator.uniform(0.15, 0.8) * length)
    base, other = (mean + noise * generator.standard_normal(length) for _ in range(2))
    other += size * noise * (steps >= onset)
    return align(steps, other, steps, base, tolerance), onset


def shaped_row(shape: str, pairs: int) -> str:
    """False alarms by length, at any tolerance; then median and 90th percentile of the delay, and misses."""
    cells = []
    for length in SHAPED_LENGTHS:
        alarms = [
            independent_pair(shape, length, seed, tolerance, 0)[0].verdict in ("drifts", "not_finite")
            for seed in range(pairs // 2)
            for tolerance in TOLERANCES
        ]
        planted = [independent_pair(shape, length, seed, TOLERANCE, 8) for seed in range(pairs // 4)]
        delays = np.array([abs(a.onset - onset) / length for a, onset in planted if a.onset is not None])
        median, high = np.quantile(delays, (0.5, 0.9)) if len(delays) else (1.0, 1.0)
        missed = 1 - len(delays) / len(planted)
        cells.append(f"{np.mean(alarms):.1%} / {median:.2%} / {high:.1%} / {missed:.1%}")
    return f"| {shape} | " + " | ".join(cells) + " |"


def pair(generator: Generator, difference: Values) -> Alignment:
    """The alignment of a falling loss and the same loss with a relative ``difference`` in units of NOISE."""
    length = len(difference)
    steps = np.arange(length)
    base = 0.2 + 3 * np.exp(-4 * steps / length)
    base *= 1 + 0.05 * generator.standard_normal(length)
    return align(steps, base * (1 + NOISE * difference), steps, base, TOLERANCE)


def false_alarms(noise: str, length: int, pairs: int) -> float:
    """Share of pairs without a drift in which one is named."""
    alarms = 0
    for seed in range(pairs):
        generator = np.random.default_rng([seed, length])
        alarms += pair(generator, NOISES[noise](generator, length)).verdict in ("drifts", "not_finite")
    return alarms / pairs


def onset_errors(drift: str, noise: str, length: int, pairs: int) -> tuple[Values, float]:
    """Errors of the onsets found, as shares of the length, and the share of drifts that are missed."""
    errors = []
    for seed in range(pairs):
        generator = np.random.default_rng([seed, length, 1])
        onset = int(generator.uniform(0.1, 0.8) * length)
        since = np.maximum(np.arange(length) - onset, 0) / length
        difference = NOISES[noise](generator, length) + DRIFTS[drift](generator, since)
        result = pair(generator, difference)
        if result.onset is not None:
            errors.append(abs(result.onset - onset) / length)
    return np.array(errors), 1 - len(errors) / pairs


GROUP_STEPS: Final = 300
GROUPS: Final = ((4, 4), (10, 10))  # good and bad runs


def fallen(generator: Generator) -> Values:
    return 1 + 3 * np.exp(-np.arange(GROUP_STEPS) / 40)


def normal_runs(generator: Generator) -> Values:
    return fallen(generator) + 0.05 * generator.standard_normal(GROUP_STEPS)


def offset_runs(generator: Generator) -> Values:
    """Each run at a level of its own."""
    return normal_runs(generator) + 0.2 * generator.standard_normal()


def walking_runs(generator: Generator) -> Values:
    return fallen(generator) + np.cumsum(0.05 * generator.standard_normal(GROUP_STEPS))


def delayed_runs(generator: Generator) -> Values:
    """Each run begins to fall up to 20 steps later than the first."""
    late = np.maximum(np.arange(GROUP_STEPS) - generator.integers(0, 20), 0)
    return 1 + 3 * np.exp(-late / 15) + 0.05 * generator.standard_normal(GROUP_STEPS)


def heavy_runs(freedom: float) -> Callable[[Generator], Values]:
    return lambda generator: fallen(generator) + 0.05 * generator.standard_t(freedom, GROUP_STEPS)


def skewed_runs(spread: float) -> Callable[[Generator], Values]:
    return lambda generator: np.exp(spread * generator.standard_normal(GROUP_STEPS))


def spiking_runs(share: float, size: float) -> Callable[[Generator], Values]:
    """A share of the steps is higher by ``size`` on average."""
    return lambda generator: (
        1
        + 0.05 * generator.standard_normal(GROUP_STEPS)
        + (generator.random(GROUP_STEPS) < share) * size * generator.exponential(1, GROUP_STEPS)
    )


SORTS: Final[dict[str, Callable[[Generator], Values]]] = {
    "normal": normal_runs,
    "levels of runs differ": offset_runs,
    "random walks": walking_runs,
    "random delays": delayed_runs,
    "t, 3 degrees of freedom": heavy_runs(3),
    "t, 2": heavy_runs(2),
    "t, 1.5": heavy_runs(1.5),
    "log-normal, 0.5": skewed_runs(0.5),
    "log-normal, 1": skewed_runs(1.0),
    "2 % of spikes, 5-fold": spiking_runs(0.02, 5),
    "1 % of pauses, 5-fold": spiking_runs(0.01, 5),
    "0.4 % of spikes, 20-fold": spiking_runs(0.004, 20),
}
# What the bad runs have besides: factors [GROUP_STEPS] of all, or of the first one only.
PLANTED: Final[dict[str, tuple[Callable[[Values], Values], bool]]] = {
    "a fifth higher from the middle on": (lambda steps: np.where(steps >= 150, 1.2, 1.0), False),
    "a tenth higher throughout": (lambda steps: np.full(GROUP_STEPS, 1.1), False),
    "a ramp to 90 %": (lambda steps: 1 + np.clip((steps - 120) / 200, 0, 2), False),
    "30 % higher from step 70 to 170": (
        lambda steps: np.where((steps >= 70) & (steps < 170), 1.3, 1.0),
        False,
    ),
    "one bad run twice as high from step 100 on": (lambda steps: np.where(steps >= 100, 2.0, 1.0), True),
}


def groups_found(
    sort: Callable[[Generator], Values], planted: str, sizes: tuple[int, int], seed: int
) -> bool:
    """Return True if a difference of groups of runs of one sort is named; ``planted`` may be empty."""
    generator = np.random.default_rng([seed, *sizes, 3])
    steps = np.arange(GROUP_STEPS)
    factor, only_one = PLANTED[planted] if planted else (np.ones_like, False)
    good, bad = ([(steps, sort(generator)) for _ in range(count)] for count in sizes)
    for row in range(1 if only_one else len(bad)):
        bad[row] = steps, bad[row][1] * factor(steps.astype(np.float64))
    return compare_groups(good, bad).kind in ("parts", "interval", "apart")


def group_lines(pairs: int) -> list[str]:
    """Return the tables of groups in which nothing differs, and of planted differences that are missed."""

    def cells(sort: Callable[[Generator], Values], planted: str, seeds: int) -> str:
        shares = [
            np.mean([groups_found(sort, planted, sizes, seed) for seed in range(seeds)]) for sizes in GROUPS
        ]
        return " | ".join(f"{1 - share if planted else share:.1%}" for share in shares)

    head = " | ".join(f"{good} against {bad} runs" for good, bad in GROUPS)
    return [
        "\n## Groups of runs: differences named where runs differ by chance only\n",
        "What `v2/answers/why` says of one scalar. Promise: at most 2 %.\n",
        f"| runs | {head} |\n|---|--:|--:|",
        *(f"| {name} | {cells(sort, '', pairs // 4)} |" for name, sort in SORTS.items()),
        "\n## Groups of runs: planted differences that are missed\n",
        f"| noise, difference | {head} |\n|---|--:|--:|",
        *(
            f"| {name}, {planted} | {cells(SORTS[name], planted, pairs // 10)} |"
            for name in ("normal", "t, 2", "1 % of pauses, 5-fold")
            for planted in PLANTED
        ),
    ]


SINGLE: Final = ((5, 1), (5, 100), (20, 1), (20, 100))  # good runs, and scalars that are compared
SHARES: Final = (0.0, 0.1, 0.2, 0.5, 1.0)  # by which the bad run is higher from the middle on


def single_found(
    sort: Callable[[Generator], Values], good: int, scalars: int, share: float, seed: int
) -> bool:
    """Return True if the difference of a single bad run is named in one of many scalars."""
    generator = np.random.default_rng([seed, good, 4])
    steps = np.arange(GROUP_STEPS)
    runs = [(steps, sort(generator)) for _ in range(good)]
    bad = sort(generator) * np.where(steps >= GROUP_STEPS // 2, 1 + share, 1.0)
    return compare_groups(runs, [(steps, bad)], scalars).kind in ("parts", "interval", "apart")


def single_lines(pairs: int) -> list[str]:
    """Return the table of how often the difference of a single bad run is named."""

    def cells(name: str, share: float) -> str:
        counts = [
            np.mean([single_found(SORTS[name], *sizes, share, seed) for seed in range(pairs // 4)])
            for sizes in SINGLE
        ]
        return " | ".join(f"{count:.1%}" for count in counts)

    head = " | ".join(f"{good} good, {scalars} scalars" for good, scalars in SINGLE)
    return [
        "\n## A single bad run: how often its difference in one of the scalars is named\n",
        "Higher by a share from the middle on. With 0 % nothing differs, and at most 2 % may be named.\n",
        f"| runs, share | {head} |\n|---|" + "--:|" * len(SINGLE),
        *(
            f"| {name}, {share:.0%} | {cells(name, share)} |"
            for name in ("normal", "levels of runs differ", "t, 2")
            for share in SHARES
        ),
    ]


def report(pairs: int) -> str:
    lines = [
        "# Precision alignment: onset errors and false alarms\n",
        f"`python -m benchmarks.drift`: {pairs} simulated pairs of each sort, a falling loss with 5 % of",
        f"noise, a difference with a noise of {NOISE * 1000:g} ‰, tolerance {TOLERANCE * 1000:g} ‰. Drifts",
        "begin anywhere between 10 and 80 % of the length. The promise: median error of the onset at most",
        "2 % of the length, at most 1 % of pairs without a drift get an alarm. `curves/alignment.py` says",
        "how it is found.\n",
        "## Pairs without a drift in which one was named\n",
        "| noise of the difference, steps | " + " | ".join(f"{length:,}" for length in LENGTHS) + " |",
        "|---|" + "--:|" * len(LENGTHS),
    ]
    alarms = {noise: [false_alarms(noise, length, pairs) for length in LENGTHS] for noise in NOISES}
    lines += [f"| {noise} | " + " | ".join(f"{a:.1%}" for a in row) + " |" for noise, row in alarms.items()]
    lines.append(f"\nAll together: {np.mean(list(alarms.values())):.2%}.\n")
    everything = []
    for noise in ("white", "autocorrelated"):
        lines += [
            f"## Onset of drifts, noise {noise}: median error / 90th percentile / missed\n",
            "| drift, steps | " + " | ".join(f"{length:,}" for length in LENGTHS) + " |",
            "|---|" + "--:|" * len(LENGTHS),
        ]
        for drift in DRIFTS:
            cells = []
            for length in LENGTHS:
                errors, missed = onset_errors(drift, noise, length, pairs)
                everything.append(errors)
                median, high = np.quantile(errors, (0.5, 0.9)) if len(errors) else (1.0, 1.0)
                cells.append(f"{median:.2%} / {high:.1%} / {missed:.1%}")
            lines.append(f"| {drift} | " + " | ".join(cells) + " |")
        lines.append("")
    lines.append(f"Median error over all drifts found: {np.median(np.concatenate(everything)):.2%}.\n")
    lines += [
        "## Two runs of one mean with noise of their own\n",
        "Share of pairs in which a divergence is named that is not there, at tolerances of 1 and 10 ‰. Then,",
        "of a planted step of 8 noise levels, the median and the 90th percentile of the error, and misses.\n",
        "| mean and noise, steps | " + " | ".join(f"{length:,}" for length in SHAPED_LENGTHS) + " |",
        "|---|" + "--:|" * len(SHAPED_LENGTHS),
        *(shaped_row(shape, pairs) for shape in SHAPES),
        *group_lines(pairs),
        *single_lines(pairs),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--groups", action="store_true", help="print the tables of groups only")
    parser.add_argument("--single", action="store_true", help="print the table of single bad runs only")
    options = parser.parse_args()
    if options.groups or options.single:
        lines = group_lines(options.pairs) if options.groups else []
        print("\n".join(lines + single_lines(options.pairs)))
        return
    text = report(options.pairs)
    print(text)
    if options.pairs == PAIRS:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
