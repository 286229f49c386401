"""State of a PyTorch training: random generators, buffers and gradients, norms of weights and activations."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch.nn.modules import module as module_hooks

from mindinsight.writer.capture.pytorch.norms import norm_of_all, norms_by_name, output_norm
from mindinsight.writer.capture.rank_signs import RankSign

_SMALL: Final = 1 << 14  # elements
_FEWEST: Final = 4  # tensors that are worth being concatenated
_GRADIENT: Final = attrgetter("grad")
_log: Final = logging.getLogger(__name__)


class Tensors(NamedTuple):
    """Parameters and buffers of the networks, collected once, as looking through 500 modules takes long."""

    parameters: list[tuple[str, torch.nn.Parameter]]
    buffers: list[torch.Tensor]
    small: list[list[torch.nn.Parameter]]  # of fewer than 16 384 elements, which can be concatenated
    large: list[torch.nn.Parameter]  # and those like which there are too few


class TrainingState(NamedTuple):
    """What a training step reads and changes besides weights and data, as it was at a moment."""

    random: tuple[Any, ...]
    buffers: list[torch.Tensor]  # copies, in the order of ``Tensors.buffers``


def collect(models: Mapping[str, torch.nn.Module]) -> Tensors:
    """Parameters by name and buffers of all networks as they are now."""
    named = [pair for name, model in models.items() for pair in model.named_parameters(prefix=name)]
    groups: dict[Any, list[torch.nn.Parameter]] = {}
    for _, parameter in named:
        joins = parameter.dim() > 0 and parameter.numel() < _SMALL
        key = (parameter.device, parameter.dtype, *parameter.shape[1:], parameter.dim()) if joins else None
        groups.setdefault(key, []).append(parameter)
    large = groups.pop(None, [])
    large += [parameter for group in groups.values() if len(group) < _FEWEST for parameter in group]
    buffers = [buffer for model in models.values() for buffer in model.buffers()]
    return Tensors(named, buffers, [group for group in groups.values() if len(group) >= _FEWEST], large)


def save_state(tensors: Tensors) -> TrainingState:
    """Copy the states of all random generators and the buffers."""
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    generators = torch.get_rng_state(), devices, random.getstate(), np.random.get_state(legacy=False)
    return TrainingState(generators, [buffer.detach().clone() for buffer in tensors.buffers])


def restore_state(tensors: Tensors, state: TrainingState) -> None:
    """Set random generators and buffers back to a saved state."""
    torch_state, devices, python_state, numpy_state = state.random
    torch.set_rng_state(torch_state)
    if devices is not None:
        torch.cuda.set_rng_state_all(devices)
    random.setstate(python_state)
    np.random.set_state(numpy_state)
    with torch.no_grad():
        for buffer, saved in zip(tensors.buffers, state.buffers, strict=True):
            buffer.copy_(saved)


def take_gradients(tensors: Tensors) -> list[torch.Tensor | None]:
    """The gradients of all parameters, which have none afterwards."""
    gradients = []
    for _, parameter in tensors.parameters:
        gradients.append(parameter.grad)
        parameter.grad = None
    return gradients


def give_gradients(tensors: Tensors, gradients: list[torch.Tensor | None]) -> None:
    """Set the gradients of all parameters."""
    for (_, parameter), gradient in zip(tensors.parameters, gradients, strict=True):
        parameter.grad = gradient


def gradient_norm(tensors: Tensors) -> float | None:
    """L2 norm of all gradients together; None without gradients.

    Those of small parameters of a shape are measured as one tensor, since each call costs microseconds;
    concatenating tensors of one shape takes less than half the time of flattening them.
    """
    with torch.no_grad():
        parts = _gradients(tensors.large)
        for group in tensors.small:
            parts += _joined(_gradients(group))
        return norm_of_all(parts)


def weight_norms(tensors: Tensors) -> dict[str, float]:
    """L2 norm of each parameter by name."""
    return norms_by_name(
        [(name, parameter.detach()) for name, parameter in tensors.parameters if parameter.numel()]
    )


def loss_of(result: Any) -> float | None:
    """The loss in what a training step returned: a number, a tensor of one, its ``loss`` or first item."""
    if isinstance(result, Mapping):
        result = result.get("loss")
    elif isinstance(result, (tuple, list)):
        result = result[0] if result else None
    elif hasattr(result, "loss"):
        result = result.loss
    if isinstance(result, torch.Tensor):
        return float(result.detach()) if result.numel() == 1 else None
    return float(result) if isinstance(result, (int, float)) and not isinstance(result, bool) else None


def watch_outputs(
    models: Mapping[str, torch.nn.Module], put: Callable[[str, float], None]
) -> Callable[[], None]:
    """Call ``put(module, norm)`` with the L2 norm of each module's output, until the answer is called.

    An output that cannot be measured is left out: the training goes on.
    """
    names = {
        id(module): ".".join(filter(None, (model_name, path)))
        for model_name, model in models.items()
        for path, module in model.named_modules()
    }

    def hook(module: torch.nn.Module, inputs: Any, output: Any) -> None:
        name = names.get(id(module))
        if name is None:
            return
        try:
            with torch.no_grad():
                norm = output_norm(output)
        except Exception as error:
            _log.debug("the output of %s is not watched: %s", name, error)
            return
        if norm is not None:
            put(name, norm)

    end: Callable[[], None] = module_hooks.register_module_forward_hook(hook).remove
    return end


def is_distributed() -> bool:
    """Whether the ranks of a distributed training can be asked."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())


def is_replicated(models: Mapping[str, torch.nn.Module]) -> bool:
    """Whether one of the networks is a ``DistributedDataParallel``: all ranks have the same gradients."""
    if not torch.distributed.is_available():
        return False
    replicated = torch.nn.parallel.DistributedDataParallel
    return any(isinstance(model, replicated) for model in models.values())


def gather_signs(cause: int, norm: float | None, device: torch.device) -> list[RankSign]:
    """What each rank saw in this step, in one collective call."""
    on_device = torch.distributed.get_backend() not in ("gloo", "mpi")
    own = torch.tensor([float(cause), math.nan if norm is None else norm], dtype=torch.float64)
    own = own.to(device if on_device else "cpu")
    signs = [torch.empty_like(own) for _ in range(torch.distributed.get_world_size())]
    torch.distributed.all_gather(signs, own)
    return [RankSign(int(sign), size) for sign, size in (pair.tolist() for pair in signs)]


def device_of(tensors: Tensors) -> torch.device:
    """Device of the first parameter, the CPU without one."""
    return next((parameter.device for _, parameter in tensors.parameters), torch.device("cpu"))


def _gradients(parameters: list[torch.nn.Parameter]) -> list[torch.Tensor]:
    return [gradient for gradient in map(_GRADIENT, parameters) if gradient is not None]


def _joined(gradients: list[torch.Tensor]) -> list[torch.Tensor]:
    """Gradients of one trailing shape in one tensor; as they are where one of them is sparse or differs."""
    try:
        return [torch.cat(gradients)] if gradients else []
    except RuntimeError:
        return gradients
