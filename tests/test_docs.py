"""Links between the documents, the paths, commands and names in them."""

import ast
import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import mindinsight
from mindinsight.server.commands.main import parser

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "proto/**/*.md", "benchmarks/**/*.md")
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
SERVER = ROOT / "server" / "mindinsight" / "server"


def anchors(path: Any) -> set[Any]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files_and_headings_that_exist(document: Any) -> None:
    path = ROOT / document
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        linked = path.parent / target if target else path
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_every_document_can_be_reached_from_the_index() -> None:
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        path = waiting.pop().resolve()
        if path.suffix == ".md" and path not in reached:
            reached.add(path)
            waiting += [path.parent / target for target, _ in LINK.findall(path.read_text()) if target]
    assert {ROOT / document for document in DOCUMENTS if document.startswith("docs/")} <= reached


def test_the_answers_for_newcomers_name_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    answers = re.findall(r"^\| Where .*\? \| `(.+)` \|$", text, re.MULTILINE)
    assert len(answers) == 6
    assert [answer for answer in answers if not (SERVER / answer).exists()] == []


@pytest.mark.parametrize("document", ["security.md", "dumps.md", "from-tensorboard.md"])
def test_the_tests_that_a_document_names_exist(document: str) -> None:
    missing, file = [], ""
    for path, name in re.findall(r"`([\w/]*(?:\.py)?)::(\w+)`", (ROOT / "docs" / document).read_text()):
        file = path or file
        if f"def {name}(" not in (ROOT / "tests" / file).read_text():
            missing.append(f"{file}::{name}")
    assert file
    assert missing == []


BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
USED = [name for name in DOCUMENTS if not name.startswith(("CHANGELOG", "docs/decisions"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """Each block of a language with its document."""
    return [
        (document, code)
        for document in USED
        for kind, code in BLOCK.findall((ROOT / document).read_text(encoding="utf-8"))
        if kind == language
    ]


def commands() -> list[tuple[str, str]]:
    """Each call of our commands in a block, with its document."""
    return [
        (document, match[1])
        for document, code in blocks("sh")
        for line in code.replace("\\\n", " ").split("\n")
        for part in re.split(r"\s(?:&&|\||;)\s|\s#\s", line)[:1]
        if (match := re.fullmatch(r"(?:\$ )?mindinsight (.+)", part.strip()))
    ]


def test_blocks_are_found() -> None:
    assert len(commands()) > 25
    assert len(blocks("python")) > 25


@pytest.mark.parametrize(("document", "command"), commands())
def test_commands_have_the_options_that_documents_name(document: str, command: str) -> None:
    words = shlex.split(command, comments=True)
    parser(*words[:2]).parse_args(words)  # ends with SystemExit for an option or a choice that there is not


@pytest.mark.parametrize(("document", "code"), blocks("python"))
def test_python_blocks_are_python_and_import_what_there_is(document: str, code: str) -> None:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindinsight"):
            module = importlib.import_module(node.module or "")
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "mindinsight":
            assert hasattr(mindinsight, node.attr)
