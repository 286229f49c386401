"""Section of the changelog made of the fragments in `changelog.d/`.

`python -m tests.changelog` prints it. With a version, it moves to `CHANGELOG.md`: the fragments are deleted.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TYPES = {
    "added": "Added",
    "changed": "Changed",
    "fixed": "Fixed",
    "removed": "Removed",
    "security": "Security",
}
NAME = re.compile(rf"(?P<issue>\d+|\+[\w-]+)\.(?P<type>{'|'.join(TYPES)})(?:\.\d+)?\.md")
LONGEST = 300  # characters: two sentences


def fragments(folder: Path) -> list[Path]:
    """Return the files of `folder` that are fragments or should be."""
    return sorted(path for path in folder.iterdir() if path.name != "README.md")


def fault_of(path: Path) -> str | None:
    """Return what is wrong with a fragment, None if it can be published."""
    text = path.read_text(encoding="utf-8")
    if not NAME.fullmatch(path.name):
        return f"{path.name}: name it ISSUE.TYPE.md or +WORD.TYPE.md, with a type of {', '.join(TYPES)}"
    if not 10 <= len(text.strip()) <= LONGEST:
        return f"{path.name}: 10 to {LONGEST} characters, not {len(text.strip())}"
    if text.lstrip().startswith(("#", "*", "-")) or "\n\n" in text.strip():
        return f"{path.name}: one paragraph without heading or list"
    return None if text.strip()[-1] in ".!)" else f"{path.name}: whole sentences"


def section(folder: Path) -> str:
    """Return the fragments as Markdown, by type."""
    lines: list[str] = []
    for name, heading in TYPES.items():
        chosen = [(path, named) for path in fragments(folder) if (named := NAME.fullmatch(path.name))]
        entries = [
            f"* {' '.join(path.read_text(encoding='utf-8').split())}{_reference(named['issue'])}"
            for path, named in chosen
            if named["type"] == name
        ]
        lines += [f"### {heading}", "", *entries, ""] if entries else []
    return "\n".join(lines)


def _reference(issue: str) -> str:
    return f" (#{issue})" if issue.isdecimal() else ""


def publish(root: Path, version: str) -> None:
    """Put the section of `version` on top of the changelog and remove the fragments."""
    folder, path = root / "changelog.d", root / "CHANGELOG.md"
    heading, _, rest = path.read_text(encoding="utf-8").partition("\n\n")
    path.write_text(f"{heading}\n\n## {version}\n\n{section(folder)}\n{rest}", encoding="utf-8")
    for fragment in fragments(folder):
        fragment.unlink()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        publish(ROOT, sys.argv[1])
    else:
        print(section(ROOT / "changelog.d"))
