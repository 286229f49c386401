"""Flight recorder: monitor of a PyTorch training that dumps the step of a fault."""

from __future__ import annotations

import json
import logging
import math
import secrets
import time
from collections.abc import Callable, Mapping
from itertools import chain, count
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from mindinsight.writer.alerts import Level
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.recorders import fault_signs
from mindinsight.writer.recorders.capture import models_of
from mindinsight.writer.recorders.dump_recorder import DumpRecorder

if TYPE_CHECKING:
    import torch


T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class GuardedCalls:
    """Caller of functions that logs only the first exception, under the name ``name``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._logged = False

    def __call__(self, function: Callable[..., T], *arguments: Any) -> T | None:
        """Return the result of ``function``, or None if it raises an ``Exception``."""
        try:
            return function(*arguments)
        except Exception:
            if not self._logged:
                self._logged = True
                _log.exception("%s: a measurement failed; the training continues (logged once)", self._name)
            return None


# Shares of the training's time. What every step needs takes the rest of 3 % of a step of 10 ms.
_WATCH_SHARE: Final = 0.005
_EXACT_SHARE: Final = 0.002
_SAMPLE_SHARE: Final = 0.01  # for the sample of the gradients
_FITTED: Final = 3  # step after which the size of the sample is chosen
_FEWEST_SAMPLED: Final = 2  # tensors of a sample, whatever it costs
_WATCH_EVERY: Final = 10  # steps between two that nothing asks for
_EXACT_EVERY: Final = 16  # steps between two in which all elements of all gradients are read
_EXACT_FIRST: Final = 3  # steps at the begin that are exact, too
_SHORT: Final = 0.01  # seconds. Shorter steps are exact as often as those, because theirs cost little
_SUSPECTED: Final = 3  # steps that are watched when weights have lost their gradient


class Schedule:
    """Schedule of a costly measurement: in the first step and in every ``every``-th.

    If ``every`` is None, it is made as often as ``share`` of the training's time allows, at least ``soonest``
    steps apart.
    """

    def __init__(self, every: int | None, share: float, soonest: int) -> None:
        self._every = every if every is None else max(every, 1)
        self._share = share
        self._soonest = soonest
        self._last = -soonest
        self._cost = 0.0  # seconds that measuring one step takes
        self._saved = 0.0  # seconds

    def due(self, step: int, suspected: bool = False) -> bool:
        """Return True if this step is to be measured, sooner if a fault is ``suspected``. With
        ``suspected``, the cost of up to ``_SUSPECTED`` measurements may be spent in advance."""
        if self._every is not None and step % self._every == 0:
            return True
        if suspected:
            return self._saved > -_SUSPECTED * self._cost or not self._cost
        return self._every is None and step - self._last >= self._soonest and self._saved >= 0

    def measured(self, step: int, seconds: float) -> None:
        """Record the time that measuring one step took, in seconds."""
        self._last = step
        self._cost = max(seconds, self._cost) if step else seconds / 2  # the first also warms caches up
        self.spent(seconds if step else 0.0)

    def spent(self, seconds: float) -> None:
        """Record time in seconds that was spent on the scheduled measurement."""
        self._saved -= seconds

    def passed(self, seconds: float) -> None:
        """Record the duration of a training step, in seconds."""
        self._saved = min(self._saved + self._share * seconds, self._cost)


class SampleSize:
    """Number of gradients in the sample that every step measures, chosen from its cost in the first steps.

    A sample of all 64 takes 0.1 to 1 ms. If that is more than 1 % of a step, the sample is made smaller once.
    """

    def __init__(self, device: torch.device | None) -> None:
        # Other processes prolong a step, but not a short measurement. CPU time lacks the work of a device.
        self.clock = time.perf_counter if device and device.type != "cpu" else time.thread_time
        self.seconds = 0.0  # that the sample of this step took
        self._costs: list[float] = []
        self._steps: list[float] = []

    def fewer(self, number: int, seconds: float, count: int) -> int | None:
        """Record the duration of step ``number`` in seconds. Return a smaller sample size once, in the last
        of the first steps, if the sample takes too large a share of a step, else None to keep ``count``.

        ``number`` is the number of the step, from 0. The size is decided once, in the last of the first
        steps. The very first step warms caches up and does not count.
        """
        if not 0 < number <= _FITTED:
            return None
        self._costs.append(self.seconds)
        self._steps.append(max(seconds - self.seconds, 1e-9))
        if number < _FITTED:
            return None
        affordable = count * _SAMPLE_SHARE * min(self._steps) / max(min(self._costs), 1e-9)
        size = max(int(affordable), _FEWEST_SAMPLED)
        return size if size < count else None


OnTrigger: TypeAlias = Literal["continue", "skip", "raise"]

FOLDER: Final = "flight_dump"  # below the directory of the run; of a later training there flight_dump_2
_RANKS_EVERY: Final = 10  # steps between two measurements of all weights in a distributed training
_OUTPUT: Final = "the output of"  # begin of a reason that only watched steps give
_MARK: Final = "_mindinsight_flight_recorder"  # in a network's __dict__: the token of its recorder


class TrainingFaultError(RuntimeError):
    """Error of a broken training step, raised with ``on_trigger="raise"``. The message names the dump."""


class FlightRecorder:
    """Recorder with little cost until a training step breaks, which then dumps that step::

        recorder = FlightRecorder(model, "./summary/run1", optimizer=optimizer)
        for step, batch in enumerate(loader):
            loss = recorder.step(lambda: train_step(batch), step)  # forward and backward
            optimizer.step()                                       # stays outside
        recorder.close()

    After each step the returned loss and the norm of the gradients are checked for NaN, infinity, a jump by
    ``jump`` times their running mean, and steady growth beyond all earlier values. Of large gradients a
    sample is measured, 1024 elements each of 64 tensors, and all elements as often as 0.2 % of the time
    allows, at most every 16 steps. If the sample takes more than 1 % of the first steps, it has fewer
    tensors, except in a distributed training. In some steps the outputs of all modules are checked too, and
    the norms of weights and outputs are kept as the last healthy ones. These steps are as frequent as 0.5 %
    of the time allows, or every ``check_every``, or follow when weights lose their gradient. A layer that
    has died, such as a ReLU with only zeros as output, is a warning and no fault.

    At a fault, before the optimizer changes a weight, random generators and buffers are restored and the step
    runs again under the dump recorder. An alert in the run says what happened and where the dump is, or that
    the step did not break again. Generators, buffers and gradients are then as after the first run. A lasting
    fault is one alert, until twenty steps in a row were healthy.

    ``on_trigger`` is "continue", "skip", which clears the gradients so that the optimizer changes nothing, or
    "raise", which raises TrainingFaultError. At most ``dumps`` steps are dumped, each of at most ``budget``
    bytes of tensors. At most 256 MB of them wait for the disk. Between faults the recorder holds copies of
    the buffers and three numbers for each parameter and module.

    In a distributed training all ranks dump if one of them reports a fault, so all must call ``step`` alike.
    Ranks that began with equal weights and no longer have them are a fault. So are gradients that were equal
    in five steps and differ: one rank was reduced in another way. ``same_gradients`` says that gradients are
    equal from the first step on, or, if False, that they may differ.

    With the ``scaler`` of a training in mixed precision, non-finite gradients are a fault only after its
    scale has fallen to one. Until then the scaler skips such a step.

    Frameworks that run forward and backward themselves call ``begin`` before and ``end`` after them. A second
    recorder of a network replaces the first, which then does nothing.
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
        check_every: int | None = None,
        jump: float = 100.0,
        warmup: int = 5,
        same_gradients: bool | None = None,
        scaler: torch.amp.GradScaler | None = None,
        record: SummaryRecord | None = None,
    ) -> None:
        if on_trigger not in ("continue", "skip", "raise"):
            raise ValueError(f"on_trigger is 'continue', 'skip' or 'raise', got {on_trigger!r}")
        from mindinsight.writer.recorders import torch_training as training

        self._torch = training
        self._models = models_of(model)
        self._tensors = training.collect(self._models, training.SAMPLED_TENSORS)
        self._directory = Path(directory).absolute()
        self._folder = _free_folder(self._directory)
        self._record = record or SummaryRecord(str(directory))
        self._owns_record = record is None
        self._on_trigger = on_trigger
        self._dumps = dumps
        self._budget = budget
        self._watching = Schedule(check_every, _WATCH_SHARE, _WATCH_EVERY)
        self._reading = Schedule(None, _EXACT_SHARE, _EXACT_EVERY)
        self._losses = fault_signs.JumpDetector("loss", jump, warmup)
        self._new_detector: Callable[[], fault_signs.JumpDetector] = lambda: fault_signs.JumpDetector(
            training.norm_name(self._tensors), jump, warmup
        )
        self._norms = self._new_detector()
        self._sampled: int = training.SAMPLED_TENSORS
        self._size = SampleSize(training.device_of(self._tensors))
        self._loss_scale = fault_signs.LossScale(scaler)
        self._health = fault_signs.HealthRecord()
        self._guarded = GuardedCalls("FlightRecorder")
        self._number = self._ahead = 0  # steps that were examined; how far ahead the caller counts
        self._replicas = fault_signs.Replicas(same_gradients)
        self._episode = fault_signs.OngoingFault()
        self._layers = fault_signs.DeadLayers()
        self._silent = fault_signs.SilentGradients()
        self._quiet: frozenset[str] = frozenset()  # modules with all-zero gradients
        self._suspected = 0  # steps to watch because of them
        self._zeros = self._measured = self._reported = 0  # zero gradients; measured steps; reports
        self._exact = True  # all elements are read in this step
        self._host_random = False  # a step has used the generator of Python or NumPy
        self._before: Any = None
        self._begun = 0.0
        self._watch: Any = None
        self._token = secrets.token_hex(8)
        for network in self._models.values():
            vars(network)[_MARK] = self._token  # text, so that networks can be pickled as before
        self._retired = self._running = False
        self._hook = optimizer.register_step_pre_hook(self._refuse_inside) if optimizer is not None else None

    def __enter__(self) -> FlightRecorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step(self, run: Callable[[], T], number: int | None = None) -> T:
        """Run one training step, forward and backward, and return its result. Raises the exception of
        ``run``, and TrainingFaultError with ``on_trigger="raise"``.

        ``number`` is that of the step as the curves count, by default one more than before, 0 at first.
        ``run`` is called a second time if the step broke, so it must not consume its data: take the batch
        from the loader outside.
        """
        self.begin(number)
        try:
            result = run()
        except BaseException:
            self.cancel()
            raise
        self.end(result, run)
        return result

    def begin(self, number: int | None = None) -> None:
        """Begin a step: save generators and buffers, and measure the modules if the schedule says so."""
        self._ahead = self._ahead if number is None else int(number) - self._number
        self.cancel()  # a step that was begun and never ended
        if self._is_retired():
            return
        self._begun = self._size.clock()
        if self._watching.due(self._number, self._suspected > 0 or self._layers.undecided):
            if self._watching.due(self._number):
                self._tensors = self._torch.collect(self._models, self._sampled)  # layers may have been added
            self._watch = self._torch.OutputWatch(self._models, self._quiet)
            self._watch.seconds += self._size.clock() - self._begun
        self._exact = self._number < _EXACT_FIRST or self._reading.due(self._number)
        self._before = self._torch.save_state(self._tensors, self._exact or self._host_random)
        self._running = True

    def end(self, result: Any, run: Callable[[], Any]) -> bool:
        """End a step with its result, and return True if the step broke, False without a begun step. Run the
        first broken step of a fault again by ``run``, dump it and record an alert. Raises TrainingFaultError
        with ``on_trigger="raise"``."""
        if self._before is None:
            return False
        watch, before = self._watch, self._before
        self.cancel()
        loss, norm, zeros = self._measure(result, before)
        self._measured += loss is not None or norm is not None
        watched = self._finish_watch(watch, zeros)
        examined = self._examine(loss, norm, watched)
        if self._torch.is_distributed():
            examined = self._across_ranks(examined, norm)
        if examined.cause == fault_signs.SILENT:
            self._report(run, before, examined, norm)
        elif examined.cause != fault_signs.FINE:
            self._trigger(run, before, examined, norm)
        if examined.cause <= fault_signs.SILENT:
            self._episode.pass_healthy(watched is not None)
        if watch is not None:
            self._end_watched(watch, healthy=examined.cause <= fault_signs.SILENT)
        seconds = self._size.clock() - self._begun
        self._watching.passed(seconds)
        self._reading.passed(max(seconds, _SHORT))
        self._fit_sample(seconds)
        self._number += 1
        return examined.cause > fault_signs.SILENT

    @property
    def _step(self) -> int:
        """Return the number of this step as the caller counts."""
        return self._number + self._ahead

    def _fit_sample(self, seconds: float) -> None:
        """Reduce the sample of gradients if it costs too much, except in distributed training. All ranks
        must measure the same sample."""
        size = self._size.fewer(self._number, seconds, len(self._tensors.sample))
        if size is not None and not self._torch.is_distributed():
            self._sampled = size
            self._tensors = self._torch.collect(self._models, size)
            self._norms = self._new_detector()  # another sample has another norm

    def _across_ranks(self, examined: fault_signs.Examined, norm: float | None) -> fault_signs.Examined:
        """Return the worst anomaly of this step on any rank, or else a divergence between ranks."""
        number = self._number
        measured = number % _RANKS_EVERY == 0 or number & (number - 1) == 0  # soon after the begin, too
        weights = (self._guarded(self._torch.weights_norm, self._tensors) if measured else None) or math.nan
        own = fault_signs.RankSign(examined.cause, math.nan if norm is None else norm, weights)
        signs = self._torch.gather_signs(own, self._torch.device_of(self._tensors))
        examined = fault_signs.combined(signs, examined, rank_of().number)
        differ = self._replicas.check(self._step, signs)
        return (
            fault_signs.Examined(differ, fault_signs.SHARED, ranks_differ=True)
            if differ and examined.cause <= fault_signs.SILENT
            else examined
        )

    def _finish_watch(self, watch: Any, zeros: int) -> fault_signs.Watched | None:
        """Return the measurements of modules in this step, None if not measured, and watch more steps if
        suspicious."""
        suspicious = self._silent.suspicious(zeros)
        if (suspicious and not self._suspected) or (watch is not None and zeros):
            begin = self._size.clock()
            self._quiet = self._guarded(self._torch.quiet_modules, self._tensors) or frozenset()
            self._watching.spent(self._size.clock() - begin)
        if suspicious and not self._suspected:
            self._suspected = _SUSPECTED
        if watch is None:
            return None
        if self._suspected:
            self._suspected -= 1
            if not self._suspected:
                self._silent.settle()
        quiet = self._quiet if self._silent.lasting else frozenset()
        return fault_signs.Watched(watch.outputs, watch.highest, quiet)

    def _end_watched(self, watch: Any, healthy: bool) -> None:
        begin = self._size.clock()
        if healthy and self._watching.due(self._number):
            self._health.update(self._step, watch.outputs, self._weight_norms())
        self._watching.measured(self._number, watch.seconds + self._size.clock() - begin)

    def cancel(self) -> None:
        """Discard a step that has begun, for example because it raised."""
        self._running = False
        self._before = None
        if self._watch is not None:
            self._watch.end()
            self._watch = None

    def close(self) -> None:
        """Remove the hook from the optimizer, write how many steps were watched, and close the record unless
        the caller passed the record."""
        self.cancel()
        if self._measured and self._marks() == {self._token}:
            self._guarded(self._leave_mark)
        for network in self._models.values():
            if vars(network).get(_MARK) == self._token:
                del vars(network)[_MARK]
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
        if self._owns_record:
            self._record.close()

    def _marks(self) -> set[str | None]:
        """Return the tokens of the recorders that the networks have now."""
        return {vars(network).get(_MARK) for network in self._models.values()}

    def _leave_mark(self) -> None:
        """Write the number of steps that were measured, so that silence differs from no recorder."""
        facts = {"version": 1, "steps": self._measured, "reported": self._reported, "written": time.time()}
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._directory / f"flight_recorder_{rank_of().number}.json"
        path.write_text(json.dumps(facts), encoding="utf-8")

    def _is_retired(self) -> bool:
        """Return True if this recorder is closed or another one has been made for the network."""
        if not self._retired and self._marks() != {self._token}:
            self._retired = True
            _log.warning("this FlightRecorder is inactive: it is closed, or another one has replaced it")
        return self._retired

    def _measure(self, result: Any, before: Any = None) -> tuple[float | None, float | None, int]:
        """Return loss, norm of the gradients and number of all-zero gradients. None if not measurable.
        Exact steps also return the norm of the sample, to be comparable with other steps, unless a
        gradient is non-finite."""
        begin = self._size.clock()
        norm, zeros = self._guarded(self._torch.sampled_facts, self._tensors) or (None, 0)
        self._size.seconds = self._size.clock() - begin
        if self._exact:
            begin = self._size.clock()
            exact, self._zeros = self._guarded(self._torch.gradient_facts, self._tensors) or (None, 0)
            if before is not None and not self._host_random:
                self._host_random = self._torch.uses_host_generators(before)
            self._reading.measured(self._number, self._size.clock() - begin)
            norm = exact if exact is not None and not math.isfinite(exact) else norm
            zeros = self._zeros
        return self._guarded(self._torch.loss_of, result), norm, max(zeros, self._zeros)

    def _weight_norms(self) -> dict[str, float]:
        """Return the L2 norm of each weight by name, empty if they cannot be measured."""
        return self._guarded(self._torch.weight_norms, self._tensors) or {}

    def _examine(
        self, loss: float | None, norm: float | None, watched: fault_signs.Watched | None
    ) -> fault_signs.Examined:
        """Return the anomaly of this step and where it was observed."""
        outputs = watched.outputs if watched is not None else {}
        broken = [name or "the network" for name, size in outputs.items() if not size < float("inf")]
        loss_reason = self._losses.check(loss) if loss is not None else ""
        mended = norm is None or self._loss_scale.mends(norm)
        norm_reason = self._norms.check(norm) if norm is not None and not mended else ""
        if loss_reason:
            return fault_signs.Examined(loss_reason, fault_signs.OWN)
        if broken:
            return fault_signs.Examined(f"{_OUTPUT} {broken[0]} is non-finite", fault_signs.OWN)
        if norm is not None and norm_reason:
            return fault_signs.Examined(norm_reason + self._loss_scale.remark(norm), fault_signs.SHARED)
        if watched is None or (loss == 0 and not norm):  # nothing is left to learn
            return fault_signs.Examined("", fault_signs.FINE)
        silenced = self._layers.check(self._step, watched)
        return fault_signs.Examined(silenced, fault_signs.SILENT if silenced else fault_signs.FINE)

    def _trigger(
        self, run: Callable[[], Any], before: Any, examined: fault_signs.Examined, norm: float | None
    ) -> None:
        """React to a broken step as ``on_trigger`` says. The first step of a fault is recorded and reported
        before."""
        text, path = f"Step {self._step}: {examined.reason}.", None
        if self._episode.begins(examined.reason.startswith(_OUTPUT)):
            text, path = self._report(run, before, examined, norm)
        if self._on_trigger == "skip":
            self._torch.take_gradients(self._tensors)
        if self._on_trigger == "raise":
            command = f"mindinsight dump check {path} --step {self._step}"
            self._number += 1
            raise TrainingFaultError(f"{text} {command}" if path else text)

    def _report(
        self, run: Callable[[], Any], before: Any, examined: fault_signs.Examined, norm: float | None
    ) -> tuple[str, Path | None]:
        """Dump the step by running it again, and raise an alert. Return its text, and the path of the dump or
        None."""
        parts, path = [f"Step {self._step}: {examined.reason}."], None
        self._reported += 1
        if self._dumps > 0:
            self._dumps -= 1
            path = self._directory / self._folder  # one for all ranks
            parts.append(self._dump(run, before, path, norm, examined))
        else:
            parts.append("No dump was written: their number is used up.")
        if examined.cause == fault_signs.SHARED and norm is not None:
            parts.append(self._loss_scale.advice(norm))
        parts.append(self._health.grown(self._weight_norms()))
        text = " ".join(filter(None, parts))
        level: Level = "warning" if examined.cause == fault_signs.SILENT else "error"
        title = f"Training {'warning' if level == 'warning' else 'fault'}: {examined.reason}"[:200]
        self._record.alert(title, text, level, self._step, wait_seconds=0, dump=path)
        name, base = quote(self._directory.name), quote(str(self._directory.parent))
        _log.warning("%s\nmindinsight explain %s --summary-base-dir %s", text, name, base)
        return text, path

    def _dump(
        self,
        run: Callable[[], Any],
        before: Any,
        path: Path,
        norm: float | None,
        examined: fault_signs.Examined,
    ) -> str:
        """Run the step again under the dump recorder, and return a sentence about the outcome."""
        after = self._torch.save_state(self._tensors)
        gradients = self._torch.take_gradients(self._tensors)
        try:
            self._torch.restore_state(self._tensors, before)
            watch = self._torch.OutputWatch(self._models, (), recorded=True)
            try:
                again, problem = self._replay(run, path, norm)
            finally:
                watch.end()
            rank = path / f"rank_{rank_of().number}"
            norms = self._weight_norms(), watch.outputs
            self._health.write(rank, self._step, *norms, watch.repeated, examined, again)
        except Exception as error:  # the training itself is fine: only our second run failed
            _log.exception("the step could not be recorded again")
            return f"The step could not be recorded again: {type(error).__name__}: {error}."
        finally:
            self._torch.restore_state(self._tensors, after)
            self._torch.give_gradients(self._tensors, gradients)
        where = f"Its dump is {self._folder}, step {self._step}."
        if problem:
            where = f"Its dump {self._folder}, step {self._step}, is incomplete: {problem}."
        return where if again else f"The step did not break when it ran again. {where}"

    def _replay(self, run: Callable[[], Any], path: Path, first: float | None) -> tuple[bool, str]:
        """Run the step again under the dump recorder. Return whether it broke again, and the dump's
        problem or "". If another rank reported the step, a norm of the gradients equal to ``first`` means
        the same outcome."""
        settings = {"net_name": "Net", "saved_data": "full", "initial_iteration": self._step}
        with DumpRecorder(self._models, settings, path, limit=self._budget) as recorder:
            self._running = True
            try:
                result = run()
            finally:
                self._running = False
            recorder.step()
        loss, norm, _ = self._measure(result)
        broken = bool(self._examine(loss, norm, None).reason) or (norm is not None and norm == first)
        return broken, recorder.problem

    def _refuse_inside(self, *_: Any) -> None:
        if self._running:
            raise RuntimeError(
                "optimizer.step() was called inside FlightRecorder.step(): call it after, so that a fault"
                " is found before the weights change"
            )


def _free_folder(directory: Path) -> str:
    """Return the name of a folder for dumps that holds none of this rank, the same name on all ranks."""
    names = chain([FOLDER], (f"{FOLDER}_{number}" for number in count(2)))
    return next(name for name in names if not (directory / name / f"rank_{rank_of().number}").exists())
