"""Capture of PyTorch's calls and modules for the precision debugger.

Calls come from a ``TorchFunctionMode``, which sees a function however it was imported and changes none. The
backward pass of a call comes from a hook on the node of autograd that made its output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any, Final

import torch
from torch.autograd.graph import get_gradient_edge
from torch.optim import optimizer as optimizer_hooks
from torch.overrides import TorchFunctionMode
from torch.utils.weak import WeakTensorKeyDictionary

from mindinsight.writer.recorders import torch_tensors
from mindinsight.writer.recorders.probe import Given, ModuleBackward, ModuleHooks, Probe
from mindinsight.writer.recorders.step_files import StepFiles
from mindinsight.writer.recorders.torch_calls import CallSite, TorchNames
from mindinsight.writer.recorders.torch_tensors import tensors_of, without_modes

_OPTIMIZER: Final = "optimizer"  # parent of the calls of an optimizer


class TorchModuleBackward(ModuleBackward):
    """Backward pass of one call of a PyTorch module.

    The graph stays unchanged. PyTorch's full backward hooks add a node, which changes the order in which
    gradients are summed, and which arguments are one object.
    """

    def __init__(self, hooks: TorchModuleHooks, path: str, number: int, inputs: Sequence[Any]) -> None:
        super().__init__(hooks, path, number, len(inputs))
        self._edges: dict[Any, int] = {}  # edge of autograd's graph from the module to an input
        for position, value in enumerate(inputs):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                self._edges.setdefault(_edge(value), position)
        self._first = _next_sequence_number() if self._edges else 0
        self._passed: dict[int, int] = {}  # outputs that are inputs

    def prepare(self, outputs: Mapping[int, torch.Tensor], count: int) -> None:
        """Set the outputs, of ``count``, that will have a gradient, and those that are inputs passed on.
        ``nn.Identity`` returns its input as an output."""
        self.awaited = set(outputs)
        self.arrived = [None] * count
        edges = {position: _edge(value) for position, value in outputs.items()}
        self._passed = {
            position: self._edges[edge] for position, edge in edges.items() if edge in self._edges
        }

    def consumers(self, outputs: Sequence[torch.Tensor]) -> dict[Any, list[tuple[int, int]]]:
        """Return the module's autograd nodes that compute gradients of inputs, each with a list of pairs
        (index among its gradients, index of the input), {} if no input requires a gradient. Wait for these
        nodes from now on."""
        consumers: dict[Any, list[tuple[int, int]]] = {}
        pending = [output.grad_fn for output in outputs] if self._edges else []
        seen = set(pending)
        while pending:
            node = pending.pop()
            if node is None or node._sequence_nr() < self._first:
                continue
            for position, edge in enumerate(node.next_functions):
                if edge in self._edges:
                    consumers.setdefault(node, []).append((position, self._edges[edge]))
                elif edge[0] is not None and edge[0] not in seen:
                    seen.add(edge[0])
                    pending.append(edge[0])
        self.pending = set(consumers)
        return consumers

    def passed_on(self, position: int, gradient: torch.Tensor) -> None:
        """Add the gradient of an output to that of the input which the module passes on as this output, if
        any."""
        if position in self._passed:
            self.add(self._passed[position], gradient)

    def departed(self) -> list[Any]:
        """Return the gradients of the inputs, an empty list if no input requires a gradient."""
        return super().departed() if self._edges else []


def _edge(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(get_gradient_edge(tensor))[:2]


def _next_sequence_number() -> int:
    """Return a number above the sequence numbers of all nodes that this thread has made."""
    with torch.enable_grad():
        node = torch.zeros((), requires_grad=True).view(()).grad_fn
    return int(node._sequence_nr())


class TorchModuleHooks(ModuleHooks):
    """Hooks on the modules of PyTorch models."""

    def __init__(self, probe: TorchProbe) -> None:
        super().__init__(probe)
        self._listeners: Any = WeakTensorKeyDictionary()

    def register(self, models: Mapping[str, torch.nn.Module]) -> list[Any]:
        """Hook the modules of ``models`` for one step, and return the handles that remove the hooks."""
        self._listeners = WeakTensorKeyDictionary()
        return super().register(models)

    def modules(self, models: Mapping[str, torch.nn.Module]) -> Iterator[tuple[str, torch.nn.Module]]:
        """Yield msprobe's path and the module of each module to hook. Script modules have no hooks with
        keywords and are skipped."""
        for prefix, model in models.items():
            for name, module in model.named_modules():
                if module is not model and not isinstance(module, torch.jit.ScriptModule):
                    yield f"Module.{prefix}{name}.{type(module).__name__}", module

    def parameters(self, module: torch.nn.Module) -> dict[str, Any]:
        """Return the module's own parameters by name."""
        return dict(module.named_parameters(recurse=False))

    def has_gradient(self, parameter: torch.nn.Parameter) -> bool:
        """Return True if autograd accumulates a gradient in a parameter."""
        return bool(parameter.requires_grad and parameter.is_leaf)

    def selects_gradients(self, path: str) -> bool:
        """Return True if the module is selected or its backward pass has been recorded."""
        return super().selects_gradients(path) or path in self.recorded

    def new_backward(self, path: str, number: int, inputs: Sequence[Any]) -> TorchModuleBackward | None:
        """Return a new record of the backward pass of one call, or None if autograd is off."""
        return TorchModuleBackward(self, path, number, inputs) if torch.is_grad_enabled() else None

    def hook_outputs(self, backward: Any, output: Any) -> None:
        """Hook the outputs that require a gradient and the nodes that compute gradients of inputs."""
        outputs = list(_leaves(output))
        wanted = {
            position: value
            for position, value in enumerate(outputs)
            if isinstance(value, torch.Tensor) and value.requires_grad
        }
        backward.prepare(wanted, len(outputs))
        if wanted:
            self.backward.append(backward)
            for node, places in backward.consumers([*wanted.values()]).items():
                depart = self.probe.listener(partial(backward.depart, node, places))
                self.probe.keep(node.register_hook(depart))
        for position, value in wanted.items():
            self._listen(value, partial(backward.arrive, position))

    def hook_gradient(self, path: str, name: str, parameter: torch.nn.Parameter) -> Any:
        """Record the gradient of a parameter each time autograd has accumulated into it."""

        def accumulated(parameter: torch.nn.Parameter) -> None:
            self.record_gradient(path, name, id(parameter), parameter.grad)

        return parameter.register_post_accumulate_grad_hook(self.probe.listener(accumulated))

    def _listen(self, tensor: torch.Tensor, listener: Callable[[torch.Tensor], None]) -> None:
        """Call ``listener`` with the gradient of the tensor's present version. A module and its parent may
        return one tensor. The parent, hooked last, is called first."""
        version, listeners = self._listeners.get(tensor, (None, []))
        if version != tensor._version:  # hooks made before an operator in place see the earlier gradient
            listeners = []
            self._listeners[tensor] = (tensor._version, listeners)
            probe, files = self.probe, self.probe.files

            def hook(gradient: torch.Tensor) -> None:
                if probe.files is files:
                    for call in list(listeners):
                        probe.guarded(call, gradient)

            probe.keep(tensor.register_hook(hook))
        listeners.insert(0, listener)


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the items of nested lists, tuples and dictionaries in order."""
    items = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (list, tuple, Mapping)):
        for item in items:
            yield from _leaves(item)
    else:
        yield value


class TorchProbe(Probe):
    """Capture of PyTorch's calls, modules and optimizers."""

    values = torch_tensors
    hooks = TorchModuleHooks

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._names = TorchNames()
        self._shapes: dict[Any, Any] = {}  # of call instructions
        self._optimizing = False
        self._mode: _Calls | None = None

    def start(self, models: Mapping[str, torch.nn.Module], files: StepFiles) -> None:
        """Begin to capture. The keys of ``models`` are prefixes of their modules' names."""
        self._optimizing = False
        super().start(models, files)
        if not self.failed:
            self.keep(optimizer_hooks.register_optimizer_step_pre_hook(partial(self._set_optimizing, True)))
            self.keep(optimizer_hooks.register_optimizer_step_post_hook(partial(self._set_optimizing, False)))

    def watch_calls(self, models: Mapping[str, torch.nn.Module]) -> None:
        """Pass every function that the training calls to ``call``."""
        self._mode = _Calls(self)
        self._mode.__enter__()

    def unwatch_calls(self) -> None:
        """Leave the function mode, if it was entered."""
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self._mode = None

    def quiet(self) -> Any:
        """Return a context in which no function mode is called."""
        return without_modes()

    def identify(self, key: Any, frame: FrameType) -> tuple[str | None, FrameType | None, Given]:
        """Return name, calling frame and argument order of a function. The name of an ignored one is None."""
        site = CallSite(frame, self._shapes)
        name = self._names.name_of(key, site.frame)
        is_method = name is not None and name.startswith("Tensor.")
        return name, site.frame, partial(site.arguments, is_method=is_method)

    def node_of(self, output: Any) -> Any:
        """Return the autograd node of the first tensor in ``output``. It is None without a tensor, for a
        leaf, and if autograd is off."""
        first = next(tensors_of(output), None)
        return None if first is None or not torch.is_grad_enabled() else first.grad_fn

    def parent(self) -> str | None:
        """Return the entry of the optimizer while one is running, and record the entry as one without a
        parent. Else return the entry of the innermost running module, or None outside of both."""
        if self._optimizing and self.files is not None:
            self.files.add_parent(_OPTIMIZER, None)
            return _OPTIMIZER
        return super().parent()

    def _set_optimizing(self, optimizing: bool, *_: Any) -> None:
        self._optimizing = optimizing


class _Calls(TorchFunctionMode):  # type: ignore[misc]
    """Function mode that passes every function to the probe."""

    def __init__(self, probe: TorchProbe) -> None:
        super().__init__()
        self._probe = probe

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._probe.call(func, func, args, kwargs or {})


make_probe: Final = TorchProbe
