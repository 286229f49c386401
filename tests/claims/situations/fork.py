"""Situations of forks: a run that continues another, a parent that is gone, and parents that lead round."""

from pathlib import Path

from mindinsight.writer import SummaryRecord
from tests.claims.situation import Question, exactly, situation

STATES = ("continues", "missing", "circle")


def runs(folder: Path, parents: dict[str, str], of: str = "b") -> Question:
    """Write runs with their parents; ask what one of them continues."""
    for name, parent in parents.items():
        with SummaryRecord(str(folder / name), parent=parent) as record:
            for step in range(8):
                record.add_value("scalar", "loss", 1.0 / (1 + step))
                record.record(step)
    return Question(base=folder, request=f"/v2/runs/facts?run=./{of}", page=f"overview?run=./{of}")


@situation(**exactly("claim.fork", STATES, "continues"))
def a_run_that_continues_another(folder: Path) -> Question:
    return runs(folder, {"a": "", "b": "a@5"})


@situation(**exactly("claim.fork", STATES, "missing"))
def a_run_whose_parent_is_gone(folder: Path) -> Question:
    return runs(folder, {"a": "", "b": "deleted@5"})


@situation(**exactly("claim.fork", STATES, "circle"))
def two_runs_that_continue_each_other(folder: Path) -> Question:
    return runs(folder, {"a": "b@3", "b": "a@5"})


@situation(**exactly("claim.fork", STATES))
def a_run_without_a_parent(folder: Path) -> Question:
    return runs(folder, {"a": "", "b": ""})
