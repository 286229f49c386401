"""Graph of the network that a recorder was given, taken with one of the first steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

_ATTEMPTS: Final = 3  # a network may not be compiled when the first step is recorded


class NetworkGraph:
    """Looks for the graph of a network step by step, until there is one or enough steps were seen."""

    def __init__(self, network: Any = None) -> None:
        self._network = network
        self._graph = None if network is None else _observed(network)
        self._attempts = _ATTEMPTS

    def is_wanted(self, train_network: Any = None) -> bool:
        """Whether there is a network, no graph yet, and it is worth asking again."""
        return self._attempts > 0 and (self._network is not None or train_network is not None)

    def take(self, train_network: Any = None) -> bytes | None:
        """The graph, or else that of ``train_network``, as bytes of a ModelProto; None without one."""
        self._attempts -= 1
        graph = self._graph() if self._graph else None
        if graph is None and train_network is not None:
            self._network = train_network if self._network is None else self._network
            graph = _observed(train_network)()
        if graph is not None:
            self._attempts = 0
        return graph

    def reason(self) -> str:
        """Why there is no graph."""
        from mindinsight.writer.network import no_graph_reason

        return no_graph_reason(self._network) or "the network shows none"


def _observed(network: Any) -> Callable[[], bytes | None]:
    from mindinsight.writer.network import observed_graph  # loads protobuf, which scalars do without

    return observed_graph(network)
