"""Rows of lineage: flat for search, nested for answers, with marks of data sets and columns of people."""

from typing import Any

import pytest

from mindinsight.server.api.v1.lineage_rows import LineageRow, custom_columns, lineage_rows
from mindinsight.server.formats.lineage import EvaluationLineage, Lineage, TrainLineage
from mindinsight.server.store.run import Run
from mindinsight.server.workspace.notes import Note


def run(name: str, lineage: Lineage | None) -> Run:
    return Run(f"./{name}", name, f"/base/{name}", f"./{name}", None, 0.0, 0.0, 0, lineage=lineage)


def rows(*lineages: Lineage | None, **notes: Note) -> list[LineageRow]:
    """Rows of the runs ./a, ./b, ... with these lineages, and notes by name."""
    runs = [run("abcdef"[number], lineage) for number, lineage in enumerate(lineages)]
    return lineage_rows(runs, {f"./{name}": note for name, note in notes.items()})


TRAINED = Lineage(
    TrainLineage(network="LeNet", learning_rate=0.1, train_dataset_size=60, loss=0.5),
    EvaluationLineage({"Accuracy": 0.9}, valid_dataset_size=10),
    {"op_type": "Mnist"},
    {"seed": 7},
)


def test_runs_without_lineage_have_no_row() -> None:
    assert [row.flat["summary_dir"] for row in rows(TRAINED, None, Lineage())] == ["./a", "./c"]


def test_flat_fields_name_metrics_and_what_users_defined() -> None:
    (row,) = rows(TRAINED, a=Note(tag=3, note="best"))
    expected = {
        "summary_dir": "./a",
        "network": "LeNet",
        "learning_rate": 0.1,
        "loss": 0.5,
        "optimizer": None,
        "train_dataset_count": 60,
        "test_dataset_count": 10,
        "metric/Accuracy": 0.9,
        "user_defined/seed": 7,
        "tag": 3,
    }
    assert {**row.flat, **expected} == row.flat


@pytest.mark.parametrize(
    ("halves", "keys"),
    [
        (frozenset(), {"added_info"}),
        (frozenset({"model"}), {"added_info", "summary_dir", "model_lineage"}),
        (frozenset({"dataset"}), {"added_info", "summary_dir", "dataset_graph"}),
        (frozenset({"model", "dataset"}), {"added_info", "summary_dir", "model_lineage", "dataset_graph"}),
    ],
)
def test_an_answer_has_the_halves_that_are_asked_for(halves: frozenset[str], keys: set[str]) -> None:
    (row,) = rows(TRAINED, a=Note(tag=3, note="best"))
    answer = row.response_json(halves)
    assert answer.keys() == keys
    assert answer["added_info"] == {"tag": 3, "remark": "best"}
    if "model" in halves:
        assert answer["model_lineage"]["metric"] == {"Accuracy": 0.9}
        assert answer["model_lineage"]["user_defined"] == {"seed": 7}
    if "dataset" in halves:
        assert answer["dataset_graph"] == {"op_type": "Mnist"}


def test_without_notes_nothing_is_added() -> None:
    (row,) = rows(TRAINED)
    assert row.response_json(frozenset()) == {"added_info": {}}


def test_equal_pipelines_have_one_mark_and_none_is_one() -> None:
    graphs: list[dict[str, Any] | None] = [None, {"a": 1, "b": 2}, {"a": 2}, {"b": 2, "a": 1}]
    lineage_rows = rows(*(Lineage(dataset_graph=graph) for graph in graphs))
    assert [row.flat["dataset_mark"] for row in lineage_rows] == ["1", "2", "3", "2"]


def test_columns_of_metrics_and_users_have_the_type_of_their_values() -> None:
    def lineage(metric: dict[str, Any], **defined: Any) -> Lineage:
        return Lineage(evaluation=EvaluationLineage(metric), user_defined=defined)

    lineage_rows = rows(
        lineage({"Accuracy": 1}, name="x", note="y", nothing=None),
        lineage({"Accuracy": 0.5}, name=3, note="z"),
    )
    assert custom_columns(lineage_rows) == {
        "metric/Accuracy": {"label": "metric/Accuracy", "required": True, "type": "float"},
        "user_defined/name": {"label": "user_defined/name", "required": False, "type": "mixed"},
        "user_defined/note": {"label": "user_defined/note", "required": False, "type": "str"},
    }
