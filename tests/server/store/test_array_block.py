"""Arrays come out of a block as they were put in."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.store.array_block import ALIGNMENT, ArrayBlock, ArrayPosition, array_at


def test_arrays_come_back_and_are_aligned() -> None:
    pieces: list[Any] = []
    block = ArrayBlock(pieces.append)
    arrays = [np.arange(3, dtype="u1"), np.zeros(0), np.arange(6, dtype=">f4")[::2], np.array([2**62])]
    positions = [block.append(array) for array in arrays]
    data = b"".join(pieces)
    assert len(data) == block.size
    assert all(position.at % ALIGNMENT == 0 for position in positions)
    assert [array_at(data, position).tolist() for position in positions] == [a.tolist() for a in arrays]
    assert [position.dtype for position in positions] == ["u1", "f8", "f4", "i8"]
    assert not array_at(memoryview(bytearray(data)), positions[0]).flags.writeable  # over any bytes


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (("f8", 0, 3), "buffer is smaller"),
        (("f8", 8, 2), "buffer is smaller"),
        (("f8", 0, -1), "-1 numbers at 0"),
        (("f8", -8, 1), "1 numbers at -8"),
        (("O", 0, 1), "OBJECT array"),
    ],
)
def test_a_position_outside_is_refused(position: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        array_at(bytes(16), ArrayPosition(*position))
    assert array_at(bytes(16), ArrayPosition("f8", 8, 1)).tolist() == [0.0]
