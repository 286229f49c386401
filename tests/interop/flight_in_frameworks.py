"""The flight recorder in real Lightning and in a real Trainer of Hugging Face: the examples, and their dumps.

Run with a Python that has lightning and transformers.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from planted_in_torch import alerts

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, out: Path) -> None:
    subprocess.run(
        [sys.executable, str(EXAMPLES / name), "--out", str(out)],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
    )


def faults(folder: Path) -> list:
    return [alert for alert in alerts(folder) if alert.title.startswith("Training fault: the loss is NaN")]


def check(folder: Path, step: int) -> None:
    first = faults(folder)[0]
    assert first.title == "Training fault: the loss is NaN", first.title
    assert first.dump == "flight_dump" and f"step {step}" in first.text, first.text
    assert "did not break" not in first.text, first.text
    assert (folder / "flight_dump" / "rank_0" / "Net" / "0" / str(step)).is_dir()
    health = json.loads((folder / "flight_dump" / "rank_0" / f"health_{step}.json").read_text())
    assert 0 <= health["healthy_step"] < step and health["weights"], health


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        run("lightning_flight.py", base)
        check(base / "flight" / "version_0", 30)
        run("transformers_flight.py", base / "hf")
        check(base / "hf", 11)  # as the logs of a Trainer count
    print(json.dumps({"flight recorder in frameworks": ["lightning", "transformers"], "ok": True}))


if __name__ == "__main__":
    main()
