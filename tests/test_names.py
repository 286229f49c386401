"""Names: none of those that hide what a thing is (CONTRIBUTING.md, names)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VAGUE = {"one", "each", "found", "told", "said", "place", "kept", "asked"}


def definitions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that a module defines, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


@pytest.mark.parametrize("folder", ["server", "writer", "web", "proto", "tests", "benchmarks", "examples"])
def test_names_say_what_they_name(folder: str) -> None:
    vague = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, line in definitions(ast.parse(path.read_text(encoding="utf-8")))
        if name in VAGUE
    ]
    assert vague == []
