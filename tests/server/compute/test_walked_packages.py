"""The folders that are walked: plugins, routes, commands."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.server import api, commands, plugins
from mindinsight.server.compute.plugin_modules import modules_of


@pytest.mark.parametrize("package", [plugins, api, commands], ids=lambda package: package.__name__)
def test_every_module_in_a_walked_folder_loads(package: Any, caplog: pytest.LogCaptureFixture) -> None:
    modules = list(modules_of(package.__name__, package.__path__))
    assert modules
    assert caplog.text == ""


def test_a_module_that_cannot_be_loaded_is_said_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "walked_folder"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "bad.py").write_text("raise ValueError('broken')")
    (folder / "good.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = modules_of("walked_folder", [str(folder)])
    assert [module.__name__ for module in modules] == ["walked_folder.good"]
    assert "walked_folder.bad is left out" in caplog.text


def test_kinds_have_different_names() -> None:
    names = [plugin.name for plugin in plugins.plugins()]
    assert "scalar" in names
    assert len(set(names)) == len(names)
