"""What --summary-base-dir may say: a path, a path with a name, a pattern, several of them."""

import os
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.settings.base_dirs import (
    Base,
    absent,
    bases_of,
    home,
    joined,
    normalized_home,
    split,
    texts_of,
)


def several(*texts: str) -> tuple[Base, ...]:
    bases = bases_of(texts)
    assert isinstance(bases, tuple)
    return bases


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def test_one_plain_directory_stays_a_path_there_or_not(here: Any) -> None:
    assert bases_of("runs") == bases_of(["runs"]) == bases_of(Path("runs")) == here / "runs"
    assert bases_of("~/runs") == here / "home" / "runs"
    assert bases_of(["."]) == here


@pytest.mark.parametrize("name", ["a=b", "*", "run[1]", "what?", "=x", "lab=/"])
def test_what_exists_is_a_path_whatever_it_looks_like(here: Any, name: str) -> None:
    (here / name).mkdir(parents=True)
    assert bases_of(name) == here / name
    assert several(name, "other")[0] == Base(str(here / name))


@pytest.mark.parametrize("text", ["=runs", "runs=", "a/b=c", "..=c", "/a=b"])
def test_a_name_is_one_part_of_a_path(here: Any, text: str) -> None:
    assert bases_of(text) == here / text


def test_names_and_patterns(here: Any) -> None:
    assert bases_of("lab=runs") == (Base(str(here / "runs"), "lab"),)
    assert bases_of("lab=~/a=b") == (Base(str(here / "home" / "a=b"), "lab"),)
    assert bases_of("users/*/runs") == (Base(str(here / "users/*/runs"), pattern=True),)
    assert bases_of("lab=/data/ru?") == (Base("/data/ru?", "lab", pattern=True),)


def test_a_path_that_a_script_gives_is_no_pattern(here: Any) -> None:
    assert bases_of(Path("a*")) == here / "a*"
    assert bases_of([Path("lab=x"), "b"]) == (Base(str(here / "lab=x")), Base(str(here / "b")))


def test_wildcards_in_the_folder_one_works_in_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "[odd]").mkdir()
    monkeypatch.chdir(tmp_path / "[odd]")
    assert bases_of("runs") == tmp_path / "[odd]" / "runs"


def test_one_text_tells_all_of_them_and_is_understood_again(here: Any) -> None:
    texts = ["/data/mine", "lab=/data/lab", "/users/*/runs"]
    bases = bases_of(texts)
    assert texts_of(bases) == texts
    assert joined(bases) == os.pathsep.join(texts)
    assert bases_of(split(joined(bases))) == bases
    assert joined(here) == str(here)


def test_an_existing_directory_with_the_separator_in_its_name_is_one(here: Any) -> None:
    name = f"run{os.pathsep}1"
    assert split(name) == ["run", "1"]
    (here / name).mkdir()
    assert split(name) == [name]


def test_what_is_kept_belongs_to_the_only_one_or_to_the_first(here: Any) -> None:
    assert home(here) == here
    first, both = bases_of(["lab=a", "b"]), bases_of(["lab=a", "c"])
    assert home(first) == home(both)
    assert home(bases_of(["a", "b"])) not in (here / "a", home(first))


def test_a_directory_is_one_however_it_is_written(here: Path) -> None:
    (here / "runs").mkdir()
    (here / "other" / "deep").mkdir(parents=True)
    (here / "link").symlink_to(here / "other" / "deep")
    ways = ["runs", "./runs/", "other/../runs", "none/../runs", f"{here}/other/deep/../../runs"]
    assert {bases_of(way) for way in ways} == {here / "runs"}
    assert bases_of("link/../deep") == here.resolve() / "other" / "deep", "the parent of the link's target"
    assert [base.path for base in several("a=other/../runs", "b=link")] == [f"{here}/runs", f"{here}/link"]


def test_a_key_of_an_earlier_version_is_that_of_its_directory(here: Path) -> None:
    keys = {f"{here}/x/../runs": f"{here}/runs", f"several:{here}/x/../a": f"several:{here}/a"}
    keys |= {
        f"several:lab={here}/x/../a": f"several:lab={here}/a",
        "several:s3://a/../b": "several:s3://a/../b",
    }
    assert {key: normalized_home(key) for key in keys} == keys
    assert normalized_home(str(home(bases_of("runs")))) == f"{here}/runs"


def test_one_name_for_two_is_refused(here: Any) -> None:
    with pytest.raises(BadSettings, match=r"/a and .*/b cannot both be called 'lab'\. Rename one"):
        bases_of(["lab=a", "lab=b"])
    assert len(several("lab=a*", "lab=b*")) == 2


def test_one_in_another_is_refused_with_what_to_do(here: Any) -> None:
    with pytest.raises(BadSettings, match=r"runs/mine is inside .*/runs, .* Remove one of the two"):
        bases_of(["runs", "mine=runs/mine"])
    with pytest.raises(BadSettings, match=r"the same directory\. Pass it once"):
        bases_of(["runs", "again=./runs"])
    assert len(several("runs", "runs2")) == 2


def test_a_link_to_a_directory_is_that_directory(here: Any) -> None:
    (here / "runs").mkdir()
    (here / "link").symlink_to(here / "runs")
    with pytest.raises(BadSettings, match="the same directory"):
        bases_of(["runs", "link"])


def test_what_is_absent_is_told_and_of_a_pattern_nothing_is_missed(here: Any) -> None:
    (here / "there").mkdir()
    assert absent(bases_of(["there", "lab=gone", "x*"])) == [str(here / "gone")]
    assert absent(here / "none") == [str(here / "none")]
    assert absent(here) == []
