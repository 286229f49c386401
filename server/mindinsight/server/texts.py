"""Texts for users, from the locale files of the web package."""

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final

_GUARDED: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "'")  # what begins a formula, and the guard itself


def locale_texts(folder: Path) -> dict[str, str]:
    """Return the texts of one language by key. Raises ValueError if two files define the same key."""
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        part: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        if repeated := texts.keys() & part.keys():
            raise ValueError(f"{path.name} gives {sorted(repeated)} a second time")
        texts.update(part)
    return texts


def terminal_language(environment: Mapping[str, str]) -> str:
    """Return the language of the locale, `zh` or `en` (POSIX: LC_ALL before LC_MESSAGES before LANG)."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    named = next((environment[name] for name in names if environment.get(name)), "")
    return "zh" if named.lower().startswith("zh") else "en"


def terminal_text(
    key: str, words: Mapping[str, object] = MappingProxyType({}), escape: Callable[[object], str] = str
) -> str:
    """Return the text of a key in the language of the terminal."""
    return message(key, words, terminal_language(os.environ), escape)


@cache
def language_texts(language: str) -> Mapping[str, str]:
    """Return the texts of `en` or `zh`, read once."""
    return locale_texts(Path(str(files("mindinsight.web"))) / "locales" / language)


def message(
    key: str, words: Mapping[str, object], language: str = "en", escape: Callable[[object], str] = str
) -> str:
    """Return the text of a key with escaped `words` in place of `{name}`, or the key itself if it has no
    text. Of a text with two forms, `one | many`, the first is used if `n` is 1."""
    forms = language_texts(language).get(key, key).split(" | ")
    form = forms[0] if words.get("n") == 1 else forms[-1]
    return re.sub(r"\{(\w+)\}", lambda match: escape(words.get(match[1], match[0])), form)


def plain_text(text: str) -> str:
    """Return text for a CSV cell, with an apostrophe before text that a spreadsheet would read as a
    formula. Text that begins with an apostrophe gets a second one, so that readers can always remove the
    first. Numbers such as -1.5 are unchanged."""
    if not text.startswith(_GUARDED):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
