"""Simulation of jobs, healthy and with planted faults: how often stray ranks are named wrongly, or missed.

    python -m benchmarks.ranks                  # all of it, into benchmarks/results/ranks.md
    python -m benchmarks.ranks --jobs 50        # fewer jobs of each sort

Deterministic: every job has its own seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.rank_anomaly import RankOutlier
from mindinsight.server.curves.rank_outliers import find_outliers

Values: TypeAlias = npt.NDArray[np.float64]
Generator: TypeAlias = np.random.Generator

RANKS: Final = (2, 4, 8, 16, 64, 1000)
STEPS: Final = 300
JOBS: Final = 400
LARGE: Final = 200  # ranks from which a quarter of the jobs is simulated
RESULT: Final = Path(__file__).parent / "results" / "ranks.md"


def step_time(generator: Generator, ranks: int) -> Values:
    """Log-normal noise of 3 %, common jitter, and a checkpoint every 100 steps that all ranks wait for."""
    common = 0.25 * np.exp(0.02 * generator.standard_normal(STEPS))
    common[99::100] *= 4
    return common * np.exp(0.03 * generator.standard_normal((ranks, STEPS)))


def skewed_time(generator: Generator, ranks: int) -> Values:
    """Step times with a heavy upper tail: a gamma part of 4 % on average."""
    return 0.25 * (1 + 0.04 * generator.gamma(1.0, 1.0, (ranks, STEPS)))


def loss(generator: Generator, ranks: int) -> Values:
    """A loss of each rank's own batch: it falls, and so does its noise of 5 %."""
    course = 0.2 + 3 * np.exp(-np.arange(STEPS) / 80)
    return course * (1 + 0.05 * generator.standard_normal((ranks, STEPS)))


def heavy_tailed(generator: Generator, ranks: int) -> Values:
    """Student noise with four degrees of freedom, 2 %."""
    return 1 + 0.02 * generator.standard_t(4, (ranks, STEPS))


def correlated(generator: Generator, ranks: int) -> Values:
    """Noise that remembers: AR(1) with 0.8, 3 %."""
    noise = generator.standard_normal((ranks, STEPS))
    for step in range(1, STEPS):
        noise[:, step] = 0.8 * noise[:, step - 1] + 0.6 * noise[:, step]
    return 1 + 0.03 * noise


def reduced(generator: Generator, ranks: int) -> Values:
    """The same value on all ranks but for rounding, as after an all-reduce."""
    course = 0.2 + 3 * np.exp(-np.arange(STEPS) / 80) + 0.05 * generator.standard_normal(STEPS)
    return np.asarray((course * (1 + 1e-7 * generator.standard_normal((ranks, STEPS)))), np.float64)


def equal(generator: Generator, ranks: int) -> Values:
    """The same value on all ranks, bit for bit."""
    return np.repeat(reduced(generator, 1), ranks, axis=0)


HEALTHY: Final[dict[str, Callable[[Generator, int], Values]]] = {
    "step time": step_time,
    "skewed step time": skewed_time,
    "loss": loss,
    "heavy tails": heavy_tailed,
    "autocorrelated": correlated,
    "all-reduced": reduced,
    "equal": equal,
}


def slower(values: Values, rank: int) -> None:
    values[rank, 200:] *= 2


def drift(values: Values, rank: int) -> None:
    values[rank] *= 1 + 0.05 * np.clip((np.arange(STEPS) - 50) / 100, 0, 1)


def spikes(values: Values, rank: int) -> None:
    values[rank, 30::50] *= 3


def one_spike(values: Values, rank: int) -> None:
    values[rank, 140] *= 5


def not_finite(values: Values, rank: int) -> None:
    values[rank, 120] = np.nan


def silence(values: Values, rank: int) -> None:
    values[rank, 240:] = np.inf  # cut off in `curves_of`


def frozen(values: Values, rank: int) -> None:
    values[rank, 200:] = values[rank, 200]


def behind(values: Values, rank: int) -> None:
    values[rank, 1:] = values[rank, :-1].copy()


def raised(values: Values, rank: int) -> None:
    values[rank, 200:] *= 1.001


FAULTS: Final[dict[str, tuple[str, Callable[[Generator, int], Values], Callable[[Values, int], None]]]] = {
    "2 × slower from step 200": ("lasting", step_time, slower),
    "drift to +5 %": ("lasting", step_time, drift),
    "3 × every 50 steps": ("spikes", step_time, spikes),
    "5 × once": ("spikes", step_time, one_spike),
    "NaN once": ("not_finite", step_time, not_finite),
    "silent from step 240": ("silent", step_time, silence),
    "equal: 2 × from step 200": ("lasting", equal, slower),
    "equal: +0.1 % from step 200": ("lasting", equal, raised),
    "equal: drift to +5 %": ("lasting", equal, drift),
    "equal: frozen from step 200": ("lasting", equal, frozen),
    "all-reduced: one step behind": ("lasting", reduced, behind),
    "all-reduced: 5 × once": ("spikes", reduced, one_spike),
}


def curves_of(values: Values) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
    """Curves as recorded; a rank whose values end in infinities has ended there."""
    steps = np.arange(STEPS)
    lengths = np.where(np.isposinf(values[:, -1]), np.isfinite(values).sum(axis=1), STEPS)
    return [
        (steps[:length], row[:length].astype(np.float32)) for row, length in zip(values, lengths, strict=True)
    ]


def alarmed(job: str, ranks: int, number: int) -> bool:
    """Whether anything is said of a healthy job."""
    generator = np.random.default_rng([number, ranks, list(HEALTHY).index(job)])
    return bool(find_outliers(curves_of(HEALTHY[job](generator, ranks))))


def verdict(fault: str, ranks: int, number: int) -> tuple[bool, bool]:
    """Whether a fault is found on its rank or its pair, and whether another rank is blamed."""
    kind, healthy, plant = FAULTS[fault]
    generator = np.random.default_rng([number, ranks, 100 + list(FAULTS).index(fault)])
    values = healthy(generator, ranks)
    rank = int(generator.integers(ranks))
    plant(values, rank)
    named: list[RankOutlier] = find_outliers(curves_of(values))
    return any(rank in (stray.row, stray.other) and stray.kind == kind for stray in named), any(
        rank not in (stray.row, stray.other) for stray in named
    )


def jobs_of(ranks: int, jobs: int) -> int:
    return max(jobs // 4, 1) if ranks >= LARGE else jobs


def table(head: str, rows: dict[str, list[str]]) -> str:
    lines = [f"| {head} | " + " | ".join(f"{ranks:,}".replace(",", " ") for ranks in RANKS) + " |"]
    lines.append("|---|" + "--:|" * len(RANKS))
    lines += [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()]
    return "\n".join(lines)


def percent(count: int, number: int) -> str:
    return f"{100 * count / number:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="of each sort; a quarter from 200 ranks on")
    parser.add_argument("--print", action="store_true", help="do not write the result")
    options = parser.parse_args()
    alarms: dict[str, list[str]] = {name: [] for name in HEALTHY}
    hits: dict[str, list[str]] = {name: [] for name in FAULTS}
    blamed: dict[str, list[str]] = {name: [] for name in FAULTS}
    for ranks in RANKS:
        number = jobs_of(ranks, options.jobs)
        for name in HEALTHY:
            alarms[name].append(percent(sum(alarmed(name, ranks, job) for job in range(number)), number))
        for name in FAULTS:
            verdicts = [verdict(name, ranks, job) for job in range(number)]
            hits[name].append(percent(sum(hit for hit, _ in verdicts), number))
            blamed[name].append(percent(sum(wrong for _, wrong in verdicts), number))
    text = PAGE.format(
        jobs=options.jobs,
        few=jobs_of(LARGE, options.jobs),
        steps=STEPS,
        alarms=table("healthy jobs of … ranks", alarms),
        hits=table("found, of … ranks", hits),
        blamed=table("another rank blamed", blamed),
    )
    print(text)
    if not options.print:
        RESULT.write_text(text, encoding="utf-8")


PAGE: Final = """# Stray ranks: false alarms and misses

`python -m benchmarks.ranks`: {jobs} simulated jobs of each sort ({few} of those with 1 000 ranks), {steps}
steps, one tag. `curves/rank_outliers.py` says how a rank is judged. The promise: at most 1 % of healthy jobs
get an
alarm, and 99 % of the faults are found.

## Healthy jobs in which any rank was named

{alarms}

Step time: log-normal noise of 3 %, common jitter, a checkpoint every 100 steps. Skewed: exponential tail.
Loss: falls, with noise of 5 % of its value. Heavy tails: Student's t with four degrees of freedom.
Autocorrelated: AR(1), 0.8. All-reduced: equal but for rounding. Equal: bit for bit.

## Faults found, on the rank that has them

Planted in step times, or in losses that are equal on all ranks, or equal but for rounding (all-reduced).
Of two ranks, one that is a step behind cannot be told from noise.

{hits}

{blamed}
"""


if __name__ == "__main__":
    main()
