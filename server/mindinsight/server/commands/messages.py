"""Messages of commands: reasons, sentences and errors in the language of the terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.commands.terminal import cell, say
from mindinsight.server.formats.dumps.types import FileDamage
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.settings.base_dirs import empty_directory
from mindinsight.server.texts import language_texts, message

if TYPE_CHECKING:
    import argparse

    from mindinsight.server.client.reader import Summary

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


def localize_claim(claim: Claim) -> str:
    """Return the sentence of a claim in the language of the terminal, with values escaped."""
    return sentence(claim, language(os.environ), escape=cell)


def report_damage(damage: Sequence[FileDamage]) -> None:
    """Print a line on standard error for each file, or part of one, that could not be read."""
    for entry in damage:
        say(f"{cell(entry.path)}: {describe_reason(entry.reason, entry.detail)}")


def describe_no_runs(summary: Summary, directories: Sequence[str], pattern: str) -> str:
    """Return why no run of a pattern was found: of this name, at all, or anything."""
    below = " or ".join(directories)
    if summary.runs:
        return f"No run below {below} is called {pattern!r}. There are {len(summary.runs)} others."
    if all(Path(path).is_dir() and empty_directory(path) for path in directories):
        return f"There are no runs: {below} is empty."
    return f"There are no runs below {below}: no file there is an event file, a dump or a graph."


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
