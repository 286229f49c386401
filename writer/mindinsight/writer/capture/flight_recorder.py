"""Flight recorder: watches a PyTorch training at almost no cost, and dumps the step in which it breaks."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from mindinsight.writer.capture.dump_recorder import DumpRecorder, models_of
from mindinsight.writer.capture.jump_detector import JumpDetector
from mindinsight.writer.files.directories import private_folder
from mindinsight.writer.ranks import directory_of, rank_of
from mindinsight.writer.record import SummaryRecord

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
OnTrigger: TypeAlias = Literal["continue", "skip", "raise"]

FOLDER: Final = "flight_dump"  # below the directory of the run
_GROWN: Final = 10.0  # times the last healthy norm from which a weight is named
_log: Final = logging.getLogger(__name__)


class TrainingFaultError(RuntimeError):
    """The training broke, and the recorder was told to raise; the message says how and where the dump is."""


class FlightRecorder:
    """Recorder that costs almost nothing until a training step breaks, and then leaves the whole evidence::

        recorder = FlightRecorder(model, "./summary/run1", optimizer=optimizer)
        for batch in loader:
            loss = recorder.step(lambda: train_step(batch))    # forward and backward
            optimizer.step()                                   # stays outside
        recorder.close()

    After each step the loss it returned and the norm of all gradients are checked for NaN, infinity and a
    jump by ``jump`` times against their running mean; every ``check_every`` steps also the outputs of all
    modules, and the norms of weights and outputs are remembered as the last healthy ones. When something is
    wrong, before the optimizer changes a weight, random generators and buffers are set back, the step runs
    again under the dump recorder, and an alert in the run says what happened and where the dump is, or that
    the step did not break again. Generators, buffers and gradients are then as the first run left them.

    ``on_trigger``: "continue"; "skip" clears the gradients, so that the optimizer changes nothing; "raise"
    raises TrainingFaultError. At most ``dumps`` steps are dumped, each of at most ``budget`` bytes of
    tensors. In a distributed training all ranks dump as soon as one of them sees a fault, so all must call
    ``step`` alike.
    """

    def __init__(
        self,
        model: torch.nn.Module | Mapping[str, torch.nn.Module],
        directory: str | Path,
        optimizer: torch.optim.Optimizer | None = None,
        *,
        on_trigger: OnTrigger = "continue",
        dumps: int = 3,
        budget: int = 1 << 30,
        check_every: int = 100,
        jump: float = 100.0,
        warmup: int = 20,
        record: SummaryRecord | None = None,
    ) -> None:
        if on_trigger not in ("continue", "skip", "raise"):
            raise ValueError(f"on_trigger is 'continue', 'skip' or 'raise', got {on_trigger!r}")
        from mindinsight.writer.capture import torch_training

        self._torch = torch_training
        self._models = models_of(model)
        self._tensors = torch_training.collect(self._models)
        self._directory = Path(directory).absolute()
        self._record = record or SummaryRecord(str(directory))
        self._owns_record = record is None
        self._on_trigger = on_trigger
        self._dumps = dumps
        self._budget = budget
        self._check_every = max(check_every, 1)
        self._detectors = [
            JumpDetector("loss", jump, warmup),
            JumpDetector("norm of the gradients", jump, warmup),
        ]
        self._healthy: dict[str, dict[str, float]] = {}
        self._healthy_step = -1
        self._number = 0
        self._running = False
        self._hook = optimizer.register_step_pre_hook(self._refuse_inside) if optimizer is not None else None

    def __enter__(self) -> FlightRecorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def step(self, run: Callable[[], T]) -> T:
        """Run one training step, forward and backward, and return what it returns.

        ``run`` is called a second time when the step broke, so it must not consume its data: take the batch
        from the loader outside. Raises what ``run`` raises, and TrainingFaultError where that was chosen.
        """
        checks = self._number % self._check_every == 0
        if checks:  # layers may have been added since
            self._tensors = self._torch.collect(self._models)
        before = self._torch.save_state(self._tensors)
        outputs: dict[str, float] = {}
        end = self._torch.watch_outputs(self._models, outputs.__setitem__) if checks else None
        self._running = True
        try:
            result = run()
        finally:
            self._running = False
            if end is not None:
                end()
        reason = self._examine(result, outputs)
        if self._torch.any_rank(bool(reason), self._torch.device_of(self._tensors)):
            self._trigger(run, before, reason or "another rank reported a fault")
        elif checks:
            self._healthy = {"outputs": outputs, "weights": self._torch.weight_norms(self._tensors)}
            self._healthy_step = self._number
        self._number += 1
        return result

    def close(self) -> None:
        """Remove the hook from the optimizer and close the record, unless it was given."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._owns_record:
            self._record.close()

    def _examine(self, result: Any, outputs: Mapping[str, float]) -> str:
        """What is wrong with this step; "" where nothing is."""
        numbers = self._torch.loss_of(result), self._torch.gradient_norm(self._tensors)
        pairs = zip(self._detectors, numbers, strict=True)
        reasons = [detector.check(number) for detector, number in pairs if number is not None]
        broken = [name or "the network" for name, norm in outputs.items() if not norm < float("inf")]
        if broken:
            reasons.append(f"the output of {broken[0]} is not finite")
        return next(filter(None, reasons), "")

    def _trigger(self, run: Callable[[], Any], before: Any, reason: str) -> None:
        """Record the step again, tell about it, and do what ``on_trigger`` says."""
        parts = [f"Step {self._number}: {reason}."]
        if self._dumps > 0:
            self._dumps -= 1
            parts.append(self._dump(run, before))
        else:
            parts.append("No dump was written: their number is used up.")
        parts += self._grown_weights()
        text = " ".join(parts)
        self._record.alert(f"Training fault: {reason}"[:200], text, "error", self._number, wait_seconds=0)
        if self._on_trigger == "skip":
            self._torch.take_gradients(self._tensors)
        if self._on_trigger == "raise":
            self._number += 1
            raise TrainingFaultError(text)

    def _dump(self, run: Callable[[], Any], before: Any) -> str:
        """Run the step again under the dump recorder; a sentence about the outcome."""
        after = self._torch.save_state(self._tensors)
        gradients = self._torch.take_gradients(self._tensors)
        path = directory_of(self._directory, None) / FOLDER
        try:
            self._torch.restore_state(self._tensors, before)
            again = self._replay(run, path)
        except Exception as error:  # the training itself is fine: only our second run failed
            _log.exception("the step could not be recorded again")
            return f"The step could not be recorded again: {type(error).__name__}: {error}."
        finally:
            self._torch.restore_state(self._tensors, after)
            self._torch.give_gradients(self._tensors, gradients)
        self._write_health(path)
        where = (
            f"Its dump is {path}, step {self._number}: mindinsight dump check {path} --step {self._number}."
        )
        return where if again else f"The step did not break when it ran again. {where}"

    def _replay(self, run: Callable[[], Any], path: Path) -> bool:
        """Whether the step, recorded this time, was not finite again or jumped again."""
        settings = {"net_name": "Net", "saved_data": "full", "initial_iteration": self._number}
        with DumpRecorder(self._models, settings, path, limit=self._budget) as recorder:
            self._running = True
            try:
                result = run()
            finally:
                self._running = False
            broken = bool(self._examine(result, {}))
            recorder.step()
        return broken

    def _grown_weights(self) -> list[str]:
        """A sentence about the weight that grew most since the last healthy check, if it grew much."""
        then = self._healthy.get("weights", {})
        now = self._torch.weight_norms(self._tensors)
        ratios = [(norm / then[name], name) for name, norm in now.items() if then.get(name)]
        if not ratios or max(ratios)[0] < _GROWN:
            return []
        ratio, name = max(ratios)
        since = f"{then[name]:.3g} at step {self._healthy_step}"
        return [f"The weight {name} has norm {now[name]:.3g}, {ratio:.3g} times as much as {since}."]

    def _write_health(self, path: Path) -> None:
        folder = private_folder(path / f"rank_{rank_of().number}")
        content = {"step": self._number, "healthy_step": self._healthy_step, **self._healthy}
        (folder / f"health_{self._number}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")

    def _refuse_inside(self, *_: Any) -> None:
        if self._running:
            raise RuntimeError(
                "optimizer.step() was called inside FlightRecorder.step(): call it after, so that a fault"
                " is found before the weights change"
            )
