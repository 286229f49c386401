"""Callback for the ``Trainer`` of Hugging Face Transformers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Final

from transformers import TrainerCallback

from mindinsight.writer.integrations.training import ALSO, Training, loader_facts
from mindinsight.writer.recorders.flight_recorder import FlightRecorder

_PREFIXES: Final = {"eval_": "eval/", "test_": "test/"}
_SPEEDS: Final = ("epoch", "runtime", "_per_second")  # ends of names in an evaluation that are no results


class MindInsightCallback(TrainerCallback):
    """Callback of a ``Trainer`` that records its logs, arguments, the model's configuration and checkpoints.

    Args:
        log_dir: directory of the run, by default ``<output_dir>/mindinsight``.
        weights_every: optimizer steps between two histograms of each parameter. 0: none.
        gradients_every: the same for gradients, before the optimizer's step.
        every_rank: record the logs of every process, each in its ``rank_N``.
        also: what to record in addition, any of ``code``, ``system`` and ``console``. (): none.
    """

    def __init__(
        self,
        log_dir: str | Path | None = None,
        weights_every: int = 0,
        gradients_every: int = 0,
        every_rank: bool = False,
        also: Collection[str] = ALSO,
    ) -> None:
        self._log_dir = log_dir
        self._also = also
        self._weights_every, self._gradients_every = weights_every, gradients_every
        self._every_rank = every_rank
        self.training: Training | None = None
        self._loss: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Open the run and record its configuration. Do nothing in a process that records nothing."""
        training = self._open(args, state)
        if training is None:
            return
        model, optimizer = given.get("model"), given.get("optimizer")
        optimizer = getattr(optimizer, "optimizer", optimizer)  # inside Accelerate's
        named = str(getattr(args.optim, "value", args.optim))
        training.configure(
            {"arguments": _chosen(args), "model": _configuration(model)},
            network=None if model is None else type(model).__name__,
            learning_rate=args.learning_rate,
            batch_size=args.train_batch_size,
            optimizer=named if optimizer is None else type(optimizer).__name__,
            epoch=int(state.num_train_epochs) if state.num_train_epochs else None,
            train_dataset_size=loader_facts(given.get("train_dataloader")).get("train_dataset_size"),
        )

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Record the trainer's logs: ``train/loss``, ``train/learning_rate``, ``eval/loss``, …"""
        training, logs = self._open(args, state), given.get("logs")
        if training is not None and logs:
            training.numbers(dict(map(_renamed, logs.items())), state.global_step)
            self._loss = logs.get("loss", self._loss)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Record histograms of gradients every ``gradients_every`` steps, never with 0."""
        step = state.global_step + 1
        if self._gradients_every and step % self._gradients_every == 0:
            training = self._open(args, state)
            gradients = ((name, parameter.grad) for name, parameter in given["model"].named_parameters())
            if training is not None:
                training.distributions(gradients, step, "/gradient")

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Record histograms of weights every ``weights_every`` steps, never with 0."""
        if self._weights_every and state.global_step % self._weights_every == 0:
            training = self._open(args, state)
            if training is not None:
                training.distributions(given["model"].named_parameters(), state.global_step)

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Record the metrics of an evaluation as lineage."""
        training, metrics = self._open(args, state), given.get("metrics")
        if training is not None and metrics:
            results = {
                name.removeprefix("eval_"): metrics[name] for name in metrics if not name.endswith(_SPEEDS)
            }
            training.evaluation(results)

    def on_save(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Record the path of the checkpoint."""
        training, path = self._open(args, state), Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if training is not None and path.exists():
            training.checkpoint(path)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Close the files. A later evaluation opens new ones."""
        if self.training is not None:
            self.training.close(loss=self._loss)

    def _open(self, args: Any, state: Any) -> Training | None:
        """Return the recorder of this process, opened by the first event, or None if it records nothing."""
        if not (self._every_rank or state.is_world_process_zero):
            return None
        if self.training is None:
            directory = Path(self._log_dir or Path(args.output_dir) / "mindinsight")
            trial = state.trial_name if state.is_hyper_param_search else None
            self.training = Training(directory / trial if trial else directory, self._also)
        return self.training


class FlightRecorderCallback(TrainerCallback):
    """Callback that puts a ``FlightRecorder`` around forward and backward of every batch of a ``Trainer``.

    The model receives the trainer's inputs, and its output contains the loss. The trainer clips gradients
    before this callback measures them: jumps show in the loss, NaN and infinity in both.

    Args:
        log_dir: directory of the run, by default ``<output_dir>/mindinsight``.
        options: options of ``FlightRecorder``: ``on_trigger``, ``dumps``, ``budget``, ``check_every``, ...
    """

    def __init__(self, log_dir: str | Path | None = None, **options: Any) -> None:
        self._log_dir, self._options = log_dir, options
        self._recorder: FlightRecorder | None = None
        self._inputs: tuple[Any, Any] | None = None
        self._loss: Any = None
        self._hooks: list[Any] = []

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Open the recorder of the model."""
        model = given["model"]
        directory = self._log_dir or Path(args.output_dir) / "mindinsight"
        scaler = getattr(given.get("optimizer"), "scaler", None)  # of Accelerate, in mixed precision
        self._recorder = FlightRecorder(model, directory, **{"scaler": scaler, **self._options})
        self._hooks = [
            model.register_forward_pre_hook(self._enter, with_kwargs=True),
            model.register_forward_hook(self._leave),
        ]

    def on_step_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Tell the recorder that a training step begins."""
        self._begin(state)

    def on_substep_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Check loss and gradients of an accumulated batch for faults, and begin with the next batch. Repeat
        and dump a broken step. Raises TrainingFaultError with ``on_trigger="raise"``."""
        self._end(given["model"])
        self._begin(state)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Check loss and gradients of the step for faults, before the optimizer changes a weight. Repeat and
        dump a broken step. Raises TrainingFaultError with ``on_trigger="raise"``."""
        self._end(given["model"])

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Close the recorder."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def _begin(self, state: Any) -> None:
        self._inputs = self._loss = None
        if self._recorder is not None:
            self._recorder.begin(state.global_step + 1)  # as logs count

    def _end(self, model: Any) -> None:
        inputs = self._inputs
        if self._recorder is None or inputs is None:
            return
        arguments, named = inputs

        def run() -> Any:
            loss = _loss_in(model(*arguments, **named))
            loss.backward()
            return loss.detach()

        self._recorder.end(self._loss, run)

    def _enter(self, model: Any, arguments: Any, named: Any) -> None:
        if model.training:
            self._inputs = arguments, named

    def _leave(self, model: Any, arguments: Any, output: Any) -> None:
        loss = _loss_in(output)
        if model.training and loss is not None:
            self._loss = loss.detach()


def _loss_in(output: Any) -> Any:
    """Return the loss of a model's output: by its name, else the first of a tuple, or None."""
    if isinstance(output, Mapping):
        return output.get("loss")
    return output[0] if isinstance(output, tuple) else getattr(output, "loss", None)


def _renamed(entry: tuple[str, Any]) -> tuple[str, Any]:
    """Return a log entry (name, value) with ``eval_loss`` renamed to ``eval/loss``. Names without a known
    prefix belong to training."""
    name, value = entry
    for prefix, folder in _PREFIXES.items():
        if name.startswith(prefix):
            return folder + name[len(prefix) :], value
    return f"train/{name}", value


def _chosen(arguments: Any) -> dict[str, Any]:
    """Return the arguments that differ from their defaults, because there are more than a hundred."""
    written = arguments.to_dict()
    defaults = {field.name: field.default for field in fields(arguments) if field.default is not MISSING}
    return {
        name: value
        for name, value in written.items()
        if name in defaults and getattr(arguments, name, None) != defaults[name]
    }


def _configuration(model: Any) -> dict[str, Any]:
    """Return the class and sizes in a model's configuration."""
    configuration: Any = getattr(model, "config", None)
    settings: dict[str, Any] = configuration.to_diff_dict() if hasattr(configuration, "to_diff_dict") else {}
    return settings
