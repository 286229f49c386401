import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.compute.plugin_loading import modules_of


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """package(a="text of the module", ...) -> names of the modules that are yielded, for some options."""
    name = "walked_by_a_test"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def walk(options: Any = None, **texts: Any) -> list[Any]:
        for module, text in texts.items():
            (folder / f"{module}.py").write_text(text)
        modules = modules_of(name, [str(folder)], **(options or {}))
        return [module.__name__.rpartition(".")[2] for module in modules]

    yield walk
    for loaded in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[loaded]


def test_every_module_is_taken_by_name(package: Any) -> None:
    assert package(b="", a="", c="") == ["a", "b", "c"]


def test_a_module_that_cannot_be_loaded_costs_only_itself(
    package: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert package(a="", b="import nothing_of_this_name", c="1 / 0") == ["a"]
    assert "b is left out" in caplog.text
    assert "c is left out" in caplog.text


def test_one_that_is_enough_is_the_only_one_loaded(package: Any) -> None:
    assert package({"only": "a"}, a="", b="raise SystemExit") == ["a"]


def test_without_the_one_that_is_enough_all_are_loaded(package: Any) -> None:
    assert package({"only": "start"}, a="", b="") == ["a", "b"]


def test_some_are_left_alone(package: Any) -> None:
    assert package({"without": ("b",)}, a="", b="raise SystemExit", c="") == ["a", "c"]
