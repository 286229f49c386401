"""Fuzzing of all readers in turn, with a ledger of what has been done so far.

    python tests/fuzz/rotate.py --minutes 60 --ledger benchmarks/results/fuzzing.csv
    python tests/fuzz/rotate.py --minutes 0 --ledger benchmarks/results/fuzzing.csv --document

The reader with the least processor time in the ledger comes next, for ``--slice`` seconds. The ledger is
written after each slice, so that the next call goes on where this one ended, on whichever machine. The corpus
is kept in ``--corpus``; a finding is a file there, named after its reader, and makes the exit code 1.
``--document`` then writes the ledger into the table of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import csv
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXPLORE = Path(__file__).with_name("explore.py")
COLUMNS = ("reader", "cpu_seconds", "inputs", "branches", "peak_mb", "findings", "inputs_since_new")
DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"
HEADINGS = "Reader", "CPU seconds", "Inputs tried", "since a new branch", "Branches", "Peak MB", "Findings"
HEAD = f"| {' | '.join(HEADINGS)} |\n| ---{' | ---:' * 6} |\n"
AIM = 3600  # seconds for each reader
LIST = "import sys; sys.path.insert(0, sys.argv[1]); from readers import READERS; print(*READERS, sep='\\n')"
FINDING = re.compile(r"-(crash|timeout|oom|leak)-")

Ledger = dict[str, dict[str, int]]


def read_ledger(path: Path, readers: list[str]) -> Ledger:
    """What was done of each reader; a reader the ledger does not name begins with nothing."""
    ledger = {reader: dict.fromkeys(COLUMNS[1:], 0) for reader in readers}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                ledger[row["reader"]] = {column: int(row.get(column) or 0) for column in COLUMNS[1:]}
    return ledger


def write_ledger(path: Path, ledger: Ledger) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({"reader": reader, **counts} for reader, counts in ledger.items())


def next_reader(ledger: Ledger, readers: list[str]) -> str:
    return min(readers, key=lambda reader: ledger[reader]["cpu_seconds"])


def note(counts: dict[str, int], output: str, cpu_seconds: float, findings: int) -> None:
    """Add what one run of libFuzzer printed to the counts of its reader."""
    counts["cpu_seconds"] += round(cpu_seconds)
    tried = _last(r"stat::number_of_executed_units:\s*(\d+)", output) or _last(r"#(\d+)", output)
    counts["inputs"] += tried
    counts["inputs_since_new"] += tried
    for number, branches in re.findall(r"#(\d+).*cov: (\d+)", output):
        if int(branches) > counts["branches"]:
            counts["branches"], counts["inputs_since_new"] = int(branches), max(0, tried - int(number))
    counts["peak_mb"] = max(counts["peak_mb"], _last(r"stat::peak_rss_mb:\s*(\d+)", output))
    counts["findings"] += findings


def _last(pattern: str, text: str) -> int:
    return int(([*re.findall(pattern, text)] or ["0"])[-1])


def table(ledger: Ledger) -> str:
    """The ledger as a table in Markdown, with the sums in its last row."""
    rows = [(reader, *_cells(counts)) for reader, counts in ledger.items()]
    whole = {column: sum(counts[column] for counts in ledger.values()) for column in COLUMNS[1:]}
    seconds = f"{_grouped(whole['cpu_seconds'])} of {_grouped(AIM * len(ledger))}"
    rows.append(("**all**", seconds, _grouped(whole["inputs"]), "", "", "", str(whole["findings"])))
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cells(counts: dict[str, int]) -> list[str]:
    columns = ("cpu_seconds", "inputs", "inputs_since_new", "branches", "peak_mb", "findings")
    return [
        "–" if column == "inputs_since_new" and not counts[column] else _grouped(counts[column])
        for column in columns
    ]


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def document(ledger: Ledger, path: Path = DOCUMENT) -> None:
    """Replace the table in a Markdown file."""
    before, _, rest = path.read_text(encoding="utf-8").partition("| Reader |")
    after = rest.partition("\n\n")[2]
    path.write_text(f"{before}{table(ledger)}\n{after}", encoding="utf-8")


def explore(reader: str, corpus: Path, seconds: int) -> tuple[str, float, int]:
    """Output, processor seconds and new findings of one slice."""
    before, began = findings(corpus, reader), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, str(EXPLORE), reader, f"--corpus={corpus}", "-print_final_stats=1"]
    done = subprocess.run(
        [*command, f"-max_total_time={seconds}", "-rss_limit_mb=4096"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    new = findings(corpus, reader) - before
    if done.returncode and not new:
        print(done.stdout[-3000:], flush=True)
    return done.stdout, spent, len(new) or int(done.returncode != 0)


def findings(corpus: Path, reader: str) -> set[str]:
    return {path.name for path in corpus.glob(f"{reader}-*") if FINDING.search(path.name)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--slice", type=int, default=180, help="seconds for one reader")
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir()) / "mindinsight-fuzz")
    parser.add_argument("--document", action="store_true", help="write the table of docs/reliability.md")
    parser.add_argument("readers", nargs="*", help="all of them when left out")
    options = parser.parse_args()
    listed = subprocess.run(
        [sys.executable, "-c", LIST, str(EXPLORE.parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    readers = options.readers or listed.stdout.splitlines()
    options.corpus.mkdir(parents=True, exist_ok=True)
    end, new_findings = time.monotonic() + 60 * options.minutes, 0
    while (left := end - time.monotonic()) > 1:
        ledger = read_ledger(options.ledger, readers)
        reader = next_reader(ledger, readers)
        output, spent, new = explore(reader, options.corpus, int(min(options.slice, left)))
        note(ledger[reader], output, spent, new)
        new_findings += new
        write_ledger(options.ledger, ledger)
        print(reader, ledger[reader], flush=True)
    if options.document:
        document(read_ledger(options.ledger, []))
    sys.exit(bool(new_findings))


if __name__ == "__main__":
    main()
