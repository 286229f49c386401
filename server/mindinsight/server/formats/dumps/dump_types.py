"""Data types of dumps, shared by all layouts.

A **dump** is a directory. For each **rank**, **step** and **graph** it holds the **tensors** that went in and
out of the **operators**. Layouts produce these values. The debugger, the pages and the commands read them.
All of them can be pickled.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

import numpy.typing as npt

from mindinsight.server.formats.graphs.call_stacks import Frame
from mindinsight.server.formats.read_limits import UnreadableError

Array: TypeAlias = npt.NDArray[Any]
Window: TypeAlias = tuple[slice | int, ...]  # one per axis from the first on; missing axes are whole
Direction: TypeAlias = Literal["input", "output", "parameter", "constant"]
Item_co = TypeVar("Item_co", covariant=True)
Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class FileDamage:
    """Damage of a dump: a file, or a tensor in a file, that could not be read."""

    path: str
    reason: str  # a key of the locale files: dump.truncated, dump.json, dump.csv_columns, ...
    detail: str = ""  # English: which part, which figures
    of_tensors: bool = True  # False for a file without tensors, such as a graph or an execution order


def read_or_report(
    path: Path,
    read: Callable[[Path], Content],
    damage: list[FileDamage],
    optional: bool = True,
    of_tensors: bool = True,
) -> Content | None:
    """Return the result of ``read`` for a file, or None, with an item added to ``damage``, if it cannot be
    read. A missing file adds none if it is ``optional``. ``of_tensors`` is stored in the damage."""
    try:
        return read(path)
    except UnreadableError as error:
        if not (optional and error.reason == "dump.missing"):
            damage.append(FileDamage(str(path), error.reason, error.detail, of_tensors))
        return None


@dataclass(frozen=True, slots=True)
class RecordedStatistics:
    """Statistics of a tensor as recorded in the dump.

    None if a value was not recorded.

    Depending on the layout they are printed with six digits only, or computed in the precision of the tensor.
    ``negative`` and ``positive`` count elements strictly below and above zero.
    """

    max: float | None = None
    min: float | None = None
    mean: float | None = None
    l2norm: float | None = None
    count: int | None = None
    negative: int | None = None
    positive: int | None = None
    zero: int | None = None
    nan: int | None = None
    negative_inf: int | None = None
    positive_inf: int | None = None
    size: int | None = None  # bytes
    checksum: str = ""
    checksum_kind: Literal["", "md5", "sha1", "crc32", "xor64", "value"] = ""  # value: the number itself


class TensorRef(NamedTuple):
    """Reference to a tensor: everything required to read it, in any process."""

    layout: str  # name of the layout that reads it
    path: str  # absolute path of the file
    member: str = ""  # which tensor, in files that hold several: "input.0"


class TensorEntry(NamedTuple):
    """One tensor of a step.

    Fields known only from opening its file are None or empty.

    A tuple, because a step can have a hundred thousand and tuples are created ten times faster.
    """

    rank: int
    step: int
    graph: str
    operator: str  # full scoped name if the dump has it, else as recorded
    recorded: str  # operator name exactly as the file name or json has it (escaped)
    type: str  # operator type; "Parameter" for parameters, network inputs and constants
    direction: Direction
    slot: str  # "0", "1", "0.2" (nested), "weight" (by name)
    sequence: int  # position in the order of execution; unique within the listing
    order: int  # position of the operator in the planned execution order, -1 when unknown
    timestamp: int  # microseconds since 1970, 0 when not recorded
    shape: tuple[int, ...] | None
    dtype: str  # float32, bfloat16, ... in lower case; "" when unknown without opening
    format: str  # DefaultFormat, NCHW, NC1HWC0, ...; "" when not recorded
    ref: TensorRef | None  # None: only statistics were recorded, or ``damage`` says why
    statistics: RecordedStatistics | None = None
    damage: FileDamage | None = None
    requires_grad: bool | None = None  # None: not recorded


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """Header of a tensor file: shape, type and size."""

    shape: tuple[int, ...]
    dtype: str  # as stored: "bfloat16" although it is read as float32
    size: int  # bytes of data as stored


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a step: its place in the graph, its slots and its source code."""

    name: str  # full scoped name if the dump has it
    recorded: str  # as file names or json have it; joins with TensorEntry.recorded
    type: str
    scope: tuple[str, ...]  # path in the tree, outermost first, without the operator itself
    graph: str
    sequence: int  # position in the order of execution, -1 if it has no tensor
    order: int  # position in the planned execution order, -1 when unknown
    inputs: tuple[str, ...] = ()  # slots that were dumped
    outputs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()  # names of operators and parameters feeding it, if the graph is known
    stack: tuple[Frame, ...] = ()  # innermost first
    other_stacks: tuple[tuple[Frame, ...], ...] = ()  # of operators that were merged from several
    arguments: tuple[tuple[str, str], ...] = ()  # scalar arguments as recorded: name or slot, text
    inputs_known: bool = False  # all inputs were recorded, here or at the calls of ``depends``
    outputs_known: bool = False  # all outputs were recorded
    # Recorded names of calls that share their tensors: of a backward call its forward.
    depends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Overflow:
    """Overflow that a hardware unit of the device reported, with task and stream, and its operator."""

    rank: int
    step: int
    graph: str
    unit: str  # AI Core, DHA Atomic Add, L2 Atomic Add
    status: int
    task: int
    stream: int
    operator: str  # "" if no file of the folder has this task and stream
    path: str  # of the overflow record


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log file of the Running Data Recorder: the facts in its path, and its size."""

    rank: int
    path: str
    module: str  # PIPELINE, SESSION, RUNTIME_FRAMEWORK; "" without one
    name: str
    graph: int | None
    time: str  # YYYYMMDDHHMMSS as recorded, "" without one
    sequence: int | None
    kind: Literal["ir", "pb", "text", "json"]
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class StepFolder:
    """Directory of a dump with the tensors of one rank, graph and step."""

    rank: int
    step: int
    graph: str  # "TinyNet/0", "ge_default_.../1"; "" if the layout has no graphs
    path: str
    root: str  # directory of the rank, which holds graphs and execution orders
    checked: int = 0  # calls looked at by a recorder that kept only those with a non-finite output


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """Part of a training step that ran and is not in the dump, as noted by the recorder."""

    rank: int
    kind: str  # compiled, backward, limit, lost, ended, as in docs/dumps.md; others may come
    names: tuple[str, ...] = ()  # modules of "compiled", types of forward operators of "backward"
    count: int = 0  # tensors of "limit" and "lost"
    detail: str = ""  # error of "ended", in English
    steps: tuple[int, ...] = ()  # empty: all


@dataclass(frozen=True, slots=True)
class Dump:
    """Dump directory: the tool that wrote it, its ranks, steps and graphs."""

    path: str
    layout: str  # name of its layout
    folders: tuple[StepFolder, ...]  # sorted by rank, step, graph
    rank_names: tuple[tuple[int, str], ...] = ()  # (0, "rank_0"), (0, "proc22782")
    framework: str = ""  # mindspore, pytorch, ...
    version: str = ""
    device: str = ""
    level: str = ""  # what was dumped, if the layout states it: L0 (modules), L1 (calls), mix
    task: str = ""  # as recorded: tensor, statistic, statistics, full, structure
    config: str = ""  # text of the configuration the dump was made with
    logs: tuple[LogFile, ...] = ()
    damage: tuple[FileDamage, ...] = ()
    not_recorded: tuple[NotRecorded, ...] = ()  # gaps that the recorder noted

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return all ranks, in order."""
        return tuple(number for number, _ in self.rank_names)

    def steps(self, rank: int | None = None) -> tuple[int, ...]:
        """Return the steps of one rank, or of all ranks, in order. Unknown ranks have none."""
        return tuple(sorted({f.step for f in self.folders if rank is None or f.rank == rank}))

    def graphs(self, rank: int | None = None, step: int | None = None) -> tuple[str, ...]:
        """Return the graphs of a rank and step, or of all, in order."""
        return tuple(
            sorted({f.graph for f in self.folders if rank in (None, f.rank) and step in (None, f.step)})
        )


@dataclass(frozen=True, slots=True)
class DumpDir:
    """Path and layout of a dump below a base directory."""

    path: str
    layout: str


@dataclass(frozen=True)
class LazySequence(Sequence[Item_co]):
    """Lazy sequence: items are built on access, because a page shows a hundred of many thousands."""

    length: int
    build: Callable[[int], Item_co]

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Item_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item_co]: ...
    def __getitem__(self, index: int | slice) -> Item_co | Sequence[Item_co]:
        if isinstance(index, slice):
            return tuple(map(self.build, range(self.length)[index]))
        return self.build(range(self.length)[index])

    def __iter__(self) -> Iterator[Item_co]:
        return map(self.build, range(self.length))


@dataclass(frozen=True)
class Listing(Sequence[Item_co]):
    """Listing: items in order, and the damage of files that could not be listed."""

    items: Sequence[Item_co]
    damage: tuple[FileDamage, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item_co]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> Item_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item_co]: ...
    def __getitem__(self, index: int | slice) -> Item_co | Sequence[Item_co]:
        return self.items[index]
