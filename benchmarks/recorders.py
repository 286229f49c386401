"""Cost of the flight recorder in a training of PyTorch, beside ``detect_anomaly`` and msprobe, in one run.

Run with a Python that has torch, and msprobe where its ``statistics`` are to be measured, too:
``PYTHONPATH=proto:writer python benchmarks/recorders.py [--out FILE]``.
The ways take turns, step by step; the figures are medians of CPU time of this process, one thread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mindinsight.writer import FlightRecorder

STEPS = 60
TASK = "statistics"  # msprobe's look-outs for overflow, nan_check and acc_check, need an NPU


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            measure(
                "transformer, 4 layers of 128, batch 16 x 64", transformer(), (16, 64, 128), Path(folder)
            ),
            measure("500 linear layers of 8, batch 4", deep(), (4, 8), Path(folder)),
        ]
    text = table(rows)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


def transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.1)
    return nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)


def deep() -> nn.Module:
    return nn.Sequential(*[nn.Linear(8, 8) for _ in range(500)])


def measure(
    name: str, model: nn.Module, shape: tuple[int, ...], folder: Path
) -> tuple[str, dict[str, float]]:
    """Median CPU seconds of a step, the ways in turns."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    recorder = FlightRecorder(model, folder / str(len(name)), optimizer=optimizer)
    x = torch.randn(shape)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    def anomaly() -> None:
        with torch.autograd.detect_anomaly(check_nan=True):
            step()

    debugger = msprobe_debugger(folder / f"msprobe{len(name)}")

    def overflow_check() -> None:
        debugger.start(model)
        step()
        debugger.stop()
        debugger.step()

    ways: dict[str, Callable[[], object]] = {
        "plain": step,
        "FlightRecorder": lambda: recorder.step(step),
        "detect_anomaly": anomaly,
        **({"overflow_check": overflow_check} if debugger else {}),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(STEPS + 5):
        for way, run in ways.items():
            begin = time.process_time()
            run()
            if number >= 5:
                times[way].append(time.process_time() - begin)
        optimizer.step()
    recorder.close()
    return name, {way: statistics.median(values) for way, values in times.items()}


def msprobe_debugger(folder: Path) -> Any:
    """msprobe's debugger that looks for overflow; None where msprobe is not installed."""
    try:
        from msprobe.pytorch import PrecisionDebugger
    except ImportError:
        return None
    folder.mkdir(parents=True)
    settings = {"task": TASK, "level": "L1", "rank": [], "step": [], "dump_path": str(folder)}
    config = folder / "config.json"
    config.write_text(json.dumps({**settings, TASK: {}}))
    return PrecisionDebugger(config_path=str(config))


def table(rows: list[tuple[str, dict[str, float]]]) -> str:
    version = torch.__version__.partition("+")[0]
    lines = [
        "# Recorders",
        "",
        f"`PYTHONPATH=proto:writer python benchmarks/recorders.py`; torch {version}"
        f" on one thread, median CPU of {STEPS} steps, the ways in turns.",
        "",
        "| training | plain, ms | flight recorder | more, ms | `detect_anomaly` | msprobe `statistics` |",
        "|---|---|---|---|---|---|",
    ]
    for name, seconds in rows:
        plain, ours, theirs = (1e3 * seconds[way] for way in ("plain", "FlightRecorder", "detect_anomaly"))
        probed = f"{1e3 * seconds['overflow_check'] / plain - 1:+.1%}" if "overflow_check" in seconds else "–"
        shares = f"{plain:.2f} | {ours / plain - 1:+.1%} | {ours - plain:.2f} | {theirs / plain - 1:+.1%} | "
        shares += f"{probed} |"
        lines.append(f"| {name} | {shares}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
