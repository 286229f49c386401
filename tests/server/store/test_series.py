"""Columns of one tag over several files: segments, the merged line, and reading from a row on."""

import numpy as np
import pytest

from mindinsight.server.errors import Gone
from mindinsight.server.store.parts import ReferencePart, ScalarPart
from mindinsight.server.store.series import Columns, ReferenceSeries, ScalarSeries, merged


def part(*steps, starts=(0,), scale=1.0):
    rows = np.array(steps, dtype=np.int64)
    return ScalarPart(rows, rows + 0.5, (rows * scale).astype(np.float32), np.array(starts, dtype=np.int64))


def steps_of(columns):
    return columns.steps.tolist()


def test_one_part_is_not_copied():
    only = part(1, 2, 3)
    series = ScalarSeries("loss", [only], version=4)
    assert series.columns().steps is only.steps
    assert (series.count, series.last_step, series.last_wall, series.last_value) == (3, 3, 3.5, 3.0)
    assert series.columns().files.tolist() == [0]


def test_a_file_that_goes_on_continues_the_segment_and_one_that_goes_back_starts_another():
    series = ScalarSeries("loss", [part(1, 2, 3), part(3, 4), part(2, 5)], version=1)
    columns = series.columns()
    assert steps_of(columns) == [1, 2, 3, 3, 4, 2, 5]
    assert columns.starts.tolist() == [0, 5]
    assert columns.files.tolist() == [0, 3, 5]
    assert series.columns() is columns


def test_segments_inside_a_file_keep_their_place_behind_other_files():
    columns = ScalarSeries("loss", [part(1, 2), part(3, 4, 1, starts=(0, 2))], version=1).columns()
    assert columns.starts.tolist() == [0, 4]


@pytest.mark.parametrize("joined_before", [False, True])
@pytest.mark.parametrize("row", range(8))
def test_a_tail_is_the_end_of_the_whole(row, joined_before):
    series = ScalarSeries("loss", [part(1, 2, 3), part(3, 4), part(2, 5)], version=1)
    whole = ScalarSeries("loss", series.parts, version=1).columns()
    if joined_before:
        series.columns()
    tail = series.tail(row)
    assert steps_of(tail) == steps_of(whole)[row:]
    assert tail.values.tolist() == whole.values[row:].tolist()
    assert tail.starts.tolist() == [start - row for start in whole.starts if start >= row]
    assert tail.files.tolist() == [first - row for first in whole.files if first >= row]


def test_merged_leaves_an_increasing_line_alone():
    columns = ScalarSeries("loss", [part(1, 2), part(3, 4)], version=1).columns()
    line = merged(columns)
    assert line.steps is columns.steps
    assert line.starts.tolist() == [0]


def test_merged_lets_the_newer_file_replace_the_older_from_where_it_begins():
    older, newer = part(1, 2, 3, 4, 5, 9), part(4, 6, scale=-1.0)
    line = merged(ScalarSeries("loss", [older, newer], version=1).columns())
    assert steps_of(line) == [1, 2, 3, 4, 6]
    assert line.values.tolist() == [1, 2, 3, -4, -6]


def test_merged_lets_the_newest_of_three_files_replace_both():
    parts = [part(1, 2, 8), part(5, 6), part(2, 3, scale=-1.0)]
    line = merged(ScalarSeries("loss", parts, version=1).columns())
    assert steps_of(line) == [1, 2, 3]
    assert line.values.tolist() == [1, -2, -3]


def test_merged_sorts_within_a_file_and_keeps_the_later_of_equal_steps():
    rows = np.array([3, 1, 3, 2, 7, 7], dtype=np.int64)
    values = np.arange(6, dtype=np.float32)
    line = merged(Columns(rows, rows * 1.0, values, np.array([0, 1, 3])))
    assert steps_of(line) == [1, 2, 3, 7]
    assert line.values.tolist() == [1, 3, 2, 5]


def test_merged_keeps_the_extreme_steps():
    extremes = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min, 0], dtype=np.int64)
    line = merged(Columns(extremes, extremes * 1.0, extremes * 1.0, np.array([0, 1])))
    assert steps_of(line) == sorted(extremes.tolist())


def reference_part(path, content, offsets, sizes, steps):
    path.write_bytes(content)
    found = path.stat()
    rows = [np.array(column, dtype=np.int64) for column in (steps, offsets, sizes, [0])]
    return ReferencePart(
        str(path), found.st_dev, found.st_ino, rows[0], rows[0] * 1.0, rows[1], rows[2], rows[3]
    )


@pytest.fixture
def references(tmp_path):
    first = reference_part(tmp_path / "a", b"..one.two", [2, 6], [3, 3], [1, 2])
    second = reference_part(tmp_path / "b", b"three", [0], [5], [3])
    return ReferenceSeries("image", "picture", [first, second], version=1)


def test_payloads_are_read_by_row_from_their_files(references):
    assert references.count == 3
    assert references.steps.tolist() == [1, 2, 3]
    assert references.walls.tolist() == [1.0, 2.0, 3.0]
    assert references.starts.tolist() == [0]
    assert [references.read(row) for row in range(3)] == [b"one", b"two", b"three"]


def test_a_row_that_does_not_exist_is_an_index_error(references):
    for row in (-1, 3):
        with pytest.raises(IndexError):
            references.reference(row)


def test_a_removed_shortened_replaced_or_linked_file_is_gone(references, tmp_path):
    (tmp_path / "a").write_bytes(b"..on")
    with pytest.raises(Gone):
        references.read(0)
    (tmp_path / "a").unlink()
    with pytest.raises(Gone):
        references.read(0)
    (tmp_path / "other").write_bytes(b"THREE")
    (tmp_path / "other").rename(tmp_path / "b")
    with pytest.raises(Gone):
        references.read(2)
    (tmp_path / "a").symlink_to(tmp_path / "b")
    with pytest.raises(Gone):
        references.read(0)
