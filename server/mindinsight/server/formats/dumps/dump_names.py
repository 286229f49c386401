"""Names of dump files, and the execution orders and graphs next to them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.files.opener import files_of
from mindinsight.server.formats.dumps import dump_types
from mindinsight.server.formats.graphs.ir import IrNode, read_ir, read_ir_parameters, read_pb
from mindinsight.server.formats.read_limits import ORDER
from mindinsight.server.formats.text_files import read_lines

_NUMBER: Final = re.compile(r"-op(\d+)$")
_IO: Final = frozenset(("input", "output"))
_TIMESTAMP_DIGITS: Final = 12  # digits; microseconds have 16, context numbers of newer tools a few
# Matches every line. The groups are empty if the line is not a file name of a dump.
_NPY_NAMES: Final = re.compile(
    r"^(?:([^.\n]*)\.([^\n]*)\.(\d+)\.(\d+)\.(\d+)\.(input|output)\.(\d+)"
    r"\.([^.\n]*)(?:\.([^.\n]*))?\.npy|[^\n]*)$",
    re.MULTILINE,
)


class TensorFile(NamedTuple):
    """Tensor file of a dump: fields of its name and its statistics, before the operator is resolved."""

    type: str
    operator: str  # as recorded
    task: int
    stream: int
    timestamp: int  # microseconds since 1970
    io: str = ""  # input, output; "" for files of a whole operator
    slot: str = ""
    format: str = ""
    dtype: str = ""  # "" if the name has none
    path: str = ""  # "" if only statistics were recorded
    shape: tuple[int, ...] | None = None
    statistics: dump_types.RecordedStatistics | None = None
    damage: dump_types.FileDamage | None = None


def escape_name(name: str) -> str:
    """Return a full operator name as in file names: with underscores for slashes, dots and spaces.
    Backslashes are replaced, too. Ten times faster than ``str.translate``."""
    return name.replace("/", "_").replace("\\", "_").replace(".", "_").replace(" ", "_")


def parse_npy_names(names: Sequence[str], folder: str) -> list[TensorFile | None]:
    """Return the result of `parse_npy_name` for each name, None for a name that is not of a dump. One
    regular expression parses all names, ten times faster."""
    text = "\n".join(names)
    if text.count("\n") >= len(names):  # a name with a line break in it
        return [parse_npy_name(name, f"{folder}/{name}") for name in names]
    matches = _NPY_NAMES.findall(text)
    return [
        TensorFile(
            kind, operator, int(task), int(stream), int(time),
            io, slot, layout, dtype.lower(), f"{folder}/{name}",
        )
        if len(time) >= _TIMESTAMP_DIGITS
        else parse_npy_name(name, f"{folder}/{name}")
        for name, (kind, operator, task, stream, time, io, slot, layout, dtype) in zip(
            names, matches, strict=True
        )
    ]  # fmt: skip


def parse_npy_name(name: str, path: str = "") -> TensorFile | None:
    """Parse the name of a ``.npy`` file, or return None if it is not a name of a dump."""
    parts = name.split(".")
    if len(parts) < 9 or parts[-1] != "npy":
        return None
    if parts[-4] in _IO:
        head, dtype = _parse_head(parts[:-4]), ""
        io, slot, layout = parts[-4:-1]
    else:
        head, dtype = _parse_head(parts[:-5]), parts[-2].lower()
        io, slot, layout = parts[-5:-2]
    if head is None or io not in _IO or not slot.isdecimal():
        return None
    return TensorFile(*head, io, slot, layout, dtype, path)


def parse_bin_name(name: str, path: str = "") -> TensorFile | None:
    """Parse the name of a file with all tensors of an operator, or return None for other names. Such a
    name ends with the timestamp. ``path`` is stored in the result."""
    head = _parse_head(name.split("."))
    return head and TensorFile(*head, path=path)


def _parse_head(parts: list[str]) -> tuple[str, str, int, int, int] | None:
    """Return type, operator, task, stream and timestamp from the parts of a file name, or None for another
    name. Four more numbers may follow for operators that ran in parts."""
    if len(parts) >= 9 and len(parts[-1]) < _TIMESTAMP_DIGITS <= len(parts[-5]):
        parts = parts[:-4]
    if len(parts) < 5:
        return None
    task, stream, timestamp = parts[-3:]
    if not (task.isdecimal() and stream.isdecimal() and timestamp.isdecimal()):
        return None
    name = parts[1] if len(parts) == 5 else ".".join(parts[1:-3])
    return (parts[0], name, int(task), int(stream), int(timestamp))


class FullName(NamedTuple):
    """Full name of a recorded operator, and its position in the execution order."""

    name: str
    order: int  # position in the execution order, -1 if unknown


class FullNames(dict[str, FullName]):
    """Full names by recorded name. A missing name resolves to itself."""

    def __missing__(self, name: str) -> FullName:
        return FullName(name, -1)


def resolve_names(recorded: Iterable[str], order: Sequence[str], parameters: Iterable[str]) -> FullNames:
    """Return the full names, in the graph, of the shortened or escaped operator names in a dump.

    ``order`` lists full operator names in execution order. Rules, in turn: the same escaped name; the same
    last segment (names without scope); the same name apart from ``-opN``, paired by rising N, because
    operators that are recreated between export and execution get other numbers. A name without a match
    resolves to itself.
    """
    known: dict[str, FullName] = {}
    for name in parameters:
        known.setdefault(escape_name(name), FullName(name, -1))
    for position, name in enumerate(order):
        known.setdefault(name.rpartition("/")[2], FullName(name, position))
    known |= {
        escape_name(name): FullName(name, position) for position, name in reversed(list(enumerate(order)))
    }
    unresolved = set(recorded)
    resolved = {name: known[name] for name in unresolved & known.keys()}
    missing = unresolved - resolved.keys()
    if known:
        resolved |= {name: known[key] for name in missing if (key := escape_name(name)) in known}
    if order:
        resolved |= _pair_by_number(
            sorted(missing - resolved.keys()), order, {full.name for full in resolved.values()}
        )
    return FullNames(resolved)


def _pair_by_number(missing: Iterable[str], order: Sequence[str], taken: set[str]) -> dict[str, FullName]:
    """Pair names that differ in ``-opN`` only, in order of N."""
    free: dict[str, list[FullName]] = {}
    for position, name in enumerate(order):
        if name not in taken:
            free.setdefault(_NUMBER.sub("", escape_name(name)), []).append(FullName(name, position))
    for group in free.values():
        group.sort(key=lambda full: _number(full.name))
    pairs = {}
    for name in sorted(missing, key=_number):
        candidates = free.get(_NUMBER.sub("", escape_name(name)))
        if candidates:
            pairs[name] = candidates.pop(0)
    return pairs


def _number(name: str) -> int:
    """Return N of ``-opN``, or -1."""
    match = _NUMBER.search(name)
    return int(match[1]) if match else -1


_ORDER: Final = re.compile(r"ms_execution_order_graph_(\d+)(?:_iteration_(\d+))?\.csv")
_IR: Final = re.compile(r"ms_output_trace_code_graph_(\d+)(?:_iteration_(\d+))?\.ir")
_PB: Final = re.compile(r"ms_output_trace_code_graph_(\d+)(?:_iteration_(\d+))?\.pb")
_HEADER: Final = "NodeExecutionOrder-FullNameWithScope"


@dataclass(frozen=True, slots=True)
class GraphFiles:
    """Graph and execution order files of a step folder.

    Files of its own graph come first.

    Files that cannot be read are appended to ``damage``.
    """

    folder: dump_types.StepFolder
    damage: list[dump_types.FileDamage]

    def order(self) -> list[str]:
        """Return the full names of the operators in planned execution order, [] without a file of it. Add
        files that cannot be read to ``damage``."""
        names: list[str] = []
        for path in self._files("execution_order", _ORDER):
            lines = self._read(path, lambda path: list(read_lines(path, ORDER))) or []
            names += [line.strip() for line in lines if line.strip() and line.strip() != _HEADER]
        return names

    def resolve_names(self, recorded: Iterable[str]) -> FullNames:
        """Return the full names of recorded operator names."""
        return resolve_names(recorded, self.order(), self.parameters())

    def parameters(self) -> list[str]:
        """Return the full names of the parameters, [] without a file of a graph. Add files that cannot be
        read to ``damage``."""
        texts = self._files("graphs", _IR)
        if texts:
            parameters = [self._read(path, read_ir_parameters) or () for path in texts]
        else:
            graphs = [self._read(path, read_pb) for path in self._files("graphs", _PB)]
            parameters = [graph.parameters for graph in graphs if graph]
        return [name for names in parameters for name in names]

    def nodes(self) -> dict[str, IrNode]:
        """Return the operators of the graphs by full name, {} without a file of a graph. Add files that
        cannot be read to ``damage``. They are from ``.ir`` files if there are any, else from ``.pb``."""
        graphs = [self._read(path, read_ir) for path in self._files("graphs", _IR)]
        graphs = graphs or [self._read(path, read_pb) for path in self._files("graphs", _PB)]
        nodes: dict[str, IrNode] = {}
        for node in (node for graph in graphs if graph for node in graph.nodes):
            nodes.setdefault(node.name, node)
        return nodes

    def _files(self, name: str, pattern: re.Pattern[str]) -> list[Path]:
        """Return the files with a matching name: files of the folder's own graph first, then by number. Of
        the files of one graph, the last that holds at this step is returned. A file without an iteration
        in its name holds until the first that has one."""
        graph_number = self.folder.graph.rpartition("/")[2]
        folder = Path(self.folder.root) / name
        matches = [match for match in map(pattern.fullmatch, files_of(folder)) if match]
        matches = [match for match in matches if int(match[2] or -1) <= self.folder.step]
        matches.sort(key=lambda match: int(match[2] or -1))
        latest = {match[1]: match for match in matches}
        ordered = sorted(latest.values(), key=lambda match: (match[1] != graph_number, int(match[1])))
        return [folder / match[0] for match in ordered]

    def _read(self, path: Path, read: Callable[[Path], dump_types.Content]) -> dump_types.Content | None:
        """Return the parsed content of a file, or None, with the damage noted, if it cannot be read."""
        return dump_types.read_or_report(path, read, self.damage, optional=False, of_tensors=False)
