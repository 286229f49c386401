"""Hooks on PyTorch's modules: what goes into and comes out of them, forward and backward."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from mindinsight.writer.precision_debugger.draft import Draft
from mindinsight.writer.precision_debugger.pytorch import values
from mindinsight.writer.precision_debugger.pytorch.module_backward import ModuleBackward

if TYPE_CHECKING:
    from mindinsight.writer.precision_debugger.pytorch.probe import TorchProbe


class ModuleHooks:
    """Hooks on the modules of models, except the models themselves."""

    def __init__(self, probe: TorchProbe) -> None:
        self._probe = probe
        self._running: list[_Forward] = []
        self._backward: dict[str, ModuleBackward] = {}  # begun or to come, by entry
        self._recorded: set[str] = set()  # modules with a backward entry
        self._listeners: Any = WeakTensorKeyDictionary()
        self._parameters: dict[int, int] = {}  # calls of a parameter's hook in the step

    def register(self, models: Mapping[str, torch.nn.Module]) -> list[Any]:
        """Hook the modules of ``models``, for the calls of one step. Returns what removes the hooks."""
        self._running, self._backward, self._recorded = [], {}, set()
        self._listeners, self._parameters = WeakTensorKeyDictionary(), {}
        handles: list[Any] = []
        for prefix, name, module in _modules(models):
            path = f"Module.{prefix}{name}.{type(module).__name__}"
            enter, leave = partial(self._enter, path), partial(self._leave, path)
            handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
            handles.append(
                module.register_forward_hook(leave, prepend=True, with_kwargs=True, always_call=True)
            )
        return handles

    def finish(self) -> None:
        """Record modules whose backward has begun and lacks gradients that never came."""
        for backward in list(self._backward.values()):
            backward.finish()
        self._backward = {}

    def _enter(self, path: str, module: torch.nn.Module, inputs: Any, named: Any) -> None:
        self._probe.guarded(self._begin, path, inputs, named)

    def _leave(self, path: str, module: torch.nn.Module, inputs: Any, named: Any, output: Any) -> None:
        self._probe.guarded(self._end, path, module, output)

    def _begin(self, path: str, inputs: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Record what goes into a module."""
        probe = self._probe
        assert probe.files is not None
        number = probe.files.count(path)
        draft = Draft(f"{path}.forward.{number}", probe.config, values)
        probe.enclose(draft.name, probe.parents[-1] if probe.parents else None)
        probe.parents.append(draft.name)
        probe.selection.begin(draft.name)
        draft.selected = probe.selection(draft.name)
        if draft.selected:
            probe.note_code(draft.name, sys._getframe(3))
            if draft.takes("forward", "input"):
                draft.sections["input_args"] = draft.describe(tuple(inputs), "input")
                draft.sections["input_kwargs"] = draft.describe(dict(named), "kwargs")
        backward = None
        if torch.is_grad_enabled() and "backward" in probe.config.directions:
            backward = ModuleBackward(self._probe, self._recorded, path, number, inputs)
        self._running.append(_Forward(path, draft, backward))

    def _end(self, path: str, module: torch.nn.Module, output: Any) -> None:
        """Record what comes out of a module; ``output`` is None where it raised."""
        probe = self._probe
        while self._running and self._running[-1].path != path:  # modules that an exception left
            self._close(self._running.pop())
        if not self._running:
            return
        forward = self._running.pop()
        draft = forward.draft
        if draft.selected and draft.takes("forward", "output"):
            outputs = output if isinstance(output, (tuple, list)) else (output,)
            draft.sections["output"] = draft.describe(tuple(outputs), "output")
            parameters = dict(module.named_parameters(recurse=False))
            draft.sections["parameters"] = draft.describe(parameters, "parameters")
        self._close(forward)
        if forward.backward is not None and output is not None:
            self._hook_outputs(forward.backward, output)
        if "backward" in probe.config.directions:
            self._hook_parameters(path, module)

    def _close(self, forward: _Forward) -> None:
        probe = self._probe
        if forward.draft.selected:
            probe.commit(forward.draft)
        if forward.draft.name in probe.parents:
            del probe.parents[probe.parents.index(forward.draft.name) :]
        probe.selection.end(forward.draft.name)

    def _hook_outputs(self, backward: ModuleBackward, output: Any) -> None:
        outputs = list(_leaves(output))
        wanted = [
            (position, value)
            for position, value in enumerate(outputs)
            if isinstance(value, torch.Tensor) and value.requires_grad
        ]
        backward.prepare(dict(wanted), len(outputs))
        if wanted:
            self._backward[backward.name] = backward
            for node, departures in backward.consumers([value for _, value in wanted]).items():
                self._hook_node(node, partial(backward.depart, node, departures))
        for position, value in wanted:
            self._listen(value, partial(backward.arrive, position))

    def _hook_node(self, node: Any, depart: Callable[[Any], None]) -> None:
        files = self._probe.files

        def hook(produced: Any, _: Any) -> None:
            if self._probe.files is files:
                self._probe.guarded(depart, produced)

        self._probe.keep(node.register_hook(hook))

    def _listen(self, tensor: torch.Tensor, listener: Callable[[torch.Tensor], None]) -> None:
        """Call ``listener`` with the gradient of ``tensor`` as it is now.

        A module and the one around it may return one tensor: the outer one, which is hooked last, goes first.
        """
        version, listeners = self._listeners.get(tensor, (None, []))
        if version != tensor._version:  # hooks of before an operator in place see the gradient of before
            listeners = []
            self._listeners[tensor] = (tensor._version, listeners)
            files = self._probe.files

            def hook(gradient: torch.Tensor) -> None:
                if self._probe.files is files:
                    for call in list(listeners):
                        self._probe.guarded(call, gradient)

            self._probe.keep(tensor.register_hook(hook))
        listeners.insert(0, listener)

    def _hook_parameters(self, path: str, module: torch.nn.Module) -> None:
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.requires_grad and parameter.is_leaf and id(parameter) not in self._parameters:
                self._parameters[id(parameter)] = 0
                hook = partial(self._accumulated, path, name, self._probe.files)
                self._probe.keep(parameter.register_post_accumulate_grad_hook(hook))

    def _accumulated(self, path: str, name: str, files: Any, parameter: torch.Tensor) -> None:
        if self._probe.files is files:
            self._probe.guarded(self._record_gradient, path, name, parameter)

    def _record_gradient(self, path: str, name: str, parameter: torch.Tensor) -> None:
        number = self._parameters[id(parameter)]
        self._parameters[id(parameter)] = number + 1
        if not self._probe.selection(path) and path not in self._recorded:
            return
        draft = Draft(f"{path}.parameters_grad.{number}", self._probe.config, values)
        draft.sections[name] = [draft.describe(parameter.grad, name)]
        self._probe.commit(draft)


class _Forward:
    """A module that runs."""

    def __init__(self, path: str, draft: Draft, backward: ModuleBackward | None) -> None:
        self.path = path
        self.draft = draft
        self.backward = backward


def _leaves(value: Any) -> Iterator[Any]:
    """What stands in lists, tuples and dictionaries, in order."""
    items = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (list, tuple, Mapping)):
        for item in items:
            yield from _leaves(item)
    else:
        yield value


def _modules(models: Mapping[str, torch.nn.Module]) -> Iterator[tuple[str, str, torch.nn.Module]]:
    for prefix, model in models.items():
        for name, module in model.named_modules():
            if module is not model and not isinstance(module, torch.jit.ScriptModule):
                yield prefix, name, module
