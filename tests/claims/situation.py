"""Situations: small sets of files with their truth, and the ways in which the product is asked about them.

A module of ``tests/claims/situations`` holds generators::

    @situation(makes=["claim.dump.agree"], never=["claim.dump.nothing_compared"], exit_code=0)
    def equal_dumps(folder: Path) -> Question:
        ...  # write files below the folder
        return Question(command=["dump", "compare", str(a), str(b), "--json"], base=folder, request="v2/...")

Each way of asking that a question has must make all of ``makes`` and none of ``never``. A situation names in
``never`` the claims that would be false there although it comes near to them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from fastapi.testclient import TestClient

from mindinsight.server.claims import Claim


@dataclass(frozen=True)
class Question:
    """The ways to ask about one situation; each may be left out, but not all."""

    command: Sequence[str] | None = None  # arguments of ``mindinsight``; prints JSON that holds the claims
    base: Path | None = None  # base directory of the server that is asked by ``request`` and ``page``
    request: str | Callable[[TestClient], Any] | None = (
        None  # path of a GET, or a function that asks a client and returns the JSON
    )
    page: str | None = None  # path and query of a page, relative to the server's address
    press: str | None = None  # button of the page that asks, as a CSS selector
    direct: Callable[[], Sequence[Any]] | None = None  # an analysis in Python; returns claims
    script: tuple[str, str, Sequence[Any]] | None = (
        None  # of a page that decides by itself: module below static/js, function, arguments in JSON
    )
    settings: dict[str, Any] | None = None  # of the server, such as ``token``
    word: str = ""  # locale key with {} for each state that ``script`` returns as text, or of its True


@dataclass(frozen=True)
class Situation:
    name: str  # "<area>.<function>"
    write: Callable[[Path], Question]
    makes: frozenset[str]
    never: frozenset[str]
    exit_code: int | None

    @property
    def may_have_page(self) -> bool:
        """Return False if the page of its question is None, as that of all questions of its area."""
        return self.name.partition(".")[0] not in WITHOUT_PAGES


WITHOUT_PAGES = (
    "check",
    "checkpoint",
    "media",
    "numbers",
    "states",
    "tables",
    "explain",
    "growth",
)  # areas that ask no page
_AREAS = Path(__file__).with_name("situations")
_found: dict[str, list[Situation]] = {}  # by module; filled by the decorator while the module is imported


def situation(
    makes: Sequence[str] = (), never: Sequence[str] = (), exit_code: int | None = None
) -> Callable[[Callable[[Path], Question]], Callable[[Path], Question]]:
    """Declare a generator as a situation: the claims it must bring about, and those it must not."""
    assert makes or never, "a situation states its truth"
    assert not set(makes) & set(never)

    def declare(write: Callable[[Path], Question]) -> Callable[[Path], Question]:
        area = write.__module__.rpartition(".")[2]
        name = f"{area}.{write.__name__}"
        entries = _found.setdefault(area, [])
        assert name not in {entry.name for entry in entries}, f"{name} exists twice"
        entries.append(Situation(name, write, frozenset(makes), frozenset(never), exit_code))
        return write

    return declare


def all_situations() -> list[Situation]:
    """Return the situations of all areas, by area and in the order of their modules."""
    for path in sorted(_AREAS.glob("*.py")):
        if path.stem not in _found and path.stem != "__init__":
            importlib.import_module(f"tests.claims.situations.{path.stem}")
    return [entry for area in sorted(_found) for entry in _found[area]]


def words(prefix: str, *states: str) -> list[Claim]:
    """Return the words that a page shows for states, whose locale keys are a prefix and the state."""
    return [Claim(f"{prefix}.{state}", "note") for state in states]


class Truth(TypedDict):
    """Keys of the claims that a situation must bring about, and of those it must not."""

    makes: list[str]
    never: list[str]


def exactly(prefix: str, every: Sequence[str], *states: str) -> Truth:
    """Return what a situation declares in which these words of a group are true and no others."""
    return {
        "makes": [f"{prefix}.{name}" for name in states],
        "never": [f"{prefix}.{name}" for name in every if name not in states],
    }


def claim_keys(answer: Any) -> Iterator[str]:
    """Yield the keys of all claims in a JSON value, however deep. Claims themselves are taken as well."""
    if isinstance(answer, Claim):
        yield answer.key
    elif isinstance(answer, dict):
        if isinstance(key := answer.get("key"), str) and key.startswith("claim.") and "verdict" in answer:
            yield key
        for value in answer.values():
            yield from claim_keys(value)
    elif isinstance(answer, list | tuple):
        for value in answer:
            yield from claim_keys(value)


def assert_truth(truth: Situation, made: set[str], channel: str) -> None:
    """Fail if a claim is not made that must be, or is made that must not be."""
    assert truth.makes <= made, (
        f"{channel} does not claim {sorted(truth.makes - made)}; it claims {sorted(made)}"
    )
    assert not truth.never & made, f"{channel} claims {sorted(truth.never & made)}"
