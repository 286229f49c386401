"""Decoder of the facts about the program that trains (Summary.Code in summary.proto)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mindinsight.server.formats.read_limits import Limits, UnreadableError, unreadable
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

_FACTS: Final = 1 << 3 | 2
_PAYLOAD: Final = Limits("code", 16 << 20)  # the writer cuts a difference at 1 MB
_MOST_ENTRIES: Final = 10_000  # packages, arguments, variables; a large environment has 700 packages
_MOST_NAME: Final = 4_000  # characters of a name or value


@dataclass(frozen=True, slots=True)
class Git:
    """State of a repository: commit, branch, remote, and uncommitted changes.

    ``diff`` and ``untracked`` (a number of files) are None if Git did not return them.
    """

    commit: str
    branch: str = ""
    remote: str = ""
    diff: str | None = None
    cut: bool = False  # only the beginning of the diff was recorded
    untracked: int | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """Program of a run: command, directory, machine, packages, environment, and repository.

    ``packages`` is version by name. ``git`` is None outside a repository.
    """

    command: tuple[str, ...] = ()
    directory: str = ""
    host: str = ""
    system: str = ""
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    git: Git | None = None


def code(payload: bytes) -> Code:
    """Decode the facts about a program. Raises UnreadableError. Facts of an unexpected type are omitted."""
    _PAYLOAD.check_size(len(payload))
    with unreadable("payload.unparsable", "code", UnparsableError, ValueError, RecursionError):
        parts = [
            payload[start:stop]
            for key, start, stop in message_fields(payload, 0, len(payload))
            if key == _FACTS
        ]
        facts = json.loads(parts[-1] if parts else b"{}")
    if not isinstance(facts, dict):
        raise UnreadableError("payload.unparsable", "code: no JSON object")
    command = facts.get("command")
    return Code(
        command=tuple(map(_text, command[:_MOST_ENTRIES])) if isinstance(command, list) else (),
        **{name: _text(facts.get(name)) for name in ("directory", "host", "system", "python")},
        packages=_texts(facts.get("packages")),
        environment=_texts(facts.get("environment")),
        git=_git(facts.get("git")),
    )


def _git(facts: Any) -> Git | None:
    if not isinstance(facts, dict) or not _text(facts.get("commit")):
        return None
    diff, untracked = facts.get("diff"), facts.get("untracked")
    return Git(
        **{name: _text(facts.get(name)) for name in ("commit", "branch", "remote")},
        diff=show_text(diff) if isinstance(diff, str) else None,
        cut=facts.get("cut") is True,
        untracked=untracked if type(untracked) is int and untracked >= 0 else None,
    )


def _texts(facts: Any) -> dict[str, str]:
    if not isinstance(facts, dict):
        return {}
    return {_text(name): _text(value) for name, value in list(facts.items())[:_MOST_ENTRIES]}


def _text(value: Any) -> str:
    return show_text(value[:_MOST_NAME]) if isinstance(value, str) else ""
