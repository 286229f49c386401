"""Reader of the execution orders and graphs beside the tensors of a MindSpore dump.

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
from mindinsight.server.formats.dumps.names import FullNames, resolve_names
from mindinsight.server.formats.dumps.types import FileDamage, StepFolder
from mindinsight.server.formats.graphs.ir import IrNode, read_ir, read_ir_parameters
from mindinsight.server.formats.graphs.pb_graphs import read_pb
from mindinsight.server.formats.text_files import read_lines
from mindinsight.server.formats.unreadable import UnreadableError

Content = TypeVar("Content")
_ORDER: Final = re.compile(r"ms_execution_order_graph_(\d+)\.csv")
_IR: Final = re.compile(r"ms_output_trace_code_graph_(\d+)\.ir")
_PB: Final = re.compile(r"ms_output_trace_code_graph_(\d+)\.pb")
_HEADER: Final = "NodeExecutionOrder-FullNameWithScope"


@dataclass(frozen=True, slots=True)
class GraphFiles:
    """Graph and execution order files for one step folder; those of its own graph come first.

    What cannot be read is appended to ``damage``.
    """

    folder: StepFolder
    damage: list[FileDamage]

    def order(self) -> list[str]:
        """Full names of the operators in planned execution order."""
        names: list[str] = []
        for path in self._files("execution_order", _ORDER):
            lines = self._read_or_report(path, _order_lines) or []
            names += [line.strip() for line in lines if line.strip() and line.strip() != _HEADER]
        return names

    def resolve_names(self, recorded: Iterable[str]) -> FullNames:
        """Full names of recorded operator names."""
        return resolve_names(recorded, self.order(), self.parameters())

    def parameters(self) -> list[str]:
        """Full names of the parameters."""
        texts = self._files("graphs", _IR)
        if texts:
            parameters = [self._read_or_report(path, read_ir_parameters) or () for path in texts]
        else:
            graphs = [self._read_or_report(path, read_pb) for path in self._files("graphs", _PB)]
            parameters = [graph.parameters for graph in graphs if graph]
        return [name for names in parameters for name in names]

    def nodes(self) -> dict[str, IrNode]:
        """Operators of the graphs by full name: from ``.ir`` files where there are any, else from ``.pb``."""
        graphs = [self._read_or_report(path, read_ir) for path in self._files("graphs", _IR)]
        graphs = graphs or [self._read_or_report(path, read_pb) for path in self._files("graphs", _PB)]
        nodes: dict[str, IrNode] = {}
        for node in (node for graph in graphs if graph for node in graph.nodes):
            nodes.setdefault(node.name, node)
        return nodes

    def _files(self, name: str, pattern: re.Pattern[str]) -> list[Path]:
        """Files whose name matches, that of the folder's own graph first, then by number."""
        graph_number = self.folder.graph.rpartition("/")[2]
        folder = Path(self.folder.root) / name
        matches = [match for match in map(pattern.fullmatch, files_of(folder)) if match]
        matches.sort(key=lambda match: (match[1] != graph_number, int(match[1])))
        return [folder / match[0] for match in matches]

    def _read_or_report(self, path: Path, read: Callable[[Path], Content]) -> Content | None:
        try:
            return read(path)
        except UnreadableError as error:
            self.damage.append(FileDamage(str(path), error.reason, error.detail))
            return None


def _order_lines(path: Path) -> list[str]:
    return list(read_lines(path, ORDER))
