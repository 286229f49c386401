"""Capture of MindSpore's calls in PyNative mode: wrappers of functions, methods and primitives."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeAlias

import mindspore
from mindspore import mint, ops
from mindspore.common import api
from mindspore.mint.nn import functional

from mindinsight.writer.recorders import mindspore_values
from mindinsight.writer.recorders.mindspore_values import tensors_of
from mindinsight.writer.recorders.probe import Given, ModuleBackward, ModuleHooks, Probe

# Runs a call. Takes its name, function, positional and named arguments.
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
    for name in """
    add sub mul truediv floordiv mod pow matmul radd rsub rmul rtruediv rfloordiv rmod rpow rmatmul
    iadd isub imul itruediv ifloordiv imod ipow and or xor invert neg eq ne lt le gt ge abs
    """.split()  # noqa: SIM905
)


class FunctionWrappers:
    """Wrappers that pass each call to ``call``. ``remove`` restores the original functions.

    Wrapped are the functions of ``ops``, ``mint`` and ``mint.nn.functional``, methods and operators of
    ``Tensor`` with the name of such a function, primitives of the networks' cells, and functions compiled by
    ``jit``. Compiled functions run without the other wrappers, because their compiler reads the code of
    called functions.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._wrapped: list[tuple[Any, str, Any, Any]] = []  # owner, attribute, before, wrapper
        self._primitives: list[tuple[Any, type, type]] = []  # primitive, class before, wrapping class
        self._installed = False

    def install(self, models: Iterable[mindspore.nn.Cell]) -> None:
        """Wrap the functions, and the primitives of the cells in ``models``. A second call first restores the
        functions wrapped before."""
        self.remove()
        self._wrapped = [self._wrapper(*target) for target in _targets()]
        executor = getattr(api, "_JitExecutor", None)
        if executor is not None:
            self._wrapped.append((executor, "__call__", executor.__call__, self._jit(executor.__call__)))
        self._primitives = list(self._primitive_classes(models))
        self._set()

    def remove(self) -> None:
        """Restore all wrapped functions."""
        self._unset()
        self._wrapped, self._primitives = [], []

    @contextmanager
    def removed(self, wanted: bool) -> Iterator[None]:
        """Return a context without the wrappers if ``wanted``, else an empty context."""
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
    """Yield owner, attribute and msprobe's prefix of each function to wrap."""
    names: set[str] = set()
    for owner, prefix in ((ops, "Functional"), (mint, "Mint"), (functional, "MintFunctional")):
        for name, function in vars(owner).items():
            is_public = not name.startswith("_") and name.islower() and name not in _ACCESS
            if isinstance(function, types.FunctionType) and is_public:
                names.add(name)
                yield owner, name, prefix
    for name in dir(mindspore.Tensor):
        if name in names or name in _OPERATORS:
            yield mindspore.Tensor, name, "Tensor"


_JIT: Final = "Jit."
_PRIMITIVE: Final = "Primitive."


class CellBackward(ModuleBackward):
    """Backward pass of one call of a cell."""

    def __init__(self, hooks: CellHooks, path: str, number: int, inputs: Sequence[Any]) -> None:
        super().__init__(hooks, path, number, len(inputs))
        self._places: dict[int, int] = {}  # node that made an input -> position of the input
        self._first = 0  # lowest sequence number of a node that the cell may make
        for position, value in enumerate(inputs):
            node = value._grad_node if isinstance(value, mindspore.Tensor) else None
            if node is not None:
                self._places.setdefault(node._unique_id(), position)
                self._first = max(self._first, 0 if node.is_leaf() else node._sequence_nr() + 1)

    def hook(self, outputs: Sequence[Any]) -> None:
        """Hook the gradients of the outputs, and the autograd nodes that compute gradients of the inputs."""
        keep, listener = self.probe.keep, self.probe.listener
        self.arrived = [None] * len(outputs)
        made = {
            position: value
            for position, value in enumerate(outputs)
            if value._grad_node is not None and not value._grad_node.is_leaf()
        }
        self.awaited = set(made)
        for position, value in made.items():
            keep(value.register_hook(listener(functools.partial(self.arrive, position))))
        for node, places in self._consumers([value._grad_node for value in made.values()]):
            self.pending.add(node._unique_id())
            depart = functools.partial(self.depart, node._unique_id(), places)
            keep(node.register_hook(listener(depart)))

    def _consumers(self, pending: list[Any]) -> Iterator[tuple[Any, list[tuple[int, int]]]]:
        """Yield the cell's autograd nodes that compute gradients of inputs, with pairs (gradient, input)."""
        seen = {node._unique_id() for node in pending}
        while pending:
            node = pending.pop()
            places = []
            for position, (before, _) in enumerate(node.next_functions):
                if before is None:
                    continue
                key = before._unique_id()
                if key in self._places:
                    places.append((position, self._places[key]))
                elif key not in seen and not before.is_leaf() and before._sequence_nr() >= self._first:
                    seen.add(key)
                    pending.append(before)
            if places:
                yield node, places


class CellHooks(ModuleHooks):
    """Hooks on the cells of MindSpore models."""

    def modules(self, models: Mapping[str, mindspore.nn.Cell]) -> Iterator[tuple[str, Any]]:
        """Yield msprobe's path and the cell of each cell inside the models, without the models themselves."""
        for prefix, model in models.items():
            for name, cell in model.cells_and_names():
                if cell is not model:
                    yield f"Cell.{prefix}{name}.{type(cell).__name__}", cell

    def parameters(self, module: Any) -> dict[str, Any]:
        """Return the cell's own parameters by the last part of their names."""
        own = module.parameters_dict(recurse=False)
        return {name.rpartition(".")[2]: value for name, value in own.items()}

    def new_backward(self, path: str, number: int, inputs: Sequence[Any]) -> CellBackward:
        """Return a new record of the backward pass of one call."""
        return CellBackward(self, path, number, inputs)

    def hook_outputs(self, backward: Any, output: Any) -> None:
        """Hook the outputs and the nodes that compute gradients of inputs."""
        self.backward.append(backward)
        backward.hook(list(tensors_of(output)))

    def hook_gradient(self, path: str, name: str, parameter: Any) -> Any:
        """Record the gradient of a parameter each time it is computed, and return the handle that removes the
        hook."""
        record = functools.partial(self.record_gradient, path, name, id(parameter))
        return parameter.register_hook(self.probe.listener(record))


class MindSporeProbe(Probe):
    """Capture of MindSpore's calls and cells. Calls inside a recorded call are not recorded."""

    values = mindspore_values
    hooks = CellHooks

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._functions = FunctionWrappers(self.call)

    def watch_calls(self, models: Mapping[str, mindspore.nn.Cell]) -> None:
        """Wrap the functions and primitives that the training calls."""
        self._functions.install(models.values())

    def unwatch_calls(self) -> None:
        """Restore the wrapped functions and primitives."""
        self._functions.remove()

    def run(
        self, key: Any, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        """Return the result of the recorded function. A compiled function runs without the wrappers."""
        self.local.inside = True
        try:
            with self._functions.removed(key.startswith(_JIT)):
                return function(*arguments, **named)
        finally:
            self.local.inside = False

    def identify(self, key: Any, frame: FrameType) -> tuple[str | None, FrameType | None, Given]:
        """Return ``key`` as the name, ``frame``, and a function that returns the arguments unchanged."""
        return key, frame, lambda arguments, named: (arguments, named)

    def node_of(self, output: Any) -> Any:
        """Return the autograd node of the first tensor in ``output``, or None for a leaf or without a
        tensor."""
        first = next(tensors_of(output), None)
        node = None if first is None else first._grad_node
        return None if node is None or node.is_leaf() else node

    def record_backward(self, entry: str, arrived: Sequence[Any], produced: Sequence[Any]) -> None:
        """Record the gradients of a node. Missing gradients are omitted, as in msprobe."""
        gradients = [item for item in produced if item is not None]
        if entry.startswith(_PRIMITIVE):  # msprobe receives them in this order
            gradients.reverse()
        super().record_backward(entry, [item for item in arrived if item is not None], gradients)


make_probe: Final = MindSporeProbe
