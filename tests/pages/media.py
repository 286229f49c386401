"""Runs with sounds, precision-recall curves, layouts and texts, for the tests of their pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mindinsight.writer import SummaryRecord, SummaryWriter
from mindinsight.writer.summary_writer.writer import Format

LAYOUT = {
    "Loss": {"both": ["Multiline", ["loss/.*"]], "nothing": ["Multiline", ["none"]]},
    "Accuracy": {"range": ["Margin", ["mean", "low", "high"]]},
}


def write(base: Path) -> Path:
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 100)
    formats: dict[str, Format] = {"ours": "mindinsight", "theirs": "tensorboard"}
    for name, form in formats.items():
        with SummaryWriter(base / name, format=form) as writer:
            for step in (0, 10, 20):
                writer.add_audio("voice", np.sin(np.arange(1600) / (9 + step)), step, sample_rate=8000)
                guesses = np.clip(labels * (0.1 + step / 50) + rng.random(100) * 0.6, 0, 1)
                writer.add_pr_curve("cats", labels, guesses, step, num_thresholds=21)
                for tag in ("loss/train", "loss/val", "mean", "low", "high"):
                    writer.add_scalar(tag, rng.random(), step)
            writer.add_custom_scalars(LAYOUT)
    with SummaryRecord(str(base / "odd")) as record:
        record.add_value("audio", "noise", b"<b>no sound</b>", step=1)
    return base
