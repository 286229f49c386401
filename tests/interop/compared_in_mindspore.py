"""Real ``msprobe compare`` on dumps that our PrecisionDebugger makes in MindSpore, with tensors and without.

Run with a Python that has mindspore and mindstudio-probe.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from probing_in_mindspore import Recorded, made, train

from mindinsight.writer import PrecisionDebugger


def recorded(folder, task):
    train(made(Recorded), 2, PrecisionDebugger(task=task, level="mix", dump_path=str(folder)))
    (file,) = folder.glob("step1/*/dump.json")
    return file


def compared(target, golden, output):
    """Rows of msprobe's result."""
    command = [sys.executable, "-c", "from msprobe.msprobe import main; main()", "compare"]
    options = ["-tp", str(target), "-gp", str(golden), "-o", str(output)]
    done = subprocess.run([*command, *options], check=False, capture_output=True, text=True, timeout=300)
    results = list(output.glob("compare_result*.csv"))
    assert done.returncode == 0 and results, done.stdout[-3000:] + done.stderr[-3000:]
    with results[0].open() as file:
        return list(csv.DictReader(file))


def main():
    with tempfile.TemporaryDirectory() as base:
        counts = {}
        for task in ("tensor", "statistics"):
            target, golden = (recorded(Path(base) / f"{task}_{side}", task) for side in ("target", "golden"))
            rows = compared(target, golden, Path(base) / task)
            names = set(json.loads(target.read_text())["data"])
            missing = {name for name in names if not any(row["NPU Name"].startswith(name) for row in rows)}
            assert rows and not missing, missing
            assert all(row["NPU Name"] == row["Bench Name"] for row in rows)
            assert {row["Result"] for row in rows} <= {"pass", ""}, [
                row for row in rows if row["Result"] != "pass"
            ]
            counts[task] = len(rows)
    print(json.dumps({"msprobe compare of MindSpore": counts, "ok": True}))


if __name__ == "__main__":
    main()
