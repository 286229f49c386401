"""Metadata files of a dump: settings, origin, graph and execution order of one rank."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from mindinsight.proto import graph_pb2
from mindinsight.writer.dump.origin import Origin
from mindinsight.writer.dump.statistics import COLUMNS
from mindinsight.writer.files.directories import private_folder

_ORDER_HEADER: Final = "NodeExecutionOrder-FullNameWithScope"


@dataclass(frozen=True)
class Gap:
    """Part of a training step that ran and is not in the dump; ``docs/dumps.md`` describes each kind."""

    kind: Literal["compiled", "backward", "limit", "lost", "ended"]
    names: tuple[str, ...] = ()  # modules, or types of operators
    count: int = 0  # tensors
    detail: str = ""  # the error, in English
    iterations: tuple[int, ...] = ()  # empty: all


class DumpMetadata:
    """Writer of the files of ``rank_<N>`` that are not tensors."""

    def __init__(self, rank: Path, graph_id: int) -> None:
        self._rank = rank
        self._graph_id = graph_id

    def settings(self, content: str) -> None:
        """Write the configuration the dump was made with, ``data_dump.json``, unless there is one."""
        _write_once(self._metadata("data_dump.json"), content.encode())

    def origin(self, origin: Origin) -> None:
        """Write where the tensors come from, unless it is there.

        ``device_target`` and ``ms_version`` are MindSpore's; other frameworks have fields of their own.
        """
        fields = {"device_target": origin.device}
        if origin.framework == "mindspore":
            fields["ms_version"] = origin.version
        else:
            fields |= {"framework": origin.framework, "framework_version": origin.version}
        _write_once(self._metadata("config.json"), json.dumps(fields, separators=(",", ":")).encode())

    def graph(self, model: bytes) -> None:
        """The graph and the order of its operators, from the bytes of a ModelProto."""
        graph = graph_pb2.ModelProto.FromString(model).graph
        # Without ir_version, which is text in the graphs of dumps and a number in those of event files.
        content = graph_pb2.ModelProto(graph=graph).SerializeToString()
        name = f"ms_output_trace_code_graph_{self._graph_id}.pb"
        _write_once(private_folder(self._rank / "graphs") / name, content)
        lines = [_ORDER_HEADER, *(node.full_name for node in graph.node if node.full_name), ""]
        _write_once(self._order(f"ms_execution_order_graph_{self._graph_id}.csv"), "\n".join(lines).encode())

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
        """Add to the list of iterations that were dumped."""
        with self._order(f"ms_global_execution_order_graph_{self._graph_id}.csv").open("a") as file:
            file.write(f"{iteration}\n")

    def _metadata(self, name: str) -> Path:
        return private_folder(self._rank / ".dump_metadata") / name

    def _order(self, name: str) -> Path:
        return private_folder(self._rank / "execution_order") / name


def settings_text(path: Path, net_name: str, iterations: str) -> str:
    """The configuration a MindSpore run with this outcome would have had.

    Raises ValueError for a ``net_name`` of other than letters, digits, ``-`` and ``_``.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]+", net_name):
        raise ValueError(f"net_name is made of letters, digits, '-' and '_', got {net_name!r}")
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
    return json.dumps(dump, indent=2)


def _write_once(path: Path, content: bytes) -> None:
    """Write a file for reading only; one that is there stays."""
    if not path.exists():
        path.write_bytes(content)
        path.chmod(0o400)
