"""Capture of MindSpore's calls and cells in PyNative mode, for a dump in msprobe's layout.

Nothing is put into autograd's graph: gradients are read by hooks on its nodes, so that a training computes
the same to the last bit.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Final

import mindspore

from mindinsight.writer.capture.mindspore.values import tensors_of
from mindinsight.writer.precision_debugger.code_lines import code_lines
from mindinsight.writer.precision_debugger.draft import Commit, Draft
from mindinsight.writer.precision_debugger.mindspore import values
from mindinsight.writer.precision_debugger.mindspore.cells import CellHooks
from mindinsight.writer.precision_debugger.mindspore.functions import FunctionWrappers
from mindinsight.writer.precision_debugger.probe_config import ProbeConfig
from mindinsight.writer.precision_debugger.selection import Selection
from mindinsight.writer.precision_debugger.step_files import StepFiles

_JIT: Final = "Jit."
_PRIMITIVE: Final = "Primitive."


class MindSporeProbe:
    """Capture between ``start`` and ``stop``. ``commit`` takes entries; ``on_error`` what raised in here.

    After an error nothing more is captured, and the training's calls run as without the probe.
    """

    def __init__(self, config: ProbeConfig, commit: Commit, on_error: Callable[[Exception], None]) -> None:
        self.config = config
        self.commit = commit
        self.selection = Selection(config.scope, config.names, config.level)
        self.parents: list[str] = []  # cells that run, outermost first
        self.files: StepFiles | None = None  # of the step that is captured
        self._on_error = on_error
        self._failed = False
        self._local = threading.local()
        self._process = os.getpid()
        self._cells = CellHooks(self)
        self._functions = FunctionWrappers(self.call)
        self._handles: list[Any] = []

    def start(self, models: Mapping[str, mindspore.nn.Cell], files: StepFiles) -> None:
        """Begin to capture; ``models`` by the prefix of their cells' names."""
        self.files, self.parents = files, []
        if self._failed:
            return
        if self.config.level != "L1":
            self._handles = self._cells.register(models)
        if self.config.level != "L0":
            self._functions.install(models.values())

    def stop(self) -> None:
        """End the capture; cells whose backward has not ended are recorded as far as they came."""
        self._functions.remove()
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self.guarded(self._cells.finish)
        self.files = None

    def keep(self, handle: Any) -> None:
        """Remove a hook when the capture stops."""
        self._handles.append(handle)

    def guarded(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Carry out our own work: without capturing itself, and without raising."""
        if self._failed or self.files is None or self._depth or os.getpid() != self._process:
            return None
        self._local.depth = 1
        try:
            return action(*arguments)
        except Exception as error:
            self._failed = True
            self._on_error(error)
            return None
        finally:
            self._local.depth = 0

    def call(
        self, name: str, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Run a function that the training called, and record it; what it calls itself is not recorded."""
        if self._depth or self._failed or self.files is None:
            return function(*arguments, **named)
        draft = self.guarded(self._begin, name, sys._getframe(2), arguments, named)
        self._local.depth = 1
        try:
            with self._functions.removed(name.startswith(_JIT)):
                output = function(*arguments, **named)
        except BaseException:
            self._local.depth = 0
            if draft is not None:
                self.guarded(self.commit, draft)  # the call that raised is often the one looked for
            raise
        self._local.depth = 0
        if draft is not None:
            self.guarded(self._end, draft, output)
        return output

    def enclose(self, entry: str, parent: str | None) -> None:
        """Note what an entry lies in."""
        if self.files is not None and self.config.extra_info and self.config.level != "L1":
            self.files.add_parent(entry, parent)

    def note_code(self, entry: str, frame: FrameType | None) -> None:
        """Note the lines that led to an entry."""
        if self.files is not None and self.config.extra_info:
            self.files.add_stack(entry, code_lines(frame))

    def draft(self, entry: str) -> Draft:
        """A new entry."""
        return Draft(entry, self.config, values)

    @property
    def _depth(self) -> int:
        """1 while this thread is inside a recorded call or at our own work."""
        return int(getattr(self._local, "depth", 0))

    def _begin(
        self, name: str, frame: FrameType, arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Draft | None:
        if self.files is None:
            return None
        draft = self.draft(f"{name}.{self.files.count(name)}.forward")
        self.enclose(draft.name, self.parents[-1] if self.parents else None)
        draft.selected = self.selection(draft.name)
        if draft.selected:
            self.note_code(draft.name, frame)
            if draft.takes("forward", "input"):
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
        node = None if first is None else first._grad_node
        if node is None or node.is_leaf() or "backward" not in self.config.directions:
            return
        files = self.files

        def hook(produced: Any, arrived: Any) -> None:
            if self.files is files:  # not a later step's
                self.guarded(self._record_backward, entry, arrived, produced)

        self.keep(node.register_hook(hook))

    def _record_backward(self, entry: str, arrived: Any, produced: Any) -> None:
        self.enclose(entry, self.parents[-1] if self.parents else None)
        if not self.selection(entry):
            return
        draft = self.draft(entry)
        if draft.takes("backward", "input"):
            draft.sections["input"] = draft.describe([item for item in arrived if item is not None], "input")
        if draft.takes("backward", "output"):
            gradients = [item for item in produced if item is not None]
            if entry.startswith(_PRIMITIVE):  # in the order in which msprobe sees them come
                gradients.reverse()
            draft.sections["output"] = draft.describe(gradients, "output")
        self.commit(draft)


def make_probe(config: ProbeConfig, commit: Commit, on_error: Callable[[Exception], None]) -> MindSporeProbe:
    """Capture of MindSpore's calls and cells."""
    return MindSporeProbe(config, commit, on_error)
