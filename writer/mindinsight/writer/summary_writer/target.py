"""Interface of what a SummaryWriter writes to: one class for each format of event files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import HostArray
from mindinsight.writer.encoding.counted_histogram import CountedHistogram
from mindinsight.writer.encoding.layouts import Layout
from mindinsight.writer.encoding.sounds import Sound
from mindinsight.writer.encoding.tfevents.hparams import HyperParameter


class Moment(NamedTuple):
    """Where a value belongs."""

    step: int
    wall: float  # Unix seconds


class Trial(NamedTuple):
    """Hyper-parameters of a run and what came of them."""

    parameters: dict[str, HyperParameter]
    metrics: dict[str, float]
    domains: Mapping[str, Sequence[HyperParameter]]  # the values that a parameter may have
    run_name: str | None


class Target(Protocol):
    """Event files of one format; values come checked. For any thread."""

    def scalar(self, tag: str, number: float, at: Moment) -> None:
        """A number."""

    def tensor_scalar(self, tag: str, number: float, at: Moment, *, double: bool) -> None:
        """A number in the encoding of TensorFlow 2, where the format knows it."""

    def scalars(self, main_tag: str, numbers: Mapping[str, float], at: Moment) -> None:
        """Several numbers that belong into one chart."""

    def tensor(self, tag: str, array: HostArray, at: Moment) -> None:
        """An array of any shape."""

    def histogram(self, tag: str, array: HostArray, at: Moment) -> None:
        """The distribution of an array, in the buckets of the format."""

    def counted_histogram(self, tag: str, histogram: CountedHistogram, at: Moment) -> None:
        """A distribution that was counted already."""

    def images(self, tag: str, batch: npt.NDArray[np.uint8], at: Moment) -> None:
        """Pictures (N, C, H, W)."""

    def text(self, tag: str, text: str, at: Moment) -> None:
        """Markdown."""

    def audio(self, tag: str, sound: Sound, at: Moment) -> None:
        """A sound."""

    def pr_curve(self, tag: str, rows: npt.NDArray[Any], at: Moment) -> None:
        """A precision-recall curve (encoding/pr_curves.py)."""

    def layout(self, layout: Layout) -> None:
        """The charts of a page of scalars."""

    def graph(self, model: bytes) -> None:
        """A graph, as the bytes of a ModelProto."""

    def trial(self, trial: Trial, at: Moment) -> None:
        """The hyper-parameters of a run and what came of them."""

    def flush(self) -> None:
        """Return when everything is in the files."""

    def close(self, error: BaseException | None = None) -> None:
        """Finish the files; ``error`` is what ended the training."""
