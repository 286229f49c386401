"""When which folder is looked at."""

from itertools import pairwise
from typing import Any

import pytest

from mindinsight.server.ingest.watch.filesystems import tells_changes
from mindinsight.server.ingest.watch.poll_schedule import PollSchedule


def looks(rounds: Any, until: Any, files: int = 1, stirred_at: Any = ()) -> Any:
    """Times at which a folder is looked at when each look is made the moment it is due."""
    times, stirs = [], list(stirred_at)
    while (now := rounds.next()) < until:
        while stirs and stirs[0] <= now:
            rounds.note_change("./a", stirs.pop(0))
        for folder in rounds.due(now):
            times.append(now)
            rounds.reschedule(folder, files, now)
    return times


def gaps(times: Any) -> list[Any]:
    return [round(later - earlier, 6) for earlier, later in pairwise(times)]


def test_what_was_there_at_the_start_is_looked_at_seldom() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a"], 0.0)
    assert set(gaps(looks(rounds, until=100))) == {3.0}


def test_a_folder_that_appears_is_looked_at_often_and_then_ever_more_seldom() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./"], 0.0)
    rounds.due(1.0)
    rounds.set_folders(["./", "./a"], 1.0)
    result = gaps(looks(rounds, until=300))
    assert result == sorted(result)
    assert (result[0], result[-1]) == (0.25, 3.0)


def test_a_folder_in_which_something_happens_is_looked_at_often_again() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a"], 0.0)
    times = looks(rounds, until=110, stirred_at=[100.0])
    assert len([time for time in times if time > 103]) > 20


def test_a_folder_with_very_many_files_is_looked_at_less_often() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a"], 0.0)
    times = looks(rounds, until=100, files=20_000)
    assert len(times) <= 11


def test_folders_that_went_away_are_forgotten() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a", "./b"], 0.0)
    rounds.set_folders(["./b"], 0.0)
    assert rounds.due(1.0) == ["./b"]
    assert rounds.next() == float("inf")


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
    assert tells_changes(path, MOUNTS) is expected


def test_without_a_list_of_mounts_the_file_system_is_trusted() -> None:
    assert tells_changes("/data", "") is True


def test_where_changes_are_told_a_quiet_folder_may_wait_longer_than_where_they_are_not() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./told", "./asked"], 0.0)
    times: dict[Any, Any] = {"./told": [], "./asked": []}
    while (now := rounds.next()) < 100:
        for folder in rounds.due(now):
            times[folder].append(now)
            rounds.reschedule(folder, 1, now, trust=10 if folder == "./told" else 1)
    assert set(gaps(times["./asked"])) == {3.0}
    assert set(gaps(times["./told"])) == {30.0}
