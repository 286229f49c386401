"""Environments that have the peers, each made when it is missing: ``$ENVIRONMENTS/venv-<name>``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {
    "tensorboard": ("tensorboard==2.21.0",),
    "model-explorer": ("ai-edge-model-explorer==0.1.34",),
    "mindinsight": (
        "mindinsight==2.3.1", "numpy<2", "pandas<2.2", "marshmallow<4", "scikit-learn<1.5", "setuptools<70",
    ),
}  # fmt: skip
ROOT = Path(__file__).parents[1]


def python_with(name: str) -> Path | None:
    """The Python of the environment that has a peer; None, and why, when it cannot be made."""
    folder = Path(os.environ.get("ENVIRONMENTS", ROOT / ".venv-interop")) / f"venv-{name}"
    python = folder / "bin" / "python"
    if not (folder / "bin" / name).exists():
        print(f"installing {name} into {folder}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *PACKAGES[name],
        ]
        if subprocess.run(command, check=False).returncode:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{name} cannot be installed here and is left out", file=sys.stderr, flush=True)
            return None
    return python
