"""Evaluator of the loss at many points of a plane, in this process or on several devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any, TypeAlias

from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.landscape.plane import Plane, Weights

Loss: TypeAlias = Callable[[Weights], float]
Point: TypeAlias = tuple[float, float]
# Answers a Loss, or (model, network, dataset, metrics) of MindSpore.
Setup: TypeAlias = Callable[[], Any]


def loss_of(setup: Setup, samples: int) -> Loss:
    """The loss function that ``setup`` answers, over at most ``samples`` samples.

    Raises TypeError and ValueError when the answer is neither a function nor what MindSpore documents.
    """
    made = setup()
    if callable(made):
        function: Loss = made
        return function
    if not isinstance(made, (tuple, list)) or len(made) != 4:
        raise TypeError("callback_fn must return a loss function or (model, network, dataset, metrics)")
    framework = framework_of(made[1])
    if framework is None or not framework.__name__.endswith(".mindspore"):
        raise TypeError(f"the network must be a Cell of MindSpore, got {type(made[1]).__name__}")
    objects = import_module(f"{framework.__name__}_objects")
    loss: Loss = objects.loss_function(*made, samples=samples)
    return loss


class Evaluation:
    """Evaluator of losses at points, a context manager; with several devices, a process for each."""

    def __init__(self, setup: Setup, samples: int, devices: Sequence[int] = (0,)) -> None:
        self._setup = setup
        self._samples = samples
        self._devices = devices
        self._loss = loss_of(setup, samples) if len(devices) <= 1 else None
        self._workers: list[ProcessPoolExecutor] = []

    def __enter__(self) -> Evaluation:
        if self._loss is None:
            context = get_context("spawn")
            self._workers = [ProcessPoolExecutor(1, context) for _ in self._devices]
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.shutdown()

    def losses(self, plane: Plane, points: Sequence[Point]) -> list[float]:
        """The loss at each of ``points`` of ``plane``."""
        if self._loss is not None:
            return losses_at(self._loss, plane, points)
        count, losses = len(self._workers), [0.0] * len(points)
        shares = [
            worker.submit(losses_on_device, self._setup, self._samples, device, plane, points[index::count])
            for index, (worker, device) in enumerate(zip(self._workers, self._devices, strict=True))
        ]
        for index, share in enumerate(shares):
            losses[index::count] = share.result()
        return losses

    def loss_of_weights(self, weights: Weights) -> float:
        """The loss of one set of weights."""
        return self.losses(Plane(weights, {}, {}), [(0.0, 0.0)])[0]


def losses_at(loss: Loss, plane: Plane, points: Sequence[Point]) -> list[float]:
    """The loss at each of ``points``."""
    return [float(loss(plane.at(*point))) for point in points]


def losses_on_device(
    setup: Setup, samples: int, device: int, plane: Plane, points: Sequence[Point]
) -> list[float]:
    """The loss at each of ``points``, in a worker process of this ``device``."""
    return losses_at(_loss_on_device(setup, samples, device), plane, points) if points else []


@cache
def _loss_on_device(setup: Setup, samples: int, device: int) -> Loss:
    """Made once in a worker, as it loads a framework; MindSpore, if it is there, uses ``device``."""
    if find_spec("mindspore") is not None:
        import_module("mindspore").set_context(device_id=device)
    return loss_of(setup, samples)
