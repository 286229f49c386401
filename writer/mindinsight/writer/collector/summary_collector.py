"""SummaryCollector, the callback that records a training automatically, and its schedule of steps."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from mindinsight.writer import alerts, options, ranks
from mindinsight.writer.callbacks import Callback, CallbackList, RunContext
from mindinsight.writer.collector import collected_facts, collector_options
from mindinsight.writer.collector.collector_options import CollectedKinds, Landscape
from mindinsight.writer.encoding import checkpoint_files
from mindinsight.writer.files.remote_file import is_url
from mindinsight.writer.network import no_graph_reason, observed_graph
from mindinsight.writer.program import record_program
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.record import PARENT, SummaryRecord

_log: Final = logging.getLogger(__name__)
TENSOR: Final = "tensor"
DIRECTORY: Final = "ckpt_dir"
METADATA: Final = "train_metadata.json"
_FEWEST: Final = 3  # points of a trajectory
_MOST_TENSOR_STEPS: Final = 20  # as in MindSpore: tensors fill a disk quickly

Arguments = Mapping[str, Any]


class Schedule:
    """Schedule of collections, in steps, or in epochs if the data of an epoch is sent to the device at once.

    Args:
        every: everything except tensors is collected at multiples of this.
        tensor_every: tensors are collected at multiples of this. None: at most twenty times in all.
        total: number of steps or epochs, None if unknown.
    """

    def __init__(self, every: int, tensor_every: int | None, total: int | None) -> None:
        self._every = every
        self._tensors = _tensor_steps(every, tensor_every, total)

    def plugins_at(self, count: int) -> Callable[[str], bool] | None:
        """Return the filter of plugins to record after step or epoch ``count`` (from 1), or None to record
        nothing."""
        others, tensors = count % self._every == 0, self._tensors(count)
        if not others and not tensors:
            return None
        return lambda plugin: tensors if plugin == TENSOR else others


def _tensor_steps(every: int, tensor_every: int | None, total: int | None) -> Callable[[int], bool]:
    if tensor_every is not None:
        return lambda count: count % tensor_every == 0
    if total is None or total // every + 1 <= _MOST_TENSOR_STEPS:
        return lambda count: count % every == 0
    step = total // (_MOST_TENSOR_STEPS - 1)
    steps = range(0, step * _MOST_TENSOR_STEPS, step) if step > 1 else range(_MOST_TENSOR_STEPS + 1)
    return lambda count: count in steps


def everything(_plugin: str) -> bool:
    """Return True for any plugin: the filter of the first step, which records all plugins."""
    return True


class WeightPath:
    """Trajectory of the weights, saved at the numbers of ``settings.intervals`` for a landscape of the loss.

    Without settings nothing is saved.
    """

    def __init__(self, run: Path, settings: Landscape | None) -> None:
        self._directory = run / DIRECTORY
        self._settings = settings
        self._numbers = {number for group in settings.intervals for number in group} if settings else set()
        self._saved: dict[int, Path] = {}

    def step(self, arguments: Arguments) -> None:
        """Save the weights if the unit is step and the current step is one of ``settings.intervals``."""
        if self._settings and self._settings.unit == "step":
            self._save(arguments, int(arguments.get("cur_step_num") or 0))

    def epoch(self, arguments: Arguments) -> None:
        """Save the weights if the unit is epoch and the current epoch is one of ``settings.intervals``."""
        if self._settings and self._settings.unit == "epoch":
            self._save(arguments, int(arguments.get("cur_epoch_num") or 0))

    def end(self, arguments: Arguments) -> None:
        """Write the metadata of the weights that were saved in the training, if any. Intervals with too
        few saved points are left out, with a warning."""
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


class SummaryCollector(Callback):
    """Callback that records loss, learning rate, inputs, histograms of parameters, graph and lineage.

    Pass it to MindSpore's ``Model.train``, ``eval`` or ``fit``, or to a
    :class:`~mindinsight.writer.callbacks.CallbackList` in your own loop. Tags: ``loss/auto``,
    ``learning_rate/auto`` (further parameter groups: ``learning_rate_1/auto``, ...), ``input_data/auto``,
    ``<parameter>/auto``. The first step is always collected.

    Args:
        summary_dir: directory of the run.
        collect_freq: steps between two collections, in sink mode epochs.
        num_process: accepted for compatibility with MindSpore.
        collect_specified_data: data to collect, by key: ``collect_metric``, ``collect_graph``,
            ``collect_train_lineage``, ``collect_eval_lineage``, ``collect_input_data``,
            ``collect_dataset_graph``, ``collect_code``, ``collect_system``, ``collect_console`` (bools, True
            by default), ``histogram_regular`` (pattern for the start of parameters' names, None: the first
            five) and ``collect_landscape`` (a dict with ``intervals``, ``unit``, ``landscape_size``,
            ``num_samples`` and ``create_landscape``. Weights are saved only if it is given).
        keep_default_action: True if missing keys count as True.
        custom_lineage_data: numbers and text about the run, by name.
        collect_tensor_freq: steps between two collections of tensors of summary operators. None: at most 20
            in all.
        max_file_size, export_options, rank, parent: as for SummaryRecord.

    Data that cannot be collected (an input that is no image, an output that is no number) is reported once
    and then skipped.
    """

    def __init__(
        self,
        summary_dir: str | Path,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: Mapping[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: Mapping[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: Mapping[str, str | None] | None = None,
        *,
        rank: int | None = None,
        parent: str = "",
    ) -> None:
        options.parent(parent)
        self._every = collector_options.frequency(collect_freq, "collect_freq")
        self._tensor_every = collector_options.optional_frequency(collect_tensor_freq, "collect_tensor_freq")
        collector_options.optional_frequency(max_file_size, "max_file_size")
        self._collected = collector_options.collected_kinds(collect_specified_data, keep_default_action)
        self._custom = collector_options.custom_lineage(custom_lineage_data)
        self._custom = {**self._custom, PARENT: parent} if parent else self._custom
        self._make_record = partial(
            SummaryRecord, summary_dir, max_file_size=max_file_size, export_options=export_options, rank=rank
        )
        self._make_record().close()  # a wrong directory is an error now, not when the training starts
        self._record: SummaryRecord | None = None
        self._depth = 0
        self._graph: Callable[[], bytes | None] | None = None
        self._run_recorded = False
        self._recorded: int | None = None
        self._step = 0  # of the training
        self._schedule = Schedule(self._every, self._tensor_every, None)
        if is_url(summary_dir) and self._collected.collect_landscape is not None:
            raise ValueError("collect_landscape: weights of a landscape are not written to a store")
        run = ranks.directory_of(Path(summary_dir), rank)
        self._path = WeightPath(run, self._collected.collect_landscape)
        self._kinds = _kinds(self._collected)
        self._automatic = CallbackList([])  # enabled by environment variables

    def __enter__(self) -> SummaryCollector:
        self._depth += 1  # the evaluation inside a fit enters again
        if self._depth == 1:
            self._automatic.__enter__()
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._automatic.__exit__(kind, error, trace)
        if self._depth == 0 and self._record is not None:
            self._record.__exit__(kind, error, trace)  # may write the files of a failed run
            self._record = None

    def alert(
        self, title: str, text: str = "", level: alerts.Level = "info", step: int | None = None
    ) -> bool:
        """Record an alert like :meth:`SummaryRecord.alert`, by default of level info at the current step, and
        return True if recorded."""
        return self._open().alert(title, text, level, self._step if step is None else step)

    def begin(self, run_context: RunContext) -> None:
        """Open the recorder. Before a training, also set the schedule, begin to record the console and the
        machine, and record the program, as configured. Raises ValueError unless ``mode`` is train or eval."""
        arguments = run_context.original_args()
        if arguments.get("mode") not in ("train", "eval"):
            raise ValueError(f"mode must be 'train' or 'eval', got {arguments.get('mode')!r}")
        self._open()
        if arguments["mode"] == "train":
            self._automatic.on_train_begin(run_context)
            self._recorded = None
            self._schedule = Schedule(self._every, self._tensor_every, _total(arguments))
            record = self._open()
            if self._collected.collect_console:
                record.record_console()
            if self._collected.collect_code and not self._run_recorded and rank_of().number == 0:
                record_program(record)
            if self._collected.collect_system:
                record.record_system()
            if self._collected.collect_graph and not self._run_recorded:
                self._graph = observed_graph(arguments.get("train_network") or arguments.get("network"))

    def step_begin(self, run_context: RunContext) -> None:
        """Pass the beginning of a step to the callbacks that environment variables enable."""
        self._automatic.on_train_step_begin(run_context)

    def step_end(self, run_context: RunContext) -> None:
        """Collect the values of the first step of a training, and of later steps that the schedule selects.
        In sink mode, collect only the first. Do nothing in an evaluation."""
        arguments = run_context.original_args()
        if arguments.get("mode") != "train":
            return
        self._automatic.on_train_step_end(run_context)
        self._step = _step(arguments)
        if self._recorded is None:
            self._record_run(arguments)
            self._collect(arguments, everything)
        elif not arguments.get("dataset_sink_mode"):
            self._collect(arguments, self._schedule.plugins_at(_step(arguments)))
        self._path.step(arguments)

    def epoch_end(self, run_context: RunContext) -> None:
        """In sink mode collect the values of an epoch. Record the lineage of an evaluation."""
        arguments = run_context.original_args()
        if arguments.get("mode") != "train":
            return
        if arguments.get("dataset_sink_mode") and self._recorded != _step(arguments):
            self._collect(arguments, self._schedule.plugins_at(int(arguments.get("cur_epoch_num", 1))))
        if arguments.get("metrics") and self._collected.collect_eval_lineage:
            # MindSpore's fit evaluates before the end of the epoch and passes over collectors while it does.
            self._add("eval_lineage", collected_facts.evaluation(arguments))
            self._record_messages()
        self._path.epoch(arguments)

    def end(self, run_context: RunContext) -> None:
        """Record the lineage of the training or the evaluation."""
        arguments = run_context.original_args()
        if arguments.get("mode") == "train":
            self._automatic.on_train_end(run_context)
            if self._collected.collect_train_lineage:
                self._add("train_lineage", collected_facts.training(arguments))
            self._path.end(arguments)
        elif self._collected.collect_eval_lineage:
            self._add("eval_lineage", collected_facts.evaluation(arguments))
        self._record_messages()

    def _record_messages(self) -> None:
        """Record the added lineage at once. Values of summary operators wait for their step."""
        record = self._open()
        record.set_mode("eval")
        record.record(0)
        record.set_mode("train")

    def _open(self) -> SummaryRecord:
        if self._record is None:
            self._record = self._make_record()
        return self._record

    def _collect(self, arguments: Arguments, plugin_filter: Callable[[str], bool] | None) -> None:
        if plugin_filter is None:
            return
        for kind, collect in list(self._kinds.items()) if plugin_filter("scalar") else ():
            try:
                for plugin, tag, value in collect(arguments):
                    self._open().add_value(plugin, tag, value)
            except (TypeError, ValueError) as error:
                _log.warning("%s is not collected from step %d on: %s", kind, _step(arguments), error)
                del self._kinds[kind]
        self._open().record(_step(arguments), plugin_filter=plugin_filter)
        self._recorded = _step(arguments)

    def _record_run(self, arguments: Arguments) -> None:
        if self._run_recorded:
            return
        self._run_recorded = True
        if self._graph is not None:
            self._add_graph(self._graph(), arguments.get("train_network") or arguments.get("network"))
        if self._collected.collect_dataset_graph:
            pipeline = collected_facts.dataset_facts(arguments.get("train_dataset")).pipeline
            if pipeline:
                self._add("dataset_graph", pipeline)
        if self._custom:
            self._add("custom_lineage_data", self._custom)

    def _add_graph(self, graph: bytes | None, network: Any) -> None:
        if graph is not None:
            self._add("graph", graph)
        elif (reason := no_graph_reason(network)) is not None:
            _log.warning("no graph is recorded: %s", reason)

    def _add(self, plugin: str, value: Any) -> None:
        """Add a value. A rejected value is logged, because it must not end the training."""
        try:
            self._open().add_value(plugin, plugin, value)
        except (TypeError, ValueError) as error:
            _log.warning("no %s is recorded: %s", plugin.replace("_", " "), error)


def _kinds(collected: CollectedKinds) -> dict[str, Callable[[Arguments], collected_facts.Values]]:
    chosen: dict[str, Callable[[Arguments], collected_facts.Values]] = {}
    if collected.collect_metric:
        chosen |= {"loss": collected_facts.loss, "learning rate": collected_facts.learning_rate}
    if collected.collect_input_data:
        chosen["input data"] = collected_facts.input_data
    if collected.histograms:
        chosen["histograms"] = partial(collected_facts.histograms, pattern=collected.histogram_regular)
    return chosen


def _step(arguments: Arguments) -> int:
    return int(arguments.get("cur_step_num") or 0)


def _total(arguments: Arguments) -> int | None:
    """Return the number of steps (in sink mode epochs) of the whole training, or None."""
    epochs = int(arguments.get("epoch_num") or 0)
    batches = 1 if arguments.get("dataset_sink_mode") else int(arguments.get("batch_num") or 0)
    return epochs * batches or None
