"""What a dump has beside its tensors: settings, graph and execution order of one rank."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from mindinsight.proto import graph_pb2
from mindinsight.writer.dump.statistics import COLUMNS
from mindinsight.writer.folders import private_folder

_ORDER_HEADER: Final = "NodeExecutionOrder-FullNameWithScope"


class Beside:
    """The files of ``rank_<N>`` that are not tensors."""

    def __init__(self, rank: Path, graph_id: int) -> None:
        self._rank = rank
        self._graph_id = graph_id

    def settings(self, path: Path, net_name: str, iterations: str) -> None:
        """Write the configuration a MindSpore run with this outcome would have had, unless there is one.

        Raises ValueError for a ``net_name`` of other than letters, digits, ``-`` and ``_``.
        """
        if not re.fullmatch(r"[A-Za-z0-9_-]+", net_name):
            raise ValueError(f"net_name is made of letters, digits, '-' and '_', got {net_name!r}")
        folder = private_folder(self._rank / ".dump_metadata")
        common = {
            "dump_mode": 0,
            "path": str(path),
            "net_name": net_name,
            "iteration": iterations,
            "saved_data": "full",
            "input_output": 0,
            "kernels": [],
            "support_device": [0],
            "op_debug_mode": 0,
            "statistic_category": list(COLUMNS),
        }
        dump = {"common_dump_settings": common, "e2e_dump_settings": {"enable": True, "trans_flag": True}}
        _written(folder / "data_dump.json", json.dumps(dump, indent=2).encode())
        _written(folder / "config.json", b'{"device_target":"CPU"}')

    def graph(self, model: bytes) -> None:
        """The graph and the order of its operators, from the bytes of a ModelProto."""
        graph = graph_pb2.ModelProto.FromString(model).graph
        # Without ir_version, which is text in the graphs of dumps and a number in those of event files.
        content = graph_pb2.ModelProto(graph=graph).SerializeToString()
        name = f"ms_output_trace_code_graph_{self._graph_id}.pb"
        _written(private_folder(self._rank / "graphs") / name, content)
        lines = [_ORDER_HEADER, *(node.full_name for node in graph.node if node.full_name), ""]
        _written(self._order(f"ms_execution_order_graph_{self._graph_id}.csv"), "\n".join(lines).encode())

    def ran(self, iteration: int) -> None:
        """Add to the list of iterations that were dumped."""
        with self._order(f"ms_global_execution_order_graph_{self._graph_id}.csv").open("a") as file:
            file.write(f"{iteration}\n")

    def _order(self, name: str) -> Path:
        return private_folder(self._rank / "execution_order") / name


def _written(path: Path, content: bytes) -> None:
    """Write a file for reading only; one that is there stays."""
    if not path.exists():
        path.write_bytes(content)
        path.chmod(0o400)
