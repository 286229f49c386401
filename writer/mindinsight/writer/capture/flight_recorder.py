"""Flight recorder: watches a PyTorch training at almost no cost, and dumps the step in which it breaks."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from mindinsight.writer.alerts import Level
from mindinsight.writer.capture.backends import models_of
from mindinsight.writer.capture.dump_recorder import DumpRecorder
from mindinsight.writer.capture.guarded_calls import GuardedCalls
from mindinsight.writer.capture.health import HealthRecord
from mindinsight.writer.capture.jump_detector import JumpDetector
from mindinsight.writer.capture.loss_scale import LossScale
from mindinsight.writer.capture.rank_signs import FINE, OWN, SHARED, SILENT, Examined, combined
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.record import SummaryRecord

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
OnTrigger: TypeAlias = Literal["continue", "skip", "raise"]

FOLDER: Final = "flight_dump"  # below the directory of the run
_MARK: Final = "_mindinsight_flight_recorder"  # in a network's __dict__: the token of its recorder
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
    modules, and the norms of weights and outputs are remembered as the last healthy ones. A module whose
    output has become zeros only, as that of a dead ReLU, is a warning and no fault. When something is
    wrong, before the optimizer changes a weight, random generators and buffers are set back, the step runs
    again under the dump recorder, and an alert in the run says what happened and where the dump is, or that
    the step did not break again. Generators, buffers and gradients are then as the first run left them.

    ``on_trigger``: "continue"; "skip" clears the gradients, so that the optimizer changes nothing; "raise"
    raises TrainingFaultError. At most ``dumps`` steps are dumped, each of at most ``budget`` bytes of
    tensors; at most 256 MB of them wait for the disk. Between faults the recorder holds copies of the
    buffers and three numbers for each parameter and module.

    In a distributed training all ranks dump as soon as one of them sees a fault, so all must call ``step``
    alike. Where a network is a ``DistributedDataParallel``, or with ``same_gradients``, gradients whose norm
    is not the same on all ranks are a fault, too: one rank was reduced in another way.

    With the ``scaler`` of a training in mixed precision, gradients that are not finite are a fault only once
    its scale has fallen to one: until then it looks for the scale, skips such a step and goes on.

    Frameworks that run forward and backward themselves call ``begin`` before and ``end`` after them. A
    second recorder of a network takes over; the first one does nothing from then on.
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
        same_gradients: bool | None = None,
        scaler: torch.amp.GradScaler | None = None,
        record: SummaryRecord | None = None,
    ) -> None:
        if on_trigger not in ("continue", "skip", "raise"):
            raise ValueError(f"on_trigger is 'continue', 'skip' or 'raise', got {on_trigger!r}")
        from mindinsight.writer.capture.pytorch import training

        self._torch = training
        self._models = models_of(model)
        self._tensors = training.collect(self._models)
        self._directory = Path(directory).absolute()
        self._record = record or SummaryRecord(str(directory))
        self._owns_record = record is None
        self._on_trigger = on_trigger
        self._dumps = dumps
        self._budget = budget
        self._check_every = max(check_every, 1)
        self._losses = JumpDetector("loss", jump, warmup)
        self._norms = JumpDetector("norm of the gradients", jump, warmup)
        self._loss_scale = LossScale(scaler)
        self._health = HealthRecord()
        self._guarded = GuardedCalls("FlightRecorder")
        self._number = 0
        self._running = False
        replicated = training.is_replicated(self._models)
        self._same_gradients = replicated if same_gradients is None else same_gradients
        self._before: Any = None
        self._outputs: dict[str, float] = {}
        self._end_watch: Callable[[], None] | None = None
        self._token = secrets.token_hex(8)
        for network in self._models.values():
            vars(network)[_MARK] = self._token  # text, so that networks can be pickled as before
        self._retired = False
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
        self.begin()
        try:
            result = run()
        except BaseException:
            self.cancel()
            raise
        self.end(result, run)
        return result

    def begin(self) -> None:
        """Begin a step: remember generators and buffers, and watch the modules where it is time to."""
        self.cancel()  # a step that was begun and never ended
        if self._is_retired():
            return
        self._outputs = {}
        if self._number % self._check_every == 0:  # layers may have been added since
            self._tensors = self._torch.collect(self._models)
            self._end_watch = self._torch.watch_outputs(self._models, self._outputs.__setitem__)
        self._before = self._torch.save_state(self._tensors)
        self._running = True

    def end(self, result: Any, run: Callable[[], Any]) -> bool:
        """End a step that gave ``result``; whether it broke. ``run`` runs it again, where it did.

        Raises TrainingFaultError where that was chosen.
        """
        if self._before is None:
            return False
        checks, before = self._end_watch is not None, self._before
        self.cancel()
        loss, norm = self._measure(result)
        examined = self._examine(loss, norm, self._outputs)
        if self._torch.is_distributed():
            signs = self._torch.gather_signs(examined.cause, norm, self._torch.device_of(self._tensors))
            examined = combined(signs, examined, rank_of().number, self._same_gradients)
        if examined.cause == SILENT:
            self._report(run, before, examined, norm)
        elif examined.cause != FINE:
            self._trigger(run, before, examined, norm)
        if checks and examined.cause <= SILENT:
            self._health.update(self._number, self._outputs, self._weight_norms())
        self._number += 1
        return examined.cause > SILENT

    def cancel(self) -> None:
        """Forget a step that has begun, as one that raised."""
        self._running = False
        self._before = None
        if self._end_watch is not None:
            self._end_watch()
            self._end_watch = None

    def close(self) -> None:
        """Remove the hook from the optimizer and close the record, unless it was given."""
        self.cancel()
        for network in self._models.values():
            if vars(network).get(_MARK) == self._token:
                del vars(network)[_MARK]
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._owns_record:
            self._record.close()

    def _is_retired(self) -> bool:
        """Whether another recorder has been made for the network since, or this one is closed."""
        marks = {vars(network).get(_MARK) for network in self._models.values()}
        if not self._retired and marks != {self._token}:
            self._retired = True
            _log.warning("this FlightRecorder does nothing any more: it is closed, or another one took over")
        return self._retired

    def _measure(self, result: Any) -> tuple[float | None, float | None]:
        """Loss and norm of the gradients after a step; None for what is not there or cannot be measured."""
        norm = self._guarded(self._torch.gradient_norm, self._tensors)
        return self._guarded(self._torch.loss_of, result), norm

    def _weight_norms(self) -> dict[str, float]:
        return self._guarded(self._torch.weight_norms, self._tensors) or {}

    def _examine(self, loss: float | None, norm: float | None, outputs: Mapping[str, float]) -> Examined:
        """What is wrong with this step, and how near to its cause that is."""
        broken = [name or "the network" for name, size in outputs.items() if not size < float("inf")]
        if loss is not None and (reason := self._losses.check(loss)):
            return Examined(reason, OWN)
        if broken:
            return Examined(f"the output of {broken[0]} is not finite", OWN)
        if norm is not None and not self._loss_scale.mends(norm) and (reason := self._norms.check(norm)):
            return Examined(reason + self._loss_scale.remark(norm), SHARED)
        silenced = self._health.silenced(outputs)
        return Examined(silenced, SILENT if silenced else FINE)

    def _trigger(self, run: Callable[[], Any], before: Any, examined: Examined, norm: float | None) -> None:
        """Record the step again, tell about it, and do what ``on_trigger`` says."""
        text, path = self._report(run, before, examined, norm)
        if self._on_trigger == "skip":
            self._torch.take_gradients(self._tensors)
        if self._on_trigger == "raise":
            self._number += 1
            command = f"mindinsight dump check {path} --step {self._number - 1}"
            raise TrainingFaultError(f"{text} {command}" if path else text)

    def _report(
        self, run: Callable[[], Any], before: Any, examined: Examined, norm: float | None
    ) -> tuple[str, Path | None]:
        """Record the step again and raise the alert; its text, and the dump if one was written."""
        parts, path = [f"Step {self._number}: {examined.reason}."], None
        if self._dumps > 0:
            self._dumps -= 1
            path = self._directory / FOLDER  # one for all ranks
            parts.append(self._dump(run, before, path, norm))
        else:
            parts.append("No dump was written: their number is used up.")
        if examined.cause == SHARED and norm is not None:
            parts.append(self._loss_scale.advice(norm))
        parts.append(self._health.grown(self._weight_norms()))
        text = " ".join(filter(None, parts))
        level: Level = "warning" if examined.cause == SILENT else "error"
        title = f"Training {'warning' if level == 'warning' else 'fault'}: {examined.reason}"[:200]
        self._record.alert(title, text, level, self._number, wait_seconds=0, dump=path)
        return text, path

    def _dump(self, run: Callable[[], Any], before: Any, path: Path, norm: float | None) -> str:
        """Run the step again under the dump recorder; a sentence about the outcome."""
        after = self._torch.save_state(self._tensors)
        gradients = self._torch.take_gradients(self._tensors)
        try:
            self._torch.restore_state(self._tensors, before)
            again, problem = self._replay(run, path, norm)
            rank = path / f"rank_{rank_of().number}"
            self._health.write(rank, self._number, self._weight_norms())
        except Exception as error:  # the training itself is fine: only our second run failed
            _log.exception("the step could not be recorded again")
            return f"The step could not be recorded again: {type(error).__name__}: {error}."
        finally:
            self._torch.restore_state(self._tensors, after)
            self._torch.give_gradients(self._tensors, gradients)
        where = f"Its dump is {FOLDER}, step {self._number}."
        if problem:
            where = f"Its dump {FOLDER}, step {self._number}, is incomplete: {problem}."
        return where if again else f"The step did not break when it ran again. {where}"

    def _replay(self, run: Callable[[], Any], path: Path, first: float | None) -> tuple[bool, str]:
        """Whether the step, recorded this time, broke again; and what is wrong with the dump.

        A step that another rank reported is the same again if the norm of its gradients is the ``first``.
        """
        settings = {"net_name": "Net", "saved_data": "full", "initial_iteration": self._number}
        with DumpRecorder(self._models, settings, path, limit=self._budget) as recorder:
            self._running = True
            try:
                result = run()
            finally:
                self._running = False
            recorder.step()
        loss, norm = self._measure(result)
        broken = bool(self._examine(loss, norm, {}).reason) or (norm is not None and norm == first)
        return broken, recorder.problem

    def _refuse_inside(self, *_: Any) -> None:
        if self._running:
            raise RuntimeError(
                "optimizer.step() was called inside FlightRecorder.step(): call it after, so that a fault"
                " is found before the weights change"
            )
