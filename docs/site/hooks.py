"""MkDocs hooks: documents outside ``docs/`` become pages of the site, and links to them lead there."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[2]
OUTSIDE: Final = {  # path in the repository -> page of the site
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "proto/mindinsight/proto/FORMAT.md": "format.md",
}
_LINK: Final = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def on_startup(command: str, dirty: bool) -> None:
    """Lay the source roots side by side: the reference reads them as one package without importing it."""
    package = ROOT / "build" / "reference" / "mindinsight"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    for part in ("proto", "server", "writer"):
        link = package / part
        link.unlink(missing_ok=True)
        link.symlink_to(ROOT / part / "mindinsight" / part, target_is_directory=True)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents from outside."""
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links that are relative to the repository into links of the site."""
    uri = page.file.src_uri
    source = next((path for path, name in OUTSIDE.items() if name == uri), f"docs/{uri}")

    def rewrite(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        if not (ROOT / target).exists():
            return link[1]  # strict mode names it
        target = OUTSIDE.get(target, target.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(uri) or ".")

    return _LINK.sub(rewrite, markdown)
