"""Loss landscapes: evaluation of the loss around the trajectory of the weights, after a training."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto.graph_pb2 import DT_FLOAT64, TensorProto
from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.writer.collector import collector_options
from mindinsight.writer.collector.summary_collector import DIRECTORY, METADATA, write_metadata
from mindinsight.writer.encoding import checkpoint_files
from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.record import SummaryRecord

__all__ = ["SummaryLandscape", "loss_landscape"]


Numbers = npt.ArrayLike


def loss_landscape(
    x: Numbers,
    y: Numbers,
    z: Numbers,
    *,
    path: tuple[Numbers, Numbers, Numbers] | None = None,
    intervals: Sequence[int] = (),
    convergence: tuple[float, float, float] | None = None,
    decomposition: str = "PCA",
    unit: str = "step",
    step_per_epoch: int = 0,
) -> LossLandscape:
    """Return a landscape for ``add_value("landscape", ...)``. Raises ValueError if the shapes do not fit
    together.

    Args:
        x, y: coordinates along the two directions, shapes [columns] and [rows].
        z: the loss, shape [rows, columns].
        path: coordinates and loss of each point of the trajectory, shape [points] each.
        intervals: the step or epoch of each of those points.
        convergence: x, y and loss of the last point of the trajectory.
        decomposition: method that found the directions: PCA or Random.
        unit: unit of ``intervals``: step or epoch.
        step_per_epoch: steps of an epoch.
    """
    message = LossLandscape()
    across, down, height = (np.asarray(numbers, np.float64) for numbers in (x, y, z))
    if across.ndim != 1 or down.ndim != 1 or height.shape != (down.size, across.size):
        raise ValueError(f"z must be [len(y), len(x)], got {height.shape}, {down.shape} and {across.shape}")
    _point(message.landscape, (across, down, height))
    if path is not None:
        points = [np.asarray(numbers, np.float64) for numbers in path]
        if any(numbers.shape != (len(intervals),) for numbers in points):
            raise ValueError(f"the path must have a point for each of {len(intervals)} intervals")
        _point(message.loss_path.points, points)
        message.loss_path.intervals.extend(intervals)
    if convergence is not None:
        _point(message.convergence_point, [np.array([number]) for number in convergence])
    message.metadata.decomposition = decomposition
    message.metadata.unit = unit
    message.metadata.step_per_epoch = step_per_epoch
    return message


def _point(point: LossLandscape.Point, arrays: Sequence[npt.NDArray[np.float64]]) -> None:
    for tensor, numbers in zip((point.x, point.y, point.z), arrays, strict=True):
        _fill(tensor, numbers)


def _fill(tensor: TensorProto, numbers: npt.NDArray[np.float64]) -> None:
    tensor.dims.extend(numbers.shape)
    tensor.data_type = DT_FLOAT64
    with np.errstate(over="ignore"):
        tensor.float_data.extend(numbers.astype(np.float32).reshape(-1).tolist())


Weights = Mapping[str, npt.NDArray[Any]]
Vector = npt.NDArray[np.float64]
_MARGIN: Final = 0.2  # of the way's extent, on either side


@dataclass(frozen=True)
class Plane:
    """Plane ``base + x * first + y * second``. Parameters without a direction are constant."""

    base: Weights
    first: Mapping[str, Vector]
    second: Mapping[str, Vector]

    def at(self, x: float, y: float) -> dict[str, npt.NDArray[Any]]:
        """Return the weights at a point of the plane, by name."""
        moved = {
            name: (value + x * self.first[name] + y * self.second[name]).astype(value.dtype)
            for name, value in self.base.items()
            if name in self.first
        }
        return {**self.base, **moved}

    def coordinates(self, weights: Weights) -> tuple[float, float]:
        """Return (x, y) of the point of the plane nearest to ``weights``, by least squares."""
        directions = np.stack([_flat(self.first), _flat(self.second)], axis=1)
        way = _flat(_way(weights, self.base, list(self.first)))
        (x, y), *_ = np.linalg.lstsq(directions, way, rcond=None)
        return float(x), float(y)


def plane_of_path(checkpoints: Sequence[Weights], seed: int = 0) -> Plane:
    """Return the plane through the last of ``checkpoints`` that contains most of their trajectory. At
    least two checkpoints are needed. For a straight trajectory the second direction is random, by
    ``seed``."""
    base = checkpoints[-1]
    names = moving(base)
    ways = np.stack([_flat(_way(weights, base, names)) for weights in checkpoints[:-1]])
    # The right singular vectors by way of the small matrix: points are few, weights are many.
    sizes, left = np.linalg.eigh(ways @ ways.T)
    components = (ways.T @ left[:, ::-1][:, :2]).T
    if len(components) < 2 or sizes[-2] <= sizes[-1] * 1e-12:  # a straight way leaves the second open
        components = np.stack([components[0], np.random.default_rng(seed).normal(size=components.shape[1])])
    first, second = (_scaled(_split(component, base, names), base) for component in components)
    return Plane(base, first, second)


def random_plane(base: Weights, seed: int = 0) -> Plane:
    """Return a plane through ``base`` with two random directions."""
    random = np.random.default_rng(seed)
    names = moving(base)
    first, second = ({name: random.normal(size=base[name].shape) for name in names} for _ in range(2))
    return Plane(base, _scaled(first, base), _scaled(second, base))


def moving(weights: Weights) -> list[str]:
    """Return the names of the float parameters that make a direction: weights and biases. If no name
    contains "weight" or "bias", return all. The optimizer's moments are never among them."""
    floats = [name for name, value in weights.items() if value.dtype.kind == "f" and "moment" not in name]
    return [name for name in floats if "weight" in name or "bias" in name] or floats


def axis(values: Sequence[float], size: int) -> Vector:
    """Return ``size`` coordinates over the range of ``values``, extended by a fifth on either side, or by 1
    if all values are equal."""
    low, high = min(values), max(values)
    margin = (high - low) * _MARGIN or 1.0
    return np.linspace(low - margin, high + margin, size)


def _scaled(direction: Mapping[str, Vector], base: Weights) -> dict[str, Vector]:
    """Return the direction with each parameter's part scaled to the norm of the parameter."""
    scaled = {}
    for name, part in direction.items():
        norm = float(np.linalg.norm(part))
        weight = float(np.linalg.norm(base[name].astype(np.float64)))
        scaled[name] = part * (weight / norm) if norm else part
    return scaled


def _way(weights: Weights, base: Weights, names: Sequence[str]) -> dict[str, Vector]:
    return {name: weights[name].astype(np.float64) - base[name] for name in names}


def _flat(parts: Mapping[str, npt.NDArray[Any]]) -> Vector:
    return np.concatenate([np.asarray(part, np.float64).reshape(-1) for part in parts.values()])


def _split(vector: Vector, base: Weights, names: Sequence[str]) -> dict[str, Vector]:
    ends = np.cumsum([base[name].size for name in names])
    pieces = np.split(vector, ends[:-1])
    return {name: piece.reshape(base[name].shape) for name, piece in zip(names, pieces, strict=True)}


Loss: TypeAlias = Callable[[Weights], float]
Point: TypeAlias = tuple[float, float]
# Returns a Loss, or (model, network, dataset, metrics) of MindSpore.
Setup: TypeAlias = Callable[[], Any]


def loss_of(setup: Setup, samples: int) -> Loss:
    """Return the loss function that ``setup`` returns, or that of its (model, network, dataset, metrics).
    Raises TypeError and ValueError if the result of ``setup`` is neither a function nor the tuple that
    MindSpore documents. The latter evaluates about ``samples`` samples."""
    made = setup()
    if callable(made):
        function: Loss = made
        return function
    if not isinstance(made, (tuple, list)) or len(made) != 4:
        raise TypeError("callback_fn must return a loss function or (model, network, dataset, metrics)")
    framework = framework_of(made[1])
    if framework is None or not framework.__name__.endswith(".mindspore"):
        raise TypeError(f"the network must be a Cell of MindSpore, got {type(made[1]).__name__}")
    loss: Loss = framework.loss_function(*made, samples=samples)
    return loss


class Evaluation:
    """Context manager that evaluates losses at points. Each of several devices has a process."""

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
        """Return the loss at each of ``points`` of ``plane``."""
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
        """Return the loss of one set of weights."""
        return self.losses(Plane(weights, {}, {}), [(0.0, 0.0)])[0]


def losses_at(loss: Loss, plane: Plane, points: Sequence[Point]) -> list[float]:
    """Return the loss at each of ``points`` of ``plane``."""
    return [float(loss(plane.at(*point))) for point in points]


def losses_on_device(
    setup: Setup, samples: int, device: int, plane: Plane, points: Sequence[Point]
) -> list[float]:
    """Return the loss of ``loss_of(setup, samples)`` at each of ``points``, in a worker of a ``device``."""
    return losses_at(_loss_on_device(setup, samples, device), plane, points) if points else []


@cache
def _loss_on_device(setup: Setup, samples: int, device: int) -> Loss:
    """Return the loss function of a worker, made once because it loads a framework. MindSpore, if it is
    installed, uses ``device``."""
    if find_spec("mindspore") is not None:
        import_module("mindspore").set_context(device_id=device)
    return loss_of(setup, samples)


class SummaryLandscape:
    """Evaluator of loss landscapes of the run in ``summary_dir``.

    The training must have run with ``collect_landscape`` of SummaryCollector. The loss is a function of the
    weights (any framework), or MindSpore's tuple::

        SummaryLandscape("./run").gen_landscapes(lambda weights: evaluate(model, weights))
    """

    def __init__(self, summary_dir: str | Path) -> None:
        self._run = Path(summary_dir)
        self._directory = self._run / DIRECTORY

    def gen_landscapes(
        self, loss: Loss, collect_landscape: Mapping[str, Any] | None = None, output: str | Path | None = None
    ) -> None:
        """Evaluate ``loss`` and write the landscapes to a new event file. Raises FileNotFoundError without a
        training with ``collect_landscape``, ValueError if the training saved no weights, and for invalid
        settings.

        Args:
            loss: function that returns a number for weights (name -> array, names of the trained network).
            collect_landscape: settings that override those of the training.
            output: directory for the event file, by default that of the run.
        """
        self._make(Evaluation(lambda: loss, 0), self._settings(collect_landscape), output)

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Setup,
        collect_landscape: Mapping[str, Any] | None = None,
        device_ids: Sequence[int] | None = None,
        output: str | Path | None = None,
    ) -> None:
        """Evaluate and write the landscapes as ``gen_landscapes`` does, with one process for each device.
        Raises like ``gen_landscapes`` and ``loss_of``.

        Args:
            callback_fn: returns (model, network, dataset, metrics) of MindSpore or a loss function. The model
                is made with the metrics, which have a ``Loss`` under the key ``Loss``.
            device_ids: numbers of the devices. None uses the current device, in this process.
        """
        settings = self._settings(collect_landscape)
        self._make(Evaluation(callback_fn, settings["num_samples"], device_ids or (0,)), settings, output)

    def clean_ckpt(self) -> None:
        """Remove the saved weights."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _settings(self, changes: Mapping[str, Any] | None) -> dict[str, Any]:
        path = self._directory / METADATA
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing: train with collect_landscape first")
        settings: dict[str, Any] = json.loads(path.read_text())
        if changes:
            groups = changes.get("intervals") or list(settings["epoch_group"].values())
            given = {"unit": settings["unit"], "create_landscape": settings["create_landscape"], **changes}
            checked = collector_options.landscape({**given, "intervals": groups})
            assert checked is not None
            settings |= {name: value for name, value in changes.items() if name != "intervals"}
            settings["epoch_group"] = {str(number): group for number, group in enumerate(checked.intervals)}
            write_metadata(self._directory, settings)
        return settings

    def _make(self, evaluation: Evaluation, settings: Mapping[str, Any], output: str | Path | None) -> None:
        groups = [[int(number) for number in group] for group in settings["epoch_group"].values()]
        if not groups:
            raise ValueError("the training saved no weights for a landscape")
        with evaluation, SummaryRecord(output or self._run) as record:
            if settings["create_landscape"]["train"]:
                for group in groups:
                    tag = f"landscape_[{group[0]}, {group[-1]}]"
                    record.add_value("landscape", tag, self._of_path(evaluation, settings, group))
            if settings["create_landscape"]["result"]:
                last = groups[-1][-1]
                result = self._of_result(evaluation, settings, last)
                record.add_value("landscape", f"landscape_[{last}]", result)
            record.record(0)

    def _of_path(
        self, evaluation: Evaluation, settings: Mapping[str, Any], group: list[int]
    ) -> LossLandscape:
        checkpoints = [self._weights(settings, number) for number in group]
        plane = plane_of_path(checkpoints)
        points = [plane.coordinates(checkpoint) for checkpoint in checkpoints]
        x, y = (axis([point[side] for point in points], settings["landscape_size"]) for side in range(2))
        path = [evaluation.loss_of_weights(checkpoint) for checkpoint in checkpoints]
        return loss_landscape(
            x, y, _grid(evaluation, plane, x, y),
            path=([point[0] for point in points], [point[1] for point in points], path),
            intervals=group, convergence=(0.0, 0.0, path[-1]), decomposition="PCA", **_unit(settings),
        )  # fmt: skip

    def _of_result(self, evaluation: Evaluation, settings: Mapping[str, Any], number: int) -> LossLandscape:
        plane = random_plane(self._weights(settings, number))
        x = y = np.linspace(-1.0, 1.0, settings["landscape_size"])
        (lowest,) = evaluation.losses(plane, [(0.0, 0.0)])
        return loss_landscape(
            x, y, _grid(evaluation, plane, x, y),
            convergence=(0.0, 0.0, lowest), decomposition="Random", **_unit(settings),
        )  # fmt: skip

    def _weights(self, settings: Mapping[str, Any], number: int) -> Weights:
        try:
            path = Path(settings["model_params_file_map"][str(number)])
        except KeyError:
            raise ValueError(f"no weights were saved at {settings['unit']} {number}") from None
        return checkpoint_files.load(path if path.is_file() else self._directory / path.name)


def _grid(evaluation: Evaluation, plane: Plane, x: Any, y: Any) -> Any:
    points = [(float(across), float(down)) for down in y for across in x]
    return np.array(evaluation.losses(plane, points)).reshape(len(y), len(x))


def _unit(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"unit": settings["unit"], "step_per_epoch": int(settings["step_per_epoch"])}
