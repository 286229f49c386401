"""Why something could not be read, in the language of the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, TypeAlias

from mindinsight.server.commands.terminal import cell, say
from mindinsight.server.formats.dumps.types import FileDamage
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.locale_texts import language_texts, message

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
    text = language_texts(language(os.environ)).get(reason, reason)
    return f"{text} ({cell(detail)})" if detail else text


def sentence(key: str, words: Mapping[str, object]) -> str:
    """A text of the locale files in the language of the terminal; what stands in ``words`` is escaped."""
    return message(key, words, language(os.environ), escape=cell)


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
