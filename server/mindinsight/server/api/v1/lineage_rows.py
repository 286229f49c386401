"""Rows of lineage: flat ones for search, nested ones for responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mindinsight.server.api.v1.lineage_search import Row
from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.store.run import Run
from mindinsight.server.workspace.notes import Note

_NO_DATASET: Final = "1"


@dataclass(frozen=True, slots=True)
class LineageRow:
    """Lineage of one run in both forms."""

    flat: Row  # field -> value, with metric/<x>, user_defined/<x> and tag
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    annotations: Mapping[str, Any]

    def response_json(self, halves: frozenset[str]) -> dict[str, Any]:
        """The row as JSON with the given halves; only notes if there are none."""
        item: dict[str, Any] = {"added_info": self.annotations}
        if halves:
            item["summary_dir"] = self.flat["summary_dir"]
        if "model" in halves:
            item["model_lineage"] = self.model
        if "dataset" in halves:
            item["dataset_graph"] = self.dataset
        return item


def lineage_rows(runs: Iterable[Run], notes: Mapping[str, Note]) -> list[LineageRow]:
    """Rows of the runs that have lineage, in the order of ``runs``."""
    rows: list[LineageRow] = []
    marks: dict[str, str] = {}
    for run in runs:
        if run.lineage is not None:
            rows.append(
                _row(run.id, run.lineage, _dataset_mark(run.lineage, marks), notes.get(run.id, Note()))
            )
    return rows


def _dataset_mark(lineage: Lineage, marks: dict[str, str]) -> str:
    """Number shared by runs with the same dataset graph, from 2; 1 for runs without one."""
    if not lineage.dataset_graph:
        return _NO_DATASET
    text = json.dumps(lineage.dataset_graph, sort_keys=True)
    return marks.setdefault(text, str(len(marks) + 2))


def _row(run: str, lineage: Lineage, mark: str, note: Note) -> LineageRow:
    train, evaluation = lineage.train or TrainLineage(), lineage.evaluation or EvaluationLineage()
    fields = {
        "loss_function": train.loss_function,
        "train_dataset_path": train.train_dataset_path,
        "train_dataset_count": train.train_dataset_size,
        "test_dataset_path": evaluation.valid_dataset_path,
        "test_dataset_count": evaluation.valid_dataset_size,
        "network": train.network,
        "optimizer": train.optimizer,
        "learning_rate": train.learning_rate,
        "epoch": train.epoch,
        "batch_size": train.batch_size,
        "device_num": train.device_num,
        "loss": train.loss,
        "model_size": train.model_size,
        "dataset_mark": mark,
    }
    model = {**fields, "metric": evaluation.metric, "user_defined": lineage.user_defined}
    flat = {"summary_dir": run, **fields, "tag": note.tag}
    flat |= {f"metric/{name}": value for name, value in evaluation.metric.items()}
    flat |= {f"user_defined/{name}": value for name, value in lineage.user_defined.items()}
    return LineageRow(flat, model, lineage.dataset_graph or {}, _annotations(note))


def _annotations(note: Note) -> dict[str, Any]:
    annotations: dict[str, Any] = {}
    if note.tag is not None:
        annotations["tag"] = note.tag
    if note.note:
        annotations["remark"] = note.note
    return annotations


def custom_columns(rows: Sequence[LineageRow]) -> dict[str, Any]:
    """Metric and user-defined columns of the rows, with the type of their values."""
    kinds: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.flat.items():
            if name.startswith(("metric/", "user_defined/")) and value is not None:
                kinds.setdefault(name, set()).add(type(value).__name__)
    return {
        name: {"label": name, "required": name.startswith("metric/"), "type": _type_name(types)}
        for name, types in sorted(kinds.items())
    }


def _type_name(types: set[str]) -> str:
    if len(types) == 1:
        return next(iter(types))
    return "float" if types == {"int", "float"} else "mixed"
