"""Trajectory of the weights: saved during the training, for a landscape of the loss afterwards."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.collector import collected_facts
from mindinsight.writer.collector.collector_options import Landscape
from mindinsight.writer.encoding import checkpoint_files

DIRECTORY: Final = "ckpt_dir"
METADATA: Final = "train_metadata.json"
_FEWEST: Final = 3  # points that make a way
_log: Final = logging.getLogger(__name__)

Arguments = Mapping[str, Any]


class WeightPath:
    """Saves the network's weights at the numbers of ``settings.intervals``; without settings nothing."""

    def __init__(self, run: Path, settings: Landscape | None) -> None:
        self._directory = run / DIRECTORY
        self._settings = settings
        self._numbers = {number for group in settings.intervals for number in group} if settings else set()
        self._saved: dict[int, Path] = {}

    def step(self, arguments: Arguments) -> None:
        """After a step."""
        if self._settings and self._settings.unit == "step":
            self._save(arguments, int(arguments.get("cur_step_num") or 0))

    def epoch(self, arguments: Arguments) -> None:
        """After an epoch."""
        if self._settings and self._settings.unit == "epoch":
            self._save(arguments, int(arguments.get("cur_epoch_num") or 0))

    def end(self, arguments: Arguments) -> None:
        """After the training: what was saved, and how it is to be shown."""
        if self._settings is None or not self._saved:
            return
        groups = [[number for number in group if number in self._saved] for group in self._settings.intervals]
        groups = [group for group in groups if len(group) >= _FEWEST]
        if len(groups) < len(self._settings.intervals):
            _log.warning("the training ended before every interval of the landscape had %d points", _FEWEST)
        write_metadata(self._directory, {
            "epoch_group": {str(index): group for index, group in enumerate(groups)},
            "model_params_file_map": {str(number): str(path) for number, path in self._saved.items()},
            "step_per_epoch": int(arguments.get("batch_num") or 0),
            "unit": self._settings.unit,
            "num_samples": self._settings.num_samples,
            "landscape_size": self._settings.landscape_size,
            "create_landscape": self._settings.parts(),
        })  # fmt: skip

    def _save(self, arguments: Arguments, number: int) -> None:
        if number not in self._numbers:
            return
        network = collected_facts.backbone(arguments.get("network"))
        assert self._settings is not None
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._directory / f"{collected_facts.class_name(network)}_{number}_{self._settings.unit}.ckpt"
        checkpoint_files.save(path.absolute(), collected_facts.weights(network))
        self._saved[number] = path.absolute()


def write_metadata(directory: Path, metadata: Mapping[str, Any]) -> None:
    """Replace ``train_metadata.json`` in ``directory``."""
    unfinished = directory / f"{METADATA}.tmp"
    unfinished.write_text(json.dumps(metadata))
    unfinished.chmod(0o600)
    unfinished.replace(directory / METADATA)
