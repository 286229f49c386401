"""Tries both interfaces against their own descriptions: no fault of the server, no undocumented answer.

    python tests/interop/openapi.py [examples per call [v1 | v2]]

schemathesis has an environment of its own in ``$ENVIRONMENTS/venv-schemathesis``, made when it is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "v1"))

from servers import API, DATA, ours, sample_base

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
DESCRIPTIONS = ("/v2/openapi.json", f"{API}/openapi.json")
ENDLESS = ("/v2/events", "/debugger/sessions/{session_id}/poll-data")  # answers that wait for events


def program() -> Path:
    """The program of an environment with schemathesis; made when it is missing."""
    root = Path(__file__).parents[2]
    folder = Path(os.environ.get("ENVIRONMENTS", root / ".venv-interop")) / "venv-schemathesis"
    if not (folder / "bin" / "schemathesis").exists():
        subprocess.run([os.environ.get("PYTHON", "python3"), "-m", "venv", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", "schemathesis"], check=True)
    return folder / "bin" / "schemathesis"


def main() -> int:
    given = dict(enumerate(sys.argv[1:]))
    examples, which = given.get(0, "25"), given.get(1, "")
    options = ["--checks", CHECKS, "--max-examples", examples, "--phases", "examples,coverage,fuzzing"]
    options += [part for path in ENDLESS for part in ("--exclude-path", path)]
    options += ["--continue-on-failure", "--warnings", "off", "--generation-database", "none", "--no-color"]
    codes = []
    with tempfile.TemporaryDirectory() as folder:
        base = sample_base(Path(folder) / "base", damaged=False)
        shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / "dump")
        with ours(base, Path(folder) / "workspace") as server:
            for description in (description for description in DESCRIPTIONS if which in description):
                command = [str(program()), "run", f"{server.address}{description}", *options]
                codes.append(subprocess.run(command, cwd=folder, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
