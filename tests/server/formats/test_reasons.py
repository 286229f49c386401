"""Whatever reason a reader gives for not reading something, there is a text for it in every language."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from mindinsight.server.api.pages import LANGUAGES, WEB
from mindinsight.server.texts import locale_texts

SERVER = WEB.parents[2] / "server"
KEY = re.compile(r"(?:dump|file|graph)\.[a-z_]+")


def candidates(node: Any) -> Any:
    """The parts of the code that can hold a reason: arguments of what tells it, and values kept for it."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        tells = name in ("UnreadableError", "FileDamage", "ApiError")
        return [*node.args, *(keyword.value for keyword in node.keywords)] if tells else []
    names = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(
        node.value, ast.IfExp | ast.Constant | ast.Dict
    )
    return [node.value] if names else []


def reasons() -> Iterator[Any]:
    """Every text that has the form of a reason and stands where one is said, with the file that says it."""
    for path in sorted(SERVER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for constant in (inner for part in candidates(node) for inner in ast.walk(part)):
                value = getattr(constant, "value", None)
                if isinstance(value, str) and KEY.fullmatch(value):
                    yield value, path.name


@pytest.fixture(scope="module")
def given() -> list[tuple[str, str]]:
    """Every reason with its file. Not a constant: each worker of the suite would parse the whole server."""
    return sorted(set(reasons()))


def test_the_reasons_are_found_where_they_are_said(given: list[tuple[str, str]]) -> None:
    results = {reason for reason, _ in given}
    assert {
        "dump.unsafe_name",
        "dump.missing",
        "dump.zip_bomb",
        "dump.encrypted",
        "dump.no_numbers",
    } <= results
    assert len(results) > 30


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_has_a_text(lang: Any, given: list[tuple[str, str]]) -> None:
    known = locale_texts(WEB / "locales" / lang)
    untold = [(reason, file) for reason, file in given if not known.get(reason, "").strip()]
    assert untold == []
