"""MindSpore: parameters, files, graphs and summary operators of a Cell."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import mindspore

SUFFIX = ".ckpt"
SAVE_OPTIONS = True


def parameters(network: mindspore.nn.Cell) -> Iterator[tuple[str, mindspore.Parameter]]:
    """Name and value of each parameter."""
    for parameter in network.get_parameters():
        yield parameter.name, parameter


def save(
    network: mindspore.nn.Cell, path: Path, extra: Mapping[str, object], options: Mapping[str, Any]
) -> None:
    """A checkpoint by MindSpore's ``save_checkpoint``, with ``extra`` as its ``append_dict``."""
    mindspore.save_checkpoint(network, str(path), append_dict=dict(extra) or None, **options)


def trace(network: mindspore.nn.Cell, inputs: Sequence[object] | None) -> bytes | None:
    """The graph MindSpore compiled for the network, as bytes of a ModelProto.

    None before the network has run in graph mode; with ``inputs`` it is compiled for them first.
    """
    if not isinstance(network, mindspore.nn.Cell):
        return None
    graph: bytes | None = network.get_func_graph_proto()
    if not graph and inputs is not None:
        network.compile(*inputs)
        graph = network.get_func_graph_proto()
    return graph or None


def take_operator_values() -> list[tuple[str, str, object]]:
    """Plugin, tag and tensor of each summary operator of MindSpore's that ran since the last call.

    MindSpore keeps the newest value of each name; it is taken out of there.
    """
    cache: Any = sys.modules.get("mindspore.train.summary.summary_record")
    if cache is None:
        return []
    cache._record_summary_tensor_data()  # moves what PyNative mode collected to where graph mode puts it
    values = []
    for name, tensor in cache._get_summary_tensor_data().items():
        tag, mark, plugin = name.removesuffix("]").rpartition("[:")
        if mark:
            values.append((plugin.lower(), tag, tensor))
    return values
