"""Record files, their names and folders, and exported arrays."""

import logging
import os
import platform
import resource
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.files.event_file import (
    FileName,
    NpyExport,
    RecordFile,
    TfeventsName,
    file_name,
    make_log_dir,
    private_folder,
)


def record(size: Any) -> Any:
    """A framed record of ``size`` bytes."""
    return encode_record(b"x" * (size - 16))


FIRST = record(44)


@pytest.fixture
def name(tmp_path: Path) -> FileName:
    return FileName(tmp_path, "events", 3, "_MS")


def sizes(directory: Any) -> list[Any]:
    return [path.stat().st_size for path in sorted(directory.iterdir())]


def test_a_file_appears_with_its_first_record(name: FileName, tmp_path: Path, records_of: Any) -> None:
    file = RecordFile(name, 1700000000, first_record=lambda: FIRST)
    assert list(tmp_path.iterdir()) == []
    assert file.append([record(20), record(30)]) == (2, None)
    assert file.path.name.startswith("events.out.events.summary.1700000000.3.")
    assert file.path.name.endswith("_MS")
    records, rest = records_of(file.path)
    assert [len(record) for record in records] == [28, 4, 14]
    assert rest == b""


def test_a_file_is_private_while_it_grows_and_read_only_when_done(name: FileName) -> None:
    file = RecordFile(name, 1)
    file.append([record(20)])
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.close()
    assert file.path.stat().st_mode & 0o777 == 0o400


def test_nobody_elses_file_is_written_to(name: FileName, tmp_path: Path) -> None:
    first, second = RecordFile(name, 5), RecordFile(name, 5)
    first.append([record(20)])
    second.append([record(30)])
    first.append([record(20)])
    assert first.path != second.path
    assert sizes(tmp_path) == [40, 30]


def test_a_next_file_begins_before_the_limit_is_passed(name: FileName, tmp_path: Path) -> None:
    file = RecordFile(name, 1_000_000_000, max_size=100, first_record=lambda: FIRST)
    for _ in range(5):
        file.append([record(25)])
    file.close()
    assert sizes(tmp_path) == [94, 94, 69]
    assert len({path.name.split(".")[4] for path in tmp_path.iterdir()}) == 3


def test_many_records_at_once_are_split_at_the_limit_too(name: FileName, tmp_path: Path) -> None:
    file = RecordFile(name, 1_000_000_000, max_size=100)
    assert file.append([record(30)] * 7) == (7, None)
    assert sizes(tmp_path) == [90, 90, 30]


def test_a_record_above_the_limit_has_a_file_to_itself(name: FileName, tmp_path: Path) -> None:
    file = RecordFile(name, 1_000_000_000, max_size=50, first_record=lambda: FIRST)
    assert file.append([record(20), record(500), record(20)]) == (3, None)
    assert sizes(tmp_path) == [64, 544, 64]


def test_a_large_record_is_written_whole(name: FileName, records_of: Any) -> None:
    file = RecordFile(name, 1_000_000_000)
    file.append([record(20), record(3 << 20), record(20)])
    assert [len(record) for record in records_of(file.path)[0]] == [4, (3 << 20) - 16, 4]


def test_a_removed_file_is_followed_by_another(
    name: FileName, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = RecordFile(name, 1_000_000_000)
    file.append([record(20)])
    file.path.unlink()
    assert file.append([record(30)]) == (1, None)
    assert sizes(tmp_path) == [30]
    assert "was removed" in caplog.text


def test_a_removed_directory_is_made_again(name: FileName, tmp_path: Path) -> None:
    inner = FileName(tmp_path / "run" / "rank_0", "events", 0, "_MS")
    file = RecordFile(inner, 7)
    file.append([record(20)])
    file.path.unlink()
    inner.directory.rmdir()
    assert file.append([record(20)]) == (1, None)
    assert inner.directory.stat().st_mode & 0o777 == 0o700


def test_what_the_disk_takes_is_kept_and_nothing_torn(tmp_path: Path) -> None:
    """The limit of the process on file sizes stands in for a full disk: the kernel cuts the write short."""
    script = """
        import resource, sys
        from pathlib import Path
        from mindinsight.proto.framing import encode_record
        from mindinsight.writer.files.event_file import FileName, RecordFile
        record = encode_record(b"x" * 84)
        file = RecordFile(FileName(Path(sys.argv[1]), "events", 0, "_MS"), 7)
        resource.setrlimit(resource.RLIMIT_FSIZE, (250, resource.RLIM_INFINITY))
        done, error = file.append([record] * 4)
        assert (done, isinstance(error, OSError)) == (2, True), (done, error)
        assert file.path.stat().st_size == 200
        assert file.append([record])[0] == 0
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert file.append([record] * 2) == (2, None)
        assert file.path.stat().st_size == 400
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), str(tmp_path)], check=True, env=os.environ)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_directory_that_cannot_be_made_is_an_error_to_return(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    done, error = RecordFile(FileName(tmp_path / "file" / "run", "events", 0, "_MS"), 7).append([record(20)])
    assert done == 0
    assert isinstance(error, NotADirectoryError)


def test_a_tensor_is_saved_with_its_type_and_shape(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.int64).reshape(2, 3)
    NpyExport(tmp_path / "export_7")(Item("tensor", "a/b c[x]", values, "int64"), 2)
    path = tmp_path / "export_7" / "tensor" / "a%2Fb%20c%5Bx%5D_2.npy"
    saved = np.load(path)
    assert saved.dtype == np.int64
    np.testing.assert_array_equal(saved, values)
    assert path.stat().st_mode & 0o777 == 0o400


def test_other_kinds_are_not(tmp_path: Path) -> None:
    NpyExport(tmp_path / "export_7")(Item("histogram", "h", np.arange(3), "int64"), 2)
    assert list(tmp_path.iterdir()) == []


def test_a_later_value_of_the_step_replaces_the_first(tmp_path: Path) -> None:
    export = NpyExport(tmp_path)
    for value in (1, 2):
        export(Item("tensor", "t", np.array([value]), "int64"), 5)
    (path,) = (tmp_path / "tensor").iterdir()
    assert np.load(path).tolist() == [2]


def test_long_tags_keep_names_of_their_own() -> None:
    first, second = file_name("权" * 100 + "a"), file_name("权" * 100 + "b")
    assert first != second
    assert len(first) == len(second) == 200
    assert file_name("plain-tag_1.0~") == "plain-tag_1.0~"


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    assert private_folder(tmp_path / "a" / "b").is_dir()
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")} == {0o700}


def test_a_file_in_its_place_is_an_error_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    for strict in (True, False):
        with pytest.raises(NotADirectoryError, match="log_dir is not a directory"):
            make_log_dir(tmp_path / "run" / "below", strict)


def test_what_the_system_refuses_is_logged_unless_strict(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / ("x" * 300)
    with caplog.at_level(logging.ERROR):
        make_log_dir(path, strict=False)
    assert "retrying with the first record" in caplog.text
    with pytest.raises(OSError, match="too long"):
        make_log_dir(path, strict=True)


def test_a_name_has_second_host_process_and_suffix() -> None:
    path = TfeventsName(Path("runs"), ".worker").at(1234)
    assert path == Path(f"runs/events.out.tfevents.0000001234.{platform.node()}.{os.getpid()}.0.worker")
