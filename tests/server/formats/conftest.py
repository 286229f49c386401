"""Real dumps of every layout, unpacked once for a test session."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

SAMPLES = Path(__file__).parents[2] / "data" / "dumps" / "samples"


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of all samples; not to be changed."""
    root = tmp_path_factory.mktemp("samples")
    for archive in SAMPLES.glob("*.zip"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(root)
    return root
