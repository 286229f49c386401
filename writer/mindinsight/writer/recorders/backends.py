"""Capture modules of the frameworks, each imported only for networks of that framework.

A module has ``make_capture``, ``facts_of``, ``host_copy``, ``named_parameters``, ``unseen_regions`` and
``NUMBERS_PER_SCOPE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

_MODULES: Final = {"mindspore": "mindspore.mindspore_operators", "torch": "pytorch.torch_operators"}


def models_of(model: Any) -> dict[str, Any]:
    """Networks by name; the name of a single one is empty. Raises TypeError for anything else."""
    models = dict(model) if isinstance(model, Mapping) else {"": model}
    for value in models.values():
        if not hasattr(value, "named_modules") and not is_cell(value):
            raise TypeError(
                f"a model is a torch.nn.Module or a mindspore.nn.Cell, got "
                f"{type(value).__module__}.{type(value).__qualname__}"
            )
    if not models:
        raise TypeError("there is no model to record")
    if len({is_cell(value) for value in models.values()}) > 1:
        raise TypeError("the models are of two frameworks: record each with a recorder of its own")
    return models


def is_cell(value: object) -> bool:
    """Whether a value is a network of MindSpore's."""
    return hasattr(value, "cells_and_names") and any(
        cls.__module__.partition(".")[0] == "mindspore" for cls in type(value).__mro__
    )


def backend_of(models: Mapping[str, Any]) -> Any:
    """The capture module for networks of one framework."""
    framework = "mindspore" if any(map(is_cell, models.values())) else "torch"
    return import_module(f"{__package__}.{_MODULES[framework]}")
