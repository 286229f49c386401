"""Files of others in the tree: unchanged, and with their licence beside them."""

import hashlib
import re
from pathlib import Path
from typing import Any

import plotly
import pytest

from mindinsight.server.api.pages import WEB

ROOT = Path(__file__).parents[2]
VENDOR = WEB / "static" / "vendor"
ROWS = re.findall(
    r"^\| `([^`]+)` \|.*`([\w.-]+\.LICENSE\.txt)` \| `([0-9a-f]{64})` \|$",
    (VENDOR / "README.md").read_text(),
    re.M,
)


def test_every_script_is_listed() -> None:
    assert {name for name, _, _ in ROWS} == {path.name for path in VENDOR.glob("*.js")} != set()


@pytest.mark.parametrize(("name", "licence", "digest"), ROWS)
def test_a_script_is_what_was_published(name: Any, licence: Any, digest: Any) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    assert "Permission is hereby granted" in (VENDOR / licence).read_text()


def test_builds_of_plotly_are_of_one_major_version() -> None:
    """A figure is drawn by a vendored build or, if it needs more, by the one of the plotly wheel."""
    wheel = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    heads = [path.read_bytes()[:200] for path in [*VENDOR.glob("plotly-*.min.js"), wheel]]
    versions = [re.search(rb"\* plotly\.js .*v(\d+)\.", head) for head in heads]
    assert len(heads) == 3
    assert {version and version[1] for version in versions} == {b"4"}


def test_users_have_a_plotly_of_that_version() -> None:
    """plotly 6 brought plotly.js 3, plotly 7 brings plotly.js 4."""
    (bound,) = re.findall(r'"plotly>=(\d+)[.\d]*"', (ROOT / "pyproject.toml").read_text())
    assert bound == "7"
