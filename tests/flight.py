"""Runs of ``tests/data/flight``: what the flight recorder left of trainings with planted faults."""

import zipfile
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "flight"
NAMES = sorted(path.stem for path in FOLDER.glob("*.zip"))


def unpack(name: str, base: Path) -> Path:
    """The run ``name`` below ``base``."""
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as archive:
        archive.extractall(base)
    return base / name
