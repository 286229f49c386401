import re
import types
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats import dumps
from mindinsight.server.formats.dumps import (
    find_dump_dirs,
    find_layout,
    growing_paths,
    known_layouts,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.dump_types import TensorRef
from mindinsight.server.formats.read_limits import UnreadableError
from tests.narrowing import require

SERVER = Path(dumps.__file__).parents[2]


def test_every_module_is_a_layout_of_its_name() -> None:
    assert [layout.name for layout in known_layouts()] == ["asynchronous", "msprobe", "recorder", "sync"]


def test_no_module_but_its_own_names_a_layout() -> None:
    names = "|".join(layout.name for layout in known_layouts())
    named = [
        path.relative_to(SERVER).as_posix()
        for path in SERVER.rglob("*.py")
        if "layouts" not in path.parts and re.search(rf"""["'](?:{names})["']""", path.read_text())
    ]
    assert named == []


def test_the_surest_wins_and_one_that_fails_is_named(samples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: Any) -> None:
        raise RuntimeError("no such thing")

    broken = types.SimpleNamespace(name="broken", match=fails)
    unsure = types.SimpleNamespace(name="unsure", match=lambda path: 0.1)
    real = known_layouts()
    monkeypatch.setattr(dumps, "known_layouts", lambda: (broken, unsure, *real))
    path = samples / "ms_sync_kernels_filter"
    assert require(find_layout(path)).name == "sync"
    assert [(fault.reason, fault.detail) for fault in open_dump(path).damage] == [
        ("dump.layout_failed", "broken: no such thing")
    ]
    assert require(find_layout(Path(__file__).parent)).name == "unsure"


def test_not_a_dump_is_an_answer(tmp_path: Path) -> None:
    assert find_layout(tmp_path) is None
    assert find_dump_dirs(tmp_path) == ()
    with pytest.raises(UnreadableError, match=r"dump.unknown_layout"):
        open_dump(tmp_path)


@pytest.mark.parametrize("name", ["nothing", "types", "../sync", "", "os.path"])
def test_layouts_are_not_just_any_module(name: str) -> None:
    with pytest.raises(UnreadableError, match=r"dump.unknown_layout"):
        read_tensor(TensorRef(name, "/etc/passwd"))


def test_dumps_are_not_searched_for_inside_dumps(samples: Any, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "dump").symlink_to(samples / "ms_sync_cpu_2ranks")
    assert find_dump_dirs(tmp_path) == ()
    dirs = find_dump_dirs(samples / "ms_sync_cpu_2ranks")
    assert [folder.path for folder in dirs] == [str(samples / "ms_sync_cpu_2ranks")]


def test_the_search_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcdef":
        (tmp_path / name / "rank_0" / "graphs").mkdir(parents=True)
    monkeypatch.setattr(dumps, "SEARCH_FOLDERS", 3)
    assert [Path(folder.path).name for folder in find_dump_dirs(tmp_path)] == ["a", "b"]
    monkeypatch.setattr(dumps, "SEARCH_DEPTH", 0)
    assert find_dump_dirs(tmp_path) == ()


def test_the_search_ends_below_a_folder_of_more_folders_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in "abcdef":
        for name in "abcdef":
            (tmp_path / folder / name / "rank_0" / "graphs").mkdir(parents=True)
    monkeypatch.setattr(dumps, "SEARCH_FOLDERS", 4)
    assert find_dump_dirs(tmp_path) == ()  # the limit was reached in the first level


def test_what_is_not_there_is_empty(samples: Any) -> None:
    dump = open_dump(samples / "ms_sync_kernels_filter")
    assert not list_tensors(dump, 5, 1)
    assert not list_tensors(dump, 0, 77)
    assert not list_tensors(dump, 0, 1, "no such graph")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("ms_sync_kernels_filter", {"statistic.csv"}),
        ("msprobe_pytorch/mix_tensor_2ranks", {"dump.json", "stack.json", "dump_tensor_data"}),
    ],
)
def test_a_layout_tells_which_paths_of_a_step_change_while_it_grows(
    samples: Any, name: str, files: Any
) -> None:
    dump = open_dump(samples / name)
    (folder,) = {folder.path for folder in dump.folders if (folder.rank, folder.step) == (0, dump.steps()[0])}
    paths = growing_paths(dump, 0, dump.steps()[0])
    assert {str(path) for path in paths} == {folder, *(f"{folder}/{file}" for file in files)}
    assert growing_paths(dump, 99, 0) == []
