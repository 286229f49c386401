"""Capture core of the precision debugger: calls and modules of either framework, into the files of a step."""

from __future__ import annotations

import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from mindinsight.writer.recorders.recorder_config import ProbeConfig, Selection
from mindinsight.writer.recorders.step_files import Commit, Draft, StepFiles, code_lines

# Takes positional and named arguments of a call. Returns both as the caller wrote them.
Given = Callable[[Sequence[Any], Mapping[str, Any]], tuple[Sequence[Any], Mapping[str, Any]]]


class Probe(ABC):
    """Capture of calls and modules between ``start`` and ``stop``.

    ``commit`` receives completed entries. After an exception in the probe, ``on_error`` receives it, nothing
    more is captured, and the training's calls run as without the probe.
    """

    values: Any  # module that describes the framework's values
    hooks: type[ModuleHooks]

    def __init__(self, config: ProbeConfig, commit: Commit, on_error: Callable[[Exception], None]) -> None:
        self.config = config
        self.commit = commit
        self.selection = Selection(config.scope, config.names, config.level)
        self.parents: list[str] = []  # running modules, outermost first
        self.files: StepFiles | None = None  # of the captured step
        self.failed = False
        self.local = threading.local()
        self._on_error = on_error
        self._process = os.getpid()
        self._modules = self.hooks(self)
        self._handles: list[Any] = []

    def start(self, models: Mapping[str, Any], files: StepFiles) -> None:
        """Begin to capture. The keys of ``models`` are prefixes of their modules' names."""
        self.files, self.parents = files, []
        if self.failed:
            return
        if self.config.level != "L1":
            self._handles += self._modules.register(models)
        if self.config.level != "L0":
            self.watch_calls(models)

    def stop(self) -> None:
        """End the capture. Modules whose backward pass has not ended are recorded incomplete."""
        self.unwatch_calls()
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self.guarded(self._modules.finish)
        self.files = None

    @abstractmethod
    def watch_calls(self, models: Mapping[str, Any]) -> None:
        """Pass every function that the training calls to ``call``, until ``unwatch_calls``. ``models`` are
        the trained networks by name."""

    @abstractmethod
    def unwatch_calls(self) -> None:
        """Undo ``watch_calls``. Do nothing if calls are not watched."""

    @abstractmethod
    def identify(self, key: Any, frame: FrameType) -> tuple[str | None, FrameType | None, Given]:
        """Return name, calling frame and argument order of a call. The name of an ignored call is None.
        The argument order is a function that takes positional and keyword arguments and returns both as
        they are recorded."""

    @abstractmethod
    def node_of(self, output: Any) -> Any:
        """Return the autograd node of the first tensor in ``output``, or None if it has no backward pass."""

    def quiet(self) -> AbstractContextManager[Any]:
        """Return a context in which the framework does not report our own calls."""
        return nullcontext()

    def keep(self, handle: Any) -> None:
        """Register a hook for removal when the capture stops."""
        self._handles.append(handle)

    def guarded(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``action`` and return its result. Return None if ``action`` raises, which ends the capture.
        Return None without a call if nothing is captured, in a forked process and inside another such
        call. Calls inside ``action`` are not captured."""
        if self.failed or self.files is None or self.inside or os.getpid() != self._process:
            return None
        self.local.inside = True
        try:
            with self.quiet():
                return action(*arguments)
        except Exception as error:
            self.failed = True
            self._on_error(error)
            return None
        finally:
            self.local.inside = False

    @property
    def inside(self) -> bool:
        """Return True while this thread runs our own code or a call whose inner calls are not recorded."""
        return getattr(self.local, "inside", False)

    def listener(self, take: Callable[..., None]) -> Callable[..., None]:
        """Return a hook that calls ``take`` with its arguments during the current step, and later does
        nothing."""
        files = self.files

        def listener(*values: Any) -> None:
            if self.files is files:
                self.guarded(take, *values)

        return listener

    def call(
        self, key: Any, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Run and record a function that the training called, and return its result. ``key`` is passed to
        ``identify``."""
        if self.inside or self.failed or self.files is None:
            return function(*arguments, **named)
        draft = self.guarded(self._begin, key, sys._getframe(2), arguments, named)
        try:
            output = self.run(key, function, arguments, named)
        except BaseException:
            if draft is not None:
                self.guarded(self.commit, draft)  # the call that raised is often the one looked for
            raise
        if draft is not None:
            self.guarded(self._end, draft, output)
        return output

    def run(
        self, key: Any, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Return the result of the recorded function itself."""
        return function(*arguments, **named)

    def enclose(self, entry: str) -> None:
        """Record the innermost running module as the parent of ``entry``."""
        if self.files is not None and self.config.extra_info and self.config.level != "L1":
            self.files.add_parent(entry, self.parent())

    def parent(self) -> str | None:
        """Return the entry of the innermost running module, or None outside all modules."""
        return self.parents[-1] if self.parents else None

    def draft(self, entry: str) -> Draft:
        """Return a new, empty entry."""
        return Draft(entry, self.config, self.values)

    def begin(self, entry: str, frame: FrameType | None) -> Draft:
        """Return a new forward entry, after recording its parent and, if it is selected, its lines of
        code."""
        draft = self.draft(entry)
        self.enclose(entry)
        draft.selected = self.selection(entry)
        if draft.selected and self.files is not None and self.config.extra_info:
            self.files.add_stack(entry, code_lines(frame))
        return draft

    def _begin(
        self, key: Any, frame: FrameType, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Draft | None:
        name, caller, given = self.identify(key, frame)
        if name is None or self.files is None:
            return None
        draft = self.begin(f"{name}.{self.files.count(name)}.forward", caller)
        if draft.wants("forward", "input"):
            draft.describe_inputs(*given(arguments, named))
        return draft

    def _end(self, draft: Draft, output: Any) -> None:
        if draft.wants("forward", "output"):
            draft.describe_outputs(output)
        if draft.selected:
            self.commit(draft)
        node = self.node_of(output) if "backward" in self.config.directions else None
        if node is not None:
            entry = f"{draft.name.rpartition('.')[0]}.backward"
            record = self.listener(lambda produced, arrived: self.record_backward(entry, arrived, produced))
            self.keep(node.register_hook(record))

    def record_backward(self, entry: str, arrived: Sequence[Any], produced: Sequence[Any]) -> None:
        """Record the gradients that arrive at a node of autograd and those the node computes."""
        self.enclose(entry)
        if self.selection(entry):
            draft = self.draft(entry)
            if draft.takes("backward", "input"):
                draft.sections["input"] = draft.describe(tuple(arrived), "input")
            if draft.takes("backward", "output"):
                draft.sections["output"] = draft.describe(tuple(produced), "output")
            self.commit(draft)


class RunningModule(NamedTuple):
    """Module whose forward pass has begun and not ended, by path, with its entries so far."""

    path: str
    draft: Draft
    backward: ModuleBackward | None


class ModuleHooks(ABC):
    """Hooks on the modules of models, except the models themselves."""

    def __init__(self, probe: Any) -> None:
        self.probe = probe
        self.backward: list[ModuleBackward] = []  # begun or to come
        self.recorded: set[str] = set()  # modules with a backward entry
        self._running: list[RunningModule] = []
        self._parameters: dict[int, int] = {}  # calls of a parameter's hook in the step

    def register(self, models: Mapping[str, Any]) -> list[Any]:
        """Hook the modules of ``models`` for one step, and return the handles that remove the hooks."""
        self._running, self.backward, self.recorded, self._parameters = [], [], set(), {}
        handles: list[Any] = []
        for path, module in self.modules(models):
            enter, leave = partial(self._enter, path), partial(self._leave, path)
            handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
            handles.append(
                module.register_forward_hook(leave, prepend=True, with_kwargs=True, always_call=True)
            )
        return handles

    @abstractmethod
    def modules(self, models: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield msprobe's path and the object of each module to hook."""

    @abstractmethod
    def parameters(self, module: Any) -> dict[str, Any]:
        """Return the module's own parameters by name."""

    @abstractmethod
    def new_backward(self, path: str, number: int, inputs: Sequence[Any]) -> ModuleBackward | None:
        """Return a new record of the backward pass of one call, or None if autograd is off."""

    @abstractmethod
    def hook_outputs(self, backward: ModuleBackward, output: Any) -> None:
        """Add ``backward`` to the running backward passes, and hook the gradients that it needs."""

    @abstractmethod
    def hook_gradient(self, path: str, name: str, parameter: Any) -> Any:
        """Hook the gradient of a parameter, and return the hook's handle."""

    def has_gradient(self, parameter: Any) -> bool:
        """Return True if autograd computes a gradient of a parameter."""
        return bool(parameter.requires_grad)

    def selects_gradients(self, path: str) -> bool:
        """Return True if the gradients of a module's parameters are recorded."""
        return bool(self.probe.selection(path))

    def finish(self) -> None:
        """Record the module backward passes that are incomplete because some gradients never arrived."""
        for backward in list(self.backward):
            backward.finish()
        self.backward = []

    def record_gradient(self, path: str, name: str, key: int, gradient: Any) -> None:
        """Record the gradient of a parameter. ``key`` is the parameter's identity."""
        number = self._parameters[key]
        self._parameters[key] = number + 1
        if self.selects_gradients(path):
            draft = self.probe.draft(f"{path}.parameters_grad.{number}")
            draft.sections[name] = [draft.describe(gradient, name)]
            self.probe.commit(draft)

    def _enter(self, path: str, module: Any, inputs: Any, named: Any) -> None:
        self.probe.guarded(self._begin, path, inputs, named)

    def _leave(self, path: str, module: Any, inputs: Any, named: Any, output: Any) -> None:
        self.probe.guarded(self._end, path, module, output)

    def _begin(self, path: str, inputs: Sequence[Any], named: Mapping[str, Any]) -> None:
        probe = self.probe
        number = probe.files.count(path)
        entry = f"{path}.forward.{number}"
        probe.selection.begin(entry)
        draft = probe.begin(entry, sys._getframe(3))
        probe.parents.append(entry)
        if draft.wants("forward", "input"):
            draft.describe_inputs(inputs, named)
        backward = None
        if "backward" in probe.config.directions:
            backward = self.new_backward(path, number, inputs)
        self._running.append(RunningModule(path, draft, backward))

    def _end(self, path: str, module: Any, output: Any) -> None:
        """Record the outputs of a module. ``output`` is None if the module raised."""
        while self._running and self._running[-1].path != path:  # modules that an exception left
            self._close(self._running.pop().draft)
        if not self._running:
            return
        _, draft, backward = self._running.pop()
        parameters = self.parameters(module)
        if draft.wants("forward", "output"):
            draft.describe_outputs(output)
            draft.sections["parameters"] = draft.describe(parameters, "parameters")
        self._close(draft)
        if backward is not None and output is not None:
            self.hook_outputs(backward, output)
        if "backward" in self.probe.config.directions:
            for name, parameter in parameters.items():
                if self.has_gradient(parameter) and id(parameter) not in self._parameters:
                    self._parameters[id(parameter)] = 0
                    self.probe.keep(self.hook_gradient(path, name, parameter))

    def _close(self, draft: Draft) -> None:
        probe = self.probe
        if draft.selected:
            probe.commit(draft)
        if draft.name in probe.parents:
            del probe.parents[probe.parents.index(draft.name) :]
        probe.selection.end(draft.name)


class ModuleBackward:
    """Backward pass of one call of a module: gradients of its outputs, and of its inputs.

    The gradient of an input is the sum of the gradients that the module's own nodes of autograd compute for
    that input.
    """

    def __init__(self, hooks: ModuleHooks, path: str, number: int, inputs: int) -> None:
        self.probe = hooks.probe
        self.name = f"{path}.backward.{number}"
        self.awaited: set[int] = set()  # outputs without a gradient so far
        self.pending: set[Any] = set()  # nodes that have yet to compute gradients of inputs
        self.arrived: list[Any] = []
        self._hooks = hooks
        self._path = path
        self._draft = self.probe.draft(self.name)
        self._inputs = inputs
        self._sums: dict[int, Any] = {}  # input -> gradient
        self._state = "waiting"

    def arrive(self, position: int, gradient: Any) -> None:
        """Record the gradient of the module's output ``position``."""
        if self._state == "done":
            return
        self._begin()
        if self._draft.takes("backward", "input"):
            self.arrived[position] = self._draft.describe(gradient, f"input.{position}")
        self.awaited.discard(position)
        self.passed_on(position, gradient)
        if not self.pending and not self.awaited:
            self.finish()

    def depart(self, node: Any, places: Sequence[tuple[int, int]], produced: Sequence[Any], *_: Any) -> None:
        """Add gradients of inputs that ``node`` computed. ``places`` pairs positions in ``produced`` with
        inputs."""
        if self._state == "done":
            return
        self._begin()
        for position, target in places:
            gradient = produced[position] if position < len(produced) else None
            if gradient is not None:
                self.add(target, gradient)
        self.pending.discard(node)
        if not self.pending:
            self.finish()

    def add(self, target: int, gradient: Any) -> None:
        """Add a gradient to the sum of an input."""
        before = self._sums.get(target)
        self._sums[target] = gradient if before is None else before + gradient

    def passed_on(self, position: int, gradient: Any) -> None:
        """Handle the gradient of an output that the module passes on from an input unchanged."""

    def departed(self) -> list[Any]:
        """Return the gradients of the inputs, None for an input without a gradient."""
        return [self._sums.get(position) for position in range(self._inputs)]

    def finish(self) -> None:
        """Record the gradients received so far, if any."""
        if self._state != "begun":
            return
        self._state = "done"
        if self.probe.selection(self.name):
            self._hooks.recorded.add(self._path)
            draft = self._draft
            if draft.takes("backward", "input"):
                draft.sections["input"] = self.arrived
            if draft.takes("backward", "output"):
                draft.sections["output"] = draft.describe(self.departed(), "output")
            self.probe.commit(draft)
        self._sums, self.pending = {}, set()
        if self.name in self.probe.parents:
            self.probe.parents.remove(self.name)
        self.probe.selection.end(self.name)

    def _begin(self) -> None:
        if self._state == "waiting":
            self._state = "begun"
            self.probe.enclose(self.name)
            self.probe.parents.append(self.name)
            self.probe.selection.begin(self.name)
