"""What follows from the graph of a dump's step without its values: views, and zeros from constants."""

from collections.abc import Iterable

from mindinsight.server.debug.operator_links import is_product, is_view, makes_zeros
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry


class ValueFlow:
    """Sources of the operators of one step. Without a graph, none is known."""

    def __init__(self, operators: Iterable[Operator]) -> None:
        self._sources: dict[tuple[str, str], tuple[str, ...]] = {}
        self._zeros: set[tuple[str, str]] = set()  # operators whose zeros follow from constants
        for operator in operators:  # in execution order, so that sources come first
            keys = {(operator.graph, name) for name in (operator.name, operator.recorded)}
            self._sources |= dict.fromkeys(keys, operator.sources)
            zeros = [(operator.graph, source) in self._zeros for source in operator.sources]
            enough = any(zeros) if is_product(operator.type) else bool(zeros) and all(zeros)
            if enough or makes_zeros(operator.type):
                self._zeros |= keys

    def viewed(self, entry: TensorEntry) -> str:
        """Return the operator or parameter whose values a view returns, or "" if it is unknown."""
        sources = self._sources.get((entry.graph, entry.recorded), ())
        return sources[0] if len(sources) == 1 and is_view(entry.type) else ""

    def follows_from_zeros(self, entry: TensorEntry) -> bool:
        """Return True if a tensor of zeros is no sign of a fault, because it results from constant zeros.

        Such is the product of a weight and an initial state of zeros.
        """
        return (entry.graph, entry.recorded) in self._zeros
