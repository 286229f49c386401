import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.store.parts import ScalarPart, file_rows, segment_rows


def part(*steps: int) -> ScalarPart:
    column = np.array(steps, np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(column) < 0) + 1)).astype(np.int64)
    return ScalarPart(column, column.astype(np.float64) + 0.5, column.astype(np.float32), starts)


def test_a_file_that_goes_on_continues_the_segment() -> None:
    assert segment_rows([part(1, 2), part(2, 3)]).tolist() == [0]


def test_a_file_that_goes_back_begins_a_segment() -> None:
    assert segment_rows([part(1, 2, 3), part(2, 3)]).tolist() == [0, 3]


def test_restarts_inside_a_file_are_segments_too() -> None:
    assert segment_rows([part(1, 2, 1), part(2, 5, 4)]).tolist() == [0, 2, 5]


def test_rows_of_files_follow_each_other() -> None:
    assert file_rows([part(1, 2), part(3), part(4, 5)]).tolist() == [0, 2, 3]


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=4))
def test_segments_are_those_of_all_rows_in_one_file(files: list[list[int]]) -> None:
    together = part(*(step for steps in files for step in steps))
    assert segment_rows([part(*steps) for steps in files]).tolist() == together.starts.tolist()
