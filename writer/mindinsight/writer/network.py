"""Graph of a network of any framework."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType

from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.graph import GraphBuilder

_log = logging.getLogger(__name__)


def graph_of(network: object, inputs: object = None) -> bytes | None:
    """Return the graph of ``network`` as bytes of a ModelProto, or None if there is none. Return None with a
    warning if the framework cannot trace the network.

    Takes a MindSpore Cell (its compiled graph, in PyNative mode only with ``inputs``), a PyTorch module
    (exported with shapes if there are ``inputs``, otherwise traced by name), a function of JAX with
    ``inputs``, or a GraphBuilder. ``inputs`` are the positional arguments of one call, a list or tuple, or
    the only one. The network is not run.
    """
    if isinstance(network, GraphBuilder):
        return network.serialised()
    given = inputs if inputs is None or isinstance(inputs, (list, tuple)) else (inputs,)
    framework = _framework(network, given)
    if framework is None:
        return None
    try:
        builder: bytes | GraphBuilder | None = framework.trace(network, given)
    except Exception as error:  # whatever tracing the user's code runs into
        _log.warning("no graph of %s: %s", type(network).__name__, str(error).partition("\n")[0])
        return None
    return builder.serialised() if isinstance(builder, GraphBuilder) else builder


def observed_graph(network: object) -> Callable[[], bytes | None]:
    """Return a function that returns ``graph_of`` for the inputs of the network's next call. PyTorch knows
    shapes only from a call. Without a call, and for networks of other frameworks, the function returns the
    graph without inputs."""
    framework = framework_of(network)
    seen: Callable[[], Sequence[object] | None] | None = None
    if hasattr(framework, "first_inputs"):
        assert framework is not None
        seen = framework.first_inputs(network)

    def graph() -> bytes | None:
        return graph_of(network, seen() if seen else None)

    return graph


def no_graph_reason(network: object) -> str | None:
    """Return the reason why :func:`graph_of` returns None for ``network``, or None if unknown."""
    framework = framework_of(network)
    explain: Callable[[], str] | None = getattr(framework, "no_graph_reason", None)
    return None if explain is None else explain()


def _framework(network: object, inputs: Sequence[object] | None) -> ModuleType | None:
    """Return the adapter of the network's framework, or for a plain function of its inputs', or None if
    unknown."""
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
