"""A file that is fed in every possible way shows the same in the end, and never anything else on the way."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from mindinsight.server.ingest.loader import Loader
from mindinsight.server.store.store import Store
from tests.narrowing import require


@pytest.fixture
def content(events: Any) -> Any:
    """A run with payloads, a tag that comes and goes, a restart, and a record that was damaged."""
    first = events.version() + events.records(1, 2) + events.record(3, loss=3.0, acc=0.5)
    broken = bytearray(events.record(4, loss=4.0))
    broken[20] ^= 0xFF
    second = events.record(5, image=("cat", b"PNG5"), loss=5.0) + events.records(3, 4)
    return first + bytes(broken) + second + events.record(5, tensor=("w", [1.0, 2.0]), loss=5.5)


def shown(store: Any, run: str = "./a") -> tuple[Any, Any, Any]:
    """Everything that readers see of a run, in a form that can be compared."""
    entry = store.snapshot().runs[run]
    scalars = {}
    for tag, series in entry.scalars.items():
        columns = series.columns()
        arrays = (columns.steps, columns.walls, columns.values, columns.starts)
        scalars[tag] = [array.tolist() for array in arrays]
    references = {
        (kind, tag): [(int(step), series.read(row)) for row, step in enumerate(series.steps)]
        for kind, tags in entry.references.items()
        for tag, series in tags.items()
    }
    damage = [(gap.offset, gap.size, gap.reason) for file in entry.files for gap in file.damage]
    return scalars, references, damage


@pytest.fixture
def whole(content: Any, base: Any, events: Any, settings: Any) -> Any:
    """What is shown of the file when it is there from the beginning."""
    events.file(base / "a", content)
    store = Store()
    Loader(settings, store).load()
    result = shown(store)
    (base / "a" / events.name.format(1_700_000_000)).unlink()
    return result


def test_what_the_whole_file_shows(whole: Any) -> None:
    scalars, references, damage = whole
    assert scalars["loss"][0] == [1, 2, 3, 5, 3, 4, 5]
    assert scalars["loss"][3] == [0, 4]
    assert scalars["acc"][0] == [3]
    assert [step for step, _ in references["image", "cat"]] == [5]
    assert [step for step, _ in references["tensor", "w"]] == [5]
    assert [reason for *_, reason in damage] == ["damage.body_crc"]


def test_in_two_parts_cut_anywhere(content: Any, whole: Any, base: Any, events: Any, settings: Any) -> None:
    path = events.file(base / "a")
    loss = whole[0]["loss"]
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        store = Store()
        loader = Loader(settings, store)
        loader.load()
        before = shown(store)[0].get("loss")
        assert before is None or before[0] == loss[0][: len(before[0])]
        events.append(path, content[cut:])
        loader.load()
        assert shown(store) == whole


@pytest.mark.parametrize("seed", range(5))
def test_in_many_parts_of_random_sizes(
    seed: Any, content: Any, whole: Any, base: Any, events: Any, loader: Any, store: Any
) -> None:
    rng = np.random.default_rng(seed)
    cuts = [0, *np.sort(rng.choice(len(content), 12, replace=False)).tolist(), len(content)]
    path = events.file(base / "a")
    for begin, end in pairwise(cuts):
        events.append(path, content[begin:end])
        loader.load()
    assert shown(store) == whole


def test_a_cursor_taken_at_any_moment_gives_the_rest(
    content: Any, whole: Any, base: Any, events: Any, settings: Any
) -> None:
    path = events.file(base / "a")
    steps, _, values, _ = whole[0]["loss"]
    for cut in range(0, len(content), 3):
        path.write_bytes(content[:cut])
        store = Store()
        loader = Loader(settings, store)
        loader.load()
        series = store.snapshot().runs["./a"].scalars.get("loss")
        events.append(path, content[cut:])
        loader.load()
        after = store.snapshot().runs["./a"].scalars["loss"]
        if series is not None:
            assert after.generation == series.generation
            rest = after.tail(series.count)
            assert rest.steps.tolist() == steps[series.count :]
            assert rest.values.tolist() == values[series.count :]


def test_a_restart_of_the_server_at_any_moment_goes_on(
    content: Any, whole: Any, base: Any, events: Any, settings: Any
) -> None:
    path = events.file(base / "a")
    for cut in range(0, len(content), 7):
        path.write_bytes(content[:cut])
        first = Loader(settings, Store())
        first.load()
        require(first._cache).save(first._catalogue.stages, growth=0)
        events.append(path, content[cut:])
        store = Store()
        Loader(settings, store).load()
        assert shown(store) == whole
