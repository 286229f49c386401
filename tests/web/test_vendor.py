"""Files of others in the tree: unchanged, and with their licence beside them."""

import hashlib
import re

import pytest

from mindinsight.server.api.pages import WEB

VENDOR = WEB / "static" / "vendor"
ROWS = re.findall(
    r"^\| `([^`]+)` \|.*`([\w.-]+\.LICENSE\.txt)` \| `([0-9a-f]{64})` \|$",
    (VENDOR / "README.md").read_text(),
    re.M,
)


def test_every_script_is_listed():
    assert {name for name, _, _ in ROWS} == {path.name for path in VENDOR.glob("*.js")} != set()


@pytest.mark.parametrize(("name", "licence", "digest"), ROWS)
def test_a_script_is_what_was_published(name, licence, digest):
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest
    assert "Permission is hereby granted" in (VENDOR / licence).read_text()
