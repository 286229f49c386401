import numpy as np

from mindinsight.writer.buffers import Buffers


def test_memory_given_back_is_used_again():
    buffers = Buffers()
    first = buffers.copy(np.zeros(1 << 16, np.float32))
    buffers.give_back(first)
    assert np.shares_memory(first, buffers.copy(np.ones((1 << 15, 2), np.int32)))


def test_memory_still_in_use_is_not():
    buffers = Buffers()
    first = buffers.copy(np.zeros(1 << 16))
    second = buffers.copy(np.ones(1 << 16))
    assert not np.shares_memory(first, second)
    assert first.sum() == 0


def test_giving_back_twice_lends_once():
    buffers = Buffers()
    first = buffers.copy(np.zeros(1 << 16))
    buffers.give_back(first)
    buffers.give_back(first)
    assert not np.shares_memory(buffers.copy(first), buffers.copy(first))


def test_other_arrays_are_let_alone():
    buffers = Buffers()
    stranger = np.zeros(1 << 16)
    buffers.give_back(stranger)
    buffers.give_back(stranger[:])
    assert not np.shares_memory(stranger, buffers.copy(np.zeros(1 << 16)))


def test_a_copy_is_in_c_order_and_equal():
    for values in (np.arange(1 << 16).reshape(256, 256).T, np.arange(12).reshape(3, 4).T, np.float32(2)):
        copied = Buffers().copy(np.asarray(values))
        assert copied.flags.c_contiguous
        np.testing.assert_array_equal(copied, values)
