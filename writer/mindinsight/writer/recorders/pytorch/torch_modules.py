"""Hooks on PyTorch's modules: what goes in and comes out, forward and backward."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import get_gradient_edge
from torch.utils.weak import WeakTensorKeyDictionary

from mindinsight.writer.recorders.pytorch import torch_descriptions as values
from mindinsight.writer.recorders.step_files import Draft

if TYPE_CHECKING:
    from mindinsight.writer.recorders.pytorch.torch_probe import TorchProbe


class ModuleBackward:
    """Backward of one call of a module: gradients that arrive at its outputs and depart from its inputs.

    The gradient of an input is the sum of what the module's own nodes of autograd compute for it. The graph
    stays as it is: a node in between, as PyTorch's full backward hooks have it, would change the order in
    which gradients are summed, and which arguments are one object.
    """

    def __init__(
        self, probe: TorchProbe, recorded: set[str], path: str, number: int, inputs: Sequence[Any]
    ) -> None:
        self.name = f"{path}.backward.{number}"
        self._probe = probe
        self._recorded = recorded
        self._path = path
        self._draft = Draft(self.name, probe.config, values)
        self._edges: dict[Any, int] = {}  # of autograd's graph, from the module to an input
        for position, value in enumerate(inputs):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                self._edges.setdefault(tuple(get_gradient_edge(value))[:2], position)
        self._first = _next_sequence_number() if self._edges else 0
        self._consumers: dict[Any, list[tuple[int, int]]] = {}
        self._awaited: set[int] = set()  # outputs
        self._passed: dict[int, int] = {}  # outputs that are inputs
        self._arrived: list[Any] = []
        self._sums: dict[int, torch.Tensor] = {}
        self._inputs = len(inputs)
        self._state = "waiting"

    def consumers(self, outputs: Sequence[torch.Tensor]) -> Mapping[Any, list[tuple[int, int]]]:
        """Nodes that the module made and that compute gradients of inputs: places in both."""
        pending = [output.grad_fn for output in outputs] if self._edges else []
        seen = set(pending)
        while pending:
            node = pending.pop()
            if node is None or node._sequence_nr() < self._first:
                continue
            for position, edge in enumerate(node.next_functions):
                if edge in self._edges:
                    self._consumers.setdefault(node, []).append((position, self._edges[edge]))
                elif edge[0] is not None and edge[0] not in seen:
                    seen.add(edge[0])
                    pending.append(edge[0])
        return dict(self._consumers)

    def prepare(self, outputs: Mapping[int, torch.Tensor], count: int) -> None:
        """Note the outputs that will have a gradient; one may be an input, as of ``nn.Identity``."""
        self._awaited = set(outputs)
        self._arrived = [None] * count
        edges = {position: tuple(get_gradient_edge(value))[:2] for position, value in outputs.items()}
        self._passed = {
            position: self._edges[edge] for position, edge in edges.items() if edge in self._edges
        }

    def arrive(self, position: int, gradient: torch.Tensor) -> None:
        """Take the gradient of an output."""
        if self._state == "done":
            return
        self._begin()
        if self._draft.takes("backward", "input"):
            self._arrived[position] = self._draft.describe(gradient, f"input.{position}")
        self._awaited.discard(position)
        if position in self._passed:
            self._add(self._passed[position], gradient)
        if not self._consumers and not self._awaited:
            self.finish()

    def depart(self, node: Any, departures: Sequence[tuple[int, int]], produced: Sequence[Any]) -> None:
        """Take the gradients that a node computed for inputs."""
        if self._state == "done":
            return
        self._begin()
        for position, target in departures:
            gradient = produced[position]
            if gradient is not None:
                self._add(target, gradient)
        self._consumers.pop(node, None)
        if not self._consumers:
            self.finish()

    def finish(self) -> None:
        """Record what has come, if anything has."""
        if self._state != "begun":
            return
        self._state = "done"
        probe, draft = self._probe, self._draft
        if probe.selection(self.name):
            self._recorded.add(self._path)
            if draft.takes("backward", "input"):
                draft.sections["input"] = self._arrived
            if draft.takes("backward", "output"):
                departed = [self._sums.get(position) for position in range(self._inputs)]
                draft.sections["output"] = draft.describe(departed, "output") if self._edges else []
            probe.commit(draft)
        self._sums, self._consumers = {}, {}
        if self.name in probe.parents:
            probe.parents.remove(self.name)
        probe.selection.end(self.name)

    def _add(self, target: int, gradient: torch.Tensor) -> None:
        before = self._sums.get(target)
        self._sums[target] = gradient if before is None else before + gradient

    def _begin(self) -> None:
        if self._state == "waiting":
            self._state = "begun"
            probe = self._probe
            probe.enclose(self.name, probe.parents[-1] if probe.parents else None)
            probe.parents.append(self.name)
            probe.selection.begin(self.name)


def _next_sequence_number() -> int:
    """A number that no node of autograd has which was made before, in this thread."""
    with torch.enable_grad():
        node = torch.zeros((), requires_grad=True).view(()).grad_fn
    return int(node._sequence_nr())


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
