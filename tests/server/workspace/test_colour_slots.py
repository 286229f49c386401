"""Colour slots: given once, kept in the workspace, the same for every server on it."""

from pathlib import Path

import pytest

from mindinsight.server.store.run import Run, Watched
from mindinsight.server.workspace import colour_slots as module
from mindinsight.server.workspace.colour_slots import BaseSlots, MultiBaseSlots, jobs_by_age


def test_a_slot_stays_whatever_comes_or_goes_before_it(tmp_path: Path) -> None:
    slots = BaseSlots(tmp_path, Path("/base"))
    assert dict(slots.of(["./b", "./c"])) == {"./b": 0, "./c": 1}
    assert dict(slots.of(["./a", "./c"])) == {"./b": 0, "./c": 1, "./a": 2}
    again = BaseSlots(tmp_path, Path("/base"))
    assert again.of(["./new", "./c"]) == {"./b": 0, "./c": 1, "./a": 2, "./new": 3}


def test_servers_that_run_at_once_agree(tmp_path: Path) -> None:
    first, second = (BaseSlots(tmp_path, Path("/base")) for _ in range(2))
    first.of(["./a"])
    second.of(["./b"])
    assert first.of(["./b", "./a"]) == second.of(["./a"]) == {"./a": 0, "./b": 1}


def test_directories_beside_each_other_share_no_slot_and_keep_those_they_have_alone(tmp_path: Path) -> None:
    alone = BaseSlots(tmp_path, Path("/lab")).of(["./job/x"])["./job/x"]
    bases = [Watched("mine", "/mine", "polling", False), Watched("lab", "/lab", "polling", False)]
    slots = MultiBaseSlots(tmp_path, lambda: bases)
    known = slots.of(["./mine/a", "./lab/job/x", "./lab"])
    assert known["./lab/job/x"] == alone
    assert len(set(known.values())) == 3


def test_a_workspace_that_cannot_be_written_still_gives_slots(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "workspace").write_text("a file where the folder should be")
    slots = BaseSlots(tmp_path / "workspace", Path("/base"))
    assert dict(slots.of(["./a"])) == {"./a": 0}
    assert dict(slots.of(["./b", "./a"])) == {"./a": 0, "./b": 1}
    assert "Cannot store colours" in caplog.text


def test_slots_of_jobs_that_are_gone_are_given_up_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    slots = BaseSlots(tmp_path, Path("/base"))
    slots.of(["./a", "./b", "./c"])
    slots.of(["./b", "./d"])
    assert BaseSlots(tmp_path, Path("/base")).of(["./b"]) == {"./b": 1, "./c": 2, "./d": 3}


def test_what_somebody_wrote_into_the_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "colours.json").write_text(
        '{"/base": {"./a": {"number": 7}, "./b": {"number": -1}, "./c": {"number": true}, "./d": {}}}'
    )
    assert dict(BaseSlots(tmp_path, Path("/base")).of(["./a", "./b"])) == {"./a": 7, "./b": 8}


def test_the_oldest_job_is_first() -> None:
    def run(name: str, job: str, created: float) -> Run:
        return Run(f"./{name}", name, f"/base/{name}", f"./{job}", None, created, created, 3)

    runs = [run("new", "new", 9.0), run("j/1", "j", 5.0), run("j/0", "j", 1.0), run("mid", "mid", 3.0)]
    assert jobs_by_age(runs) == ["./j", "./mid", "./new"]
