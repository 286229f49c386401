from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.settings import Settings, clean_prefix, environment, is_loopback
from mindinsight.server.settings.base_dirs import bases_of


def settings(**more: Any) -> Settings:
    return Settings(Path("/data"), Path("/work"), **more)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost", "[::1]"])
def test_this_machine_is_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "::", "training-host", ""])
def test_other_addresses_are_not(host: str) -> None:
    assert not is_loopback(host)


def test_address_is_what_a_browser_here_can_open() -> None:
    assert settings().address == "http://127.0.0.1:8080/"
    assert settings(host="0.0.0.0", port=9).address == "http://127.0.0.1:9/"
    assert settings(host="::1").address == "http://[::1]:8080/"
    assert settings(url_path_prefix="/a/b").address == "http://127.0.0.1:8080/a/b/"


@pytest.mark.parametrize(("text", "path"), [("", ""), ("/", ""), ("a", "/a"), ("/a-1/b.c_d/", "/a-1/b.c_d")])
def test_prefixes_are_brought_to_one_form(text: str, path: str) -> None:
    assert clean_prefix(text) == path


@pytest.mark.parametrize("text", ["..", "a/../b", "a b", "a//b", "a?b", "a%2f", "./a"])
def test_other_prefixes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        clean_prefix(text)


def test_environment_names_settings() -> None:
    assert environment({"MINDINSIGHT_PORT": "1", "MINDINSIGHT_RELOAD_INTERVAL": "0", "PATH": "x"}) == {
        "port": "1",
        "reload_interval": "0",
    }


def test_settings_survive_the_way_to_the_background() -> None:
    given = settings(token="geheim", allowed_hosts=("a", "b"), frame_ancestors=("http://x",), cache=False)
    assert Settings.from_json(given.to_json()) == given


def test_several_base_directories_survive_it_too() -> None:
    given = Settings(bases_of(["/data", "lab=/lab", "/users/*"]), Path("/work"))
    assert Settings.from_json(given.to_json()) == given
