"""A short run of the fuzzing harness: the same functions, bytes changed at random with a fixed seed.

``explore.py`` does it for longer and guided by coverage; what that broke is kept in ``corpus``.
"""

import random
import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HARNESS = runpy.run_path(str(HERE / "readers.py"))
READERS = HARNESS["READERS"]
ROUNDS = 150


def mutated(content, chance):
    """The content with a few stretches overwritten, removed, doubled or filled with one byte."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 4, 8, 32))
        part = data[at : at + size]
        data[at : at + size] = chance.choice(
            (chance.randbytes(size), b"", part * 2, b"\xff" * size, b"\0" * size)
        )
    return bytes(data)


@pytest.mark.parametrize("name", READERS)
def test_seeds_and_changed_seeds_are_read_or_refused(name) -> None:
    reader, chance = READERS[name], random.Random(name)
    seeds = sorted(reader.seeds(), key=len)[:8]
    assert seeds
    for seed in seeds:
        reader.read(seed)
    for _ in range(ROUNDS):
        reader.read(mutated(chance.choice(seeds), chance))


@pytest.mark.parametrize("name", READERS)
def test_holes_claims_repetition_and_nesting_stay_within_budget(name) -> None:
    reader = READERS[name]
    smallest = min(reader.seeds(), key=len)
    for data in HARNESS["heavy_inputs"](smallest):
        HARNESS["read_within_budget"](reader.read, data)


def test_excess_is_a_finding() -> None:
    with pytest.raises(AssertionError, match="took 300 MiB"):
        HARNESS["read_within_budget"](lambda data: bytearray(300 << 20), b"")


def test_what_once_broke_a_reader_does_so_no_more() -> None:
    for path in sorted((HERE / "corpus").rglob("*.input")):
        READERS[path.parent.name].read(path.read_bytes())
