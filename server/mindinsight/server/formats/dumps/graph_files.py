"""What lies beside the tensors of a MindSpore dump: execution orders and graphs.

``execution_order/ms_execution_order_graph_{G}.csv`` has one full operator name a line, in planned order;
``graphs/ms_output_trace_code_graph_{G}.ir`` or ``.pb`` has parameters, edges and source lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from mindinsight.server.files.folders import files_of
from mindinsight.server.formats.budgets import ORDER
from mindinsight.server.formats.dumps.names import Names, look_up
from mindinsight.server.formats.dumps.types import FileDamage, StepFolder
from mindinsight.server.formats.graphs.ir import IrNode, read_ir, read_ir_parameters
from mindinsight.server.formats.graphs.pb_graphs import read_pb
from mindinsight.server.formats.text_files import read_lines
from mindinsight.server.formats.unreadable import UnreadableError

Thing = TypeVar("Thing")
_ORDER: Final = re.compile(r"ms_execution_order_graph_(\d+)\.csv")
_IR: Final = re.compile(r"ms_output_trace_code_graph_(\d+)\.ir")
_PB: Final = re.compile(r"ms_output_trace_code_graph_(\d+)\.pb")
_GLOBAL: Final = re.compile(r"ms_global_execution_order_graph_(\d+)\.csv")
MAX_DIGITS: Final = 18  # of an iteration
_HEADER: Final = "NodeExecutionOrder-FullNameWithScope"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The files beside one folder of tensors; those of its own graph come first."""

    folder: StepFolder
    damage: list[FileDamage]

    def order(self) -> list[str]:
        """Full names of the operators in planned execution order."""
        names: list[str] = []
        for path in self._files("execution_order", _ORDER):
            lines = self._tried(path, _order_lines) or []
            names += [line.strip() for line in lines if line.strip() and line.strip() != _HEADER]
        return names

    def look_up(self, recorded: Iterable[str]) -> Names:
        """Full names behind recorded ones."""
        return look_up(recorded, self.order(), self.parameters())

    def parameters(self) -> list[str]:
        """Full names of the parameters."""
        texts = self._files("graphs", _IR)
        if texts:
            found = [self._tried(path, read_ir_parameters) or () for path in texts]
        else:
            graphs = [self._tried(path, read_pb) for path in self._files("graphs", _PB)]
            found = [graph.parameters for graph in graphs if graph]
        return [name for names in found for name in names]

    def nodes(self) -> dict[str, IrNode]:
        """Operators of the graphs by full name; from the text where there is one."""
        graphs = [self._tried(path, read_ir) for path in self._files("graphs", _IR)]
        graphs = graphs or [self._tried(path, read_pb) for path in self._files("graphs", _PB)]
        nodes: dict[str, IrNode] = {}
        for node in (node for graph in graphs if graph for node in graph.nodes):
            nodes.setdefault(node.name, node)
        return nodes

    def _files(self, name: str, pattern: re.Pattern[str]) -> list[Path]:
        """Files of a kind, that of the folder's own graph first, then by number."""
        own = self.folder.graph.rpartition("/")[2]
        folder = Path(self.folder.root) / name
        found = [match for match in map(pattern.fullmatch, files_of(folder)) if match]
        found.sort(key=lambda match: (match[1] != own, int(match[1])))
        return [folder / match[0] for match in found]

    def _tried(self, path: Path, read: Callable[[Path], Thing]) -> Thing | None:
        try:
            return read(path)
        except UnreadableError as error:
            self.damage.append(FileDamage(str(path), error.reason, error.detail))
            return None


def _order_lines(path: Path) -> list[str]:
    return list(read_lines(path, ORDER))


def executed_iterations(root: Path, graph: str) -> tuple[int, ...]:
    """Iterations in which a graph ran while it was dumped, each once; from the global execution order.

    Two processes can have written into one file before they knew their ranks, so numbers repeat.
    """
    found = []
    for name in files_of(root / "execution_order"):
        match = _GLOBAL.fullmatch(name)
        if match and match[1] == graph.rpartition("/")[2]:
            lines = map(str.strip, read_lines(root / "execution_order" / name, ORDER))
            found += [int(line) for line in lines if line.isdecimal() and len(line) <= MAX_DIGITS]
    return tuple(sorted(set(found)))
