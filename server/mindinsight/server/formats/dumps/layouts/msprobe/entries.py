"""Parser of the entries of ``dump.json``: names of calls, and the tensors and numbers they took and gave."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final, Literal, NamedTuple

from mindinsight.server.formats.dumps.types import Direction, RecordedStatistics

MAX_DEPTH: Final = 50  # of lists in lists
_API: Final = re.compile(r"(?P<api>[A-Za-z]+\..+)\.(?P<n>\d+)\.(?P<dir>forward|backward)", re.DOTALL)
_MODULE: Final = re.compile(
    r"(?P<kind>Module|Cell)\.(?P<path>.+)\.(?P<cls>[^.]+)\.(?P<dir>forward|backward|parameters_grad)\.(?P<n>\d+)",
    re.DOTALL,
)
_FILE: Final = re.compile(
    r"(?P<entry>.+\.\d+\.(?:forward|backward)|.+\.(?:forward|backward)\.\d+)"
    r"\.(?P<side>input|output|parameters)\.(?P<slot>.+)\.(?:pt|npy)",
    re.DOTALL,
)
_GRADIENT: Final = re.compile(r"(?P<entry>.+\.parameters_grad\.\d+)\.(?P<slot>.+)\.(?:pt|npy)", re.DOTALL)
_BUFFERED: Final = re.compile(r"(Batch|Instance)Norm|Quant|Observer", re.I)  # modules with buffers
_SIDES: Final[dict[str, Direction]] = {
    "input_args": "input",
    "input_kwargs": "input",
    "input": "input",
    "output": "output",
    "parameters": "parameter",
}


class Call(NamedTuple):
    """Fields of the name of an entry."""

    type: str  # of the operator: linear, MatMul, Dense
    path: tuple[str, ...]  # module path, or the prefix of an API
    forward: str  # name of the forward call this belongs to: the same, for forward entries


class Leaf(NamedTuple):
    """A tensor or a number of an entry."""

    direction: Direction
    slot: str  # "0", "0.1", "weight"
    fields: dict[str, Any]

    @property
    def is_tensor(self) -> bool:
        """Tensors have a shape, numbers a value."""
        return "shape" in self.fields


class TensorName(NamedTuple):
    """Fields of the name of a tensor file."""

    entry: str
    direction: Direction
    slot: str


def parse_call(entry: str) -> Call:
    """Parse the name of an entry; an unknown name is its own type."""
    module = _MODULE.fullmatch(entry)
    if module:
        forward = f"{module['kind']}.{module['path']}.{module['cls']}.forward.{module['n']}"
        return Call(module["cls"], tuple(module["path"].split(".")), forward)
    api = _API.fullmatch(entry)
    if api:
        prefix, _, name = api["api"].partition(".")
        return Call(name.rpartition(".")[2], (prefix,), f"{api['api']}.{api['n']}.forward")
    return Call(entry, (), entry)


def is_call(entry: str) -> bool:
    """Whether a name is that of a call: trees have other names too."""
    return bool(_MODULE.fullmatch(entry) or _API.fullmatch(entry))


def is_weight_gradient(entry: str) -> bool:
    """Whether an entry holds the gradients of a module's weights: it has no inputs of its own."""
    module = _MODULE.fullmatch(entry)
    return bool(module and module["dir"] == "parameters_grad")


def parse_tensor_name(name: str) -> TensorName | None:
    """Parse the name of a tensor file; None for other files."""
    gradient = _GRADIENT.fullmatch(name)
    if gradient:
        return TensorName(gradient["entry"], "output", gradient["slot"])
    match = _FILE.fullmatch(name)
    return TensorName(match["entry"], _SIDES[match["side"]], match["slot"]) if match else None


def leaves(value: Any) -> Iterator[Leaf]:
    """Tensors and numbers of an entry in their order: inputs, outputs, parameters or gradients."""
    if not isinstance(value, dict):
        return
    if "type" in value:  # an entry that is one tensor, as ``save`` of a variable makes it
        yield Leaf("output", "0", value)
        return
    for name, inside in value.items():
        side = _SIDES.get(name)
        if side:
            yield from _inside(side, "", inside)
        elif isinstance(inside, list) and len(inside) == 1:  # gradient of the parameter of that name
            yield from _inside("output", name, inside[0])
        else:
            yield from _inside("output", name, inside)


def recorded_sides(entry: str, value: Any) -> tuple[bool, bool]:
    """Whether everything that went into a call, and everything that came out of it, was recorded.

    A side that was not recorded has no field; one without tensors has an empty field. The field
    ``parameters`` of a module lists its weights; buffers, such as running means, are in no field.
    """
    if not isinstance(value, dict):
        return False, False
    if is_weight_gradient(entry):
        return True, True  # what went in stands at the calls of the module
    module = _MODULE.fullmatch(entry)
    inputs = "input_args" in value or "input" in value
    if module and module["dir"] == "forward":
        inputs = inputs and "parameters" in value and not _BUFFERED.search(module["cls"])
    return inputs, "output" in value or "type" in value


def calls_before(entry: str, entries: Collection[str]) -> tuple[str, ...]:
    """Calls whose tensors a call works on too: a backward call its forward, a weight's gradient both."""
    module = _MODULE.fullmatch(entry)
    if module and module["dir"] == "parameters_grad":
        head = f"{module['kind']}.{module['path']}.{module['cls']}."
        return tuple(name for name in entries if name.startswith((head + "forward.", head + "backward.")))
    forward = parse_call(entry).forward
    return () if forward == entry else (forward,)


def statistics_of(fields: dict[str, Any]) -> RecordedStatistics | None:
    """Statistics that msprobe recorded of a tensor; None where it recorded none."""
    largest, least = _number(fields.get("Max")), _number(fields.get("Min"))
    mean, norm = _number(fields.get("Mean")), _number(fields.get("Norm"))
    checksum = fields.get("md5")
    value = None if isinstance(checksum, bool | str) else _number(checksum)
    if value is not None:  # a single number is recorded in place of its checksum
        return RecordedStatistics(
            value, value, value, abs(value), checksum=repr(value), checksum_kind="value"
        )
    if isinstance(checksum, str) and checksum:
        kind = _checksum_kind(checksum)
        return RecordedStatistics(largest, least, mean, norm, checksum=checksum, checksum_kind=kind)
    unknown = largest is least is mean is norm is None
    return None if unknown else RecordedStatistics(largest, least, mean, norm)


def _checksum_kind(text: str) -> Literal["md5", "crc32", "xor64"]:
    """Kind of a checksum by its form: ``0x`` and 16 digits, 8 digits, or 32 digits."""
    return "xor64" if text.startswith("0x") else "crc32" if len(text) == 8 else "md5"


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _inside(side: Direction, slot: str, value: Any, depth: int = 0) -> Iterator[Leaf]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict) and "type" in value:
        yield Leaf(side, slot or "0", value)
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _inside(side, f"{slot}.{key}" if slot else str(key), inner, depth + 1)
