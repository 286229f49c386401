"""Dump writer for any loop, in the layout of MindSpore's synchronous dump.

::

    <path>/rank_0/.dump_metadata/{config,data_dump}.json
    <path>/rank_0/<net>/<graph>/<iteration>/<Type>.<operator>.0.0.<microseconds>.output.0.DefaultFormat.Float32.npy
    <path>/rank_0/<net>/<graph>/<iteration>/statistic.csv
    <path>/rank_0/graphs/ms_output_trace_code_graph_<graph>.pb
    <path>/rank_0/execution_order/*.csv
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np

from mindinsight.writer.arrays import HostArray, mindspore_dtype, to_numpy
from mindinsight.writer.dump.layout import ESCAPES, file_name, iteration_filter, operator_type
from mindinsight.writer.dump.metadata import DumpMetadata, Gap, settings_text
from mindinsight.writer.dump.origin import origin_of
from mindinsight.writer.dump.statistics import COLUMNS, cells, header
from mindinsight.writer.files.directories import private_folder
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.ranks import rank_of

_MODE: Final = 0o400


class Dump:
    """A dump that a loop writes, iteration by iteration::

        dump = Dump("out/dump", net_name="MLP", iterations="0|5-9", graph=graph)
        for number in range(10):
            step = dump.iteration(number)
            step.output("Default/fc1-Dense/MatMul-op0", hidden)
            step.parameter("fc1.weight", weight)

    ``iterations`` is what ``data_dump.json`` takes: "all", numbers and inclusive ranges joined by "|".
    Others cost nothing: their steps take values and leave them. ``graph`` (a GraphBuilder or the bytes of a
    ModelProto) gives operators their place and order. ``rank`` defaults to this process's. ``saved_data``
    chooses files of tensors, rows of statistics or both, ``statistic_category`` the columns of the rows, by
    the names of ``data_dump.json``; ``settings`` is the text of such a file, kept beside the dump.
    Raises ValueError for a name or an iteration text the layout cannot have.
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
        self._metadata.settings(settings or settings_text(root, net_name, iterations))
        if graph is not None:
            self.graph(graph)
        self._folder = root / f"rank_{number}" / net_name / str(graph_id)
        self._time = 0
        self._origin_known = False

    def graph(self, graph: GraphBuilder | bytes) -> None:
        """Write the graph and the order of its operators, unless they are there."""
        self._metadata.graph(graph.serialised() if isinstance(graph, GraphBuilder) else graph)

    def not_recorded(self, gaps: Iterable[Gap]) -> None:
        """Write what ran and is not in this dump, so that no reader takes it for healthy."""
        self._metadata.not_recorded(gaps)

    def iteration(self, number: int) -> DumpStep:
        """Writer of one iteration, to which the loop gives its values."""
        if not self._selects(number):
            return DumpStep(self, None)
        folder = private_folder(self._folder / str(number))
        self._metadata.add_iteration(number)
        return DumpStep(self, folder)

    def take_origin(self, value: object) -> None:
        """Record where the tensors of this dump come from, told from the first one."""
        if not self._origin_known:
            self._origin_known = True
            self._metadata.origin(origin_of(value))

    def next_time(self) -> int:
        """Microseconds since 1970, a different number each time."""
        self._time = max(self._time + 1, time.time_ns() // 1000)
        return self._time


class DumpStep:
    """One iteration of a Dump; files are written at once. Made by ``Dump.iteration``."""

    def __init__(self, dump: Dump, folder: Path | None) -> None:
        self._dump = dump
        self._folder = folder

    def input(self, operator: str, value: object, slot: int = 0) -> None:
        """Write an input of ``operator``, given by full name: "Default/fc1-Dense/MatMul-op0"."""
        self._write(operator_type(operator), operator, "input", slot, value)

    def output(self, operator: str, value: object, slot: int = 0) -> None:
        """Write an output of ``operator``, after its inputs."""
        self._write(operator_type(operator), operator, "output", slot, value)

    def parameter(self, name: str, value: object) -> None:
        """A weight, an optimizer's state or an input of the network, after the iteration."""
        self._write("Parameter", name, "output", 0, value)

    def write(self, kind: str, name: str, io: str, slot: int, host: HostArray) -> None:
        """Write a tensor that is on the host already; ``io`` is "input" or "output".

        Tensors without elements are left out, as MindSpore does; complex numbers have no row of statistics.
        """
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
    path.chmod(_MODE)


def _append(path: Path, header: str, row: str) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(header + row if new else row)
