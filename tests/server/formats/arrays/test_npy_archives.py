import zipfile
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.arrays import npy
from mindinsight.server.formats.arrays.npy import Archive
from mindinsight.server.formats.read_limits import Limits, UnreadableError
from tests.narrowing import require


@pytest.fixture
def path(tmp_path: Path) -> Any:
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        archive.writestr("plain", b"12345")
        archive.writestr("packed", b"1" * 500, zipfile.ZIP_DEFLATED)
    return tmp_path / "some.zip"


def test_members_are_read_and_placed(path: Any) -> None:
    with Archive(path) as archive:
        assert archive.names() == ["plain", "packed"]
        assert [archive.size(name) for name in archive.names()] == [5, 500]
        with archive.opened("packed") as member:
            assert member.read() == b"1" * 500
        start = require(archive.member_offset("plain"))
        assert archive.member_offset("packed") is None
    assert path.read_bytes()[start : start + 5] == b"12345"


def test_a_place_that_is_not_there(path: Any) -> None:
    content = bytearray(path.read_bytes())
    content[0:4] = b"XXXX"  # the local header of the first member
    path.write_bytes(content)
    with Archive(path) as archive, pytest.raises(UnreadableError, match=r"dump.bad_zip"):
        archive.member_offset("plain")


def test_errors_while_reading_name_the_member(path: Any) -> None:
    content = path.read_bytes().replace(b"12345", b"12354")  # its checksum is wrong now
    path.write_bytes(content)
    with Archive(path) as archive:
        with pytest.raises(UnreadableError, match=r"dump.bad_zip: plain"), archive.opened("plain") as member:
            member.read()
        with pytest.raises(UnreadableError, match=r"dump.missing"), archive.opened("other"):
            pass


def test_a_size_beyond_the_file(path: Any) -> None:
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("plain")
        at = path.read_bytes().rindex(b"plain") - 46  # its entry in the directory at the end
    content = bytearray(path.read_bytes())
    content[at + 20 : at + 28] = (1 << 30).to_bytes(4, "little") * 2
    path.write_bytes(content)
    assert info.file_size == 5
    with Archive(path) as archive, pytest.raises(UnreadableError, match=r"extends beyond the file"):
        archive.size("plain")


def test_too_many_members(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "ARCHIVE", Limits("archive", 1 << 62, 1))
    with pytest.raises(UnreadableError, match=r"dump.too_large: archive with over 1 items"):
        Archive(path)
