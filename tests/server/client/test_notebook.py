"""The dashboard in a notebook: a server is started once, and shown where there is a notebook."""

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import mindinsight
from mindinsight.server.client import notebook
from mindinsight.server.errors import BadSettings
from mindinsight.server.process import daemon
from tests.narrowing import require


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "summary").mkdir()
    yield tmp_path / "summary"
    for server in daemon.all_running():
        daemon.end(server)


def show(base: Any, **options: Any) -> Any:
    return mindinsight.show(base, workspace=base.parent / "workspace", **options)


def test_a_server_is_started_once_and_lets_notebooks_frame_it(base: Any) -> None:
    address = show(base)
    assert address.endswith("/scalar")
    health = require(daemon.health(address.removesuffix("scalar")))
    assert health["service"] == "mindinsight"
    assert show(base, view="lineage") == address.removesuffix("scalar") + "lineage"
    assert len(list(daemon.all_running())) == 1


def test_several_directories_have_a_server_of_their_own(base: Any) -> None:
    (base.parent / "other").mkdir()
    several = [base, f"lab={base.parent}/other"]
    options = {"workspace": base.parent / "workspace"}
    address = mindinsight.show(several, **options)
    assert mindinsight.show(several, **options) == address
    assert show(base) != address
    assert {server.base for server in daemon.all_running()} == {str(base), os.pathsep.join(map(str, several))}


def test_it_is_displayed_where_there_is_a_notebook(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    displayed: list[Any] = []
    ipython: Any = ModuleType("IPython")
    display: Any = ModuleType("IPython.display")
    ipython.get_ipython = object
    display.IFrame = lambda src, width, height: (src, width, height)
    display.display = displayed.append
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    address = show(base, height=500)
    assert displayed == [(address, "100%", 500)]


def test_a_missing_directory_is_told(base: Any) -> None:
    with pytest.raises(BadSettings, match="There is no directory"):
        show(base / "none")


def test_the_top_of_the_package_shows_what_it_offers() -> None:
    assert dir(mindinsight) == ["__version__", "dump", "open", "show"]
    assert mindinsight.__version__ == version("mindinsight")
    with pytest.raises(AttributeError):
        mindinsight.nothing  # noqa: B018


class Shell:
    def __init__(self) -> None:
        self.magics: dict[Any, Any] = {}

    def register_magic_function(self, function: Any, kind: Any, name: Any) -> None:
        self.magics[kind, name] = function


@pytest.fixture
def magic(monkeypatch: pytest.MonkeyPatch) -> Any:
    shell, shown = Shell(), []
    monkeypatch.setattr(notebook, "show", lambda *bases, **options: shown.append((bases, options)))
    mindinsight.load_ipython_extension(shell)
    return shell.magics["line", "mindinsight"], shown


def test_the_options_of_tensorboard_and_ours_are_taken(magic: Any) -> None:
    run, shown = magic
    run("start --logdir 'my runs' --port 6006")
    run("start --summary-base-dir a --logdir b --height 400 --view text")
    run("start")
    assert shown == [
        ((["my runs"],), {"view": "scalar", "height": 800, "port": 6006}),
        ((["a", "b"],), {"view": "text", "height": 400, "port": None}),
        (((".",),), {"view": "scalar", "height": 800, "port": None}),
    ]


@pytest.mark.parametrize("line", ["", "stop", "start --port x", "start --nothing"])
def test_a_wrong_option_is_told_and_ends_no_process(magic: Any, line: Any) -> None:
    run, shown = magic
    with pytest.raises(BadSettings, match="%mindinsight"):
        run(line)
    assert shown == []
