"""Capture of PyTorch's operators: forward, backward, recomputed and of the optimizer.

``TorchDispatchMode`` receives every operator below autograd. A backward operator has the scope of the forward
operator it differentiates: nodes of autograd are marked when they are made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import torch
from torch.nn.modules import module as module_hooks
from torch.optim import optimizer as optimizer_hooks
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from mindinsight.writer.recorders.capture import (
    CodeLine,
    Observer,
    OperatorCall,
    OperatorCapture,
    phase_scope,
)
from mindinsight.writer.recorders.torch_tensors import facts_of, host_copy, tensors_of

__all__ = [
    "NUMBERS_PER_SCOPE",
    "facts_of",
    "host_copy",
    "is_trained",
    "make_capture",
    "named_parameters",
    "unseen_regions",
]

NUMBERS_PER_SCOPE: Final = False  # operators of a type are counted in the whole step

_MARK: Final = "mindinsight"  # key in the metadata of autograd's nodes
_STACK_DEPTH: Final = 8  # lines of the user's code
_IGNORED: Final = {  # they compute nothing: other names for a tensor, memory, and marks for profilers
    "_has_compatible_shallow_copy_type",
    "_local_scalar_dense",
    "_record_function_enter_new",
    "_record_function_exit",
    "alias",
    "detach",
    "empty",  # of no values yet
    "empty_like",
    "empty_strided",
    "is_same_size",
    "lift_fresh",
    "lift_fresh_copy",
    "new_empty",
    "new_empty_strided",
}
# Operators that compute with a number after so many tensors.
_OF_NUMBERS: Final = {
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "rsub", "remainder", "fmod"), 1),
    **dict.fromkeys(("clamp_min", "clamp_max"), 1),
    **dict.fromkeys(("addcmul", "addcdiv"), 3),
}
_FOREIGN: Final = (  # paths of code that is not the user's
    f"{Path(torch.__file__).parent}{os.sep}",
    f"{Path(__file__).parent}{os.sep}",
    "<",
)


class _Mark(NamedTuple):
    """Label of an autograd node: scope and lines of code of the forward operator that made the node."""

    scope: str
    stack: tuple[CodeLine, ...]


class TorchCapture(OperatorCapture):
    """Capture of PyTorch's operators in this thread. ``models`` are networks by name."""

    def __init__(
        self, models: Mapping[str, torch.nn.Module], observer: Observer, on_error: Callable[[Exception], None]
    ) -> None:
        super().__init__(observer, on_error)
        self._names = dict(_module_names(models))
        self._hooks: list[Any] = []
        self._modes: list[Any] = []

    @property
    def running(self) -> bool:
        """Return True between ``start`` and ``stop``."""
        return bool(self._modes)

    def start(self) -> None:
        """Begin to capture. The hooks are global and include modules made later."""
        self._hooks = [
            module_hooks.register_module_forward_pre_hook(self._enter),
            module_hooks.register_module_forward_hook(self._leave, always_call=True),
            optimizer_hooks.register_optimizer_step_pre_hook(self._enter_optimizer),
            optimizer_hooks.register_optimizer_step_post_hook(self._leave),
        ]
        self._modes = [_Operators(self), _Marks(self)]
        for mode in self._modes:
            mode.__enter__()

    def stop(self) -> None:
        """End the capture. Recorded operators are kept."""
        for mode in reversed(self._modes):
            mode.__exit__(None, None, None)
        for hook in self._hooks:
            hook.remove()
        self._hooks, self._modes, self._scopes = [], [], []

    def operator(self, function: Any, arguments: Sequence[Any], run: Callable[[], Any]) -> Any:
        """Run an operator and return its result. The observer receives inputs and outputs."""
        finish = None
        if not self._failed:
            finish = self._guarded(self._before, function.overloadpacket.__name__, arguments)
        outputs = run()
        if finish is not None:
            self._guarded(self._after, function, finish, outputs)
        return outputs

    def mark(self, result: Any) -> None:
        """Label the autograd nodes behind ``result`` that have no label yet with the current scope."""
        if self._failed:
            return
        self._guarded(self._mark_nodes, result)

    def _mark_nodes(self, result: Any) -> None:
        pending: list[Any] = [_node_of(tensor) for tensor in tensors_of(result)]
        mark = _Mark("/".join(self._scopes), user_stack()) if any(pending) else None
        while pending:
            node = pending.pop()
            if node is not None and _MARK not in node.metadata:
                node.metadata[_MARK] = mark
                pending += [before for before, _ in node.next_functions]

    def _before(self, name: str, arguments: Sequence[Any]) -> Callable[[Sequence[Any]], None] | None:
        if name in _IGNORED or os.getpid() != self._process:  # a forked worker of a DataLoader
            return None
        scope, stack = self._origin()
        tensors = tuple(tensors_of(arguments))
        return self._observer(OperatorCall(name, scope, tensors, stack, _numbers(name, arguments)))

    def _after(self, function: Any, finish: Callable[[Sequence[Any]], None], outputs: Any) -> None:
        if function.namespace == "c10d":  # a collective: its tensors hold the result only afterwards
            for item in outputs if isinstance(outputs, (tuple, list)) else [outputs]:
                if isinstance(item, torch.ScriptObject):
                    item.wait()
        finish(tuple(tensors_of(outputs)))

    def _origin(self) -> tuple[str, tuple[CodeLine, ...]]:
        """Return scope and lines of code of the operator that is about to run."""
        node = torch._C._current_autograd_node()
        if node is None:
            return phase_scope("forward", "/".join(self._scopes)), user_stack()
        if self._scopes and torch.is_grad_enabled():  # a checkpoint runs its modules again
            return phase_scope("recompute", "/".join(self._scopes)), user_stack()
        mark = node.metadata.get(_MARK)
        scope, stack = mark or ("", ())
        return phase_scope("backward", scope), stack

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        self._scopes.append(self._segments(module))

    def _leave(self, *_: Any) -> None:
        if self._scopes:
            self._scopes.pop()

    def _enter_optimizer(self, optimizer: torch.optim.Optimizer, *rest: Any) -> None:
        self._scopes.append(f"optimizer-{type(optimizer).__name__}")

    def _segments(self, module: torch.nn.Module) -> str:
        """Return the scope of a module, relative to the scope of its caller."""
        path = self._names.get(id(module))
        if path is None:
            return type(module).__name__
        above = "/".join(filter(None, self._scopes))
        return path.removeprefix(f"{above}/") if above else path


class _Operators(TorchDispatchMode):  # type: ignore[misc]
    """Dispatch mode that passes every operator to the capture."""

    def __init__(self, capture: TorchCapture) -> None:
        super().__init__()
        self._capture = capture

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        # Memory for a result is no input: it may be uninitialised, as the buckets of DistributedDataParallel.
        given = [value for name, value in named.items() if name not in _results(func)]
        return self._capture.operator(func, (*args, *given), lambda: func(*args, **named))


@cache
def _results(func: Any) -> frozenset[str]:
    """Return the names of the arguments into which an operator writes its results."""
    schema = getattr(func, "_schema", None)
    return frozenset(argument.name for argument in (schema.arguments if schema else ()) if argument.is_out)


class _Marks(TorchFunctionMode):  # type: ignore[misc]
    """Function mode that marks autograd's nodes. It runs above autograd."""

    def __init__(self, capture: TorchCapture) -> None:
        super().__init__()
        self._capture = capture

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self._capture.mark(result)
        return result


make_capture: Final = TorchCapture


def named_parameters(models: Mapping[str, torch.nn.Module]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield name and tensor of each parameter of all networks. With several networks, names begin with the
    network's name."""
    for model_name, model in models.items():
        yield from model.named_parameters(prefix=model_name)


def is_trained(parameter: torch.Tensor) -> bool:
    """Return True if autograd is to compute a gradient of a parameter."""
    return bool(parameter.requires_grad)


def unseen_regions(models: Mapping[str, torch.nn.Module]) -> list[str]:
    """Return the names of modules compiled by torch.compile, "the network" for one without a name.
    Operators inside them are not captured."""
    return [
        name or "the network"
        for model_name, model in models.items()
        for name, module in model.named_modules(prefix=model_name)
        if type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None)
    ]


def _numbers(name: str, arguments: Sequence[Any]) -> dict[str, float]:
    """Return the number that an operator takes after its tensors, by its slot, or an empty dictionary."""
    *tensors, number = arguments or [None]
    if _OF_NUMBERS.get(name.rstrip("_")) != len(tensors) or type(number) not in (int, float):
        return {}
    known = all(isinstance(tensor, torch.Tensor) for tensor in tensors)
    return {str(len(tensors)): float(number)} if known else {}


def _node_of(tensor: torch.Tensor) -> Any:
    """Return the autograd node of a tensor, or None without one. PyTorch raises if a view was made under
    ``no_grad`` and its base was changed in place since, as in ``with torch.no_grad(): weight[1] += 1``."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def user_stack() -> tuple[CodeLine, ...]:
    """Return at most eight of the calling lines of code outside PyTorch and this package, innermost first."""
    lines: list[CodeLine] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(lines) < _STACK_DEPTH:
        code = frame.f_code
        if not code.co_filename.startswith(_FOREIGN):
            lines.append(CodeLine(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(lines)


def _module_names(models: Mapping[str, torch.nn.Module]) -> Iterator[tuple[int, str]]:
    """Yield identity and scope of each module: ``layers-ModuleList/0-Linear``."""
    for model_name, model in models.items():
        classes = {path: type(module).__name__ for path, module in model.named_modules()}
        root = f"{model_name}-{classes['']}" if model_name else ""
        for path, module in model.named_modules():
            parts = path.split(".") if path else []
            paths = [".".join(parts[: depth + 1]) for depth in range(len(parts))]
            segments = [f"{part}-{classes[whole]}" for part, whole in zip(parts, paths, strict=True)]
            yield id(module), "/".join(filter(None, [root, *segments]))
