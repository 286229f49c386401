"""Owner, mode and kind of what is believed in the workspace."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindinsight.server.files.own_files import (
    NotOursError,
    check_file,
    check_folder,
    locked,
    open_own,
    own_folder,
    read_own,
    trust_copies,
    trusted_copy,
)
from tests.narrowing import require


def test_a_folder_is_made_private_with_those_above_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir(mode=0o755)
    assert own_folder(tmp_path / "folder").stat().st_mode & 0o777 == 0o700


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(NotOursError, match="a link"):
        own_folder(tmp_path / "link")


def test_a_folder_that_others_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    with pytest.raises(NotOursError, match="other users can write"):
        check_folder(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_another_user_owns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("theirs")
    for path in (tmp_path / "file", tmp_path):
        os.chown(path, 65534, 65534)
    with pytest.raises(NotOursError, match="another user"):
        check_folder(tmp_path)
    with pytest.raises(NotOursError, match="another user"):
        read_own(tmp_path / "file")


def test_links_and_second_names_of_a_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("content")
    assert read_own(file) == b"content"
    (tmp_path / "link").symlink_to(file)
    with pytest.raises(OSError):
        os.close(open_own(tmp_path / "link", os.O_WRONLY | os.O_CREAT))
    (tmp_path / "second").hardlink_to(file)
    for check in (read_own, check_file):
        with pytest.raises(NotOursError, match="several names"):
            check(file)


def test_only_copies_below_the_named_folder_are_trusted(tmp_path: Path) -> None:
    copy = own_folder(own_folder(own_folder(tmp_path / "trusted") / "digest") / "runs")
    trust_copies(tmp_path / "trusted")
    assert trusted_copy(str(copy / "run" / "file")) == copy
    assert trusted_copy(str(copy)) is None
    assert trusted_copy(str(tmp_path / "trusted2" / "digest" / "runs" / "file")) is None


HOLD = """
import sys
from pathlib import Path
from mindinsight.server.files.own_files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_waits_until_it_is_free(tmp_path: Path) -> None:
    file = tmp_path / "new" / "values.json"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert require(holder.stdout).readline() == "held\n"
    with pytest.raises(TimeoutError, match=r"values\.json\.lock"), locked(file, wait=0.1):
        pass
    holder.kill()  # a lock dies with who holds it
    holder.communicate()
    with locked(file):
        pass
