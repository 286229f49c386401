"""PyTorch adapter: parameters, files, graph and gradients of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from mindinsight.writer.frameworks.torch_graph import trace

__all__ = ["SAVE_OPTIONS", "SUFFIX", "first_inputs", "on_gradients", "parameters", "save", "trace"]

SUFFIX = ".pt"
SAVE_OPTIONS = False


def parameters(network: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Parameter]]:
    """Name and tensor of each parameter, as in the module's ``state_dict``."""
    yield from network.named_parameters()


def save(
    network: torch.nn.Module, path: Path, extra: Mapping[str, object], options: Mapping[str, object]
) -> None:
    """The module's ``state_dict`` by ``torch.save``; with ``extra`` as ``{"network": state, **extra}``."""
    state = network.state_dict()
    part = path.with_name(f".{path.name}.part")
    torch.save({"network": state, **extra} if extra else state, part)
    part.replace(path)  # a run that is killed while it saves leaves the older file whole


def first_inputs(network: torch.nn.Module) -> Callable[[], Sequence[object] | None]:
    """A function that answers the positional arguments of the network's next call, None before it."""
    seen: list[Sequence[object]] = []

    def keep(module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        seen.append(inputs)
        hook.remove()

    hook = network.register_forward_pre_hook(keep)
    return lambda: seen[0] if seen else None


def on_gradients(
    network: torch.nn.Module, names: Callable[[str], bool], put: Callable[[str, object], None]
) -> Callable[[], None]:
    """Call ``put(name, gradient)`` after each backward pass for every parameter whose name is wanted.

    Returns the function that ends it.
    """

    def hook(name: str) -> Callable[[torch.Tensor], None]:
        return lambda parameter: put(name, parameter.grad)

    hooks = [
        parameter.register_post_accumulate_grad_hook(hook(name))
        for name, parameter in network.named_parameters()
        if parameter.requires_grad and parameter.ndim and names(name)
    ]

    def end() -> None:
        for registered in hooks:
            registered.remove()

    return end
