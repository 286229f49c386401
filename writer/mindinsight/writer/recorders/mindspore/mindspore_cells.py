"""Hooks on MindSpore's cells: what goes into and comes out of them, forward and backward."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import mindspore

from mindinsight.writer.recorders.mindspore.mindspore_values import tensors_of
from mindinsight.writer.recorders.step_files import Draft

if TYPE_CHECKING:
    from mindinsight.writer.recorders.mindspore.mindspore_probe import MindSporeProbe


class CellHooks:
    """Hooks on the cells of models, except the models themselves."""

    def __init__(self, probe: MindSporeProbe) -> None:
        self._probe = probe
        self._running: list[tuple[str, Draft, CellBackward | None]] = []
        self._backward: list[CellBackward] = []
        self._parameters: dict[int, int] = {}  # calls of a parameter's hook in the step

    def register(self, models: Mapping[str, mindspore.nn.Cell]) -> list[Any]:
        """Hook the cells of ``models``, for the calls of one step. Returns what removes the hooks."""
        self._running, self._backward, self._parameters = [], [], {}
        handles: list[Any] = []
        for prefix, model in models.items():
            for name, cell in model.cells_and_names():
                if cell is model:
                    continue
                path = f"Cell.{prefix}{name}.{type(cell).__name__}"
                enter, leave = partial(self._enter, path), partial(self._leave, path)
                handles.append(cell.register_forward_pre_hook(enter, with_kwargs=True))
                handles.append(
                    cell.register_forward_hook(leave, prepend=True, with_kwargs=True, always_call=True)
                )
        return handles

    def finish(self) -> None:
        """Record cells whose backward has begun and lacks gradients that never came."""
        for backward in self._backward:
            backward.finish()
        self._backward = []

    def _enter(self, path: str, cell: Any, inputs: Any, named: Any) -> None:
        self._probe.guarded(self._begin, path, inputs, named)

    def _leave(self, path: str, cell: Any, inputs: Any, named: Any, output: Any) -> None:
        self._probe.guarded(self._end, path, cell, output)

    def _begin(self, path: str, inputs: Sequence[Any], named: Mapping[str, Any]) -> None:
        probe = self._probe
        assert probe.files is not None
        number = probe.files.count(path)
        draft = probe.draft(f"{path}.forward.{number}")
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
        if "backward" in probe.config.directions:
            backward = CellBackward(probe, f"{path}.backward.{number}", inputs)
        self._running.append((path, draft, backward))

    def _end(self, path: str, cell: Any, output: Any) -> None:
        """Record what comes out of a cell; ``output`` is None where it raised."""
        probe = self._probe
        while self._running and self._running[-1][0] != path:  # cells that an exception left
            self._close(self._running.pop()[1])
        if not self._running:
            return
        _, draft, backward = self._running.pop()
        parameters = {
            name.rpartition(".")[2]: value for name, value in cell.parameters_dict(recurse=False).items()
        }
        if draft.selected and draft.takes("forward", "output"):
            outputs = output if isinstance(output, (tuple, list)) else (output,)
            draft.sections["output"] = draft.describe(tuple(outputs), "output")
            draft.sections["parameters"] = draft.describe(parameters, "parameters")
        self._close(draft)
        if backward is not None and output is not None:
            self._backward.append(backward)
            backward.hook(list(tensors_of(output)))
        if "backward" in probe.config.directions:
            self._hook_parameters(path, parameters)

    def _close(self, draft: Draft) -> None:
        probe = self._probe
        if draft.selected:
            probe.commit(draft)
        if draft.name in probe.parents:
            del probe.parents[probe.parents.index(draft.name) :]
        probe.selection.end(draft.name)

    def _hook_parameters(self, path: str, parameters: Mapping[str, Any]) -> None:
        files = self._probe.files

        def hook(name: str, key: int, gradient: Any) -> None:
            if self._probe.files is files:
                self._probe.guarded(self._record_gradient, path, name, key, gradient)

        for name, parameter in parameters.items():
            if parameter.requires_grad and id(parameter) not in self._parameters:
                self._parameters[id(parameter)] = 0
                self._probe.keep(parameter.register_hook(partial(hook, name, id(parameter))))

    def _record_gradient(self, path: str, name: str, key: int, gradient: Any) -> None:
        number = self._parameters[key]
        self._parameters[key] = number + 1
        if self._probe.selection(path):
            draft = self._probe.draft(f"{path}.parameters_grad.{number}")
            draft.sections[name] = [draft.describe(gradient, name)]
            self._probe.commit(draft)


class CellBackward:
    """Backward of one call of a cell: gradients that arrive at its outputs and depart from its inputs.

    The gradient of an input is the sum of what the cell's own nodes of autograd compute for it.
    """

    def __init__(self, probe: MindSporeProbe, name: str, inputs: Sequence[Any]) -> None:
        self.name = name
        self._probe = probe
        self._draft = probe.draft(name)
        self._inputs: dict[int, int] = {}  # node that made an input -> place of the input
        self._first = 0  # number of the first node that the cell may make
        for position, value in enumerate(inputs):
            node = value._grad_node if isinstance(value, mindspore.Tensor) else None
            if node is not None:
                self._inputs.setdefault(node._unique_id(), position)
                self._first = max(self._first, 0 if node.is_leaf() else node._sequence_nr() + 1)
        self._sums: list[Any] = [None] * len(inputs)
        self._arrived: list[Any] = []
        self._awaited: set[int] = set()  # outputs
        self._pending: set[int] = set()  # nodes that compute gradients of inputs
        self._state = "waiting"

    def hook(self, outputs: Sequence[Any]) -> None:
        """Observe the gradients of the outputs, and the nodes that compute those of the inputs."""
        self._arrived = [None] * len(outputs)
        made = {position: value for position, value in enumerate(outputs) if value._grad_node is not None}
        self._awaited = {position for position, value in made.items() if not value._grad_node.is_leaf()}
        for position in sorted(self._awaited):
            self._probe.keep(made[position].register_hook(self._listener(partial(self._arrive, position))))
        for node, departures in self._consumers([made[position]._grad_node for position in self._awaited]):
            self._pending.add(node._unique_id())
            depart = partial(self._depart, node._unique_id(), departures)
            self._probe.keep(node.register_hook(self._listener(depart)))

    def finish(self) -> None:
        """Record what has come, if anything has."""
        if self._state != "begun":
            return
        self._state = "done"
        probe, draft = self._probe, self._draft
        if probe.selection(self.name):
            if draft.takes("backward", "input"):
                draft.sections["input"] = self._arrived
            if draft.takes("backward", "output"):
                draft.sections["output"] = draft.describe(self._sums, "output")
            probe.commit(draft)
        self._sums = []
        if self.name in probe.parents:
            probe.parents.remove(self.name)
        probe.selection.end(self.name)

    def _consumers(self, pending: list[Any]) -> Iterator[tuple[Any, list[tuple[int, int]]]]:
        """Nodes that the cell made and that compute gradients of inputs: places in both."""
        seen = {node._unique_id() for node in pending}
        while pending:
            node = pending.pop()
            departures = []
            for position, (before, _) in enumerate(node.next_functions):
                if before is None:
                    continue
                key = before._unique_id()
                if key in self._inputs:
                    departures.append((position, self._inputs[key]))
                elif key not in seen and not before.is_leaf() and before._sequence_nr() >= self._first:
                    seen.add(key)
                    pending.append(before)
            if departures:
                yield node, departures

    def _listener(self, take: Callable[..., None]) -> Callable[..., None]:
        files = self._probe.files

        def listener(*values: Any) -> None:
            if self._probe.files is files:
                self._probe.guarded(take, *values)

        return listener

    def _arrive(self, position: int, gradient: Any) -> None:
        if self._state == "done":
            return
        self._begin()
        if self._draft.takes("backward", "input"):
            self._arrived[position] = self._draft.describe(gradient, f"input.{position}")
        self._awaited.discard(position)
        if not self._pending and not self._awaited:
            self.finish()

    def _depart(self, node: int, departures: Sequence[tuple[int, int]], produced: Any, _: Any) -> None:
        if self._state == "done":
            return
        self._begin()
        for position, target in departures:
            gradient = produced[position] if position < len(produced) else None
            if gradient is not None:
                before = self._sums[target]
                self._sums[target] = gradient if before is None else before + gradient
        self._pending.discard(node)
        if not self._pending:
            self.finish()

    def _begin(self) -> None:
        if self._state == "waiting":
            self._state = "begun"
            probe = self._probe
            probe.enclose(self.name, probe.parents[-1] if probe.parents else None)
            probe.parents.append(self.name)
            probe.selection.begin(self.name)
