"""Wrappers of MindSpore's functions, tensor methods and primitives while a probe captures."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import mindspore
from mindspore import mint, ops
from mindspore.common import api
from mindspore.mint.nn import functional

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
