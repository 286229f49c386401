"""Reader of a rank folder of msprobe: entries of ``dump.json``, tensors, calls and call stacks."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from mindinsight.server.files.opener import files_of
from mindinsight.server.formats.arrays.element_types import canonical
from mindinsight.server.formats.dumps.dump_types import (
    Direction,
    FileDamage,
    LazySequence,
    Listing,
    Operator,
    RecordedStatistics,
    StepFolder,
    TensorEntry,
    TensorRef,
)
from mindinsight.server.formats.graphs.call_stacks import Frame, line_number
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.text_files import read_object

MAX_DEPTH: Final = 50  # nested lists that are read
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
    """Call of an operator or module, or its gradients: fields of the name of its entry."""

    type: str  # of the operator: linear, MatMul, Dense
    path: tuple[str, ...]  # module path, or the prefix of an API
    forward: str  # name of the forward call this belongs to: the same, for forward entries


class Leaf(NamedTuple):
    """Tensor, number or text in a slot of an entry, with its fields in the JSON."""

    direction: Direction
    slot: str  # "0", "0.1", "weight"
    fields: dict[str, Any]

    @property
    def is_tensor(self) -> bool:
        """Return True for a tensor, which has a shape. Others have a value instead."""
        return "shape" in self.fields


class TensorName(NamedTuple):
    """Name of a tensor file: the entry, direction and slot of its tensor."""

    entry: str
    direction: Direction
    slot: str


def parse_call(entry: str) -> Call:
    """Parse the name of an entry: type, scope and forward name of its call. An unknown name is its own
    type."""
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
    """Return True if a name is that of a call of a module or API. Module trees contain other names too."""
    return bool(_MODULE.fullmatch(entry) or _API.fullmatch(entry))


def is_weight_gradient(entry: str) -> bool:
    """Return True if an entry holds the gradients of a module's weights. It has no inputs of its own."""
    module = _MODULE.fullmatch(entry)
    return bool(module and module["dir"] == "parameters_grad")


def parse_tensor_name(name: str) -> TensorName | None:
    """Parse the name of a tensor file, or return None for other files."""
    gradient = _GRADIENT.fullmatch(name)
    if gradient:
        return TensorName(gradient["entry"], "output", gradient["slot"])
    match = _FILE.fullmatch(name)
    return TensorName(match["entry"], _SIDES[match["side"]], match["slot"]) if match else None


def leaves(value: Any) -> Iterator[Leaf]:
    """Yield tensors, numbers and texts of an entry (inputs, outputs, gradients), in the order of the file."""
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
    """Return whether all inputs, and whether all outputs, of a call were recorded. A side that was not
    recorded has no field, and a side without tensors has an empty field. The field ``parameters`` of a
    module lists its weights. Buffers, such as running means, are in no field."""
    if not isinstance(value, dict):
        return False, False
    if is_weight_gradient(entry):
        return True, True  # the inputs are recorded at the calls of the module
    module = _MODULE.fullmatch(entry)
    inputs = "input_args" in value or "input" in value
    if module and module["dir"] == "forward":
        inputs = inputs and "parameters" in value and not _BUFFERED.search(module["cls"])
    return inputs, "output" in value or "type" in value


def calls_before(entry: str, entries: Collection[str]) -> tuple[str, ...]:
    """Return the calls that share tensors with a call: the forward call of a backward call, else (). For a
    weight's gradient these are both passes of the module, as far as they are among ``entries``."""
    module = _MODULE.fullmatch(entry)
    if module and module["dir"] == "parameters_grad":
        head = f"{module['kind']}.{module['path']}.{module['cls']}."
        return tuple(name for name in entries if name.startswith((head + "forward.", head + "backward.")))
    forward = parse_call(entry).forward
    return () if forward == entry else (forward,)


def statistics_of(fields: dict[str, Any]) -> RecordedStatistics | None:
    """Return the statistics that msprobe recorded of a tensor, or None if it recorded none."""
    largest, least = _number(fields.get("Max")), _number(fields.get("Min"))
    mean, norm = _number(fields.get("Mean")), _number(fields.get("Norm"))
    checksum = fields.get("md5")
    value = None if isinstance(checksum, bool | str) else _number(checksum)
    if value is not None:  # a single number is recorded in place of its checksum
        return RecordedStatistics(
            value, value, value, abs(value), checksum=repr(value), checksum_kind="value"
        )
    if isinstance(checksum, str) and checksum:
        # 0x and 16 digits, 8 digits, or 32 digits
        kind: Any = "xor64" if checksum.startswith("0x") else "crc32" if len(checksum) == 8 else "md5"
        return RecordedStatistics(largest, least, mean, norm, checksum=checksum, checksum_kind=kind)
    unknown = largest is least is mean is norm is None
    return None if unknown else RecordedStatistics(largest, least, mean, norm)


def _number(value: Any) -> float | None:
    """Return a value as float, or None if it is not a number."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _inside(side: Direction, slot: str, value: Any, depth: int = 0) -> Iterator[Leaf]:
    """Yield the tensors and numbers nested in an argument or result. The slot of each is the path to it."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict) and "type" in value:
        yield Leaf(side, slot or "0", value)
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _inside(side, f"{slot}.{key}" if slot else str(key), inner, depth + 1)


MAX_ANCESTORS: Final = 100  # nested modules that are returned
_FRAME: Final = re.compile(r"\s*File (.+?), line (\d+), in (.+?),? ?(?:\n(.*))?", re.DOTALL)


def stacks_of_entries(document: dict[str, Any]) -> dict[str, tuple[Frame, ...]]:
    """Return the call stacks by entry, innermost frame first. The document is ``{"0": [[entries],
    [frames]]}`` if entries share a stack, or ``{entry: [frames]}`` in older files."""
    stacks: dict[str, tuple[Frame, ...]] = {}
    for key, value in document.items():
        if not isinstance(value, list):
            continue
        shared = len(value) == 2 and all(isinstance(part, list) for part in value)
        names, frames = value if shared else ([key], value)
        stack = _frames(frames)
        stacks |= {name: stack for name in names if isinstance(name, str)}
    return stacks


def loop_of(parents: dict[str, Any]) -> str | None:
    """Return an entry of ``construct.json`` that is its own ancestor, or None if the file is a forest."""
    ended: set[str] = set()
    for entry in parents:
        path: dict[str, None] = {}
        current: Any = entry
        while isinstance(current, str) and current not in ended:
            if current in path:
                return current
            path[current] = None
            current = parents.get(current)
        ended |= path.keys()
    return None


def ancestors(parents: dict[str, Any], entry: str) -> tuple[str, ...]:
    """Return the modules that an entry ran in, outermost first. A loop in ``construct.json`` is cut."""
    chain: dict[str, None] = {}
    parent = parents.get(entry)
    while isinstance(parent, str) and parent not in chain and len(chain) < MAX_ANCESTORS:
        chain[parent] = None
        parent = parents.get(parent)
    return tuple(reversed(chain))


def _frames(texts: Iterable[Any]) -> tuple[Frame, ...]:
    """Parse the frames of a stack. Texts of another form are skipped."""
    matches = (_FRAME.fullmatch(text) for text in texts if isinstance(text, str))
    return tuple(
        Frame(match[1], line_number(match[2]), 0, match[3], (match[4] or "").strip())
        for match in matches
        if match
    )


DATA: Final = "dump_tensor_data"


class _Tensor(NamedTuple):
    """Tensor of an entry and the path of its file, "" if it has none."""

    entry: str
    order: int
    type: str
    leaf: Leaf
    path: str = ""
    damage: FileDamage | None = None


def list_tensors(folder: StepFolder, layout: str) -> Listing[TensorEntry]:
    """Return the tensors in the order of ``dump.json``, then files that it does not name (yet), by time."""
    damage: list[FileDamage] = []
    tensors = _tensors(folder, _entries(folder, damage), damage)
    entries = LazySequence(len(tensors), lambda n: _build_entry(folder, layout, n, tensors[n]))
    return Listing(entries, tuple(damage))


def list_calls(folder: StepFolder) -> Listing[Operator]:
    """Return the calls in the order of ``dump.json``, with scopes and call stacks. Scopes are in
    ``construct.json``, stacks in ``stack.json``."""
    damage: list[FileDamage] = []
    entries = _entries(folder, damage)
    slots: dict[str, list[tuple[int, Leaf]]] = {}
    for sequence, tensor in enumerate(_tensors(folder, entries, damage)):
        slots.setdefault(tensor.entry, []).append((sequence, tensor.leaf))
    stacks = stacks_of_entries(_read_object(folder, "stack.json", damage))
    parents = _read_object(folder, "construct.json", damage)
    loop = loop_of(parents)
    if loop is not None:
        damage.append(FileDamage(str(Path(folder.path) / "construct.json"), "dump.loop", loop[:300]))
    extra_names = (name for name in (*parents, *stacks) if is_call(name))  # "optimizer" is no call
    names = dict.fromkeys((*entries, *slots, *extra_names))
    calls = _calls_of_modules(names)
    operators = []
    for order, name in enumerate(names):
        call, call_slots = parse_call(name), slots.get(name, [])
        dependencies = calls_before(name, calls.get(call.path, ()))
        inputs, outputs = (
            recorded_sides(name, entries[name]) if name in entries else _sides_of_files(call_slots)
        )
        operator = Operator(
            name=name,
            recorded=name,
            type=call.type,
            scope=ancestors(parents, name) if name in parents else call.path,
            graph=folder.graph,
            sequence=call_slots[0][0] if call_slots else -1,
            order=order,
            inputs=tuple(leaf.slot for _, leaf in call_slots if leaf.direction == "input"),
            outputs=tuple(leaf.slot for _, leaf in call_slots if leaf.direction == "output"),
            stack=stacks.get(name) or stacks.get(call.forward, ()),
            arguments=tuple(_arguments(entries.get(name))),
            inputs_known=inputs and _known_before(name, dependencies, entries),
            outputs_known=outputs,
            depends=dependencies,
        )
        operators.append(operator)
    return Listing(tuple(operators), tuple(damage))


def list_arguments(folder: StepFolder) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield the names of calls with numbers or texts, and these as names and JSON: ``("input.0", "3")``.
    They are in the order of ``dump.json``. Numbers and texts among the results are included."""
    for name, entry in _entries(folder, []).items():
        arguments = tuple(_arguments(entry))
        if arguments:
            yield name, arguments


def _calls_of_modules(names: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Return the names of calls by the path of their module."""
    calls: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        calls.setdefault(parse_call(name).path, []).append(name)
    return calls


def _known_before(entry: str, calls: tuple[str, ...], entries: dict[str, Any]) -> bool:
    """Return True if the earlier calls that share tensors with a call were recorded with their inputs."""
    known = [name for name in calls if recorded_sides(name, entries.get(name))[0]]
    if is_weight_gradient(entry):  # of a module: there has to be a forward and a backward of it
        return len({parse_call(name).forward == name for name in known}) == 2
    return len(known) == len(calls)


def _sides_of_files(tensors: list[tuple[int, Leaf]]) -> tuple[bool, bool]:
    """Return whether all inputs, and whether outputs, of a call are known, if it has files but no entry."""
    slots = {leaf.slot for _, leaf in tensors if leaf.direction == "input"}
    return (
        bool(slots) and slots == set(map(str, range(len(slots)))),
        any(leaf.direction == "output" for _, leaf in tensors),
    )


def _tensors(folder: StepFolder, entries: dict[str, Any], damage: list[FileDamage]) -> list[_Tensor]:
    """Return the tensors of ``dump.json`` and of files that it does not name. Adds to ``damage``."""
    data = f"{folder.path}/{DATA}"
    files = set(files_of(Path(data)))
    recorded = list(_recorded_tensors(entries, data, files))
    damage += [tensor.damage for tensor in recorded if tensor.damage]
    named = {tensor.path for tensor in recorded}
    return recorded + _unrecorded_tensors(
        data, [name for name in files if f"{data}/{name}" not in named], damage
    )


def _entries(folder: StepFolder, damage: list[FileDamage]) -> dict[str, Any]:
    """Return the entries of ``dump.json`` and of ``debug.json``, which has variables saved by hand."""
    entries: dict[str, Any] = {}
    for name in ("dump.json", "debug.json"):
        data = _read_object(folder, name, damage, "data").get("data")
        entries |= data if isinstance(data, dict) else {}
    return entries


def _read_object(folder: StepFolder, name: str, damage: list[FileDamage], inner: str = "") -> dict[str, Any]:
    """Read a JSON file of the folder, empty if it is missing (most folders have no ``debug.json``)."""
    path = Path(folder.path) / name
    try:
        document, cut = read_object(path, inner)
    except UnreadableError as error:
        document, cut = {}, None if error.reason == "dump.missing" else error
    if cut:
        damage.append(FileDamage(str(path), cut.reason, cut.detail))
    return document


def _recorded_tensors(entries: dict[str, Any], data: str, files: set[str]) -> Iterator[_Tensor]:
    """Yield the tensors of entries with the paths of their files."""
    for order, (entry, value) in enumerate(entries.items()):
        kind = parse_call(entry).type
        for leaf in leaves(value):
            if leaf.is_tensor:
                yield _with_file(_Tensor(entry, order, kind, leaf), data, files)


def _with_file(tensor: _Tensor, data: str, files: set[str]) -> _Tensor:
    """Return a tensor with the path of its file, if there is one. The name in the JSON is never used as a
    path."""
    name = tensor.leaf.fields.get("data_name")
    if not isinstance(name, str):
        return tensor
    if name in files:
        return tensor._replace(path=f"{data}/{name}")
    reason = "dump.unsafe_name" if "/" in name or "\\" in name else "dump.missing"
    return tensor._replace(damage=FileDamage(data, reason, name[:300]))


def _unrecorded_tensors(data: str, names: list[str], damage: list[FileDamage]) -> list[_Tensor]:
    """Return the tensors of files that the JSON does not name: the run has not ended, or was killed."""
    tensors = []
    for name in sorted(names, key=lambda name: _modified(f"{data}/{name}")):
        parsed = parse_tensor_name(name)
        if parsed is None:
            damage.append(FileDamage(f"{data}/{name}", "dump.unknown_name"))
            continue
        leaf = Leaf(parsed.direction, parsed.slot, {})
        tensors.append(_Tensor(parsed.entry, -1, parse_call(parsed.entry).type, leaf, f"{data}/{name}"))
    return tensors


def _modified(path: str) -> int:
    """Return the modification time of a file in nanoseconds, or 0 if it cannot be read."""
    try:
        return Path(path).lstat().st_mtime_ns
    except OSError:
        return 0


def _build_entry(folder: StepFolder, layout: str, position: int, tensor: _Tensor) -> TensorEntry:
    """Build the listing entry of a tensor."""
    fields = tensor.leaf.fields
    gradient = fields.get("requires_grad")
    return TensorEntry(
        rank=folder.rank,
        step=folder.step,
        graph=folder.graph,
        operator=tensor.entry,
        recorded=tensor.entry,
        type=tensor.type,
        direction=tensor.leaf.direction,
        slot=tensor.leaf.slot,
        sequence=position,
        order=tensor.order,
        timestamp=0,
        shape=_shape(fields.get("shape")),
        dtype=canonical(str(fields.get("dtype", ""))),
        format="",
        ref=TensorRef(layout, tensor.path) if tensor.path else None,
        statistics=statistics_of(fields),
        damage=tensor.damage,
        requires_grad=gradient if isinstance(gradient, bool) else None,
    )


def _shape(value: Any) -> tuple[int, ...] | None:
    """Return a recorded shape, or None if it is invalid."""
    whole = isinstance(value, list) and all(isinstance(axis, int) for axis in value)
    return tuple(value) if whole else None


def _arguments(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the numbers and texts among the arguments and results of a call."""
    for leaf in leaves(value):
        if not leaf.is_tensor:
            yield f"{leaf.direction}.{leaf.slot}", json.dumps(leaf.fields.get("value"))[:1000]
