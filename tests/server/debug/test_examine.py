"""Examination of tensors through a pool, with a cache, and in spite of damaged files."""

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from mindinsight.server.compute import parallel_map as spread_module
from mindinsight.server.compute.parallel_map import AHEAD, HEAVY, batched, spread
from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug import examine as examine_module
from mindinsight.server.debug.conditions import HOLDS_NAN, NO_VALUES
from mindinsight.server.debug.examine import (
    TensorResult,
    TensorTask,
    examine,
    finiteness,
    is_non_finite,
    measure_all,
    surely_finite,
)
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import checked_limits
from mindinsight.server.formats.dumps import list_tensors, open_dump, read_tensor
from mindinsight.server.formats.dumps.dump_types import FileDamage, RecordedStatistics, TensorRef
from tests.narrowing import require
from tests.server.debug.conftest import spoil


@pytest.fixture
def entries(lenet: Any) -> Any:
    return list_tensors(lenet, 0, 0).items


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    return StatisticsCache(tmp_path / "deep" / "statistics.sqlite")


def test_every_tensor_is_measured_in_order(entries: Any) -> None:
    results = list(measure_all(entries))
    assert [result.entry for result in results] == list(entries)
    for result in results:
        values = read_tensor(require(result.entry.ref))
        measurement = require(result.measurement)
        assert measurement.statistics == measure(values)
        assert (measurement.shape, measurement.dtype) == (
            values.shape,
            values.dtype.name,
        )


def test_what_was_measured_is_not_read_again_until_the_file_changes(copied: Any, cache: Any) -> None:
    entries = list_tensors(open_dump(copied("ms_sync_v2_0_names")), 0, 0).items
    first = [result.measurement for result in measure_all(entries, cache=cache)]
    path = Path(require(entries[0].ref).path)
    stamp = path.stat()
    healthy = path.read_bytes()
    path.write_bytes(b"x" * len(healthy))  # nobody can read this, and nobody has to
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [result.measurement for result in measure_all(entries, cache=cache)] == first
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    changed = next(measure_all(entries, cache=cache))
    assert changed.measurement is None
    assert require(changed.damage).path == str(path)


@pytest.mark.parametrize("content", [b"no database at all" * 99, b""])
def test_a_broken_cache_costs_time_and_nothing_else(entries: Any, tmp_path: Path, content: Any) -> None:
    file = tmp_path / "statistics.sqlite"
    file.write_bytes(content)
    cache = StatisticsCache(file)
    for _ in range(3):
        assert [result.measurement is None for result in measure_all(entries[:9], cache=cache)] == [False] * 9
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT count(*) FROM measured").fetchone() == (9,)


def test_a_cache_that_cannot_be_written_is_done_without(entries: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = StatisticsCache(tmp_path / "file" / "statistics.sqlite")
    assert len(list(measure_all(entries[:3], cache=cache))) == 3


def test_damage_of_one_tensor_is_an_answer(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    entries = list_tensors(open_dump(path), 0, 0).items
    Path(require(entries[0].ref).path).write_bytes(b"\x93NUMPY")
    Path(require(entries[1].ref).path).unlink()
    np.save(require(entries[2].ref).path, np.array(["text"]))
    results = list(measure_all(entries[:4]))
    assert [result.measurement is None for result in results] == [True, True, True, False]
    assert all(
        require(result.damage).reason and require(result.damage).path == require(result.entry.ref).path
        for result in results[:3]
    )


def test_recorded_statistics_serve_where_there_are_no_values(entries: Any) -> None:
    recorded = RecordedStatistics(max=float("nan"), min=0.0, mean=float("nan"), l2norm=float("nan"))
    entry = entries[0]._replace(ref=None, statistics=recorded, shape=(2, 3))
    rules: tuple[Any, ...] = (("tensor_overflow", {}), ("tensor_too_large", {"max_gt": 0.0}))
    result = examine(TensorTask(entry, rules))
    assert not result.computed
    assert (require(result.measurement).statistics.finite, require(result.measurement).statistics.nans) == (
        False,
        None,
    )
    assert [(verdict.hit, verdict.error) for verdict in result.verdicts] == [(True, 0), (False, HOLDS_NAN)]


def test_a_rule_that_needs_values_says_that_there_are_none(entries: Any) -> None:
    entry = entries[0]._replace(ref=None, statistics=RecordedStatistics(max=9.0, min=0.0), shape=(2,))
    limits = checked_limits(
        "tensor_range", {"range_start_inclusive": 0, "range_end_inclusive": 1, "range_percentage_lt": 5}
    )
    assert examine(TensorTask(entry, (("tensor_range", limits),))).verdicts[0].error == NO_VALUES


def test_without_values_and_statistics_there_is_nothing_to_say(entries: Any) -> None:
    result = examine(TensorTask(entries[0]._replace(ref=None)))
    assert (result.measurement, result.verdicts) == (None, ())


def test_spreading_keeps_the_order_and_stops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread_module, "HERE", 0)
    begun = []

    def work() -> Iterator[Any]:
        for number in range(1000):
            begun.append(number)
            yield number

    with ProcessPoolExecutor(1) as pool:
        results: Any = spread(str, work(), pool)
        assert [next(results) for _ in range(3)] == ["0", "1", "2"]
        results.close()
    assert len(begun) <= AHEAD + 4


def test_small_work_needs_nobody_else() -> None:
    class Nobody(Executor):
        def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> NoReturn:
            raise AssertionError("started for half a second of work")

    assert list(spread(str, range(20), Nobody())) == [str(number) for number in range(20)]


def test_batches_leave_nothing_out_and_are_never_too_heavy() -> None:
    assert list(batched(range(5), 2)) == [[0, 1], [2, 3], [4]]
    weights = [1, HEAVY, 1, 1, HEAVY - 1, 1]
    assert list(batched(weights, 3, lambda weight: weight)) == [[1, HEAVY], [1, 1, HEAVY - 1], [1]]


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a dump with one tensor that counts as huge, in a file of less than a megabyte."""
    monkeypatch.setattr(spread_module, "HERE", 0)
    monkeypatch.setattr(examine_module, "HUGE", 100_000)
    monkeypatch.setattr(examine_module, "CHUNK", 10_000)
    folder = tmp_path / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    values = np.random.default_rng(0).normal(size=(300, 400)).astype(np.float32)
    values[7, 7], values[299, 399] = np.nan, -np.inf
    path = folder / "Add.Default_Add-op0.0.0.1700000000000000.output.0.DefaultFormat.Float32.npy"
    np.save(path, values)
    return path, list_tensors(open_dump(tmp_path), 0, 0).items


class Counting(Executor):
    """Executor that runs tasks immediately and counts them."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Any:
        self.submitted += 1
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **more))
        except Exception as error:
            future.set_exception(error)
        return future


def test_a_huge_tensor_is_shared_among_the_processes(large: Any, cache: Any) -> None:
    path, entries = large
    executor = Counting()
    (result,) = measure_all(entries, executor, cache)
    assert executor.submitted >= 12
    statistics, whole = require(result.measurement).statistics, measure(np.load(path))
    assert (statistics.count, statistics.nans, statistics.negative_infs) == (120_000, 1, 1)
    assert (statistics.minimum, statistics.maximum) == (whole.minimum, whole.maximum)
    assert (statistics.mean, statistics.std) == (pytest.approx(whole.mean), pytest.approx(whole.std))
    again = Counting()
    assert next(measure_all(entries, again, cache)).measurement == result.measurement
    assert again.submitted == 0  # it was remembered


def test_a_huge_tensor_that_is_cut_off_is_damage_like_any(large: Any) -> None:
    path, entries = large
    path.write_bytes(path.read_bytes()[:-1])
    (result,) = measure_all(entries, Counting())
    assert (result.measurement, require(result.damage).reason) == (None, "dump.truncated")


def test_rules_judge_a_huge_tensor_too(large: Any) -> None:
    _, entries = large
    rules = (("tensor_overflow", checked_limits("tensor_overflow", {})),)
    (result,) = examine_module.examine_all([TensorTask(entries[0], rules)], Counting())
    assert result.verdicts[0].hit


@pytest.fixture
def entry(lenet: Any) -> Any:
    return next(entry for entry in list_tensors(lenet, 0, 1) if entry.recorded == "MatMul-op66")


def test_data_decide(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", "MatMul.MatMul-op66.*.output.0.*", np.inf)
    results = list(measure_all(list_tensors(open_dump(path), 0, 1)))
    culprits = [
        (result.entry.recorded, result.entry.direction) for result in results if is_non_finite(result)
    ]
    assert culprits == [("MatMul-op66", "output")]
    assert {finiteness(result) for result in results} == {"finite", "non_finite"}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (RecordedStatistics(max=1.0, min=0.0), True),
        (RecordedStatistics(max=np.inf, min=0.0), False),
        (RecordedStatistics(max=1.0), False),  # one extreme alone proves nothing
        (None, False),
    ],
)
def test_recorded_extremes_count_without_a_file(entry: Any, recorded: Any, expected: bool) -> None:
    entry = entry._replace(dtype="float32", statistics=recorded, ref=None)
    assert surely_finite(entry) == expected
    assert not surely_finite(entry._replace(ref=TensorRef("npy", "a.npy")))


def test_integers_are_finite(entry: Any) -> None:
    assert surely_finite(entry._replace(dtype="int32", statistics=None))


def test_what_cannot_be_read_is_unknown_but_text_is_finite(entry: Any) -> None:
    entry = entry._replace(dtype="float32", statistics=None)
    unread = TensorResult(entry, None, damage=FileDamage("a.npy", "dump.truncated"))
    assert finiteness(unread) == "unknown" and not is_non_finite(unread)
    assert finiteness(replace(unread, damage=FileDamage("a.npy", "dump.no_numbers"))) == "finite"
