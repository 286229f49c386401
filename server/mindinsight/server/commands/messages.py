"""Why something could not be read, in the language of the terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mindinsight.server.commands.terminal import cell, say
from mindinsight.server.formats.dumps.types import FileDamage
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.assets import texts

if TYPE_CHECKING:
    import argparse

Command: TypeAlias = "Callable[[argparse.Namespace], int]"


def language(environment: Mapping[str, str]) -> str:
    """``zh`` or ``en``, as the variables of the locale say (POSIX: LC_ALL before LC_MESSAGES before LANG)."""
    named = next(
        (environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
    )
    return "zh" if named.lower().startswith("zh") else "en"


def told(reason: str, detail: str = "") -> str:
    """A reason in words, with its detail; a reason nobody wrote a text for as it is."""
    text = _texts(language(os.environ)).get(reason, reason)
    return f"{text} ({cell(detail)})" if detail else text


def sentence(key: str, words: Mapping[str, object]) -> str:
    """A text of the locale files with words in place of ``{name}``; of ``one | many`` the form for ``n``."""
    text = _texts(language(os.environ)).get(key, key)
    forms = text.split(" | ")
    chosen = forms[-1] if words.get("n") != 1 else forms[0]
    return re.sub(r"\{(\w+)\}", lambda found: cell(words.get(found[1], found[0])), chosen)


def complain(damage: Sequence[FileDamage]) -> None:
    """One line on standard error for each file, or part of one, that could not be used."""
    for each in damage:
        say(f"{cell(each.path)}: {told(each.reason, each.detail)}")


def telling(command: Command) -> Command:
    """Exit code 2 and one line instead of a traceback for what is wrong with the input."""

    @wraps(command)
    def run(options: argparse.Namespace) -> int:
        try:
            return command(options)
        except BrokenPipeError:  # an OSError that is no trouble: ``main`` ends quietly
            raise
        except UnreadableError as error:
            say(f"mindinsight: {told(error.reason, error.detail)}")
        except (ValueError, OSError) as error:
            say(f"mindinsight: {cell(error)}")
        return 2

    return run


@cache
def _texts(lang: str) -> Mapping[str, str]:
    return texts(Path(str(files("mindinsight.web"))) / "locales" / lang)
