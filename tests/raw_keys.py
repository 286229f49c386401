"""Search for keys of the locale files in texts for people: a text that lacks a translation shows its key."""

import re
from functools import cache

from mindinsight.server.texts import language_texts

_FILES = ("bin", "csv", "html", "js", "json", "md", "npy", "out", "pb", "py", "yaml")  # endings of names


def raw_keys(text: str) -> set[str]:
    """Return the words of a text that look like keys: those with the first part of a key, and a dot."""
    return {key for key in _pattern().findall(text) if key.rpartition(".")[2] not in _FILES}


@cache
def _pattern() -> re.Pattern[str]:
    areas = {key.partition(".")[0] for key in language_texts("en")}
    return re.compile(rf"(?<![\w./\\-])(?:{'|'.join(sorted(areas))})(?:\.[a-z_0-9]+)+(?![\w(/.])")
