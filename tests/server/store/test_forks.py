"""Forks: which run a recorded parent is, chains of them, and what cannot be."""

from pathlib import Path

import pytest

import mindinsight
from mindinsight.server.store.forks import ancestors, fork_claims, fork_of
from mindinsight.writer import SummaryRecord


def write(base: Path, name: str, parent: str = "", steps: range = range(1)) -> None:
    with SummaryRecord(str(base / name), parent=parent) as record:
        for step in steps:
            record.add_value("scalar", "loss", float(step))
            record.record(step)


def chain(base: Path, name: str) -> list[tuple[str, int]]:
    runs = mindinsight.open(base).by_id()
    return [(parent.id, step) for parent, step in ancestors(runs[name], runs)]


def keys(base: Path, name: str) -> list[tuple[str, str]]:
    runs = mindinsight.open(base).by_id()
    return [(claim.key, claim.verdict) for claim in fork_claims(runs[name], runs)]


def test_a_chain_of_forks(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b", "a@500")
    write(tmp_path, "c", "b@700")
    write(tmp_path, "d", "c@300")  # left before its parents were
    assert chain(tmp_path, "./c") == [("./b", 700), ("./a", 500)]
    assert chain(tmp_path, "./d") == [("./c", 300), ("./b", 300), ("./a", 300)]
    assert chain(tmp_path, "./a") == []
    assert keys(tmp_path, "./b") == [("claim.fork.continues", "note")]
    assert keys(tmp_path, "./a") == []


def test_a_parent_is_beside_the_run_or_below_the_base(tmp_path: Path) -> None:
    for name in ("a", "sweep/a", "base"):
        write(tmp_path, name)
    write(tmp_path, "sweep/b", "a@1")
    write(tmp_path, "sweep/c", "base@1")
    write(tmp_path, "sweep/d", "./a@1")
    assert chain(tmp_path, "./sweep/b") == [("./sweep/a", 1)]
    assert chain(tmp_path, "./sweep/c") == [("./base", 1)]
    assert chain(tmp_path, "./sweep/d") == [("./sweep/a", 1)]


def test_the_parent_of_a_rank_is_the_same_rank(tmp_path: Path) -> None:
    for rank in (0, 1):
        write(tmp_path, f"old/rank_{rank}")
        write(tmp_path, f"new/rank_{rank}", "old@9")
    assert chain(tmp_path, "./new/rank_1") == [("./old/rank_1", 9)]


def test_the_parent_of_a_rank_is_the_same_rank_whatever_its_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rank in (0, 1):
        monkeypatch.setenv("DEVICE_ID", str(rank))
        write(tmp_path, f"a{rank}")
        write(tmp_path, f"b{rank}", "a@5")
        write(tmp_path, f"c{rank}/rank_{rank}", "a@5")
        write(tmp_path, "d" if rank == 0 else "d/rank_1")
        write(tmp_path, f"e{rank}", "d@5")
    write(tmp_path, "f", "a@5")  # not a rank
    assert chain(tmp_path, "./b0") == chain(tmp_path, "./c0/rank_0") == [("./a0", 5)]
    assert chain(tmp_path, "./b1") == chain(tmp_path, "./c1/rank_1") == [("./a1", 5)]
    assert chain(tmp_path, "./e0") == [("./d", 5)]
    assert chain(tmp_path, "./e1") == [("./d/rank_1", 5)]
    assert chain(tmp_path, "./f") == []


def test_no_parent_and_a_circle_are_said(tmp_path: Path) -> None:
    write(tmp_path, "orphan", "gone@5")
    write(tmp_path, "one", "two@5")
    write(tmp_path, "two", "one@5")
    write(tmp_path, "own", "own@5")
    write(tmp_path, "child", "one@5")  # its parents lead round, but not back to it
    assert keys(tmp_path, "./orphan") == [("claim.fork.missing", "unknown")]
    assert keys(tmp_path, "./one") == keys(tmp_path, "./own") == [("claim.fork.circle", "unknown")]
    assert chain(tmp_path, "./one") == chain(tmp_path, "./orphan") == []
    assert chain(tmp_path, "./child") == []
    assert keys(tmp_path, "./child") == [("claim.fork.circle", "unknown")]


def test_a_setting_of_that_name_without_a_step_is_no_fork(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("custom_lineage_data", "user", {"parent_run": "somebody"})
        record.record(1)
    runs = mindinsight.open(tmp_path).by_id()
    assert fork_of(runs["./run"], runs) is None


@pytest.mark.parametrize("parent", ["run1", "@5", "run1@", "run1@x", "run1@-1", "run1@٥"])
def test_a_parent_without_a_step_is_refused(tmp_path: Path, parent: str) -> None:
    with pytest.raises(ValueError, match="such as 'run1@500'"):
        SummaryRecord(str(tmp_path / "run"), parent=parent)
    assert not (tmp_path / "run").exists()
