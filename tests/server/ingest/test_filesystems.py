"""Which file systems tell this machine of changes, by the mounts around and below a folder."""

import pytest

from mindinsight.server.ingest.filesystems import is_shared, reports_changes

MOUNTS = """\
/dev/vda / ext4 rw 0 0
tmpfs /home tmpfs rw 0 0
server:/x /home/shared nfs4 rw 0 0
/dev/vdb /home/shared/scratch xfs rw 0 0
//nas/y /mnt/with\\040space cifs rw 0 0
sshfs#h: /mnt/far fuse.sshfs rw 0 0
overlay /mnt/over overlay rw 0 0
overlay /stacked overlay rw 0 0
/dev/vdc /stacked ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/data", True),
        ("/home/me", True),
        ("/home/sharedness", True),
        ("/home/shared/summary", False),
        ("/home/shared/scratch/summary", True),
        ("/home", False),  # something below it does not tell
        ("/mnt/with space/a", False),
        ("/mnt/far", False),
        ("/mnt/over/a", False),
        ("/stacked/a", True),
    ],
)
def test_file_systems_that_tell_of_changes(path: str, expected: bool) -> None:
    assert reports_changes(path, MOUNTS) is expected


def test_without_a_list_of_mounts_the_file_system_is_trusted() -> None:
    assert reports_changes("/data", "") is True


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home", False),  # only something below it is on another machine
        ("/home/shared/summary", True),
        ("/home/shared/scratch/summary", False),
        ("/mnt/far", True),
        ("/mnt/over/a", False),
    ],
)
def test_file_systems_of_other_machines_and_programs(path: str, expected: bool) -> None:
    assert is_shared(path, MOUNTS) is expected
