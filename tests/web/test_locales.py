"""Every text in every language, every key that is used known, every key that is known used."""

import json
import re
from typing import Any

import pytest

from mindinsight.server.api.pages import LANGUAGES, WEB
from mindinsight.server.texts import locale_texts

ENGLISH = locale_texts(WEB / "locales" / "en")
SCRIPTS = "\n".join(path.read_text(encoding="utf-8") for path in (WEB / "static" / "js").rglob("*.js"))
SERVER = "\n".join(
    path.read_text(encoding="utf-8") for path in (WEB.parents[2] / "server").rglob("*.py") if path.is_file()
)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_languages_have_the_same_files_with_the_same_keys(lang: Any) -> None:
    for path in sorted((WEB / "locales" / "en").glob("*.json")):
        twin = WEB / "locales" / lang / path.name
        keys, twins = (list(json.loads(file.read_text(encoding="utf-8"))) for file in (path, twin))
        assert keys == twins
    assert locale_texts(WEB / "locales" / lang).keys() == ENGLISH.keys()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_languages_fill_in_the_same_values(lang: Any) -> None:
    names = re.compile(r"\{\w+\}")
    for key, text in locale_texts(WEB / "locales" / lang).items():
        assert text.strip(), key
        assert set(names.findall(text)) == set(names.findall(ENGLISH[key])), key


def test_full_width_punctuation_belongs_to_chinese() -> None:
    assert {key: text for key, text in ENGLISH.items() if re.search("[：，。（）！？；、]", text)} == {}


def test_every_key_a_script_names_is_known() -> None:
    named = set(re.findall(r"""\bt\(\s*["']([\w.-]+)["']""", SCRIPTS))
    assert len(named) > 50
    assert sorted(named - ENGLISH.keys()) == []


def test_every_key_the_server_names_is_known() -> None:
    named = set(re.findall(r'"((?:damage|file|directory|error)\.[a-z_]+)"', SERVER))
    assert sorted((named | told_codes()) - ENGLISH.keys()) == []


def told_codes() -> set[Any]:
    """``ApiError(404, "unknown_tag", ...)`` is told to people by the key ``error.unknown_tag``."""
    calls = re.findall(r'ApiError\(\s*\d+,\s*"(\w+)"([^\n]*)', SERVER)
    jobs = [(f"unknown_{name}", "") for name in re.findall(r'NumberedJob\("(\w+)"', SERVER)]
    return {f"error.{code}" for code, rest in [*calls, *jobs] if "key=" not in rest}


def test_every_known_key_is_used() -> None:
    """Keys put together are known by their beginning or end: ``runs.state.${state}``, ``${kind}.none``."""
    templates = [path.read_text(encoding="utf-8") for path in (WEB / "templates").glob("*.html")]
    everything = "".join([SCRIPTS, SERVER, *templates])
    beginnings = tuple(re.findall(r"""(?:`|f")([a-z][\w.]*\.)\$?\{""", everything))
    ends = tuple(re.findall(r"`\$\{\w+\}(\.[\w.]+)`", everything))
    used = {*re.findall(r"""["']([\w.]+)["']""", everything), *re.findall(r"\{\{ ([\w.]+) \}\}", everything)}
    unused = [
        key
        for key in ENGLISH
        if key not in used and not key.startswith(beginnings) and not key.endswith(ends)
    ]
    assert sorted(set(unused) - told_codes()) == []
