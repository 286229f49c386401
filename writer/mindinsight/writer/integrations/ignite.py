"""Logger for PyTorch Ignite."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ignite.handlers.base_logger import (
    BaseLogger,
    BaseOptimizerParamsHandler,
    BaseOutputHandler,
    BaseWeightsHandler,
)

from mindinsight.writer.integrations.training import ALSO, Training, loader_facts
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.summary_writer import SummaryWriter


class MindInsightLogger(BaseLogger):
    """Logger of engines: ``attach_output_handler``, ``attach_opt_params_handler``, and ``attach``.

    Args:
        log_dir: directory of the run.
        every_rank: record the metrics of every process, each in its ``rank_N``. By default only rank 0.
        also: what to record in addition, any of ``code``, ``system`` and ``console``. (): none.
    """

    def __init__(
        self, log_dir: str | Path = "runs/ignite", every_rank: bool = False, also: Collection[str] = ALSO
    ) -> None:
        records = every_rank or rank_of().number == 0
        self.training = Training(log_dir, also) if records else None

    @property
    def writer(self) -> SummaryWriter | None:
        """Return the writer of the run, for images and the like, or None if this process records nothing."""
        return None if self.training is None else self.training.writer

    def configure(self, configuration: Any, **facts: Any) -> None:
        """Record settings as lineage. Do nothing in a process that records nothing."""
        if self.training is not None:
            self.training.configure(configuration, **facts)

    def evaluation(self, metrics: Any) -> None:
        """Record the metrics of an evaluation as lineage. Do nothing in a process that records nothing."""
        if self.training is not None:
            self.training.evaluation(metrics)

    def checkpoint(self, path: str | Path) -> None:
        """Record the newest checkpoint as lineage. Do nothing in a process that records nothing."""
        if self.training is not None:
            self.training.checkpoint(path)

    def close(self) -> None:
        """Close the files."""
        if self.training is not None:
            self.training.close()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self.training is not None:
            self.training.close(error)

    def _create_output_handler(self, *arguments: Any, **options: Any) -> Outputs:
        return Outputs(*arguments, **options)

    def _create_opt_params_handler(self, *arguments: Any, **options: Any) -> OptimizerParameters:
        return OptimizerParameters(*arguments, **options)


class Outputs(BaseOutputHandler):
    """Recorder of an engine's outputs and metrics: ``<tag>/<name>``."""

    def __call__(self, engine: Any, logger: MindInsightLogger, event_name: Any) -> None:
        if logger.training is not None:
            values = self._setup_output_metrics_state_attrs(engine, key_tuple=False)
            step = self.global_step_transform(engine, event_name)
            logger.training.numbers(values, int(step))
            if self.metric_names is None:
                state = engine.state
                logger.training.learn(epoch=state.max_epochs, **loader_facts(state.dataloader))
            else:
                logger.training.results(values)


class OptimizerParameters(BaseOptimizerParamsHandler):
    """Recorder of a parameter of every group of an optimizer, by default the learning rate."""

    def __call__(self, engine: Any, logger: MindInsightLogger, event_name: Any) -> None:
        if logger.training is not None:
            step = engine.state.get_event_attrib_value(event_name)
            groups = enumerate(self.optimizer.param_groups)
            rates = {f"{self.param_name}/group_{index}": group[self.param_name] for index, group in groups}
            logger.training.numbers(rates, step, f"{self.tag}/" if self.tag else "")
            rate = self.optimizer.param_groups[0].get("lr")
            logger.training.learn(optimizer=type(self.optimizer).__name__, learning_rate=rate)


class Weights(BaseWeightsHandler):
    """Recorder of histograms of a model's parameters."""

    def __call__(self, engine: Any, logger: MindInsightLogger, event_name: Any) -> None:
        if logger.training is not None:
            step = engine.state.get_event_attrib_value(event_name)
            prefix = f"{self.tag}/" if self.tag else ""
            named = [(f"{prefix}{name}", parameter) for name, parameter in self.weights]
            logger.training.learn(network=type(self.model).__name__)
            logger.training.distributions(named, step)


class Gradients(BaseWeightsHandler):
    """Recorder of histograms of the gradients of a model's parameters."""

    def __call__(self, engine: Any, logger: MindInsightLogger, event_name: Any) -> None:
        if logger.training is not None:
            step = engine.state.get_event_attrib_value(event_name)
            prefix = f"{self.tag}/" if self.tag else ""
            named = [(f"{prefix}{name}", parameter.grad) for name, parameter in self.weights]
            logger.training.distributions(named, step, "/gradient")
