"""Cost of the flight recorder in a training of PyTorch, beside ``detect_anomaly`` and msprobe, in one run.

Run with a Python that has torch, and msprobe where its ``statistics`` are to be measured, too:
``PYTHONPATH=proto:writer python benchmarks/recorders.py [--out FILE]``.
The ways take turns, step by step; the figures are of CPU time of this process, one thread: medians, and of
the flight recorder with its defaults also the mean, in which the steps count that it watches all modules.
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

from mindinsight.writer import FlightRecorder, PrecisionDebugger

STEPS = 60
WATCHED_STEPS = 300  # of the flight recorder: some of them are watched
DEBUGGED_STEPS = 5
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
            measure("MLP of 4 layers of 512 with ReLU, batch 128", mlp(), (128, 512), Path(folder)),
            measure(
                "CNN of 4 layers, batch 16 x 16 x 32 x 32", convolutions(), (16, 16, 32, 32), Path(folder)
            ),
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


def mlp() -> nn.Module:
    return nn.Sequential(*[module for _ in range(4) for module in (nn.Linear(512, 512), nn.ReLU())])


def convolutions() -> nn.Module:
    layers = [(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()) for _ in range(4)]
    return nn.Sequential(*[module for layer in layers for module in layer])


def measure(
    name: str, model: nn.Module, shape: tuple[int, ...], folder: Path
) -> tuple[str, dict[str, float]]:
    """Median CPU seconds of a step; debuggers come after the other ways, as they wrap functions."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    recorder = FlightRecorder(model, folder / name.partition(",")[0], optimizer=optimizer)
    x = torch.randn(shape)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    def anomaly() -> None:
        with torch.autograd.detect_anomaly(check_nan=True):
            step()

    ways: dict[str, Callable[[], object]] = {
        "plain": step,
        "FlightRecorder": lambda: recorder.step(step),
    }
    medians = in_turns(ways, WATCHED_STEPS, optimizer)
    medians |= in_turns({"detect_anomaly": anomaly}, STEPS, optimizer)
    recorder.close()
    for way, debugger in debuggers(folder / name.partition(",")[0].replace(" ", "_")).items():

        def debugged(debugger: Any = debugger) -> None:
            debugger.start(model)
            step()
            debugger.stop()
            debugger.step()

        medians |= in_turns({way: debugged}, DEBUGGED_STEPS, optimizer)
    return name, medians


def in_turns(
    ways: dict[str, Callable[[], object]], steps: int, optimizer: torch.optim.Optimizer
) -> dict[str, float]:
    times: dict[str, list[float]] = {way: [] for way in ways}
    unmeasured = min(5, steps // 2)
    for number in range(steps + unmeasured):
        for way, run in ways.items():
            begin = time.process_time()
            run()
            if number >= unmeasured:
                times[way].append(time.process_time() - begin)
        optimizer.step()
    medians = {way: statistics.median(values) for way, values in times.items()}
    if "FlightRecorder" in times:  # a turn's difference, as the machine is faster in one than in the other
        more = [ours - plain for ours, plain in zip(times["FlightRecorder"], times["plain"], strict=True)]
        medians["more"] = statistics.median(more)
        # Without the hundredth part on either side, in which the machine was interrupted.
        ends = len(more) // 100
        medians["mean"] = statistics.mean(sorted(more)[ends : len(more) - ends])
    return medians


def debuggers(folder: Path) -> dict[str, Any]:
    """Our PrecisionDebugger and msprobe's, where it is installed, with one configuration."""
    classes: dict[str, Any] = {"PrecisionDebugger": PrecisionDebugger}
    try:
        from msprobe.pytorch import PrecisionDebugger as MsprobeDebugger

        classes["msprobe"] = MsprobeDebugger
    except ImportError:
        pass
    made = {}
    for way, debugger in classes.items():
        path = folder / way
        path.mkdir(parents=True)
        settings = {"task": TASK, "level": "L1", "rank": [], "step": [], "dump_path": str(path), TASK: {}}
        config = path / "config.json"
        config.write_text(json.dumps(settings))
        made[way] = debugger(config_path=str(config))
    return made


def table(rows: list[tuple[str, dict[str, float]]]) -> str:
    version = torch.__version__.partition("+")[0]
    lines = [
        "# Recorders",
        "",
        f"`PYTHONPATH=proto:writer python benchmarks/recorders.py`; torch {version}"
        f" on one thread, CPU of {WATCHED_STEPS} steps, plain and recorded in turns; of `detect_anomaly`"
        f" {STEPS} steps; of the debuggers {DEBUGGED_STEPS} with the task `{TASK}`, level L1.",
        "",
        "| training | plain, ms | flight recorder, median | mean | more, ms | `detect_anomaly`"
        " | our `PrecisionDebugger` | msprobe's |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, seconds in rows:
        plain, more = seconds["plain"], seconds["more"]
        shares = [
            f"{seconds[way] / plain - 1:+.0%}" if way in seconds else "–"
            for way in ("detect_anomaly", "PrecisionDebugger", "msprobe")
        ]
        cells = [
            name,
            f"{1e3 * plain:.2f}",
            f"{more / plain:+.1%}",
            f"{seconds['mean'] / plain:+.1%}",
            f"{1e3 * more:.2f}",
        ]
        lines.append(f"| {' | '.join(cells + shares)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
