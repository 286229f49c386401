import numpy as np

from mindinsight.writer.buffer_pool import BufferPool


def test_memory_given_back_is_used_again() -> None:
    pool = BufferPool()
    first = pool.copy(np.zeros(1 << 16, np.float32))
    pool.give_back(first)
    assert np.shares_memory(first, pool.copy(np.ones((1 << 15, 2), np.int32)))


def test_memory_still_in_use_is_not() -> None:
    pool = BufferPool()
    first = pool.copy(np.zeros(1 << 16))
    second = pool.copy(np.ones(1 << 16))
    assert not np.shares_memory(first, second)
    assert first.sum() == 0


def test_giving_back_twice_lends_once() -> None:
    pool = BufferPool()
    first = pool.copy(np.zeros(1 << 16))
    pool.give_back(first)
    pool.give_back(first)
    assert not np.shares_memory(pool.copy(first), pool.copy(first))


def test_other_arrays_are_let_alone() -> None:
    pool = BufferPool()
    stranger = np.zeros(1 << 16)
    pool.give_back(stranger)
    pool.give_back(stranger[:])
    assert not np.shares_memory(stranger, pool.copy(np.zeros(1 << 16)))


def test_a_copy_is_in_c_order_and_equal() -> None:
    for values in (np.arange(1 << 16).reshape(256, 256).T, np.arange(12).reshape(3, 4).T, np.float32(2)):
        copied = BufferPool().copy(np.asarray(values))
        assert copied.flags.c_contiguous
        np.testing.assert_array_equal(copied, values)
