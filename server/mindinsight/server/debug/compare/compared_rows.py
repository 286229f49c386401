"""Names, types and shapes of the rows of a comparison of dumps."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from mindinsight.server.debug.compare.dump_comparison import Row
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps.dump_types import TensorEntry

_WEIGHTS: Final = frozenset(
    ["weight", "bias", "gamma", "beta", "moving_mean", "moving_variance", "running_mean", "running_var",
     "embedding_table"]
)  # fmt: skip


_NONE: Final[Mapping[tuple[object, ...], str]] = MappingProxyType({})


def entry_of(row: Row) -> TensorEntry:
    """Return the tensor of the target, or of the reference if only that has it."""
    entry = row.compared.pair.target or row.compared.pair.reference
    assert entry is not None
    return entry


def is_output(row: Row) -> bool:
    """Return True if the row compares an output of an operator."""
    entry = entry_of(row)
    return entry.direction == "output" and entry.type != "Parameter"


def both_sides(row: Row) -> Iterator[tuple[TensorEntry | None, Measurement | None]]:
    """Yield the tensor and its measurement on each side, the target first."""
    yield row.compared.pair.target, row.compared.target
    yield row.compared.pair.reference, row.compared.reference


def dtypes_of(row: Row) -> tuple[str, ...]:
    """Return the element types of target and reference, each "" if unknown."""
    return tuple((e.dtype if e else "") or (m.dtype if m else "") for e, m in both_sides(row))


def shape_text(entry: TensorEntry | None, measurement: Measurement | None) -> str:
    """Return the shape of a tensor as text, such as "[2, 3]", or "[]" for a scalar or if unknown."""
    return str(lengths(entry, measurement))


def lengths(entry: TensorEntry | None, measurement: Measurement | None) -> list[int]:
    """Return the lengths of the axes of a tensor, empty for a scalar or if unknown."""
    shape = entry.shape if entry and entry.shape is not None else measurement and measurement.shape
    return list(shape or ())


def extremes(target: Measurement, reference: Measurement) -> Iterator[tuple[Any, Any]]:
    """Yield the minima, the maxima and the means, each as the pair (target, reference)."""
    for name in ("minimum", "maximum", "mean"):
        yield getattr(target.statistics, name), getattr(reference.statistics, name)


def signature(row: Row) -> tuple[object, ...]:
    """Return a key of the difference in a row, equal for rows that compare the same two tensors. Without
    measures the key has the two checksums, or without these it differs from that of any other row."""
    measures, target, reference = row.compared.measures, row.compared.target, row.compared.reference
    if measures is None or target is None or reference is None:
        checksums = [entry.statistics.checksum for entry, _ in both_sides(row) if entry and entry.statistics]
        return tuple(checksums) if len(checksums) == 2 and all(checksums) else (id(row),)
    size = measures.count + measures.apart
    values = [value for pair in extremes(target, reference) for value in pair]
    return size, measures.differing, measures.largest, measures.max_absolute, *map(str, values)


def own_weights(rows: Iterable[Row]) -> dict[tuple[object, ...], str]:
    """Return the paths of the weights that were recorded as parameters, by the `signature` of their rows."""
    names: dict[tuple[object, ...], str] = {}
    for row in rows:
        recorded = entry_of(row).direction == "parameter" or entry_of(row).type == "Parameter"
        if recorded and (name := weight_name(row)):
            names.setdefault(signature(row), name)
    return names


def weight_name(row: Row, own: Mapping[tuple[object, ...], str] = _NONE) -> str | None:
    """Return the path of the weight that a row compares, or None if the row is not known to compare a
    weight. An input is a weight, too, if its difference equals one in `own`, the result of `own_weights`."""
    entry = entry_of(row)
    if entry.direction == "parameter" and entry.type != "Parameter":
        return f"{module_path(entry.operator)}.{entry.slot}"
    if parameter := row.parameter or (entry.operator if entry.type == "Parameter" else ""):
        return parameter if parameter.rpartition(".")[2] in _WEIGHTS else None
    return own.get(signature(row)) if own else None


def parameter_name(row: Row) -> str:
    """Return the path of the parameter that a row compares (``blocks.2.fc1.weight``), or "" if unknown."""
    entry = entry_of(row)
    if entry.direction == "parameter" or entry.type == "Parameter":
        return entry.operator if entry.type == "Parameter" else weight_name(row) or ""
    return row.parameter


def module_path(operator: str) -> str:
    """Return the path of a module: ``b`` of ``Module.b.Linear.forward.0``. Other names are returned
    unchanged."""
    parts = operator.split(".")
    return ".".join(parts[1:-3]) if parts[0] in ("Module", "Cell") and len(parts) > 4 else operator


def tensor_name(row: Row) -> str:
    """Return the name of the parameter that a row compares, or operator, direction and slot of a tensor."""
    entry = entry_of(row)
    if entry.type == "Parameter" or row.parameter:
        return row.parameter or entry.operator
    return f"{entry.operator} {entry.direction} {entry.slot}"


def evidence(rows: Sequence[Row]) -> tuple[dict[str, Any], ...]:
    """Return the identity of each row's tensor, as evidence of a claim: ``graph``, ``operator``,
    ``recorded``, ``type``, ``direction``, ``slot`` and ``sequence``."""
    names = ("graph", "operator", "recorded", "type", "direction", "slot", "sequence")
    return tuple({name: getattr(entry_of(row), name) for name in names} for row in rows)


def is_backward(name: str) -> bool:
    """Return True if a recorded name is of an operator of a backward pass."""
    return ".backward" in name or "parameters_grad" in name or name.startswith("Gradients/")
