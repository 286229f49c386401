"""Folders of npy files: names, mappings and damage."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats.arrays.element_types import decode
from mindinsight.server.formats.dumps import (
    read_tensor,
)
from mindinsight.server.formats.dumps.npy_folder import read_statistics
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from tests.narrowing import require


def test_names_beyond_the_length_of_names(dump: Any) -> None:
    _, full = dump.add("MatMul", "x" * 300, name="1234567.npy")
    dump.add("Add", "op")
    (dump.step / "mapping.csv").write_text(f"1234567.npy,{full}\n77.npy,../../etc/passwd\nno comma\n")
    entries = dump.list()
    assert [entry.operator for entry in entries] == ["x" * 300, "op"]
    assert read_tensor(entries[0].ref).tolist() == [1, 1]


def test_a_mapping_beyond_any(dump: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.formats.dumps.npy_folder.MAPPING", Limits("names", 10, 10))
    _, full = dump.add("Add", "op", name="7.npy")
    (dump.step / "mapping.csv").write_text(f"7.npy,{full}\n")
    assert [fault.reason for fault in dump.list().damage] == ["dump.too_large", "dump.unknown_name"]


def test_listing_opens_no_tensor(dump: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        path, _ = dump.add("Add", f"op{number}")
        path.write_bytes(b"")
    opened = []
    before = Path.open

    def noted(path: Any, *rest: Any, **more: Any) -> Any:
        opened.append(path.name)
        return before(path, *rest, **more)

    monkeypatch.setattr(Path, "open", noted)
    assert len(list(dump.list())) == 20
    assert [name for name in opened if name.endswith(".npy")] == []


def test_a_name_nobody_explains_is_still_a_tensor(dump: Any) -> None:
    dump.add("Add", "op")
    dump.add("Add", "op", name="999.npy")
    entries = dump.list()
    assert [fault.reason for fault in entries.damage] == ["dump.unknown_name"]
    assert (entries[0].operator, entries[0].type) == ("999", "")
    assert read_tensor(entries[0].ref).tolist() == [1, 1]


@pytest.mark.parametrize("operator", ["two\nlines", "..", "100%", "%2e%2e", "a b", "<script>", "名前"])
def test_strange_names(dump: Any, operator: str) -> None:
    dump.add("Add", operator)
    (entry,) = dump.list()
    assert entry.operator == entry.recorded == operator
    assert read_tensor(entry.ref).shape == (2,)


def test_a_name_that_is_no_text(dump: Any) -> None:
    path, _ = dump.add("Add", "op")
    path.rename(os.fsdecode(os.fsencode(path).replace(b".op.", b".\xff\xfe.")))
    entries = dump.list()
    assert [fault.reason for fault in entries.damage] == ["dump.name_not_text"]
    assert read_tensor(entries[0].ref).shape == (2,)


def test_broken_tensors_leave_the_others(dump: Any) -> None:
    whole, _ = dump.add("Add", "whole")
    cut, _ = dump.add("Add", "cut")
    cut.write_bytes(cut.read_bytes()[:-3])
    huge, _ = dump.add("Add", "huge")
    huge.write_bytes(huge.read_bytes().replace(b"(2,), }" + b" " * 15, b"(1000000000000000,), }"))
    objects, _ = dump.add("Add", "objects")
    np.save(objects, np.array([None, "x"], object), allow_pickle=True)
    gone, _ = dump.add("Add", "gone")
    entries = {entry.operator: entry for entry in dump.list()}
    gone.unlink()
    for operator, reason in (
        ("cut", "dump.truncated"),
        ("huge", "dump.truncated"),
        ("objects", "dump.object_dtype"),
        ("gone", "dump.missing"),
    ):
        with pytest.raises(UnreadableError) as error:
            read_tensor(entries[operator].ref)
        assert error.value.reason == reason
    assert read_tensor(entries["whole"].ref).tolist() == [1, 1]
    assert whole.exists()


HEADER = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value"


def read(tmp_path: Any, text: Any) -> Any:
    (tmp_path / "statistic.csv").write_text(text)
    return read_statistics(tmp_path / "statistic.csv")


def test_rows_of_every_category(samples: Any) -> None:
    rows, damage = read_statistics(samples / "ms_sync_full_stats/edge_values/statistic.csv")
    assert damage == []
    assert len(rows) == 17
    first, second = rows[:2]
    assert (first.type, first.operator, first.io, first.slot, first.dtype, first.shape) == (
        *("Add", "Default_Add-op0", "output", "0", "float32"),
        (2, 3),
    )
    result = require(first.statistics)
    assert (result.max, result.min, result.mean, result.l2norm) == (3.5, -7.25, -0.791667, 8.35539)
    assert (result.count, result.negative, result.positive, result.zero, result.size) == (6, 2, 2, 2, 24)
    assert (result.checksum, result.checksum_kind) == ("6d2a5d5a7ed933ff461566fb7ac560bc", "md5")
    assert math.isnan(require(require(second.statistics).max))
    assert require(second.statistics).nan == 1


def test_numbers_agree_with_the_tensors_they_are_about(samples: Any) -> None:
    """Six digits are printed; the values themselves stand byte by byte beside the file."""
    folder = samples / "ms_sync_full_stats/edge_values"
    given = {load["op_name"]: load for load in json.loads((folder / "inputs.json").read_text())}
    rows, _ = read_statistics(folder / "statistic.csv")
    checked = 0
    for row in rows:
        content = bytes.fromhex(given.get(row.operator, {}).get("bytes_hex", ""))
        if not content:
            continue
        values = decode(np.frombuffer(content, np.uint8), row.dtype, require(row.shape)).astype(np.float64)
        statistics, finite = row.statistics, values[np.isfinite(values)]
        assert (require(statistics).count, require(statistics).nan) == (values.size, np.isnan(values).sum())
        assert (require(statistics).negative, require(statistics).positive, require(statistics).zero) == (
            *((values < 0).sum(), (values > 0).sum()),
            (values == 0).sum(),
        )
        if finite.size == values.size:
            assert require(statistics).max == pytest.approx(values.max(), rel=1e-5)
            assert require(statistics).l2norm == pytest.approx(
                math.hypot(*values.flat), rel=1e-5
            ) or math.isinf(require(require(statistics).l2norm))
        checked += 1
    assert checked >= 10


def test_both_spellings_of_shapes_and_odd_numbers(tmp_path: Path) -> None:
    rows, damage = read(
        tmp_path,
        f'{HEADER}\nA,a,0,0,1,input,0,4,float32,"(2,3)",-nan,-inf,\nA,b,0,0,2,output,0,4,float32,"[]",,inf,\n'
        'A,c,0,0,3,output,0,4,unsupported(35),"()",1e-07,1.23457e+06,\n',
    )
    assert damage == []
    assert [row.shape for row in rows] == [(2, 3), (), ()]
    assert math.isnan(rows[0].statistics.max)
    assert rows[0].statistics.min == -math.inf
    assert rows[1].statistics.max is None
    assert rows[2].dtype == "unsupported(35)"
    assert rows[2].statistics.min == 1234570


def test_the_default_categories(samples: Any) -> None:
    rows, _ = read_statistics(samples / "ms_sync_full_stats/statistic/rank_0/TinyNet/0/0/statistic.csv")
    assert len(rows) == 241
    assert require(rows[0].statistics).l2norm == 2
    assert (
        require(rows[0].statistics).count,
        require(rows[0].statistics).mean,
        require(rows[0].statistics).checksum,
    ) == (
        None,
        None,
        "",
    )


@pytest.mark.parametrize("missing", ["Op Name", "IO", "Slot"])
def test_a_column_without_which_rows_mean_nothing(tmp_path: Path, missing: str) -> None:
    header = ",".join(name for name in HEADER.split(",") if name != missing)
    rows, damage = read(tmp_path, f"{header}\nA,b,0,0,1,input,4,float32,[],1,1,\n")
    assert rows == []
    assert [(fault.reason, fault.detail) for fault in damage] == [("dump.csv_columns", missing)]


def test_other_columns_may_be_missing(tmp_path: Path) -> None:
    rows, damage = read(tmp_path, "Op Name,IO,Slot\nabc,input,3\n")
    assert damage == []
    assert (rows[0].operator, rows[0].type, rows[0].shape, rows[0].statistics.max) == ("abc", "", None, None)


def test_bad_rows_leave_the_others(tmp_path: Path) -> None:
    good = 'A,b,0,0,1,input,0,4,float32,"[]",1,1,\n'
    rows, damage = read(
        tmp_path,
        f"{HEADER}\n{good}A,b\n{good.replace('input', 'sideways')}{good.replace(',1,1,', ',one,1,')}"
        f"{good.replace('input,0', 'input,x')}{good}",
    )
    assert len(rows) == 2
    assert [fault.reason for fault in damage] == ["dump.csv_row"] * 4
    assert [fault.detail.partition(":")[0] for fault in damage] == ["row 3", "row 4", "row 5", "row 6"]


def test_damage_without_end_is_not_listed_without_end(tmp_path: Path) -> None:
    rows, damage = read(tmp_path, f"{HEADER}\n" + "broken\n" * 5000)
    assert rows == []
    assert len(damage) == 100


def test_a_row_that_is_still_being_written(tmp_path: Path) -> None:
    rows, damage = read(tmp_path, f'{HEADER}\nA,b,0,0,1,input,0,4,float32,"[]",1,1,\nA,b,0,0,2,inp')
    assert (len(rows), damage) == (1, [])


def test_a_field_without_end(tmp_path: Path) -> None:
    good = 'A,b,0,0,1,input,0,4,float32,"[]",1,1,\n'
    rows, damage = read(tmp_path, f'{HEADER}\n{good}A,"{"x" * 200_000}\n')
    assert len(rows) == 1
    assert damage[0].reason == "dump.csv_row"


def test_no_file_and_an_empty_one(tmp_path: Path) -> None:
    assert read_statistics(tmp_path / "statistic.csv") == ([], [])
    assert read(tmp_path, "") == ([], [])
