"""Logger and callbacks for PyTorch Lightning, as ``lightning`` or as ``pytorch_lightning``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindinsight.writer.integrations.training import ALSO, Training, loader_facts
from mindinsight.writer.recorders.flight_recorder import FlightRecorder
from mindinsight.writer.summary_writer import SummaryWriter

# Both packages have the same code with separate classes. A trainer accepts those of its package.
_OLD: Final = "pytorch_lightning" in sys.modules and "lightning" not in sys.modules
_PACKAGE: Final = "pytorch_lightning" if _OLD else "lightning.pytorch"
if TYPE_CHECKING:
    from lightning.pytorch.callbacks import Callback
    from lightning.pytorch.loggers.logger import DummyExperiment, Logger
else:
    Callback = import_module(f"{_PACKAGE}.callbacks").Callback
    Logger = import_module(f"{_PACKAGE}.loggers.logger").Logger
    DummyExperiment = import_module(f"{_PACKAGE}.loggers.logger").DummyExperiment
_Misconfiguration: Any = import_module(f"{_PACKAGE}.utilities.exceptions").MisconfigurationException
rank_zero_only: Any = import_module(f"{_PACKAGE}.utilities").rank_zero_only


class MindInsightLogger(Logger):
    """Logger of a ``Trainer``: metrics, hyper-parameters, graph, paths of checkpoints.

    ``experiment`` is a ``SummaryWriter``: ``self.logger.experiment.add_image(...)`` works like TensorBoard's.

    Args:
        save_dir: directory of all runs.
        name: directory of this experiment below it.
        version: directory of this run below that: a name, or N for ``version_N``. By default the next free N.
        log_graph: record the graph of the module, if it has an ``example_input_array``.
        prefix: prefix of every metric's name.
        every_rank: record the metrics of every process, each in its ``rank_N``. Needs a ``version``.
        also: what to record in addition, any of ``code``, ``system`` and ``console``. (): none.
    """

    def __init__(
        self,
        save_dir: str | Path = "runs",
        name: str | None = "lightning",
        version: int | str | None = None,
        log_graph: bool = False,
        prefix: str = "",
        every_rank: bool = False,
        also: Collection[str] = ALSO,
    ) -> None:
        super().__init__()
        if every_rank and version is None:
            raise ValueError("every_rank needs a version, so that all ranks record into one run")
        self._save_dir, self._name, self._version = Path(save_dir), name or "", version
        self._log_graph, self._every_rank = log_graph, every_rank
        self._also = also
        self._prefix = f"{prefix}/" if prefix else ""
        self._training: Training | None = None

    @property
    def name(self) -> str:
        """Return the name of the experiment's directory below ``save_dir``."""
        return self._name

    @property
    def version(self) -> int | str:
        """Return the name or number of the run, by default one more than the largest number in the directory
        at the first call."""
        if self._version is None:
            taken = [path.name for path in self._root.glob("version_*")]
            numbers = [int(name[8:]) for name in taken if name[8:].isdecimal()]
            self._version = max(numbers, default=-1) + 1
        return self._version

    @property
    def save_dir(self) -> str:
        """Return the directory of all runs."""
        return str(self._save_dir)

    @property
    def root_dir(self) -> str:
        """Return the directory of the experiment's runs."""
        return str(self._root)

    @property
    def log_dir(self) -> str:
        """Return the directory of this run."""
        version = self.version
        return str(self._root / (version if isinstance(version, str) else f"version_{version}"))

    @property
    def experiment(self) -> SummaryWriter:
        """Return the writer of this run. On other ranks its methods do nothing."""
        return DummyExperiment() if self._is_silent() else self.training.writer

    @property
    def training(self) -> Training:
        """Return the recorder of this run, opened at the first use."""
        if self._training is None:
            self._training = Training(self.log_dir, self._also)
        return self._training

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Record metrics at ``step``, by default 0, with the logger's prefix. Do nothing on a rank that
        records nothing."""
        if not self._is_silent():
            self.training.numbers(metrics, 0 if step is None else step, self._prefix)

    def log_hyperparams(
        self, params: Mapping[str, Any] | Namespace, metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Record settings as lineage, and ``metrics`` as the result of an evaluation. Do nothing on a rank
        that records nothing."""
        if not self._is_silent():
            self.training.configure(params)
            if metrics:
                self.training.evaluation(metrics)

    def log_graph(self, model: Any, input_array: Any = None) -> None:
        """Record the graph of the module, if ``log_graph`` is set and there are inputs. Do nothing on a
        rank that records nothing. The inputs are ``input_array``, by default the module's
        ``example_input_array``."""
        inputs = model.example_input_array if input_array is None else input_array
        if self._log_graph and inputs is not None and not self._is_silent():
            self.training.writer.add_graph(model, inputs)

    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        """Record the path of the newest checkpoint, and the best value of its metric. Do nothing without a
        path and on a rank that records nothing."""
        path = checkpoint_callback.last_model_path or checkpoint_callback.best_model_path
        if not path or self._is_silent():
            return
        self.training.checkpoint(path)
        if checkpoint_callback.monitor and checkpoint_callback.best_model_score is not None:
            self.training.evaluation({checkpoint_callback.monitor: checkpoint_callback.best_model_score})

    def save(self) -> None:
        """Do nothing. Values reach the file within seconds."""

    def finalize(self, status: str) -> None:
        """Close the files. Unless ``status`` is "success", record the exception being handled."""
        if self._training is not None:
            self._training.close(None if status == "success" else sys.exc_info()[1])

    @property
    def _root(self) -> Path:
        return self._save_dir / self._name

    def _is_silent(self) -> bool:
        return not self._every_rank and getattr(rank_zero_only, "rank", 0) != 0


class MindInsightCallback(Callback):
    """Callback that records learning rates, and optionally histograms, with every ``MindInsightLogger``.

    Args:
        weights_every: training steps between two histograms of each parameter. 0: none.
        gradients_every: the same for gradients, before the optimizer's step.
    """

    def __init__(self, weights_every: int = 0, gradients_every: int = 0) -> None:
        super().__init__()
        self._weights_every, self._gradients_every = weights_every, gradients_every
        self._loss: Any = None  # of the last batch

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Record network, epochs, first optimizer with its learning rate, and loss function."""
        optimizers = trainer.optimizers
        for training in _trainings(trainer):
            training.configure(
                {},
                network=type(pl_module).__name__,
                epoch=trainer.max_epochs if (trainer.max_epochs or -1) > 0 else None,
                optimizer=type(optimizers[0]).__name__ if optimizers else None,
                learning_rate=optimizers[0].param_groups[0].get("lr") if optimizers else None,
                loss_function=_loss_function(pl_module),
            )

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Record sizes of batch and dataset, which are known by now, and the run that is resumed."""
        for training in _trainings(trainer):
            training.learn(**loader_facts(trainer.train_dataloader))
            if trainer.ckpt_path and trainer.global_step:
                training.resumed(trainer.ckpt_path, trainer.global_step - 1)  # steps count from 0

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Record learning rates when the trainer logs, and histograms of weights every ``weights_every``
        steps, never with 0."""
        step = trainer.global_step
        self._loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        if step % trainer.log_every_n_steps == 0:
            rates = _learning_rates(trainer.optimizers)
            for training in _trainings(trainer):
                training.numbers(rates, step, "learning_rate/")
        if self._weights_every and step % self._weights_every == 0:
            for training in _trainings(trainer):
                training.distributions(pl_module.named_parameters(), step)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of a validation as lineage, but not of the trainer's sanity check."""
        self._evaluated(trainer)

    def on_test_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the metrics of a test as lineage."""
        self._evaluated(trainer)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Record the loss of the last batch."""
        for training in _trainings(trainer) if self._loss is not None else ():
            training.configure({}, loss=float(self._loss))

    def _evaluated(self, trainer: Any) -> None:
        if not trainer.sanity_checking:
            for training in _trainings(trainer):
                training.results(trainer.callback_metrics)

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Record histograms of gradients every ``gradients_every`` steps, never with 0."""
        step = trainer.global_step
        if self._gradients_every and step % self._gradients_every == 0:
            gradients = [(name, parameter.grad) for name, parameter in pl_module.named_parameters()]
            for training in _trainings(trainer):
                training.distributions(gradients, step, "/gradient")


class FlightRecorderCallback(Callback):
    """Callback that puts a ``FlightRecorder`` around forward and backward of every batch.

    It needs automatic optimization. Gradients are checked before they are clipped. Accumulated gradients are
    checked after the last batch, and a replay runs only that batch.

    Args:
        directory: directory of the run. By default that of the first ``MindInsightLogger``, which then
            records the alerts, else the trainer's root directory.
        options: options of ``FlightRecorder``: ``on_trigger``, ``dumps``, ``budget``, ``check_every``, ...
    """

    def __init__(self, directory: str | Path | None = None, **options: Any) -> None:
        super().__init__()
        self._directory, self._options = directory, options
        self._recorder: FlightRecorder | None = None
        self._batch: tuple[Any, int] | None = None
        self._loss: Any = None

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        """Open the recorder. Raises MisconfigurationException for manual optimization."""
        if not pl_module.automatic_optimization:
            raise _Misconfiguration("FlightRecorderCallback needs automatic optimization")
        trainings = _trainings(trainer)
        record = trainings[0].writer.record if trainings and self._directory is None else None
        loggers = [logger.log_dir for logger in trainer.loggers if isinstance(logger, MindInsightLogger)]
        directory = self._directory or (loggers[0] if loggers else trainer.default_root_dir)
        replicated = trainer.world_size > 1 and "DDP" in type(trainer.strategy).__name__
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        options = {"same_gradients": replicated, "scaler": scaler, **self._options}
        self._recorder = FlightRecorder(pl_module, directory, record=record, **options)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Begin a step of the recorder."""
        self._batch, self._loss = (batch, batch_idx), None
        if self._recorder is not None:
            self._recorder.begin(trainer.global_step)  # as loggers count

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """Store the loss."""
        self._loss = loss.detach()

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Check loss and gradients of the step for faults, before the optimizer changes a weight. Repeat and
        dump a broken step. Raises TrainingFaultError with ``on_trigger="raise"``."""
        if self._recorder is not None and self._batch is not None:
            batch, number = self._batch
            self._recorder.end(self._loss, lambda: _replayed(trainer, pl_module, batch, number))

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Close the recorder."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None


def _replayed(trainer: Any, module: Any, batch: Any, number: int) -> Any:
    """Run forward and backward of a batch again as the trainer does, and return the loss."""
    with trainer.precision_plugin.train_step_context():
        output = module.training_step(batch, number)
        loss = output["loss"] if isinstance(output, Mapping) else output
    loss.backward()
    return loss.detach()


def _trainings(trainer: Any) -> list[Training]:
    loggers = [logger for logger in trainer.loggers if isinstance(logger, MindInsightLogger)]
    return [logger.training for logger in loggers if not logger._is_silent()]


def _loss_function(module: Any) -> str | None:
    """Return the class of the only loss of ``torch.nn`` in a module, or None."""
    modules = sys.modules["torch"].nn.modules
    names = {type(part).__name__ for part in module.modules() if isinstance(part, modules.loss._Loss)}
    return names.pop() if len(names) == 1 else None


def _learning_rates(optimizers: list[Any]) -> dict[str, float]:
    """Return the rates by the optimizer's class, its number and the number of the parameter group."""
    return {
        f"{type(optimizer).__name__}_{number}/group_{index}": group["lr"]
        for number, optimizer in enumerate(optimizers)
        for index, group in enumerate(optimizer.param_groups)
    }
