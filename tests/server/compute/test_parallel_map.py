"""Batches by number and by weight; a map whose results come in order, from this process or from workers."""

from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from mindinsight.server.compute import parallel_map
from mindinsight.server.compute.parallel_map import HEAVY, batched, file_size, spread


def test_a_batch_ends_with_its_number_or_with_the_item_that_makes_it_heavy() -> None:
    assert list(batched(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(batched([HEAVY // 2, HEAVY // 2, 1, HEAVY, 2], 10, lambda size: size)) == [
        [HEAVY // 2, HEAVY // 2],
        [1, HEAVY],
        [2],
    ]
    assert list(batched([])) == []


def test_a_tensor_without_a_file_has_no_bytes() -> None:
    assert file_size(None) == 0


class Workers(Executor):
    """An executor that counts what it is given and does nothing of it before it is asked."""

    isolated = True

    def __init__(self, ahead: int) -> None:
        self.ahead = ahead
        self.futures: list[Future[Any]] = []

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.result = lambda timeout=None: function(*arguments, **named)  # type: ignore[method-assign]
        self.futures.append(future)
        return future


def test_results_come_in_order_and_not_far_ahead_of_the_reader() -> None:
    workers = Workers(ahead=20)
    results = spread(abs, iter(range(0, -100, -1)), workers)
    assert next(results) == 0
    assert len(workers.futures) == 20
    assert list(results) == list(range(1, 100))


def test_what_has_not_begun_is_cancelled_when_the_reader_leaves() -> None:
    workers = Workers(ahead=20)
    results = spread(abs, range(100), workers)
    next(results)
    assert isinstance(results, Iterator)
    results.close()  # type: ignore[attr-defined]
    assert [future.cancelled() for future in workers.futures] == [False] + [True] * 19


def test_easy_items_need_no_worker_and_neither_does_anything_without_an_executor() -> None:
    workers = Workers(ahead=20)
    assert list(spread(abs, [-1, -2], workers, easy=lambda item: True)) == [1, 2]
    assert list(spread(abs, [-1, -2], None)) == [1, 2]
    assert workers.futures == []


def test_an_error_comes_in_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_map, "HERE", 0)
    with ThreadPoolExecutor(1) as executor:
        results = spread(lambda number: 1 // number, [1, 0, 1], executor)
        assert next(results) == 1
        with pytest.raises(ZeroDivisionError):
            next(results)
