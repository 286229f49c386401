"""The file that keeps columns over a restart: whole or nothing, and never other bytes."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from hypothesis.extra import numpy as arrays

from mindinsight.server.ingest.cache.cache_file import FORMAT, CacheFile, CacheFileWriter, StaleError
from mindinsight.server.ingest.discovery.folder_listing import Stamp

KINDS = strategies.sampled_from([np.dtype(name) for name in ("<i8", "<f8", "<f4")])
COLUMNS = strategies.lists(
    KINDS.flatmap(lambda kind: arrays.arrays(kind, strategies.integers(0, 40))), min_size=1, max_size=6
)


def written(path: Any, runs: Any) -> Any:
    """A pack of runs, each a list of arrays; the note of a run holds where they lie."""
    writer = CacheFileWriter(path)
    for name, columns in runs.items():
        writer.run(name, [writer.array(column) for column in columns])
    writer.finish()
    return path


def opened(path: Any) -> dict[Any, Any]:
    """Runs of a pack with the bytes of their arrays."""
    pack = CacheFile(path)
    try:
        return {run: _bytes(pack, run) for run in pack.runs}
    finally:
        pack.close()


def _bytes(pack: Any, run: Any) -> list[Any]:
    body = pack.body(run)
    return [(body.array(reference).dtype, body.array(reference).tobytes()) for reference in pack.note(run)]


@given(strategies.dictionaries(strategies.text(max_size=5), COLUMNS, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_read_is_what_was_written(tmp_path: Path, runs: Any) -> None:
    result = opened(written(tmp_path / "one.pack", runs))
    assert result == {name: [(c.dtype, c.tobytes()) for c in columns] for name, columns in runs.items()}


@pytest.fixture
def path(tmp_path: Path) -> Any:
    return written(tmp_path / "one.pack", {"./a": [np.arange(20)], "./b": [np.arange(7.0)]})


def test_a_pack_that_was_cut_anywhere_counts_for_nothing(path: Any) -> None:
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(StaleError):
            CacheFile(path)


def test_a_flipped_bit_anywhere_is_noticed_or_harmless(path: Any) -> None:
    whole, right = path.read_bytes(), opened(path)
    noticed = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        try:
            assert opened(path) == right
        except StaleError:
            noticed += 1
    assert noticed >= len(whole) - 16  # only the header before the first run is not looked at


def test_one_damaged_run_leaves_the_others(path: Any) -> None:
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(bytes(data))
    pack = CacheFile(path)
    with pytest.raises(StaleError):
        pack.body("./a")
    assert pack.body("./b").array(pack.note("./b")[0]).tolist() == list(range(7))
    pack.close()


def test_until_it_is_whole_it_is_not_there(tmp_path: Path) -> None:
    writer = CacheFileWriter(tmp_path / "one.pack")
    writer.array(np.arange(5))
    assert not (tmp_path / "one.pack").exists()
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_arrays_lie_where_a_processor_likes_them(path: Any) -> None:
    pack = CacheFile(path)
    for run in pack.runs:
        for dtype, at, length in pack.note(run):
            assert at % 8 == 0
            assert pack.body(run).array((dtype, at, length)).flags.aligned
    pack.close()


@pytest.mark.parametrize(
    "reference", [("i8", 0, 10**6), ("i8", 10**6, 1), ("O", 0, 1), ("i8", 0, -1), ("?!", 0, 1), ("i8", 0)]
)
def test_a_place_that_cannot_be_is_refused(reference: Any, path: Any) -> None:
    pack = CacheFile(path)
    with pytest.raises(StaleError):
        pack.body("./a").array(reference)
    pack.close()


def test_a_footer_that_promises_too_much_is_refused(path: Any) -> None:
    index = json.dumps({"./a": [0, 10**12, 0, []]}).encode()
    footer = struct.pack("=QQII8s", 16, len(index), zlib.crc32(index), FORMAT, b"MIcache\n")
    path.write_bytes(bytes(16) + index + footer)
    with pytest.raises(StaleError):
        CacheFile(path)


def test_stamps_survive_json() -> None:
    stamp = Stamp(66305, 2**63, 10, 1_795_246_490_123_456_789, -5)
    assert Stamp(*json.loads(json.dumps(stamp))) == stamp


def test_an_array_that_comes_twice_is_written_once(tmp_path: Path) -> None:
    steps, sizes = np.arange(1000), []
    for number, columns in enumerate(([steps], [steps, steps], [steps, steps.copy()])):
        pack = CacheFileWriter(tmp_path / f"{number}.pack")
        pack.run("./a", [pack.array(array) for array in columns])
        pack.finish()
        file = CacheFile(tmp_path / f"{number}.pack")
        assert all((file.body("./a").array(at) == steps).all() for at in file.note("./a"))
        file.close()
        sizes.append((tmp_path / f"{number}.pack").stat().st_size)
    assert sizes[1] - sizes[0] < 100 < steps.nbytes <= sizes[2] - sizes[1]
