from pathlib import Path

import numpy as np

from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.files.npy_export import NpyExport, file_name


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
