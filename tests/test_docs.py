"""Links between the documents, and the paths that they name."""

import re
from pathlib import Path
from typing import Any

import pytest

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
