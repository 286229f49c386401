"""State of a PyTorch training: random generators, buffers, gradients, norms of weights and outputs."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from functools import wraps
from operator import attrgetter
from typing import Any, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np
import torch
from torch.nn.modules import module as module_hooks

from mindinsight.writer.recorders import torch_tensors
from mindinsight.writer.recorders.fault_signs import RankSign

_SMALL: Final = 1 << 14  # elements
_FEWEST: Final = 4  # tensors that are worth being concatenated
# Sample of the gradients measured in most steps: reading all of them costs a small network 3 % of its time.
SAMPLED_TENSORS: Final = 64
_SAMPLED_ELEMENTS: Final = 1024  # of a tensor
_BLOCK: Final = 64  # of them are neighbours, in four lines of the cache: single ones take longer to read
_GRADIENT: Final = attrgetter("grad")
_Blocks: TypeAlias = tuple[tuple[int, int], tuple[int, int]]  # shape and strides
_log: Final = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


def _hidden(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to hide its operators from a dump recorder that runs at the same time."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        if not torch._C._len_torch_dispatch_stack():
            return function(*arguments, **named)
        with torch_tensors.without_modes():
            return function(*arguments, **named)

    return call


class Tensors(NamedTuple):
    """Parameters and buffers of the networks, collected once, because searching 500 modules is slow."""

    parameters: list[tuple[str, torch.nn.Parameter]]
    buffers: list[torch.Tensor]
    small: list[list[torch.nn.Parameter]]  # of fewer than 16 384 elements, which can be concatenated
    large: list[torch.nn.Parameter]  # and those like which there are too few
    sample: list[torch.nn.Parameter]  # at most 64 of all
    views: list[_Blocks | None]  # what is measured of each of the sample, [] if they must be converted


class TrainingState(NamedTuple):
    """Copies of the states of random generators and of buffers, which a training step changes."""

    random: tuple[Any, ...]  # of torch, its devices, Python and NumPy. None for an unused one
    buffers: list[torch.Tensor]  # copies, in the order of ``Tensors.buffers``


def collect(models: Mapping[str, torch.nn.Module], sampled: int) -> Tensors:
    """Return the parameters and buffers of all networks, and a sample of at most ``sampled`` trainable
    parameters. Parameters have names, which begin with the key of their network."""
    named = [pair for name, model in models.items() for pair in model.named_parameters(prefix=name)]
    groups: dict[Any, list[torch.nn.Parameter]] = {}
    for _, parameter in named:
        joins = parameter.dim() > 0 and parameter.numel() < _SMALL
        key = (parameter.device, parameter.dtype, *parameter.shape) if joins else None
        groups.setdefault(key, []).append(parameter)
    large = groups.pop(None, [])
    large += [parameter for group in groups.values() if len(group) < _FEWEST for parameter in group]
    buffers = [buffer for model in models.values() for buffer in model.buffers()]
    small = [group for group in groups.values() if len(group) >= _FEWEST]
    trained = [parameter for _, parameter in named if parameter.requires_grad]
    every = max(1, -(-len(trained) // sampled)) | 1  # odd, so that weights and biases are among them
    sample = trained[::every]
    return Tensors(named, buffers, small, large, sample, _views_of(sample))


@_hidden
def save_state(tensors: Tensors, hosts: bool = True) -> TrainingState:
    """Return copies of buffers and states of the generators. Without ``hosts``, omit Python's and NumPy's."""
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    hosted = (random.getstate(), np.random.get_state(legacy=False)) if hosts else (None, None)
    generators = torch.get_rng_state(), devices, *hosted
    return TrainingState(generators, [buffer.detach().clone() for buffer in tensors.buffers])


def uses_host_generators(state: TrainingState) -> bool:
    """Return True if Python's or NumPy's generator was used since their states were saved."""
    _, _, python_state, numpy_state = state.random
    now = np.random.get_state(legacy=False)
    parts = [(now["state"][name], before) for name, before in numpy_state["state"].items()]
    same = all(bool(np.array_equal(after, before)) for after, before in parts)
    return random.getstate() != python_state or not same


@_hidden
def restore_state(tensors: Tensors, state: TrainingState) -> None:
    """Restore random generators and buffers from a saved state."""
    torch_state, devices, python_state, numpy_state = state.random
    torch.set_rng_state(torch_state)
    if devices is not None:
        torch.cuda.set_rng_state_all(devices)
    if python_state is not None:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
    with torch.no_grad():
        for buffer, saved in zip(tensors.buffers, state.buffers, strict=True):
            buffer.copy_(saved)


def take_gradients(tensors: Tensors) -> list[torch.Tensor | None]:
    """Return the gradients of all parameters, None where there is none, and remove them from the
    parameters."""
    gradients = []
    for _, parameter in tensors.parameters:
        gradients.append(parameter.grad)
        parameter.grad = None
    return gradients


def give_gradients(tensors: Tensors, gradients: list[torch.Tensor | None]) -> None:
    """Set the gradients of all parameters, in the form in which ``take_gradients`` returns them."""
    for (_, parameter), gradient in zip(tensors.parameters, gradients, strict=True):
        parameter.grad = gradient


@_hidden
def gradient_facts(tensors: Tensors) -> tuple[float, int] | None:
    """Return the L2 norm of all gradients and the number of all-zero ones, or None without gradients.
    Small parameters of one shape are measured as one tensor, because each call costs microseconds."""
    with torch.no_grad():
        parts = torch_tensors.norms_of(_gradients(tensors.large))
        for group in tensors.small:
            parts += torch_tensors.joined_norms(_gradients(group))
        return _without_overflow(
            torch_tensors.summary_of(parts), _gradients([p for _, p in tensors.parameters])
        )


@_hidden
def sampled_facts(tensors: Tensors) -> tuple[float, int] | None:
    """Return L2 norm and number of all-zero gradients, for fixed elements of the sample's gradients, or
    None without gradients. Every step calls it with cold caches, in which each access to a tensor takes
    microseconds. What is known beforehand is therefore part of ``Tensors.views``."""
    try:
        pairs = zip(tensors.sample, tensors.views, strict=True)
        values = [_view(parameter.grad, view) for parameter, view in pairs if parameter.grad is not None]
        norms = torch._foreach_norm(values)
    except (RuntimeError, ValueError):  # there are none, or one must be converted
        with torch.no_grad():
            values = [*map(_thinned, _gradients(tensors.sample))]
            return _summary(values)
    on_host = device_of(tensors).type == "cpu"
    sizes = [norm.item() for norm in norms] if on_host else torch.stack(norms).tolist()  # one copy
    return _without_overflow((math.hypot(*sizes), sizes.count(0.0)), values)


def _view(gradient: torch.Tensor, blocks: _Blocks | None) -> torch.Tensor:
    """Return blocks of a gradient, all of it with None. Raises RuntimeError if it is not contiguous."""
    if blocks is None:
        return gradient
    if not gradient.is_contiguous():
        raise RuntimeError("this gradient has no blocks of neighbours")
    return gradient.as_strided(*blocks)


def _views_of(sample: list[torch.nn.Parameter]) -> list[_Blocks | None]:
    """Return the blocks of each gradient in the sample, [] if one must be converted to be measured."""
    plain = all(p.dtype is torch.float32 and type(p.data) is torch.Tensor for p in sample)
    return [_blocks_of(p.numel()) for p in sample] if plain and len({p.device for p in sample}) == 1 else []


def _blocks_of(elements: int) -> _Blocks | None:
    """Return shape and strides of the blocks to measure of a gradient with so many elements, or None for
    all. The distance of blocks is odd, so that they meet broken rows and columns."""
    if elements < 2 * _SAMPLED_ELEMENTS:
        return None
    blocks = _SAMPLED_ELEMENTS // _BLOCK
    distance = (elements - _BLOCK) // (blocks - 1)
    return (blocks, _BLOCK), (distance - 1 | 1, 1)


def _summary(values: list[torch.Tensor]) -> tuple[float, int] | None:
    return _without_overflow(torch_tensors.summary_of(torch_tensors.norms_of(values)), values)


def _without_overflow(
    summary: tuple[float, int] | None, tensors: list[torch.Tensor]
) -> tuple[float, int] | None:
    """Return ``summary``, measured again with scaling if its norm is infinite because squares overflowed."""
    return summary if summary is None or math.isfinite(summary[0]) else torch_tensors.scaled_summary(tensors)


def norm_name(tensors: Tensors) -> str:
    """Return the name of the norm that ``sampled_facts`` measures, for messages: of all gradients or of a
    sample."""
    trained = [parameter for _, parameter in tensors.parameters if parameter.requires_grad]
    large = any(parameter.numel() >= 2 * _SAMPLED_ELEMENTS for parameter in trained)
    whole = len(tensors.sample) == len(trained) and not large
    return "norm of the gradients" if whole else "norm of a sample of the gradients"


def _thinned(gradient: torch.Tensor) -> torch.Tensor:
    """Return only some blocks of elements of a large contiguous gradient, and any other gradient
    unchanged."""
    blocks = _blocks_of(gradient.numel())
    if blocks is None or gradient.layout != torch.strided or not gradient.is_contiguous():
        return gradient
    return gradient.as_strided(*blocks)


@_hidden
def weights_norm(tensors: Tensors) -> float:
    """Return the L2 norm of all parameters together, or NaN if none can be measured."""
    with torch.no_grad():
        summary = _summary([parameter.detach() for _, parameter in tensors.parameters])
    return math.nan if summary is None else summary[0]


@_hidden
def quiet_modules(tensors: Tensors) -> frozenset[str]:
    """Return the names of modules of which every trainable parameter with a gradient has an all-zero one."""
    gradients = [(name, p.grad) for name, p in tensors.parameters if p.requires_grad and p.grad is not None]
    modules = {name.rpartition(".")[0] for name, _ in gradients}
    with torch.no_grad():
        largest = torch_tensors.largest_by_name(gradients)
    return frozenset(modules - {name.rpartition(".")[0] for name, size in largest.items() if size != 0})


@_hidden
def weight_norms(tensors: Tensors) -> dict[str, float]:
    """Return the L2 norm of each non-empty parameter by name."""
    return torch_tensors.norms_by_name(
        [(name, parameter.detach()) for name, parameter in tensors.parameters if parameter.numel()]
    )


def loss_of(result: Any) -> float | None:
    """Return the loss in a training step's result, or None if it has none. The loss is a number or a
    tensor of one element: the result, its ``loss``, or its first item."""
    if isinstance(result, Mapping):
        result = result.get("loss")
    elif isinstance(result, (tuple, list)):
        result = result[0] if result else None
    elif hasattr(result, "loss"):
        result = result.loss
    if isinstance(result, torch.Tensor):
        return float(result.item()) if result.numel() == 1 else None
    return float(result) if isinstance(result, (int, float)) and not isinstance(result, bool) else None


class OutputWatch:
    """Watch of module outputs from ``__init__`` to ``end``: their L2 norms, and the largest elements of some.

    An output that cannot be measured is skipped. ``seconds`` is the time spent on measuring. With
    ``recorded``, or while a dump is recorded, the operators of the measurement are hidden from the recorder.
    """

    def __init__(
        self, models: Mapping[str, torch.nn.Module], suspects: Collection[str], recorded: bool = False
    ) -> None:
        begin = time.perf_counter()
        self.outputs: dict[str, float] = {}
        self.repeated: set[str] = set()  # modules that ran several times with different norms
        recorded = recorded or torch._C._len_torch_dispatch_stack() > 0
        self._hidden = torch_tensors.without_modes if recorded else nullcontext
        self.highest: dict[str, float] = {}
        self._suspects = suspects
        self._names = {
            id(module): ".".join(filter(None, (model_name, path)))
            for model_name, model in models.items()
            for path, module in model.named_modules()
        }
        self.end: Callable[[], None] = module_hooks.register_module_forward_hook(self._take).remove
        self.seconds = time.perf_counter() - begin

    def _take(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        name = self._names.get(id(module))
        if name is None:
            return
        begin = time.perf_counter()
        try:
            with torch.no_grad(), self._hidden():
                norm = torch_tensors.output_norm(output)
                if norm is not None:
                    before = self.outputs.get(name)
                    if before is not None and repr(before) != repr(norm):  # NaN is equal to NaN
                        self.repeated.add(name)
                    self.outputs[name] = norm
                    if name in self._suspects and isinstance(output, torch.Tensor) and output.numel() > 1:
                        self.highest[name] = float(output.max())
        except Exception as error:
            _log.debug("the output of %s is not measured: %s", name, error)
        self.seconds += time.perf_counter() - begin


def is_distributed() -> bool:
    """Return True if a distributed training is initialized."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


@_hidden
def gather_signs(own: RankSign, device: torch.device) -> list[RankSign]:
    """Return the observations of all ranks in this step, in the order of the ranks. Every rank must call
    it: it is one collective call."""
    on_device = torch.distributed.get_backend() not in ("gloo", "mpi")
    values = torch.tensor([*map(float, own)], dtype=torch.float64).to(device if on_device else "cpu")
    signs = [torch.empty_like(values) for _ in range(torch.distributed.get_world_size())]
    torch.distributed.all_gather(signs, values)
    return [RankSign(int(cause), *norms) for cause, *norms in (row.tolist() for row in signs)]


def device_of(tensors: Tensors) -> torch.device:
    """Return the device of the first parameter, or the CPU if there are no parameters."""
    return next((parameter.device for _, parameter in tensors.parameters), torch.device("cpu"))


def _gradients(parameters: list[torch.nn.Parameter]) -> list[torch.Tensor]:
    return [gradient for gradient in map(_GRADIENT, parameters) if gradient is not None]
