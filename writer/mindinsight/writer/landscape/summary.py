"""SummaryLandscape: landscapes of a run, made after its training from saved weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.writer.collector import options
from mindinsight.writer.collector.weight_path import DIRECTORY, METADATA, write_metadata
from mindinsight.writer.encoding import checkpoints
from mindinsight.writer.landscape.evaluation import Evaluation, Loss, Setup
from mindinsight.writer.landscape.message import loss_landscape
from mindinsight.writer.landscape.plane import Plane, Weights, axis, plane_of_path, random_plane
from mindinsight.writer.record import SummaryRecord


class SummaryLandscape:
    """Makes landscapes of the loss of the run in ``summary_dir``.

    Its training must have run with ``collect_landscape`` given to SummaryCollector. Give the loss as a
    function of the weights (any framework), or as MindSpore documents it::

        SummaryLandscape("./run").gen_landscapes(lambda weights: evaluate(model, weights))
    """

    def __init__(self, summary_dir: str | Path) -> None:
        self._run = Path(summary_dir)
        self._directory = self._run / DIRECTORY

    def gen_landscapes(
        self,
        loss: Loss,
        collect_landscape: Mapping[str, Any] | None = None,
        output: str | Path | None = None,
    ) -> None:
        """Evaluate ``loss`` and write the landscapes into a new event file.

        Args:
            loss: takes the weights (name -> array, as the trained network names them), answers a number.
            collect_landscape: settings that replace those of the training.
            output: directory for the event file; that of the run by default.

        Raises FileNotFoundError when the run saved no weights, ValueError for settings that cannot be.
        """
        self._make(Evaluation(lambda: loss, 0), self._settings(collect_landscape), output)

    def gen_landscapes_with_multi_process(
        self,
        callback_fn: Setup,
        collect_landscape: Mapping[str, Any] | None = None,
        device_ids: Sequence[int] | None = None,
        output: str | Path | None = None,
    ) -> None:
        """As :meth:`gen_landscapes`, with a process for each device when there are several.

        Args:
            callback_fn: answers (model, network, dataset, metrics) of MindSpore, the model made with the
                metrics and these with a ``Loss`` under the key ``Loss``; or a loss function.
            device_ids: numbers of the devices; None: the current one, in this process.
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
            checked = options.landscape({**given, "intervals": groups})
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
        return checkpoints.load(path if path.is_file() else self._directory / path.name)


def _grid(evaluation: Evaluation, plane: Plane, x: Any, y: Any) -> Any:
    points = [(float(across), float(down)) for down in y for across in x]
    return np.array(evaluation.losses(plane, points)).reshape(len(y), len(x))


def _unit(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"unit": settings["unit"], "step_per_epoch": int(settings["step_per_epoch"])}
