"""Sizes that a reader can hold: modules of a package, lines of a file and of a function (CONTRIBUTING.md)."""

import ast
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ["server", "writer", "proto", "web"]
MODULES = 20  # of a package, beside its own
FILE_LINES = 600
FUNCTION_LINES = 60


def sources(folder: str) -> list[Path]:
    return [path for path in sorted((ROOT / folder).rglob("*.py")) if not path.stem.endswith("_pb2")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_packages_are_small(folder: str) -> None:
    packages = {path.parent for path in sources(folder)}
    sizes = {package: len([*package.glob("*.py")]) - 1 for package in packages}
    assert {str(package.relative_to(ROOT)) for package, size in sizes.items() if size > MODULES} == set()


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_and_functions_are_short(folder: str) -> None:
    long = []
    for path in sources(folder):
        text = path.read_text(encoding="utf-8")
        if len(text.splitlines()) > FILE_LINES:
            long.append(str(path.relative_to(ROOT)))
        long += [
            f"{path.relative_to(ROOT)}: {node.name}"
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno >= FUNCTION_LINES
        ]
    assert long == []


EXECUTOR = ("worker_pool", "bulkhead", "cluster_executor", "background_jobs")
EXECUTOR_LINES = 710  # of code in what did its work before, at commit b07afcf8
QUIET = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def lines_of_code(path: Path) -> int:
    """Lines without blank ones, comments and docstrings."""
    lines, before = set[int](), tokenize.INDENT
    with path.open(encoding="utf-8") as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type not in QUIET and (token.type, before) != (tokenize.STRING, tokenize.INDENT):
                lines.update(range(token.start[0], token.end[0] + 1))
            before = token.type
    return len(lines)


def test_the_executor_is_smaller_than_the_one_before() -> None:
    """docs/decisions/worker-pool.md says what it does more."""
    package = ROOT / "server" / "mindinsight" / "server"
    files = [
        *(package / "compute" / f"{name}.py" for name in EXECUTOR),
        package / "http" / "bulkhead_routes.py",
    ]
    assert sum(map(lines_of_code, files)) < EXECUTOR_LINES


CODE_LINES = 64_500


def test_the_code_does_not_grow() -> None:
    assert (
        sum(lines_of_code(path) for folder in ("server", "writer") for path in sources(folder)) <= CODE_LINES
    )
