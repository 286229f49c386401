"""The first five minutes, as docs/get-started.md has them in both languages: every block is run as it is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindinsight.server.client.notebook import free_port

DOCS = Path(__file__).parents[1] / "docs"


def blocks(document: str) -> list[tuple[str, str]]:
    text = (DOCS / document).read_text(encoding="utf-8")
    return re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_both_languages_have_the_same_blocks() -> None:
    assert blocks("zh/get-started.md") == blocks("get-started.md")


@pytest.mark.slow
def test_every_block_of_the_first_five_minutes_works(tmp_path: Path) -> None:
    """But for the installation, and with a port and a workspace of its own."""
    port = str(free_port())
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "MINDINSIGHT_PORT": port,
        "MINDINSIGHT_WORKSPACE": str(tmp_path / "workspace"),
        "LC_ALL": "C.UTF-8",
    }
    outputs = []
    for language, block in blocks("get-started.md"):
        if language == "python":
            (tmp_path / "train.py").write_text(block, encoding="utf-8")
        elif "pip install" not in block:
            script = block.replace("mindinsight stop", f"mindinsight stop --port {port}")
            command = ["sh", "-e", "-c", script]
            done = subprocess.run(
                command,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, (block, done.stdout, done.stderr)
            outputs.append(done.stdout)
    recorded, started, listed, stopped = outputs
    assert recorded.count("step 400") == 3
    assert "loss inf" in recorded
    assert f"http://127.0.0.1:{port}/" in started
    assert "./rate_2.0" in listed
    assert "loss=inf" in listed
    assert "stopped" in stopped
