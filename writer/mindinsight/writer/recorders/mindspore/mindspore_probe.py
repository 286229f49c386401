"""Capture of MindSpore's calls in PyNative mode: wrappers of functions, methods and primitives."""

from __future__ import annotations

import functools
import os
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeAlias

import mindspore
from mindspore import mint, ops
from mindspore.common import api
from mindspore.mint.nn import functional

from mindinsight.writer.recorders.mindspore import mindspore_descriptions as values
from mindinsight.writer.recorders.mindspore.mindspore_cells import CellHooks
from mindinsight.writer.recorders.mindspore.mindspore_values import tensors_of
from mindinsight.writer.recorders.probe_config import ProbeConfig, Selection
from mindinsight.writer.recorders.step_files import Commit, Draft, StepFiles, code_lines

# Takes name, function, arguments and named arguments of a call; runs it.
Call: TypeAlias = Callable[[str, Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]

_MISSING: Final = object()  # an attribute that the owner inherits
# Functions that compute nothing, make tensors or are part of how MindSpore itself works: not recorded.
_ACCESS: Final = frozenset(
    """
    arange assign assign_add assign_sub cast clone custom_info_register depend derivative dtype
    empty empty_like eye from_numpy full full_like get_grad get_vm_impl_fn grad hook_backward
    is_complex is_floating_point is_tensor item jacfwd jacrev jet jvp linspace logspace move_to
    normal_ numel ones ones_like partial print_ prim_attr_register random_ rank real_div
    set_constexpr shape shard stop_gradient tensor typeof uniform_ value_and_grad vjp vmap zero_
    zeros zeros_like zip_operation
    """.split()  # noqa: SIM905
)
_OPERATORS: Final = tuple(
    f"__{name}__"
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "radd", "rsub", "rmul"),
        *(
            "rtruediv",
            "rfloordiv",
            "rmod",
            "rpow",
            "rmatmul",
            "iadd",
            "isub",
            "imul",
            "itruediv",
            "ifloordiv",
        ),
        *("imod", "ipow", "and", "or", "xor", "invert", "neg", "eq", "ne", "lt", "le", "gt", "ge", "abs"),
    )
)


class FunctionWrappers:
    """Wrappers that hand each call to ``call``; ``remove`` puts everything back as it was.

    Wrapped are the functions of ``ops``, ``mint`` and ``mint.nn.functional``, the methods and operators of
    ``Tensor`` that have a function of that name, primitives of the networks' cells, and what ``jit``
    compiles, which runs without the other wrappers: its compiler reads the code of functions it meets.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._wrapped: list[tuple[Any, str, Any, Any]] = []  # owner, attribute, before, wrapper
        self._primitives: list[tuple[Any, type, type]] = []  # primitive, class before, wrapping class
        self._installed = False

    def install(self, models: Iterable[mindspore.nn.Cell]) -> None:
        """Wrap. A second call puts back the first one's wrappers before."""
        self.remove()
        self._wrapped = [self._wrapper(*target) for target in _targets()]
        executor = getattr(api, "_JitExecutor", None)
        if executor is not None:
            self._wrapped.append((executor, "__call__", executor.__call__, self._jit(executor.__call__)))
        self._primitives = list(self._primitive_classes(models))
        self._set()

    def remove(self) -> None:
        """Put everything back."""
        self._unset()
        self._wrapped, self._primitives = [], []

    @contextmanager
    def removed(self, wanted: bool) -> Iterator[None]:
        """Context without the wrappers, if ``wanted``."""
        if not wanted:
            yield
            return
        self._unset()
        try:
            yield
        finally:
            self._set()

    def _set(self) -> None:
        self._installed = True
        for owner, attribute, _, wrapper in self._wrapped:
            setattr(owner, attribute, wrapper)
        for primitive, _, wrapping in self._primitives:
            primitive.__class__ = wrapping

    def _unset(self) -> None:
        if not self._installed:
            return
        self._installed = False
        for owner, attribute, before, _ in self._wrapped:
            if before is _MISSING:
                delattr(owner, attribute)
            else:
                setattr(owner, attribute, before)
        for primitive, before, _ in self._primitives:
            primitive.__class__ = before

    def _wrapper(self, owner: Any, attribute: str, prefix: str) -> tuple[Any, str, Any, Any]:
        function = getattr(owner, attribute)
        call, name = self._call, f"{prefix}.{attribute}"

        @functools.wraps(function)
        def wrapped(*arguments: Any, **named: Any) -> Any:
            return call(name, function, arguments, named)

        return owner, attribute, vars(owner).get(attribute, _MISSING), wrapped

    def _jit(self, function: Any) -> Any:
        call = self._call

        @functools.wraps(function)
        def wrapped(executor: Any, *arguments: Any, **named: Any) -> Any:
            name = getattr(getattr(executor, "fn", None), "__name__", "function")

            def run(*_: Any, **__: Any) -> Any:
                return function(executor, *arguments, **named)

            return call(f"Jit.{name}", run, arguments, named)

        return wrapped

    def _primitive_classes(self, models: Iterable[Any]) -> Iterator[tuple[Any, type, type]]:
        seen: set[int] = set()
        for model in models:
            for _, cell in model.cells_and_names():
                for attribute, primitive in cell.__dict__.get("_primitives", {}).items():
                    if primitive is not None and id(primitive) not in seen:
                        seen.add(id(primitive))
                        yield primitive, type(primitive), self._primitive_class(attribute, type(primitive))

    def _primitive_class(self, attribute: str, kind: type) -> type:
        call, name = self._call, f"Primitive.{attribute}.{kind.__name__}"

        def wrapped(primitive: Any, *arguments: Any, **named: Any) -> Any:
            return call(name, functools.partial(kind.__call__, primitive), arguments, named)

        return type(kind.__name__, (kind,), {"__call__": wrapped, "__module__": kind.__module__})


def _targets() -> Iterator[tuple[Any, str, str]]:
    """Owner, attribute and msprobe's prefix of each function that is wrapped."""
    names: set[str] = set()
    for owner, prefix in ((ops, "Functional"), (mint, "Mint"), (functional, "MintFunctional")):
        for name, function in vars(owner).items():
            if isinstance(function, types.FunctionType) and _is_recorded(name):
                names.add(name)
                yield owner, name, prefix
    for name in dir(mindspore.Tensor):
        if name in names or name in _OPERATORS:
            yield mindspore.Tensor, name, "Tensor"


def _is_recorded(name: str) -> bool:
    return not name.startswith("_") and name.islower() and name not in _ACCESS


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
