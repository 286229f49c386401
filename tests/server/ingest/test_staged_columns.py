"""Tags that share an axis as long as they come together, and columns that are held once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.staged_columns import Axis, GrowingColumn, ScalarTable
from mindinsight.server.types import ScalarBlock, ScalarRows


def ints(*numbers: Any) -> Any:
    return np.array(numbers, dtype=np.int64)


def block(tags: Any, *steps: Any) -> ScalarBlock:
    rows = ints(*steps)
    values = np.array([[step + 0.25 * number for step in steps] for number in range(len(tags))], np.float32)
    return ScalarBlock(tuple(tags), rows, rows, rows * 1.0, values)


def table_of(*blocks: Any) -> Any:
    table = ScalarTable()
    for block in blocks:
        table.fold(block)
    return table


def steps_of(table: Any, tag: Any) -> list[Any]:
    return table.groups[tag].axis.steps.view().tolist()


def values_of(table: Any, tag: Any) -> list[Any]:
    group = table.groups[tag]
    stored = group.stored(tag)
    chunks = [*(stored.read(0) if stored else ()), group.values[group.tags[tag]]]
    return np.concatenate(chunks).tolist()


def test_tags_of_one_event_share_steps_and_wall_times() -> None:
    table = table_of(block("ab", 1, 2), block("ab", 3))
    assert table.groups["a"] is table.groups["b"]
    assert steps_of(table, "a") == [1, 2, 3]
    assert values_of(table, "b") == [1.25, 2.25, 3.25]


def test_a_tag_that_comes_alone_parts_from_the_others_and_all_keep_their_rows() -> None:
    table = table_of(block("abc", 1, 2), block("b", 3), block("abc", 4), block("ac", 5))
    assert steps_of(table, "a") == steps_of(table, "c") == [1, 2, 4, 5]
    assert steps_of(table, "b") == [1, 2, 3, 4]
    assert table.groups["a"] is table.groups["c"]
    assert values_of(table, "b") == [1.25, 2.25, 3.0, 4.25]


def test_a_new_tag_beside_known_ones_begins_an_axis_of_its_own() -> None:
    table = table_of(block("a", 1), block("ab", 2), block("ab", 3))
    assert steps_of(table, "a") == [1, 2, 3]
    assert steps_of(table, "b") == [2, 3]


def test_live_tails_of_tags_that_come_and_go_never_make_more_groups_than_tags() -> None:
    choice = np.random.default_rng(7)
    tags = [f"tag{number}" for number in range(12)]
    table = ScalarTable()
    expected: dict[Any, Any] = {tag: [] for tag in tags}
    for step in range(500):
        present = [tag for tag in tags if choice.random() < 0.5]
        table.fold(block(present, step) if present else block([]))
        for tag in present:
            expected[tag].append(step)
    assert {tag: steps_of(table, tag) for tag in tags} == expected
    assert len({id(group) for group in table.groups.values()}) <= len(tags)


def uneven(tags: str, *steps: int) -> ScalarTable:
    """Every tag with wall times of its own."""
    table = ScalarTable()
    for number, tag in enumerate(tags):
        rows = ints(*steps)
        walls = np.array([step + number for step in steps], np.float64)
        table.fold(ScalarBlock((tag,), rows, rows, walls, np.zeros((1, len(rows)), np.float32)))
    return table


def test_equal_steps_of_tags_that_come_apart_are_held_once() -> None:
    table = uneven("abc", *range(1, 50))
    assert table.compact() == ["b", "c"]
    steps = [table.groups[tag].axis.steps.view() for tag in "abc"]
    assert all(np.shares_memory(steps[0], column) for column in steps[1:])
    walls = [table.groups[tag].axis.walls.view() for tag in "abc"]
    assert not np.shares_memory(walls[0], walls[1])
    assert [column[3] for column in walls] == [4.0, 5.0, 6.0]
    assert table.compact() == []


def test_equal_wall_times_are_held_once_too() -> None:
    table = table_of(block("ab", 1, 2), block("ab", 3), block("a", 4), block("b", 4))
    assert not np.shares_memory(table.groups["a"].axis.walls.view(), table.groups["b"].axis.walls.view())
    assert table.compact() == ["a", "b"]
    assert np.shares_memory(table.groups["a"].axis.walls.view(), table.groups["b"].axis.walls.view())


def test_shared_columns_part_when_one_of_them_grows() -> None:
    table = uneven("ab", *range(1, 50))
    table.compact()
    before = table.groups["b"].axis.steps.view()
    table.fold(block("a", 50))
    table.fold(block("b", 60))
    table.fold(block("a", 51))
    assert steps_of(table, "a") == [*range(1, 52)]
    assert steps_of(table, "b") == [*range(1, 50), 60]
    assert before.tolist() == [*range(1, 50)]


def test_columns_that_look_alike_and_are_not_equal_stay_apart() -> None:
    table = ScalarTable()
    for tag, odd in (("a", 11), ("b", 12)):
        rows = np.arange(100)
        rows[51] += odd
        table.fold(ScalarBlock((tag,), rows, rows, np.zeros(100), np.zeros((1, 100), np.float32)))
    table.compact()
    assert (steps_of(table, "a")[51], steps_of(table, "b")[51]) == (62, 63)


def test_cold_columns_are_moved_once_and_come_back_when_they_grow(tmp_path: Path) -> None:
    table = uneven("ab", *range(1, 50))
    before = table.groups["b"].axis.steps.view()
    assert table.compact(ColdColumns(tmp_path, smallest=1)) == ["a", "b"]
    moved = [table.groups[tag].axis.steps.view() for tag in "ab"]
    assert np.shares_memory(moved[0], moved[1])
    assert not np.shares_memory(moved[0], before)
    table.fold(block("a", 50))
    assert steps_of(table, "a") == [*range(1, 51)]
    assert steps_of(table, "b") == moved[1].tolist() == [*range(1, 50)]


def test_small_tables_are_not_moved(tmp_path: Path) -> None:
    table = table_of(block("ab", 1, 2))
    before = table.groups["a"].axis.steps.view()
    assert table.compact(ColdColumns(tmp_path)) == []
    assert table.groups["a"].axis.steps.view() is before


def lone(tags: str, *steps: int, apart: float = 0.0) -> ScalarRows:
    """Rows of ``tags``, each at the same ``steps``, the wall times of each so much later than another's."""
    rows, count = np.tile(ints(*steps), len(tags)), len(steps)
    walls = rows + np.repeat(np.arange(len(tags)), count) * apart
    return ScalarRows((*tags,), np.full(len(tags), count), rows, rows, walls, rows.astype(np.float32))


def test_rows_of_lone_tags_with_equal_axes_share_one_and_keep_nothing_else() -> None:
    table = table_of(lone("abc", 1, 2), lone("abc", 3))
    assert table.groups["a"] is table.groups["c"]
    assert [steps_of(table, tag) for tag in "abc"] == [[1, 2, 3]] * 3
    assert (
        table.groups["a"].axis.steps.view().base is None or table.groups["a"].axis.steps.view().base.size == 3
    )
    own = table_of(lone("ab", 1, 2, apart=0.5))
    assert own.groups["a"] is not own.groups["b"]
    assert own.groups["b"].axis.walls.view().tolist() == [1.5, 2.5]


def test_rows_beside_blocks_of_the_same_tags_stay_in_order() -> None:
    table = table_of(block("ab", 1, 2), lone("bc", 3), block("ab", 4), block("d", 1), block("d", 2))
    assert [steps_of(table, tag) for tag in "abcd"] == [[1, 2, 4], [1, 2, 3, 4], [3], [1, 2]]


def test_what_waits_is_told_once_as_grown() -> None:
    table = table_of(block("ab", 1), lone("c", 2))
    assert (sorted(table.take_grown()), table.take_grown()) == (["a", "b", "c"], [])
    table.fold(block("b", 2))
    assert table.take_grown() == ["b"]


def test_sessions_go_with_the_rows_of_each_tag() -> None:
    table = ScalarTable()
    table.fold(lone("ab", 1, 2, 1), ints(0, 0, 1, 0, 1, 1))
    assert [table.groups[tag].axis.session_rows for tag in "ab"] == [[2], [1]]


def test_a_view_stays_what_it_was_while_the_column_grows() -> None:
    column = GrowingColumn(ints(1, 2))
    views = [column.view()]
    for number in range(3, 100):
        column.append(ints(number))
        views.append(column.view())
    assert [len(view) for view in views] == list(range(2, 100))
    assert all(view.tolist() == list(range(1, len(view) + 1)) for view in views)


def test_a_view_cannot_be_written_to_and_is_made_once() -> None:
    column = GrowingColumn(ints(1, 2))
    assert column.view() is column.view()
    with pytest.raises(ValueError, match="read-only"):
        column.view()[0] = 5


def test_the_first_rows_are_taken_without_a_copy_and_never_written_to() -> None:
    first = ints(1, 2)
    column = GrowingColumn(first)
    assert np.shares_memory(column.view(), first)
    column.append(ints(3))
    assert first.tolist() == [1, 2]


def test_rows_are_copied_a_constant_number_of_times() -> None:
    column = GrowingColumn(ints(0))
    moves = 0
    for number in range(10_000):
        before = column.view()
        column.append(ints(number))
        moves += not np.shares_memory(before, column.view())
    assert moves < 20


def test_a_column_becomes_wider_for_an_exact_value_and_older_views_do_not() -> None:
    column = GrowingColumn(np.array([0.5], np.float32))
    before = column.view()
    column.append(np.array([0.1], np.float64))
    assert column.view().tolist() == [0.5, 0.1]
    assert before.dtype == np.float32


def test_an_axis_knows_where_steps_go_back_in_whatever_pieces_they_come() -> None:
    steps = [1, 2, 2, 1, 5, 4, 4, 9, 0]
    whole = Axis(ints(*steps), ints(*steps) * 1.0)
    for cut in range(1, len(steps)):
        pieces = Axis(ints(*steps[:cut]), ints(*steps[:cut]) * 1.0)
        pieces.append(ints(*steps[cut:]), ints(*steps[cut:]) * 1.0)
        assert pieces.starts.view().tolist() == whole.starts.view().tolist() == [0, 3, 5, 8]


def test_spare_room_is_given_up_and_views_stay() -> None:
    column = GrowingColumn(ints(0))
    for number in range(1, 600):
        column.append(ints(number))
    before = column.view()
    assert column.trim()
    assert before.tolist() == column.view().tolist() == [*range(600)]
    assert not column.trim()
    column.append(ints(600))
    assert column.view()[-1] == 600


def test_stored_tables_hold_the_same_rows_however_tags_part_and_whenever_they_are_moved(
    tmp_path: Path,
) -> None:
    choice = np.random.default_rng(8)
    tags = [f"tag{number}" for number in range(6)]
    cold = ColdColumns(tmp_path / "cold", smallest=1, values=tmp_path / "cache")
    plain, stored = ScalarTable(), ScalarTable()
    for step in range(200):
        present = tags if step < 20 else [tag for tag in tags if choice.random() < 0.7]
        choice.shuffle(present)
        values: Any = choice.standard_normal((len(present), 1))
        rows = ints(step)
        dtype = np.float64 if step % 50 > 40 else np.float32
        for table in (plain, stored):
            if present:
                table.fold(ScalarBlock(tuple(present), rows, rows, rows * 1.0, values.astype(dtype)))
        if step % 7 == 0:
            stored.store(cold, 4)
        if step % 31 == 0:
            stored.compact(cold)
    assert stored.in_memory < sum(len(values_of(plain, tag)) for tag in tags) == plain.in_memory
    for tag in tags:
        assert steps_of(stored, tag) == steps_of(plain, tag)
        assert values_of(stored, tag) == values_of(plain, tag)
    assert len(stored.files()) == len(list((tmp_path / "cache").iterdir())) == 1


def test_the_last_value_stays_in_memory_and_few_values_all_do(tmp_path: Path) -> None:
    cold = ColdColumns(tmp_path, values=tmp_path / "cache")
    table = table_of(block("ab", 1, 2, 3), block("c", 1, 2))
    assert table.store(cold, 5) == ["a", "b"]
    assert table.groups["b"].values.tolist() == [[3.0], [3.25]]
    assert table.groups["c"].stored("c") is None
    assert (table.in_memory, table.store(cold, 1), table.store(cold, 1)) == (4, ["c"], [])
