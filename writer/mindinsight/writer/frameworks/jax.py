"""JAX adapter: values from a compiled function, and the graph of its jaxpr."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import jax

from mindinsight.writer.graph import GraphBuilder

__all__ = ["barrier", "deliver", "is_traced", "trace"]


_INNER = ("jaxpr", "call_jaxpr")
_INLINED = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat")


def trace(function: Callable[..., Any], inputs: Sequence[object] | None) -> GraphBuilder | None:
    """Return the graph of ``function(*inputs)`` without computing it, or None without inputs or a
    callable. Arguments that are trees of arrays become parameters named by their place:
    ``params.fc1.weight``."""
    if inputs is None or not callable(function):
        return None
    closed = jax.make_jaxpr(function)(*inputs)
    builder = GraphBuilder(f"{getattr(function, '__name__', type(function).__name__)}_forward")
    names = _Names(builder)
    for variable, name in zip(closed.jaxpr.invars, _argument_names(function, inputs), strict=True):
        names.set(variable, builder.parameter(name, *_type(variable)))
    _translate(closed.jaxpr, names)
    for variable in closed.jaxpr.outvars:
        builder.output(names.of(variable))
    return builder


class _Names:
    """Mapping from the variables of a jaxpr to the names of nodes in a graph builder."""

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder
        self._names: dict[Any, str] = {}

    def set(self, variable: Any, name: str) -> None:
        self._names[variable] = name

    def of(self, variable: Any) -> str:
        if hasattr(variable, "val"):  # a literal, not a variable
            value = variable.val
            return self.builder.constant(value.item() if hasattr(value, "item") else value)
        if variable not in self._names:  # an array the function closes over
            shape, dtype = _type(variable)
            self.set(variable, self.builder.constant_tensor(shape, dtype))
        return self._names[variable]


def _translate(jaxpr: Any, names: _Names) -> None:
    for equation in jaxpr.eqns:
        with ExitStack() as scope:
            for segment in _scope(equation):
                scope.enter_context(names.builder.scope(segment))
            inner = _inlined(equation)
            if inner is None:
                _operator(equation, names)
            else:
                _inline(equation, inner, names)


def _scope(equation: Any) -> list[str]:
    stack = str(equation.source_info.name_stack)
    return [segment for segment in stack.split("/") if segment]


def _inlined(equation: Any) -> Any:
    """Return the body of an equation that calls a function to be inlined, or None for others, such as
    loops."""
    if equation.primitive.name not in _INLINED:
        return None
    for key in _INNER:
        if key in equation.params:
            return getattr(equation.params[key], "jaxpr", equation.params[key])
    return None


def _inline(equation: Any, inner: Any, names: _Names) -> None:
    for variable, argument in zip(inner.invars, equation.invars, strict=True):
        names.set(variable, names.of(argument))
    name = equation.params.get("name")
    with names.builder.scope(name) if isinstance(name, str) else ExitStack():
        _translate(inner, names)
    for variable, argument in zip(equation.outvars, inner.outvars, strict=True):
        names.set(variable, names.of(argument))


def _operator(equation: Any, names: _Names) -> None:
    outputs = equation.outvars
    if not outputs:  # a call for its side effect, such as printing
        return
    inputs = [names.of(variable) for variable in equation.invars]
    attributes = {key: value for key, value in equation.params.items() if _is_plain(value)}
    op_type = equation.primitive.name
    if len(outputs) == 1:
        names.set(outputs[0], names.builder.node(op_type, inputs, *_type(outputs[0]), attributes))
        return
    several = names.builder.node(op_type, inputs, None, "", attributes, [_type(output) for output in outputs])
    for index, variable in enumerate(outputs):
        item = names.builder.node("TupleGetItem", [several, names.builder.constant(index)], *_type(variable))
        names.set(variable, item)


def _is_plain(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, int, float, str))


def _type(variable: Any) -> tuple[list[int], str]:
    aval = variable.aval
    if not hasattr(aval, "shape"):
        return [], ""
    return [length if isinstance(length, int) else -1 for length in aval.shape], str(aval.dtype)


def _argument_names(function: Callable[..., Any], inputs: Sequence[object]) -> list[str]:
    """Return one name for each array of the arguments, in the order of the jaxpr's inputs."""
    parameters = inspect.signature(function).parameters.values()
    named = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    named += [f"input{index}" for index in range(len(named), len(inputs))]
    return [
        ".".join([name, *map(_key, path)])
        for name, value in zip(named, inputs, strict=False)
        for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]
    ]


def _key(entry: Any) -> str:
    for kind in ("key", "idx", "name"):
        if hasattr(entry, kind):
            return str(getattr(entry, kind))
    return str(entry)


def is_traced(value: object) -> bool:
    """Return True if the numbers of ``value`` exist only when the compiled function runs."""
    return isinstance(value, jax.core.Tracer)


def deliver(put: Callable[[object], None], value: jax.Array) -> None:
    """Call ``put`` with the numbers of ``value`` each time the compiled function runs."""
    jax.debug.callback(put, value)


def barrier() -> None:
    """Wait until the compiled functions called so far have made the calls of ``deliver``."""
    jax.effects_barrier()
