"""Graph of a network of any framework."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType

from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.graph import GraphBuilder

_log = logging.getLogger(__name__)


def graph_of(network: object, inputs: Sequence[object] | None = None) -> bytes | None:
    """``network`` as the bytes of a ModelProto, or None when there is no way to see its graph.

    Takes a MindSpore Cell (its compiled graph; there is none in PyNative mode before ``inputs`` are
    given), a PyTorch module (exported with shapes when there are ``inputs``, else traced by name), a
    function of JAX's with ``inputs``, or a GraphBuilder. ``inputs`` are the positional arguments of one
    call; the network is not run with them. A graph is not worth a training: what a framework cannot
    trace is a warning and None.
    """
    if isinstance(network, GraphBuilder):
        return network.serialised()
    framework = _framework(network, inputs)
    if framework is None:
        return None
    try:
        builder: bytes | GraphBuilder | None = framework.trace(network, inputs)
    except Exception as error:  # whatever tracing the user's code runs into
        _log.warning("no graph of %s: %s", type(network).__name__, str(error).partition("\n")[0])
        return None
    return builder.serialised() if isinstance(builder, GraphBuilder) else builder


def observed_graph(network: object) -> Callable[[], bytes | None]:
    """A function that answers :func:`graph_of` for the inputs of the first call seen from now on.

    For PyTorch, where shapes are known only from a call; without one it answers what it can.
    """
    framework = framework_of(network)
    seen: Callable[[], Sequence[object] | None] | None = None
    if hasattr(framework, "first_inputs"):
        assert framework is not None
        seen = framework.first_inputs(network)

    def graph() -> bytes | None:
        return graph_of(network, seen() if seen else None)

    return graph


def no_graph_reason(network: object) -> str | None:
    """Why :func:`graph_of` gives None for ``network`` as it is now, if its framework can tell."""
    framework = framework_of(network)
    explain: Callable[[], str] | None = getattr(framework, "no_graph_reason", None)
    return None if explain is None else explain()


def _framework(network: object, inputs: Sequence[object] | None) -> ModuleType | None:
    """Framework of the network; for a plain function, that of its first input of any."""
    framework = framework_of(network)
    if framework is None and callable(network):
        return next(filter(None, map(framework_of, _leaves(inputs))), None)
    return framework


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
