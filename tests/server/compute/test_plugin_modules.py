import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app, make_service
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.compute.plugin_modules import PluginState, modules_of
from mindinsight.server.settings import Settings

ASKERS = 4


class Slow:
    """Takes so long that all askers ask before it is there."""

    def __init__(self) -> None:
        time.sleep(0.2)


def test_who_asks_first_at_the_same_time_gets_the_same() -> None:
    parts, got, together = PluginState(), [], threading.Barrier(ASKERS)

    def ask() -> None:
        together.wait()
        got.append(parts.of(Slow))

    threads = [threading.Thread(target=ask) for _ in range(ASKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == ASKERS and len(set(map(id, got))) == 1


def test_each_class_has_its_own_and_each_server_too() -> None:
    parts, other = PluginState(), PluginState()
    assert isinstance(parts.of(SessionCache), SessionCache)
    assert isinstance(parts.of(Slow), Slow)
    assert parts.of(SessionCache) is not other.of(SessionCache)


class Work:
    def __init__(self, pool: Any) -> None:
        self.pool = pool
        self.ended_with = None

    def stop(self) -> None:
        self.ended_with = self.pool.submit(int, "7").cancel()  # it takes work still


def test_parts_that_cannot_be_stopped_are_left_and_others_are_stopped() -> None:
    parts, stopped = PluginState(), []
    parts.of(Slow)
    work = SimpleNamespace(stop=lambda: stopped.append("work"))
    parts.of(SessionCache).get("work", SimpleNamespace, lambda: work)
    parts.stop()
    assert stopped == ["work"]


def test_the_end_of_the_server_stops_work_while_there_is_a_pool_to_work_in(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    settings = Settings(base, tmp_path / "workspace", workers=1, watch="polling")
    service = make_service(settings)
    work = Work(service.executor)
    with TestClient(create_app(settings, service), base_url="http://127.0.0.1"):
        service.parts.of(SessionCache).get("x", Work, lambda: work)
        assert work.ended_with is None
    assert work.ended_with is True


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
