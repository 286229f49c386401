"""Messages of commands: reasons, sentences and errors in the language of the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from functools import wraps
from typing import TYPE_CHECKING, TypeAlias

from mindinsight.server.commands.terminal import cell, say
from mindinsight.server.formats.dumps.types import FileDamage
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.http.static.locale_texts import language_texts, message

if TYPE_CHECKING:
    import argparse

Command: TypeAlias = "Callable[[argparse.Namespace], int]"


def language(environment: Mapping[str, str]) -> str:
    """Language of the locale, ``zh`` or ``en`` (POSIX: LC_ALL before LC_MESSAGES before LANG)."""
    named = next(
        (environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
    )
    return "zh" if named.lower().startswith("zh") else "en"


def describe_reason(reason: str, detail: str = "") -> str:
    """Text of a reason with its detail; a reason without a text is returned as it is."""
    text = language_texts(language(os.environ)).get(reason, reason)
    return f"{text} ({cell(detail)})" if detail else text


def localize(key: str, words: Mapping[str, object]) -> str:
    """Text of the locale files in the language of the terminal; the values of ``words`` are escaped."""
    return message(key, words, language(os.environ), escape=cell)


def report_damage(damage: Sequence[FileDamage]) -> None:
    """Print a line on standard error for each file, or part of one, that could not be read."""
    for entry in damage:
        say(f"{cell(entry.path)}: {describe_reason(entry.reason, entry.detail)}")


def report_errors(command: Command) -> Command:
    """Decorator of commands: errors in the input end with exit code 2 and one line instead of a traceback."""

    @wraps(command)
    def run(options: argparse.Namespace) -> int:
        try:
            return command(options)
        except BrokenPipeError:  # an OSError, but no error: ``main`` ends quietly
            raise
        except UnreadableError as error:
            say(f"mindinsight: {describe_reason(error.reason, error.detail)}")
        except (ValueError, OSError, BrokenExecutor) as error:
            say(f"mindinsight: {cell(error)}")
        return 2

    return run
