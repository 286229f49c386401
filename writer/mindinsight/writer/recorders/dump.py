"""Writer of dumps in the layout of MindSpore's synchronous dump, for any loop."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto import graph_pb2
from mindinsight.writer.arrays import HostArray, mindspore_dtype, to_numpy
from mindinsight.writer.files.event_file import private_folder
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.ranks import rank_of

__all__ = ["Dump", "DumpStep"]


REQUIRES_GRAD: Final = "requires_grad.json"  # in the folder of an iteration
ESCAPES: Final = str.maketrans("/\\. ", "____")
_LONGEST: Final = 255  # bytes of a file name


def operator_type(operator: str) -> str:
    """Return the type of an operator: ``MatMul`` for "Default/fc1-Dense/MatMul-op0"."""
    return operator.rpartition("/")[2].rpartition("-")[0] or operator.rpartition("/")[2]


def file_name(folder: Path, name: str) -> str:
    """Return ``name``, or a numbered name if ``name`` exceeds the file system's limit. Record the numbered
    name in ``mapping.csv`` in ``folder``."""
    if len(name.encode()) <= _LONGEST:
        return name
    short = f"{zlib.crc32(name.encode()) & 0x7FFFFFFF}.npy"
    with (folder / "mapping.csv").open("a", encoding="utf-8") as file:
        file.write(f"{short},{name}\n")
    return short


def iteration_filter(text: str) -> Callable[[int], bool]:
    """Return the predicate of the iterations in ``text``: "all", or numbers and inclusive ranges, "0|5-9".
    Raises ValueError for anything else, and for a range that ends before it begins."""
    if text == "all":
        return lambda number: True
    if not re.fullmatch(r"\d+(-\d+)?(\|\d+(-\d+)?)*", text):
        raise ValueError(f"iterations are 'all' or numbers and ranges as in '0|5-9', got {text!r}")
    ends = [item.partition("-") for item in text.split("|")]
    spans = [range(int(first), int(last or first) + 1) for first, _, last in ends]
    if not all(spans):
        raise ValueError(f"a range of iterations ends before it begins: {text!r}")
    return lambda number: any(number in span for span in spans)


_NAMES: Final = {"torch": "pytorch", "jaxlib": "jax"}  # package -> name of the framework, where they differ
_DEVICES: Final = {"cuda": "GPU", "rocm": "GPU", "npu": "Ascend"}  # MindSpore's names of devices


class Origin(NamedTuple):
    """Framework and device of a tensor."""

    framework: str  # mindspore, pytorch, jax, numpy, ...
    version: str
    device: str  # CPU, GPU, Ascend or the framework's name in capitals


def origin_of(value: object) -> Origin:
    """Return the framework, version and device of a value. Python numbers count as NumPy's."""
    packages = [cls.__module__.partition(".")[0] for cls in type(value).__mro__]
    package = next((name for name in packages if name in ("mindspore", "torch", "jax", "jaxlib")), "numpy")
    framework = _NAMES.get(package, package)
    module = sys.modules.get("jax" if framework == "jax" else package)
    version = str(getattr(module, "__version__", "")).partition("+")[0]
    return Origin(framework, version, _device(framework, module, value))


def _device(framework: str, module: Any, value: Any) -> str:
    name = "cpu"
    if framework == "pytorch":
        name = value.device.type
    elif framework == "jax" and hasattr(value, "devices"):
        name = next(iter(value.devices())).platform
    elif framework == "mindspore":
        return str(module.get_context("device_target"))
    return _DEVICES.get(name, name.upper())


FIXED: Final = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"
# Category of the configuration file -> column.
COLUMNS: Final = {
    "max": "Max Value",
    "min": "Min Value",
    "avg": "Avg Value",
    "count": "Count",
    "negative zero count": "Negative Zero Count",
    "positive zero count": "Positive Zero Count",
    "nan count": "NaN Count",
    "negative inf count": "Negative Inf Count",
    "positive inf count": "Positive Inf Count",
    "zero count": "Zero Count",
    "md5": "MD5",
    "l2norm": "L2Norm Value",
}


Measure: TypeAlias = Callable[[npt.NDArray[np.float64]], Any]


def raw_bytes(host: HostArray) -> bytes:
    """Return the tensor's bytes in C order, little-endian, in its own type. A bfloat16 has two bytes."""
    if host.dtype == "bfloat16":  # held as float32. Its upper half is the bfloat16
        return (host.values.astype("<f4").view(np.uint32) >> 16).astype("<u2").tobytes()
    return host.values.astype(host.values.dtype.newbyteorder("<"), copy=False).tobytes()


def header(categories: Sequence[str] = tuple(COLUMNS)) -> str:
    """Return the first line of ``statistic.csv``. The columns have the order of ``categories``."""
    return ",".join([FIXED, *(COLUMNS[category] for category in categories)]) + "\n"


def cells(host: HostArray, categories: Sequence[str] = tuple(COLUMNS)) -> str:
    """Return the cells of ``statistic.csv`` that describe a tensor: size, type, shape and the given
    categories. Raises TypeError for complex numbers, because they have no order.

    The tensor must not be empty. ``negative zero count`` is the number of elements below zero and ``positive
    zero count`` the number above, as in MindSpore. With a NaN, maximum and minimum are NaN.
    """
    if host.values.dtype.kind == "c":
        raise TypeError("complex numbers have no statistics")
    raw = raw_bytes(host)
    shape = ",".join(map(str, host.values.shape))
    with np.errstate(invalid="ignore", over="ignore"):  # signalling NaN, and norms beyond float64
        values = host.values.astype(np.float64)
        numbers = {category: _MEASURES[category](values) for category in categories if category != "md5"}
    columns = [
        hashlib.md5(raw, usedforsecurity=False).hexdigest() if category == "md5" else _text(numbers[category])
        for category in categories
    ]
    return ",".join([str(len(raw)), host.dtype, f'"[{shape}]"', *columns])


def _extreme(measure: Measure, position: Measure) -> Measure:
    """Return a function for the maximum or minimum that returns the first of several zeros, with its sign.
    MindSpore compares zeros in the same way."""

    def measured(values: npt.NDArray[np.float64]) -> Any:
        extreme = measure(values)
        return extreme if extreme else values.flat[position(values)]

    return measured


def _text(number: Any) -> str:
    """Return a count in full, or another number with six digits, as C++ streams print it."""
    return str(int(number)) if isinstance(number, (int, np.integer)) else f"{number:g}"


_MEASURES: Final[Mapping[str, Measure]] = {
    "max": _extreme(np.max, np.argmax),
    "min": _extreme(np.min, np.argmin),
    "avg": np.mean,
    "count": np.size,
    "negative zero count": lambda values: np.count_nonzero(values < 0),
    "positive zero count": lambda values: np.count_nonzero(values > 0),
    "nan count": lambda values: np.count_nonzero(np.isnan(values)),
    "negative inf count": lambda values: np.count_nonzero(np.isneginf(values)),
    "positive inf count": lambda values: np.count_nonzero(np.isposinf(values)),
    "zero count": lambda values: np.count_nonzero(values == 0),
    "l2norm": lambda values: np.sqrt(np.square(values).sum()),
}


_ORDER_HEADER: Final = "NodeExecutionOrder-FullNameWithScope"


@dataclass(frozen=True)
class Gap:
    """Section of a training step that ran but is missing from the dump.

    ``docs/dumps.md`` describes each kind.
    """

    kind: Literal["compiled", "backward", "limit", "lost", "ended", "thread", "mixed"]
    names: tuple[str, ...] = ()  # modules, or types of operators
    count: int = 0  # tensors
    detail: str = ""  # the error, in English
    iterations: tuple[int, ...] = ()  # empty: all


class DumpMetadata:
    """Writer of the metadata files in ``rank_<N>``."""

    def __init__(self, rank: Path, graph_id: int) -> None:
        self._rank = rank
        self._graph_id = graph_id
        self._model = b""  # the graph written last

    def settings(self, content: str) -> None:
        """Write the configuration of the dump to ``data_dump.json``, unless the file exists."""
        _write_once(self._metadata("data_dump.json"), content.encode())

    def origin(self, origin: Origin) -> None:
        """Write the framework and device of the tensors to ``config.json``, unless the file exists.
        ``device_target`` and ``ms_version`` are MindSpore's fields. Other frameworks have their own
        fields."""
        fields = {"device_target": origin.device}
        if origin.framework == "mindspore":
            fields["ms_version"] = origin.version
        else:
            fields |= {"framework": origin.framework, "framework_version": origin.version}
        _write_once(self._metadata("config.json"), json.dumps(fields, separators=(",", ":")).encode())

    def graph(self, model: bytes, iteration: int | None = None) -> None:
        """Write the graph in ``model``, bytes of a ModelProto, and the order of its operators, unless the
        files exist. Write a later graph that differs beside them, for the iterations from ``iteration``
        on. The first graph has no iteration in its name."""
        suffix = str(self._graph_id)
        name = f"ms_output_trace_code_graph_{suffix}.pb"
        if (private_folder(self._rank / "graphs") / name).exists():
            if iteration is None or model == self._model:
                return
            suffix += f"_iteration_{iteration}"
            name = f"ms_output_trace_code_graph_{suffix}.pb"
        self._model = model
        graph = graph_pb2.ModelProto.FromString(model).graph
        # Without ir_version: dumps have it as text, event files as a number.
        content = graph_pb2.ModelProto(graph=graph).SerializeToString()
        _write_once(private_folder(self._rank / "graphs") / name, content)
        lines = [_ORDER_HEADER, *(node.full_name for node in graph.node if node.full_name), ""]
        _write_once(self._order(f"ms_execution_order_graph_{suffix}.csv"), "\n".join(lines).encode())

    def not_recorded(self, gaps: Iterable[Gap]) -> None:
        """Add the gaps that ``not_recorded.json`` does not list yet. Without gaps no file is written."""
        path = self._metadata("not_recorded.json")
        listed = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        texts = {json.dumps(asdict(gap)) for gap in gaps} - {json.dumps(entry) for entry in listed}
        new = [json.loads(text) for text in sorted(texts)]
        if new:
            draft = path.with_suffix(".draft")  # replaced as a whole: a reader never sees half of it
            draft.write_text(json.dumps([*listed, *new], indent=1), encoding="utf-8")
            draft.replace(path)

    def add_iteration(self, iteration: int) -> None:
        """Add an iteration to the list of dumped iterations."""
        with self._order(f"ms_global_execution_order_graph_{self._graph_id}.csv").open("a") as file:
            file.write(f"{iteration}\n")

    def _metadata(self, name: str) -> Path:
        return private_folder(self._rank / ".dump_metadata") / name

    def _order(self, name: str) -> Path:
        return private_folder(self._rank / "execution_order") / name


def dump_settings(path: Path, net_name: str, iterations: str, **settings: Any) -> dict[str, Any]:
    """Return the configuration with which MindSpore 2.10 would write a dump: ``common_dump_settings``, with
    the keys in ``settings``, and ``e2e_dump_settings``. Raises ValueError if ``net_name`` contains characters
    other than letters, digits, ``-`` and ``_``."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", net_name):
        raise ValueError(f"net_name is made of letters, digits, '-' and '_', got {net_name!r}")
    common = {"op_debug_mode": 0, "dump_mode": 0, "input_output": 0, "kernels": [], "support_device": [0]}
    common |= {"path": str(path), "net_name": net_name, "iteration": iterations, **settings}
    return {"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}


def _write_once(path: Path, content: bytes) -> None:
    """Write a read-only file. An existing file is not changed."""
    if not path.exists():
        path.write_bytes(content)
        path.chmod(0o400)


class Dump:
    """Dump that a loop writes, iteration by iteration::

        dump = Dump("out/dump", net_name="MLP", iterations="0|5-9", graph=graph)
        for number in range(10):
            step = dump.iteration(number)
            step.output("Default/fc1-Dense/MatMul-op0", hidden)
            step.parameter("fc1.weight", weight)

    ``iterations`` has the syntax of ``data_dump.json``: "all", or numbers and inclusive ranges joined by "|".
    The steps of other iterations discard their values at no cost. ``graph`` (a GraphBuilder or the bytes of a
    ModelProto) gives operators their place and order. ``rank`` defaults to the rank of this process.
    ``saved_data`` selects files of tensors, rows of statistics or both, ``statistic_category`` the columns of
    the rows by the names of ``data_dump.json``. ``settings`` is the text of a configuration file to copy into
    the dump. Raises ValueError for a name or an iteration text that the layout does not allow.
    """

    def __init__(
        self,
        path: str | Path,
        net_name: str = "Net",
        iterations: str = "all",
        graph: GraphBuilder | bytes | None = None,
        rank: int | None = None,
        graph_id: int = 0,
        saved_data: Literal["tensor", "statistic", "full"] = "full",
        statistic_category: Sequence[str] = tuple(COLUMNS),
        settings: str = "",
    ) -> None:
        self.files = saved_data != "statistic"
        self.rows = saved_data != "tensor"
        self.categories = tuple(statistic_category)
        self._selects = iteration_filter(iterations)
        number = rank_of().number if rank is None else rank
        root = Path(path).absolute()
        self._metadata = DumpMetadata(root / f"rank_{number}", graph_id)
        full = dump_settings(root, net_name, iterations, saved_data="full", statistic_category=list(COLUMNS))
        self._metadata.settings(settings or json.dumps(full, indent=2))
        if graph is not None:
            self.graph(graph)
        self._folder = root / f"rank_{number}" / net_name / str(graph_id)
        self._time = 0
        self._origin_known = False

    def graph(self, graph: GraphBuilder | bytes, iteration: int | None = None) -> None:
        """Write the graph and the order of its operators, unless the files exist. With ``iteration``, a
        graph that differs from the one before is written beside it, for the iterations from this one on."""
        self._metadata.graph(graph.serialised() if isinstance(graph, GraphBuilder) else graph, iteration)

    def not_recorded(self, gaps: Iterable[Gap]) -> None:
        """Write the gaps of this dump, so that no reader takes missing tensors for healthy."""
        self._metadata.not_recorded(gaps)

    def iteration(self, number: int) -> DumpStep:
        """Create the folder of an iteration, list the iteration as dumped, and return its writer. If
        ``iterations`` does not select it, return a writer that writes nothing."""
        if not self._selects(number):
            return DumpStep(self, None)
        folder = private_folder(self._folder / str(number))
        self._metadata.add_iteration(number)
        return DumpStep(self, folder)

    def holds(self, number: int) -> bool:
        """Return True if the folder of an iteration has files, such as those of an earlier recording."""
        folder = self._folder / str(number)
        return folder.is_dir() and any(folder.iterdir())

    def take_origin(self, value: object) -> None:
        """Write framework and device of ``value``, the first tensor of the dump. Later calls do nothing."""
        if not self._origin_known:
            self._origin_known = True
            self._metadata.origin(origin_of(value))

    def next_time(self) -> int:
        """Return microseconds since 1970, greater than at the last call."""
        self._time = max(self._time + 1, time.time_ns() // 1000)
        return self._time


class DumpStep:
    """Writer of one iteration of a Dump, made by ``Dump.iteration``. Files are written immediately."""

    def __init__(self, dump: Dump, folder: Path | None) -> None:
        self._dump = dump
        self._folder = folder

    def input(self, operator: str, value: object, slot: int = 0) -> None:
        """Write input ``slot`` of ``operator``, given by full name: "Default/fc1-Dense/MatMul-op0". Raises
        TypeError without numbers, and for complex numbers if only statistics are written."""
        self._write(operator_type(operator), operator, "input", slot, value)

    def output(self, operator: str, value: object, slot: int = 0) -> None:
        """Write output ``slot`` of ``operator``, after its inputs. Raises like ``input``."""
        self._write(operator_type(operator), operator, "output", slot, value)

    def parameter(self, name: str, value: object) -> None:
        """Write a weight, a state of the optimizer or an input of the network, after the iteration. Raises
        like ``input``."""
        self._write("Parameter", name, "output", 0, value)

    def requires_grad(self, parameters: Mapping[str, bool]) -> None:
        """Write which parameters, by full name, are to have a gradient, so that readers can tell those that
        were frozen on purpose."""
        if self._folder is not None:
            content = {name.translate(ESCAPES): required for name, required in parameters.items()}
            (self._folder / REQUIRES_GRAD).write_text(json.dumps(content), encoding="utf-8")

    def write(self, kind: str, name: str, io: str, slot: int, host: HostArray) -> None:
        """Write a tensor in host memory: input or output (``io``) ``slot`` of an operator, by type and
        name. Skip a tensor without elements. MindSpore skips it too. Complex numbers have no row of
        statistics."""
        if self._folder is None or not host.values.size:
            return
        fields = [kind, name.translate(ESCAPES), "0", "0", str(self._dump.next_time())]
        full = ".".join([*fields, io, str(slot), "DefaultFormat", mindspore_dtype(host.dtype), "npy"])
        if self._dump.files:
            _save(self._folder / file_name(self._folder, full), host)
        if self._dump.rows and host.values.dtype.kind != "c":
            row = ",".join([*fields, io, str(slot), cells(host, self._dump.categories)])
            _append(self._folder / "statistic.csv", header(self._dump.categories), row + ",\n")

    def _write(self, kind: str, name: str, io: str, slot: int, value: object) -> None:
        if self._folder is None:
            return
        host = to_numpy(value)
        if host.values.dtype.kind == "c" and not self._dump.files:
            raise TypeError(f"'{name}' holds complex numbers, for which there are no statistics")
        if host.values.size:
            self._dump.take_origin(value)
            self.write(kind, name, io, slot, host)


def _save(path: Path, host: HostArray) -> None:
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.asarray(host.values, order="C"), (1, 0), allow_pickle=False)
    path.chmod(0o400)


def _append(path: Path, header: str, row: str) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(header + row if new else row)
