"""Capture of PyTorch's calls and modules into the files of a step.

Calls come from a ``TorchFunctionMode``, which sees a function however it was imported and changes none;
their backward from a hook on the node of autograd's graph that made the output.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Final

import torch
from torch.optim import optimizer as optimizer_hooks
from torch.overrides import TorchFunctionMode

from mindinsight.writer.recorders.probe_config import ProbeConfig, Selection
from mindinsight.writer.recorders.pytorch import torch_descriptions as values
from mindinsight.writer.recorders.pytorch.call_site import CallSite
from mindinsight.writer.recorders.pytorch.function_names import TorchNames
from mindinsight.writer.recorders.pytorch.torch_modules import ModuleHooks
from mindinsight.writer.recorders.pytorch.torch_tensors import tensors_of
from mindinsight.writer.recorders.step_files import Commit, Draft, StepFiles, code_lines

_OPTIMIZER: Final = "optimizer"  # what encloses the calls of an optimizer


class TorchProbe:
    """Capture between ``start`` and ``stop``. ``commit`` takes entries; ``on_error`` what raised in here.

    After an error nothing more is captured, and the training's calls run as without the probe.
    """

    def __init__(self, config: ProbeConfig, commit: Commit, on_error: Callable[[Exception], None]) -> None:
        self.config = config
        self.commit = commit
        self.selection = Selection(config.scope, config.names, config.level)
        self.parents: list[str] = []  # modules that run, outermost first
        self.files: StepFiles | None = None  # of the step that is captured
        self._on_error = on_error
        self._failed = False
        self._names = TorchNames()
        self._shapes: dict[Any, Any] = {}  # of call instructions
        self._modules = ModuleHooks(self)
        self._local = threading.local()
        self._process = os.getpid()
        self._optimizing = False
        self._handles: list[Any] = []
        self._mode: _Calls | None = None

    def start(self, models: Mapping[str, torch.nn.Module], files: StepFiles) -> None:
        """Begin to capture; ``models`` by the prefix of their modules' names."""
        self.files, self.parents = files, []
        if self._failed:
            return
        self._handles = [
            optimizer_hooks.register_optimizer_step_pre_hook(self._enter_optimizer),
            optimizer_hooks.register_optimizer_step_post_hook(self._leave_optimizer),
        ]
        if self.config.level != "L1":
            self._handles += self._modules.register(models)
        if self.config.level != "L0":
            self._mode = _Calls(self)
            self._mode.__enter__()

    def stop(self) -> None:
        """End the capture; modules whose backward has not ended are recorded as far as they came."""
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self._mode = None
        for handle in self._handles:
            handle.remove()
        self._handles, self._optimizing = [], False
        self.guarded(self._modules.finish)
        self.files = None

    def keep(self, handle: Any) -> None:
        """Remove a hook when the capture stops."""
        self._handles.append(handle)

    def guarded(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Carry out our own work: without capturing itself, without autograd, and without raising."""
        if self._failed or self.files is None or self.inside or os.getpid() != self._process:
            return None
        self._local.inside = True
        try:
            with torch._C.DisableTorchFunction():
                return action(*arguments)
        except Exception as error:
            self._failed = True
            self._on_error(error)
            return None
        finally:
            self._local.inside = False

    @property
    def inside(self) -> bool:
        """Whether this thread is at our own work."""
        return getattr(self._local, "inside", False)

    def call(self, function: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Run a function that the training called, and record it."""
        if self.inside or self._failed:
            return function(*arguments, **named)
        frame = sys._getframe(2)
        draft = self.guarded(self._begin, function, frame, arguments, named)
        try:
            output = function(*arguments, **named)
        except BaseException:
            if draft is not None:
                self.guarded(self.commit, draft)  # the call that raised is often the one looked for
            raise
        if draft is not None:
            self.guarded(self._end, draft, output)
        return output

    def enclose(self, entry: str, parent: str | None) -> None:
        """Note what an entry lies in."""
        if self.files is None or not self.config.extra_info or self.config.level == "L1":
            return
        if self._optimizing:
            self.files.add_parent(_OPTIMIZER, None)
            parent = _OPTIMIZER
        self.files.add_parent(entry, parent)

    def note_code(self, entry: str, frame: FrameType | None) -> None:
        """Note the lines that led to an entry."""
        if self.files is not None and self.config.extra_info:
            self.files.add_stack(entry, code_lines(frame))

    def _begin(
        self, function: Any, frame: FrameType, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Draft | None:
        site = CallSite(frame, self._shapes)
        name = self._names.name_of(function, site.frame)
        if name is None or self.files is None:
            return None
        stem = f"{name}.{self.files.count(name)}"
        entry = f"{stem}.forward"
        draft = Draft(entry, self.config, values)
        self.enclose(entry, self.parents[-1] if self.parents else None)
        draft.selected = self.selection(entry)
        if draft.selected:
            self.note_code(entry, site.frame)
            if draft.takes("forward", "input"):
                arguments, named = site.arguments(arguments, named, name.startswith("Tensor."))
                draft.sections["input_args"] = draft.describe(tuple(arguments), "input")
                draft.sections["input_kwargs"] = draft.describe(dict(named), "kwargs")
        return draft

    def _end(self, draft: Draft, output: Any) -> None:
        if draft.selected:
            if draft.takes("forward", "output"):
                outputs = output if isinstance(output, (tuple, list)) else (output,)
                draft.sections["output"] = draft.describe(tuple(outputs), "output")
            self.commit(draft)
        self._hook_node(f"{draft.name.rpartition('.')[0]}.backward", output)

    def _hook_node(self, entry: str, output: Any) -> None:
        """Record the gradients that come into and go out of the node that made the first output."""
        first = next(tensors_of(output), None)
        if first is None or first.grad_fn is None or not torch.is_grad_enabled():
            return
        if "backward" not in self.config.directions:
            return
        files = self.files

        def hook(produced: Any, arrived: Any) -> None:
            if self.files is files:  # not a later step's
                self.guarded(self._record_backward, entry, arrived, produced)

        self.keep(first.grad_fn.register_hook(hook))

    def _record_backward(self, entry: str, arrived: Any, produced: Any) -> None:
        self.enclose(entry, self.parents[-1] if self.parents else None)
        if not self.selection(entry):
            return
        draft = Draft(entry, self.config, values)
        if draft.takes("backward", "input"):
            draft.sections["input"] = draft.describe(tuple(arrived), "input")
        if draft.takes("backward", "output"):
            draft.sections["output"] = draft.describe(tuple(produced), "output")
        self.commit(draft)

    def _enter_optimizer(self, *_: Any) -> None:
        self._optimizing = True

    def _leave_optimizer(self, *_: Any) -> None:
        self._optimizing = False


def make_probe(config: ProbeConfig, commit: Commit, on_error: Callable[[Exception], None]) -> TorchProbe:
    """Capture of PyTorch's calls and modules."""
    return TorchProbe(config, commit, on_error)


class _Calls(TorchFunctionMode):  # type: ignore[misc]
    """Mode that hands every function to the probe."""

    def __init__(self, probe: TorchProbe) -> None:
        super().__init__()
        self._probe = probe

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._probe.call(func, args, kwargs or {})
