"""Coverage-guided fuzzing of one reader, for as long as one likes.

    pip install atheris pytest
    python tests/fuzz/explore.py event -max_total_time=3600

What follows the name goes to libFuzzer. Inputs that reached new code are kept in ``--corpus`` (a folder of
its own under the temporary directory unless given); an input that broke something is written beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["mindinsight"]):
    sys.path.insert(0, str(Path(__file__).parent))
    from readers import READERS, heavy_inputs, read_within_budget

LIMITS = ["-timeout=20", "-rss_limit_mb=1024", "-max_len=16384"]  # seconds and MB for one input; bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--corpus", type=Path, default=Path(tempfile.gettempdir()) / "mindinsight-fuzz")
    options, rest = parser.parse_known_args()
    folder = options.corpus / options.reader
    folder.mkdir(parents=True, exist_ok=True)
    reader = READERS[options.reader]
    seeds = list(reader.seeds())
    for data in heavy_inputs(min(seeds, key=len)):
        read_within_budget(reader.read, data)
    for seed in seeds:
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    prefix = f"-artifact_prefix={options.corpus}/{options.reader}-"
    atheris.Setup([sys.argv[0], *LIMITS, prefix, *rest, str(folder)], reader.read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
