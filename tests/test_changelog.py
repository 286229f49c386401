"""Fragments in `changelog.d/` can be published, and the changelog stays short."""

import re
from pathlib import Path

import pytest

from tests.changelog import ROOT, fault_of, fragments, publish, section

MINUTES = 2
WORDS_A_MINUTE = 238  # silent reading of non-fiction by adults (Brysbaert, 2019)


def test_every_fragment_can_be_published() -> None:
    assert [fault for path in fragments(ROOT / "changelog.d") if (fault := fault_of(path))] == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("41.fixed.md", "Runs with a line break in their name open again.", None),
        ("+ports.added.md", "The port can be chosen.", None),
        ("41.fixed.2.md", "The port can be chosen.", None),
        ("41.bug.md", "The port can be chosen.", "name it"),
        ("fixed.md", "The port can be chosen.", "name it"),
        ("41.fixed.txt", "The port can be chosen.", "name it"),
        ("41.fixed.md", "x" * 400 + ".", "10 to 300"),
        ("41.fixed.md", "", "10 to 300"),
        ("41.fixed.md", "* The port can be chosen.", "one paragraph"),
        ("41.fixed.md", "The port can be chosen.\n\nSo can the host.", "one paragraph"),
        ("41.fixed.md", "Port can be chosen", "whole sentences"),
    ],
)
def test_a_fragment_with_a_fault_is_refused(tmp_path: Path, name: str, text: str, fault: str | None) -> None:
    (tmp_path / name).write_text(text)
    refusal = fault_of(tmp_path / name)
    assert refusal is None if fault is None else fault in str(refusal)


def test_a_release_moves_the_fragments_to_the_changelog(tmp_path: Path) -> None:
    folder = tmp_path / "changelog.d"
    folder.mkdir()
    (folder / "README.md").touch()
    (folder / "7.fixed.md").write_text("Runs open\nagain.\n")
    (folder / "+ports.added.md").write_text("The port can be chosen.\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 3.0.0\n\nThe first.\n")
    added, fixed = "### Added\n\n* The port can be chosen.\n", "### Fixed\n\n* Runs open again. (#7)\n"
    assert section(folder) == f"{added}\n{fixed}"
    publish(tmp_path, "3.1.0")
    text = (tmp_path / "CHANGELOG.md").read_text()
    assert text == f"# Changelog\n\n## 3.1.0\n\n{added}\n{fixed}\n## 3.0.0\n\nThe first.\n"
    assert [path.name for path in folder.iterdir()] == ["README.md"]


def test_the_first_section_is_read_in_two_minutes() -> None:
    newest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    words = re.sub(r"\]\([^)]*\)", "]", newest).split()
    assert len(words) <= MINUTES * WORDS_A_MINUTE
