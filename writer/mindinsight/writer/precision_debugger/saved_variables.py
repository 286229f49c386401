"""Variables of a training that a call of ``save`` records, and their gradients."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.precision_debugger.draft import Draft
from mindinsight.writer.precision_debugger.probe_config import ProbeConfig
from mindinsight.writer.precision_debugger.step_files import StepFiles

_log: Final = logging.getLogger(__name__)


def describe_variable(variable: Any, stem: str, config: ProbeConfig, values: Any) -> tuple[Any, list[Any]]:
    """A variable as JSON, and its tensors with the names of their files."""
    name, _, side = stem.rpartition(".")
    draft = Draft(name, config, values)
    with values.quiet():
        return draft.describe(variable, side), draft.tensors


def hook_gradients(
    variable: Any,
    stem: str,
    config: ProbeConfig,
    values: Any,
    files: StepFiles,
    put: Callable[[Path, Any], None],
) -> None:
    """Record the gradients of a variable's tensors when they are computed; a lone tensor's has no number."""
    tensors = list(values.tensors_of(variable))
    alone = values.is_tensor(variable)
    gradients: list[Any] = [None] * len(tensors)
    files.add_variable(stem, None if alone else gradients)

    def record(position: int, gradient: Any) -> None:
        try:
            name = stem if alone else f"{stem}.{position}"
            value, copies = describe_variable(gradient, name, config, values)
            gradients[position] = value
            files.add_variable(stem, value if alone else gradients)
            put(files.tensors, copies)
        except Exception:
            _log.exception("the gradient of %s is missing in the dump", stem)

    for position, tensor in enumerate(tensors):
        if values.needs_gradient(tensor):
            tensor.register_hook(partial(record, position))
