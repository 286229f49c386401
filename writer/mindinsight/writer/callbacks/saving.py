"""Choice of the function that saves a network: the user's, or the framework's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mindinsight.writer.frameworks import framework_of

# (network, path, what is to be stored beside the parameters); its result is not looked at.
SaveFunction = Callable[[Any, Path, Mapping[str, object]], object]


def save_function(
    user_function: SaveFunction | None, network: object, options: Mapping[str, object]
) -> tuple[SaveFunction, str]:
    """The function that saves ``network`` and the suffix its files get.

    ``options`` are arguments of MindSpore's ``save_checkpoint``. Raises TypeError when there is neither a
    function nor a framework that knows the network, ValueError when only MindSpore has such options.
    """
    if user_function is not None:
        return user_function, _suffix(options)
    framework = framework_of(network)
    if not hasattr(framework, "save"):
        kind = type(network).__name__
        raise TypeError(f"give a save function: {kind} is no network of MindSpore or PyTorch")
    assert framework is not None
    if options and not framework.SAVE_OPTIONS:
        raise ValueError(f"only MindSpore saves with {', '.join(sorted(options))}")

    def save(network: Any, path: Path, extra: Mapping[str, object]) -> None:
        framework.save(network, path, extra, options)

    return save, _suffix(options) if framework.SAVE_OPTIONS else framework.SUFFIX


def _suffix(options: Mapping[str, object]) -> str:
    return f".{options.get('format', 'ckpt')}"
