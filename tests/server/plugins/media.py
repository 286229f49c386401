"""A base directory with sounds, curves and layouts of our writer in both formats, and of torch's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.writer import SummaryWriter
from mindinsight.writer.summary_writer.writer import Format
from tests.server.conftest import wait_until_read

TFEVENTS = Path(__file__).parents[2] / "data" / "tfevents" / "runs"
LABELS, PREDICTIONS = np.array([0, 1, 1, 0]), np.array([0.1, 0.4, 0.8, 0.6])
LAYOUT = {
    "Loss": {"both": ["Multiline", ["loss/.*", "("]], "none": ["Multiline", ["oss"]]},
    "Accuracy": {"range": ["Margin", ["mean", "low", "high"]]},
}


def write(base: Path) -> None:
    formats: dict[str, Format] = {"ours": "mindinsight", "theirs": "tensorboard"}
    for name, form in formats.items():
        with SummaryWriter(base / name, format=form) as writer:
            for step in (0, 5):
                writer.add_audio("voice", np.sin(np.arange(800) / 9), step, sample_rate=8000)
                writer.add_pr_curve("cats", LABELS, PREDICTIONS, step, num_thresholds=11)
                for tag in ("loss/train", "loss/val", "LOSS/x", "mean", "low", "high"):
                    writer.add_scalar(tag, step, step)
            writer.add_custom_scalars(LAYOUT)
    for name in ("torch", "tensors"):
        shutil.copytree(TFEVENTS / name, base / name)


@contextmanager
def client_of(base: Path, workspace: Path) -> Iterator[TestClient]:
    """Client of a server that has read everything."""
    settings = Settings(summary_base_dir=base, workspace=workspace, reload_interval=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, sum(path.is_dir() for path in base.iterdir()))
        yield client
