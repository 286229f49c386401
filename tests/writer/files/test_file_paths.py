import logging
import os
import platform
from pathlib import Path

import numpy as np
import pytest

from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.files.file_paths import (
    NpyExport,
    TfeventsName,
    file_name,
    make_log_dir,
    private_folder,
)


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
